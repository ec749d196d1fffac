// What this process says about itself, on stderr: level, redaction, one line an event.

import type { LogLevel } from "./settings.ts";
import { cleanServiceText, type Redact } from "./text.ts";

export interface Log {
  debug(message: string, cause?: unknown): void;
  info(message: string, cause?: unknown): void;
  warn(message: string, cause?: unknown): void;
  error(message: string, cause?: unknown): void;
}

const ORDER: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 };

/** Longest line of a message or stack, in characters. */
const LINE_LIMIT = 2_000;

/** `write` gets whole lines. Causes are for debugging: they are written at level debug only. */
export function createLog(level: LogLevel, redact: Redact, write: (line: string) => void): Log {
  const at = (own: Exclude<LogLevel, "silent">) => (message: string, cause?: unknown) => {
    if (ORDER[own] < ORDER[level]) return;
    const detail = cause === undefined || level !== "debug" ? "" : ` ${describeCause(cause)}`;
    write(redact(`faceless-video-mcp ${own}: ${onOneLine(`${message}${detail}`)}\n`));
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** Messages may quote what came over the wire: nothing in them may move the cursor or begin a line of its own. */
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
