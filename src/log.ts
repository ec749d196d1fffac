// The log on stderr: one line per event, filtered by level, redacted.

import type { LogLevel } from "./config.ts";
import type { Redact } from "./redact.ts";
import { cutText, stripUnsafeCharacters } from "./text.ts";

type Event = Exclude<LogLevel, "silent">;
export type Log = Readonly<Record<Event, (message: string, cause?: unknown) => void>>;

const LEVELS: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 };

/** The maximum number of characters of a message or stack. */
const MAX_CHARACTERS = 4_000;

/** `write` gets whole lines. Causes are written at level debug only. */
export function createLog(level: LogLevel, redact: Redact, write: (line: string) => void): Log {
  const logAt = (own: Event) => (message: string, cause?: unknown) => {
    if (LEVELS[own] < LEVELS[level]) return;
    const detail = cause === undefined || level !== "debug" ? "" : ` ${describeCause(cause)}`;
    // A key that was cut would not be recognised.
    const text = cutText(redact(stripUnsafeCharacters(`${message}${detail}`)), MAX_CHARACTERS);
    write(`faceless-video-mcp ${own}: ${text.trim().replace(/\s*\n\s*/g, " | ")}\n`);
  };
  return { debug: logAt("debug"), info: logAt("info"), warn: logAt("warn"), error: logAt("error") };
}

function describeCause(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
