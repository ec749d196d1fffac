// The log on stderr: one line per event, filtered by level, redacted.

import type { Redact } from "./redact.ts";
import type { LogLevel } from "./config.ts";
import { cleanServiceText } from "./text.ts";

type Event = Exclude<LogLevel, "silent">;
export type Log = Readonly<Record<Event, (message: string, cause?: unknown) => void>>;

const LEVELS: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 };

/** Characters of one line of a message or stack. */
const LINE_LIMIT = 2_000;

/** `write` gets whole lines. Causes are written at level debug only. */
export function createLog(level: LogLevel, redact: Redact, write: (line: string) => void): Log {
  const logAt = (own: Event) => (message: string, cause?: unknown) => {
    if (LEVELS[own] < LEVELS[level]) return;
    const detail = cause === undefined || level !== "debug" ? "" : ` ${describeCause(cause)}`;
    write(redact(`faceless-video-mcp ${own}: ${onOneLine(`${message}${detail}`)}\n`));
  };
  return { debug: logAt("debug"), info: logAt("info"), warn: logAt("warn"), error: logAt("error") };
}

/** Messages may quote what the service sent: nothing in them may move the cursor or begin a new line. */
function onOneLine(text: string): string {
  return text
    .split(/[\r\n\u2028\u2029]+/)
    .map((line) => cleanServiceText(line, LINE_LIMIT))
    .filter((line) => line !== "")
    .join(" | ");
}

function describeCause(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
