// How doctor's checks are shown: a line each in plain text, with marks and colours in a terminal, or all at once as JSON.

import { createRedact, type Redact } from "../../redact.ts";
import type { Check, CheckStatus } from "./check.ts";

export interface Report {
  add(check: Check): void;
  /** Says what it comes to. False where no video could be made. */
  end(): boolean;
}

export interface ReportOptions {
  readonly json: boolean;
  /** For a person at a terminal that shows colours. */
  readonly decorated: boolean;
  /** Gets whole lines, without their line break. */
  readonly print: (line: string) => void;
}

const NAME_WIDTH = "FACELESS_SANDBOX_SECONDS".length;
const WORDS: Record<CheckStatus, string> = { ok: "ok", warn: "warn", fail: "fail", skipped: "skip" };
const MARKS: Record<CheckStatus, string> = {
  ok: "\u001B[32m✔\u001B[0m",
  warn: "\u001B[33m!\u001B[0m",
  fail: "\u001B[31m✖\u001B[0m",
  skipped: "\u001B[2m–\u001B[0m",
};

export function createReport({ json, decorated, print }: ReportOptions): Report {
  const checks: Check[] = [];
  const line = ({ name, status, detail, fix }: Check) => {
    const mark = decorated ? MARKS[status] : WORDS[status].padEnd(4);
    const advice = fix === undefined ? "" : decorated ? `\n    → ${fix}.` : ` ${fix}.`;
    return `${mark}  ${name.padEnd(NAME_WIDTH)}  ${detail}.${advice}`;
  };
  return {
    add(check) {
      checks.push(check);
      if (!json) print(line(check));
    },
    end() {
      const ok = checks.every(({ status }) => status !== "fail");
      if (json) print(JSON.stringify({ ok, checks }, undefined, 2));
      else
        print(
          ok
            ? "\nA video can be made."
            : `\nNo video can be made before this is mended: ${checks
                .filter(({ status }) => status === "fail")
                .map(({ name }) => name)
                .join(", ")}.`,
        );
      return ok;
    },
  };
}

/** Takes the key out of all that is printed, and whatever else looks like one: a key may stand in the wrong variable. */
export function createReportRedact(key: string | undefined): Redact {
  const value = key?.trim() ?? "";
  // Redaction is for keys: a word such as "status" in their place would take the report apart.
  const isLikeKey = value.length <= 512 && (value.startsWith("fl_") || value.length >= 12);
  const redact = createRedact(isLikeKey ? value : undefined);
  return (text) => redact(text).replace(/fl_[A-Za-z0-9][\w-]*/g, "[redacted]");
}
