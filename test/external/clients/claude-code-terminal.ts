// Claude Code as a user has it: in a terminal, where keys answer the question before publishing.

import { write } from "./place.ts";
import type { Start } from "./processes.ts";
import { ENTER, startInTerminal, type Terminal } from "./pty.ts";

/** Any text: the model does not check it, but Claude Code asks the user about a key that is not approved. */
const CLAUDE_API_KEY = "example";

/** The last words below the prompt, while it is open and while the model works. */
const PROMPT_OPEN = /\? for shortcuts|← for agents/;
const WORKING_OR_OPEN = /esc to interrupt|\? for shortcuts|← for agents/;

const ESCAPE = "\u001b";
const RIGHT = "\u001b[C";
const DOWN = "\u001b[B";

/** Its environment with the scripted model in place of the real one. `modelUrl` has no path. */
export const claudeCodeEnv = (modelUrl: string) => ({
  ANTHROPIC_BASE_URL: modelUrl,
  ANTHROPIC_API_KEY: CLAUDE_API_KEY,
});

/** Starts it with the answers to what it asks a new user. Resolves when its prompt is open. */
export async function startClaudeCode(start: Start & { readonly home: string }): Promise<Terminal> {
  const { home, cwd } = start;
  const settled = {
    hasCompletedOnboarding: true,
    theme: "dark",
    customApiKeyResponses: { approved: [CLAUDE_API_KEY], rejected: [] },
    projects: { [cwd]: { hasTrustDialogAccepted: true } },
  };
  await write(home, ".claude.json", settled);
  // The default mode doesn't have the model judge each call.
  const terminal = startInTerminal({ ...start, args: ["--permission-mode", "default", ...start.args] });
  await terminal.waitFor(PROMPT_OPEN);
  return terminal;
}

/** Types a message, and sends it once it is shown: Enter at once would be taken for part of a pasted text. */
export async function say(terminal: Terminal, message: string): Promise<void> {
  terminal.type(message);
  await terminal.waitFor(new RegExp(message.slice(-20).replaceAll(/\W/g, ".")));
  terminal.type(ENTER);
}

/** Looks at the list of servers, as a user may, until the only one has its tools. */
export async function seeConnected(terminal: Terminal): Promise<void> {
  await say(terminal, "/mcp");
  await terminal.waitFor(/✔[^\n]*\d tools/);
  await terminal.typeUntil(ESCAPE, PROMPT_OPEN);
}

/** Waits for the question of this server and answers yes: opens the choices, takes the second, accepts. */
export async function agreeToPublish(terminal: Terminal): Promise<void> {
  await terminal.waitFor(/Publish the video[^\n]*(?=[^]*Publish on[^]*to expand)/);
  await terminal.typeUntil(RIGHT, /❯ ◯ Don't publish/);
  await terminal.typeUntil(DOWN, /❯ ◯ Publish on/);
  await terminal.typeUntil(ENTER, /✔ Publish on[^\n]*\?: Publish[^]*❯ Accept/);
  await terminal.typeUntil(ENTER, WORKING_OR_OPEN);
}

export async function leave(terminal: Terminal): Promise<void> {
  await say(terminal, "/exit");
  await terminal.ended;
}
