// What an entry of this server, or a link that adds one, consists of. Pure.

/** The name in clients' lists. Some put it before tool names, which they cut or refuse at 60 characters. */
export const SERVER = "faceless-video";

/** Placeholders for the user's own values. Doctor recognizes them. */
export const EXAMPLE_KEY = "fl_example";
export const EXAMPLE_URL = "https://videos.example.com";

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

/** The absolute paths of Node.js and of this server's first file. */
export interface Installation {
  readonly node: string;
  readonly script: string;
}

/** How an entry starts this server. */
export interface LaunchOptions {
  /** Starts npx through cmd: on Windows it is npx.cmd, which not every client finds. */
  readonly windows: boolean;
  readonly sandbox: boolean;
  /** Absent for npx. */
  readonly installation?: Installation | undefined;
}

export function launch({ windows, sandbox, installation }: LaunchOptions): Launch {
  const options = sandbox ? ["--sandbox"] : [];
  if (installation !== undefined)
    return { command: installation.node, args: [installation.script, ...options] };
  const args = ["-y", "faceless-video-mcp", ...options];
  return windows ? { command: "cmd", args: ["/c", "npx", ...args] } : { command: "npx", args };
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

type ServerStart = Launch & Pick<LaunchOptions, "sandbox">;

/** VS Code asks for the URL too if none is given. */
export function vscodeEntry(
  { command, args, sandbox }: ServerStart,
  baseUrl = "${input:faceless_url}",
): object {
  const env = { FACELESS_API_KEY: "${input:faceless_key}", FACELESS_BASE_URL: baseUrl };
  return { type: "stdio", command, args, ...(!sandbox && { env }) };
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
