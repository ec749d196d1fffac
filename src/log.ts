// The log on stderr: one line per event, filtered by level, redacted.

import type { Config, LogLevel } from "./config.ts";
import { createRedact, type Redact } from "./redact.ts";
import { cutText, stripUnsafeCharacters } from "./text.ts";

type Event = Exclude<LogLevel, "silent">;
export type Log = Readonly<Record<Event, (message: string, cause?: unknown) => void>>;

const LEVELS: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 };

/** The maximum number of characters of a message or stack. */
const MAX_CHARS = 4_000;

/** The log of a process, and what takes the key out of all that it writes. */
export interface OwnLog {
  readonly log: Log;
  readonly redact: Redact;
}

/**
 * Opens the log that the settings name, and warns of those that can't be used. `write` gets whole lines. Causes
 * are written at level debug only.
 */
export function openLog(
  { service, logLevel: level, warnings }: Pick<Config, "service" | "logLevel" | "warnings">,
  write: (line: string) => void,
): OwnLog {
  const redact = createRedact(service?.apiKey);
  const logAt = (own: Event) => (message: string, cause?: unknown) => {
    if (LEVELS[own] < LEVELS[level]) return;
    const detail = cause === undefined || level !== "debug" ? "" : ` ${describeCause(cause)}`;
    // A key that was cut would not be recognised.
    const text = cutText(redact(stripUnsafeCharacters(`${message}${detail}`)), MAX_CHARS);
    write(`faceless-video-mcp ${own}: ${text.trim().replace(/\s*\n\s*/g, " | ")}\n`);
  };
  const log = { debug: logAt("debug"), info: logAt("info"), warn: logAt("warn"), error: logAt("error") };
  for (const { variable, problem, fix } of warnings) log.warn(`${variable} ${problem}. ${fix}.`);
  return { log, redact };
}

function describeCause(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
