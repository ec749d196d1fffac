// Links that add this server to Cursor and VS Code with a click. They hold no key: Cursor takes it from the environment, VS Code
// asks for it. Pure.

import type { EntryForm } from "../command-line.ts";
import { launch, SERVER, VSCODE_INPUTS, vscodeEntry } from "./server-entry.ts";

/** A web page that hands over to cursor://, which GitHub would take out of a README. */
export function cursorInstallLink(form: EntryForm): string {
  const env = {
    FACELESS_API_KEY: "${env:FACELESS_API_KEY}",
    FACELESS_BASE_URL: "${env:FACELESS_BASE_URL}",
  };
  const entry = { ...launch(form), ...(!form.sandbox && { env }) };
  const config = Buffer.from(JSON.stringify(entry)).toString("base64");
  return `https://cursor.com/en/install-mcp?name=${SERVER}&config=${encodeURIComponent(config)}`;
}

export function vscodeInstallLink(form: EntryForm): string {
  const config = encodeURIComponent(JSON.stringify(vscodeEntry(form)));
  const inputs = encodeURIComponent(JSON.stringify(VSCODE_INPUTS));
  const link = `https://insiders.vscode.dev/redirect/mcp/install?name=${SERVER}&config=${config}`;
  return form.sandbox ? link : `${link}&inputs=${inputs}`;
}
