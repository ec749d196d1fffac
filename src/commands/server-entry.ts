// What an entry of this server, or a link that adds one, consists of. Pure.

import { VERSION } from "../version.ts";

/** The name in clients' lists. Some put it before tool names, which they cut or refuse at 60 characters. */
export const SERVER = "faceless-video";

/** Placeholders for the user's own values. Doctor recognizes them. */
export const EXAMPLE_KEY = "fl_example";
export const EXAMPLE_URL = "https://videos.example.com";

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

/** How an entry starts this server. */
export interface LaunchOptions {
  /** Starts npx through cmd.exe instead of sh. */
  readonly windows: boolean;
  readonly sandbox: boolean;
  /** Starts the copy that `--installed` keeps, instead of npx. */
  readonly installation?: Launch | undefined;
}

/** The exact version: no other one arrives unasked, and the cached one starts without the registry. */
export const NPX_ARGS = ["-y", "--prefer-offline", `faceless-video-mcp@${VERSION}`] as const;

/**
 * npx obeys the folder in which it starts: .npmrc, package.json and node_modules/.bin there can make it run
 * another program with the user's key, and so can node_modules/.bin/sh and node despite --prefix. So npx is
 * started in a folder that no project can lie in.
 */
const OUTSIDE_PROJECTS = {
  sh: { command: "/bin/sh", args: ["-c", 'cd / && exec npx "$@"', "sh"] },
  // Named by its path: programs without one are looked for in the project's folder first, cmd.exe too.
  cmd: {
    command: "C:\\Windows\\System32\\cmd.exe",
    args: ["/d", "/c", "cd", "/d", "C:\\Windows", "&&", "npx"],
  },
} as const;

export function launch({ windows, sandbox, installation }: LaunchOptions): Launch {
  const { command, args } = windows ? OUTSIDE_PROJECTS.cmd : OUTSIDE_PROJECTS.sh;
  const start = installation ?? { command, args: [...args, ...NPX_ARGS] };
  return sandbox ? { ...start, args: [...start.args, "--sandbox"] } : start;
}

/** The program and arguments that an entry starts npx with, if it does so outside of projects. */
export function npxOutsideProjects(words: readonly string[]): readonly string[] | undefined {
  const starts = Object.values(OUTSIDE_PROJECTS).map(({ command, args }) => [command, ...args]);
  const start = starts.find((start) => start.every((word, index) => word === words[index]));
  return start && ["npx", ...words.slice(start.length)];
}

/** What VS Code and Visual Studio ask the user for once. Visual Studio allows no hyphen in an id. */
export const VSCODE_INPUTS = [
  {
    type: "promptString",
    id: "faceless_key",
    description: "Faceless Video API key, begins with fl_",
    password: true,
  },
  {
    type: "promptString",
    id: "faceless_url",
    description: "Faceless Video service address, such as https://videos.example.com",
    password: false,
  },
] as const;

type ServerStart = Launch & Pick<LaunchOptions, "sandbox"> & { readonly cwd?: string };

/** VS Code asks for the URL too if none is given. */
export function vscodeEntry(
  { command, args, cwd, sandbox }: ServerStart,
  baseUrl = "${input:faceless_url}",
): object {
  const env = { FACELESS_API_KEY: "${input:faceless_key}", FACELESS_BASE_URL: baseUrl };
  return { type: "stdio", command, args, ...(cwd !== undefined && { cwd }), ...(!sandbox && { env }) };
}

/**
 * Adds this server to Cursor with one click, through a web page that redirects to cursor://, because GitHub
 * removes such links from a README. Holds no key: Cursor takes it from the environment.
 */
export function cursorInstallLink({ command, args, sandbox }: ServerStart): string {
  const env = {
    FACELESS_API_KEY: "${env:FACELESS_API_KEY}",
    FACELESS_BASE_URL: "${env:FACELESS_BASE_URL}",
  };
  const entry = { command, args, ...(!sandbox && { env }) };
  const config = Buffer.from(JSON.stringify(entry)).toString("base64");
  return `https://cursor.com/en/install-mcp?name=${SERVER}&config=${encodeURIComponent(config)}`;
}

/** Adds this server to VS Code, which asks for the key. */
export function vscodeInstallLink(start: ServerStart): string {
  const config = encodeURIComponent(JSON.stringify(vscodeEntry(start)));
  const inputs = encodeURIComponent(JSON.stringify(VSCODE_INPUTS));
  const link = `https://insiders.vscode.dev/redirect/mcp/install?name=${SERVER}&config=${config}`;
  return start.sandbox ? link : `${link}&inputs=${inputs}`;
}
