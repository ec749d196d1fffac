// Links that add this server to Cursor or VS Code with one click. They hold no key: Cursor takes it from the
// environment, VS Code asks for it. Pure.

import { SERVER, type ServerStart, VSCODE_INPUTS, vscodeEntry } from "./server-entry.ts";

/** A web page that redirects to cursor://, because GitHub removes such links from a README. */
export function cursorInstallLink({ command, args, sandbox }: ServerStart): string {
  const env = {
    FACELESS_API_KEY: "${env:FACELESS_API_KEY}",
    FACELESS_BASE_URL: "${env:FACELESS_BASE_URL}",
  };
  const entry = { command, args, ...(!sandbox && { env }) };
  const config = Buffer.from(JSON.stringify(entry)).toString("base64");
  return `https://cursor.com/en/install-mcp?name=${SERVER}&config=${encodeURIComponent(config)}`;
}

export function vscodeInstallLink(start: ServerStart): string {
  const config = encodeURIComponent(JSON.stringify(vscodeEntry(start)));
  const inputs = encodeURIComponent(JSON.stringify(VSCODE_INPUTS));
  const link = `https://insiders.vscode.dev/redirect/mcp/install?name=${SERVER}&config=${config}`;
  return start.sandbox ? link : `${link}&inputs=${inputs}`;
}
