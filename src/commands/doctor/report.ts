// How doctor's checks are shown: what to fix first, then what is fine, then what was skipped. Pure.

import { createRedact } from "../../redact.ts";
import type { Check } from "./check.ts";

export interface Report {
  /** Whether a video could be made. */
  readonly ok: boolean;
  readonly checks: readonly Check[];
  /** The names of checks that need one that failed. */
  readonly skipped: readonly string[];
}

const MARKS = { ok: "\u001B[32m✔\u001B[0m", warn: "\u001B[33m!\u001B[0m", fail: "\u001B[31m✖\u001B[0m" };

export function formatReport({ ok, checks, skipped }: Report, colours: boolean): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const line = ({ name, status, detail, fix }: Check) => {
    const start = `${colours ? MARKS[status] : status.padEnd(4)}  ${name.padEnd(width)}  `;
    if (fix === undefined) return `${start}${detail}`;
    const indent = " ".repeat((colours ? 1 : 4) + 2 + width + 2);
    return `${start}${fix}.\n${indent}(${detail})`;
  };
  const lines = (["fail", "warn", "ok"] as const).flatMap((status) =>
    checks.filter((check) => check.status === status).map(line),
  );
  return [
    ok ? "A video can be made." : "Before a video can be made, fix this:",
    "",
    ...lines,
    ...(skipped.length > 0 ? ["", `Not checked: ${skipped.join(", ")}.`] : []),
  ].join("\n");
}

/** Takes the key out of the report, and whatever else looks like one: a key may be set in the wrong variable. */
export function redactReport(text: string, key: string | undefined): string {
  const value = key?.trim() ?? "";
  // Another word in place of the key, such as "status", would take the report apart.
  const isLikeKey = value.length <= 512 && (value.startsWith("fl_") || value.length >= 12);
  const redact = createRedact(isLikeKey ? value : undefined);
  return redact(text).replace(/fl_[A-Za-z0-9][\w-]*/g, "[redacted]");
}
