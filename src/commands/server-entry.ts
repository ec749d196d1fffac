// How an entry starts this server, so that no project can substitute another program. Pure.

import { join } from "node:path";
import { quoteWord } from "../text.ts";
import { VERSION } from "../version.ts";
import type { Host } from "./host.ts";

/** The name in clients' lists. Some put it before tool names, which they cut or refuse at 60 characters. */
export const SERVER = "faceless-video";

export { EXAMPLE_KEY, EXAMPLE_URL } from "../settings/values.ts";

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

export interface LaunchOptions {
  /** Starts npx through cmd.exe instead of sh. */
  readonly windows: boolean;
  readonly sandbox: boolean;
  /** The installed copy, which is started instead of npx. */
  readonly installation?: Launch | undefined;
}

/** The exact version, so that no other one arrives unasked and the cached one starts without the registry. */
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

/** True if an entry starts npx as above. */
export function isOutsideProjects(words: readonly string[]): boolean {
  const starts = Object.values(OUTSIDE_PROJECTS).map(({ command, args }) => [command, ...args]);
  return starts.some((start) => start.every((word, index) => word === words[index]));
}

/** A command of this program for sh and PowerShell, from any folder. Before the first release npx finds nothing. */
export function commandOf(words: string, { files, isOnNpm }: Pick<Host, "files" | "isOnNpm">): string {
  // Windows PowerShell 5 has no &&.
  return isOnNpm
    ? `cd ~; npx -y faceless-video-mcp ${words}`
    : `node ${quoteWord(join(files, "bin.cjs"))} ${words}`;
}

/**
 * The line that asks for the key and sets it in the shell with this path, so that the key stands in no command.
 * PowerShell also keeps it for the programs that start later.
 */
export function keyLine(shell: string | undefined, onWindows: boolean): string {
  if (onWindows)
    return '$env:FACELESS_API_KEY = Read-Host "API key"; setx FACELESS_API_KEY $env:FACELESS_API_KEY';
  if (/\bpwsh$/.test(shell ?? "")) return '$env:FACELESS_API_KEY = Read-Host "API key"';
  if (/\bfish$/.test(shell ?? "")) return "read --silent --global --export FACELESS_API_KEY";
  return "read -rs FACELESS_API_KEY; export FACELESS_API_KEY";
}
