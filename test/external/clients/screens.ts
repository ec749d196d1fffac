// The screens of each client in a terminal: what a new user is asked, and how it is answered with yes. Found by
// running them; another version may show others.

import type { Screen } from "./terminal.ts";

export interface Screens {
  /** Shown when the client takes a message. */
  readonly ready: RegExp;
  /** The text that quits the client, typed where it takes a message. */
  readonly leave: readonly string[];
  readonly screens: readonly Screen[];
}

/** A list of choices with a mark before the current one: goes to this choice, then takes it. */
function choose(before: string, mark: string, others: string, wanted: string, key = "Down"): Screen[] {
  const list = (current: string) => new RegExp(`${before}[^]*${mark}\\s*(?:\\d\\. )?(?:${current})`);
  return [
    { shows: list(others), keys: [key] },
    { shows: list(wanted), keys: ["Enter"] },
  ];
}

const NO = "Don't start it|Don't publish";
const YES = "Make this video|Pay for this video|Publish on";

export const SCREENS = {
  "claude-code": {
    ready: /^❯\s*$[^]*(?:shortcuts|for agents|shift\+tab|manual mode|accept edits)/m,
    leave: ["/exit", "Enter"],
    screens: [
      ...choose("Accessing workspace", "❯", "No, exit", "Yes, I trust"),
      ...choose("use this API key\\?", "❯", "No", "Yes", "Up"),
      { shows: /Enter to continue · Esc to cancel/, keys: ["Enter"] },
      { shows: /Tool use[^]*Do you want to proceed\?[^]*❯ 1\. Yes/, keys: ["Enter"], isApproval: true },
      { shows: /❯ [^\n]*(?:Make|Pay for|Publish)[^\n]*▸ not set/, keys: ["Right"] },
      { shows: new RegExp(`❯ ◯ (?:${NO})`), keys: ["Down"] },
      { shows: new RegExp(`❯ ◯ (?:${YES})`), keys: ["Enter"] },
      { shows: /❯ Accept/, keys: ["Enter"] },
    ],
  },
  codex: {
    ready: /› (?:Ask Codex|[A-Z])[^\n]*\n[^›]*(?:shortcuts|context left|default · )/,
    leave: ["/quit", "Enter"],
    screens: [
      {
        shows: /Allow the [^]*run tool "\w+"\?[^]*› 1\. Allow[^]*enter to submit/,
        keys: ["Enter"],
        isApproval: true,
      },
      ...choose("Field 1/1", "›", NO, YES),
      { shows: /› 1\. Yes, continue/, keys: ["Enter"] },
    ],
  },
  gemini: {
    // Its prompt opens before it asks about the folder.
    ready: /\d MCP server[^]*Type your message/,
    leave: ["/quit", "Enter"],
    screens: [
      { shows: /● 1\. Trust folder/, keys: ["Enter"] },
      // Another key would stop that.
      { shows: /restarting to apply the trust changes/, keys: [] },
      { shows: /● 2\. Use Gemini API Key/, keys: ["Enter"] },
      { shows: /Press Enter to submit, Esc to cancel/, keys: ["Enter"] },
      { shows: /Action Required[^]*● 1\. Allow once/, keys: ["Enter"], isApproval: true },
    ],
  },
  copilot: {
    ready: /^❯\s*$[^]*tab next tab/m,
    leave: ["/exit", "Enter"],
    screens: [
      { shows: /Confirm folder trust[^]*❯ 1\. Yes/, keys: ["Enter"] },
      {
        shows: /(?:Generate|Publish|List|Get)[^]*Do you want to use this tool\?[^]*❯ 1\. Yes/,
        keys: ["Enter"],
        isApproval: true,
      },
      ...choose("needs information", "❯", NO, YES),
    ],
  },
  opencode: {
    ready: /ctrl\+p commands/,
    leave: ["/exit", "Enter"],
    screens: [{ shows: /Permission required[^]*Allow once/, keys: ["Enter"], isApproval: true }],
  },
} satisfies Readonly<Record<string, Screens>>;
