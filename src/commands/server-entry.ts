// What every entry of this server consists of: its name, how it is started, what it wants to be given. Pure.

import type { EntryForm } from "../command-line.ts";

/** Under which clients list it. Some of them count it into a tool's name, which they cut or refuse at 60 characters. */
export const SERVER = "faceless-video";

/** What stands where a person's own belong. Doctor knows them again. */
export const EXAMPLE_KEY = "fl_example";
export const EXAMPLE_URL = "https://videos.example.com";

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

export function launch({ windows, sandbox }: EntryForm): Launch {
  const args = ["-y", "faceless-video-mcp", ...(sandbox ? ["--sandbox"] : [])];
  return windows ? { command: "cmd", args: ["/c", "npx", ...args] } : { command: "npx", args };
}

/** What VS Code asks the person for when the server is first started. */
export const VSCODE_INPUTS = [
  {
    type: "promptString",
    id: "faceless-key",
    description: "Faceless Video API key, begins with fl_",
    password: true,
  },
  {
    type: "promptString",
    id: "faceless-url",
    description: "Faceless Video service address, such as https://videos.example.com",
    password: false,
  },
] as const;

export interface VscodeEntry extends Launch {
  readonly type: "stdio";
  readonly env?: Readonly<Record<string, string>>;
}

/** Without a URL, VS Code asks for that too. */
export function vscodeEntry(form: EntryForm, baseUrl = "${input:faceless-url}"): VscodeEntry {
  const env = { FACELESS_API_KEY: "${input:faceless-key}", FACELESS_BASE_URL: baseUrl };
  return { type: "stdio", ...launch(form), ...(!form.sandbox && { env }) };
}
