// The result of one of doctor's checks, the computer that they look at, and how they are shown. Pure.

import type { Environment } from "../../config.ts";
import { createRedact } from "../../redact.ts";
import { cleanServiceText, stripUnsafeCharacters } from "../../text.ts";

export interface Check {
  readonly name: string;
  /** `fail`: no video can be made. `skip`: not checked, so one may. `warn`: one can, but something is wrong. */
  readonly status: "ok" | "warn" | "skip" | "fail";
  /** The finding, without a full stop. */
  readonly detail: string;
  /** The fix, without a full stop. */
  readonly fix?: string;
}

/** The computer, and the terminal that doctor was started in. */
export interface HostInfo {
  readonly env: Environment;
  /** The folder that `~` stands for. */
  readonly homeDir: string;
  /** The folder of the project, if there is one. */
  readonly workingDir: string;
  readonly platform: NodeJS.Platform;
}

const finding =
  (status: Check["status"]) =>
  (name: string, detail: string, fix: string): Check => ({ name, status, detail, fix });

export const pass = (name: string, detail: string): Check => ({ name, status: "ok", detail });
export const warn = finding("warn");
export const skip = finding("skip");
export const fail = finding("fail");

/** The check that says that the server has no tool that makes a video. */
export const READ_ONLY = "--read-only";

/** Names in entries come from outside, and must not add lines, colours or pages of their own. */
export function cleanCheck({ name, status, detail, fix }: Check): Check {
  const clean = (text: string) => cleanServiceText(text, MAX_SENTENCE);
  return { name, status, detail: clean(detail), ...(fix !== undefined && { fix: clean(fix) }) };
}

/** Characters, enough for a sentence with a few paths. */
const MAX_SENTENCE = 1_000;

const MARKS = {
  ok: "\u001B[32m✔\u001B[0m",
  warn: "\u001B[33m!\u001B[0m",
  skip: "\u001B[33m?\u001B[0m",
  fail: "\u001B[31m✖\u001B[0m",
};

export interface Report {
  /** A video could be made. */
  readonly ok: boolean;
  readonly checks: readonly Check[];
  /** The names of checks that need one that failed. */
  readonly skipped: readonly string[];
}

/** Formats the report on the entry of the application `title`, or on this terminal: first what to fix, then what is fine. */
export function formatReport(
  { ok, checks, skipped }: Report,
  title: string | undefined,
  colours: boolean,
): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const line = ({ name, status, detail, fix }: Check) => {
    const start = `${colours ? MARKS[status] : status.padEnd(4)}  ${name.padEnd(width)}  `;
    if (fix === undefined) return `${start}${detail}`;
    const indent = " ".repeat((colours ? 1 : 4) + 2 + width + 2);
    return `${start}${fix}.\n${indent}(${detail})`;
  };
  const lines = (["fail", "skip", "warn", "ok"] as const).flatMap((status) =>
    checks.filter((check) => check.status === status).map(line),
  );
  return [
    headline({ ok, checks, skipped }, title),
    "",
    ...lines,
    ...(skipped.length > 0 ? ["", `Not checked: ${skipped.join(", ")}.`] : []),
  ].join("\n");
}

function headline({ ok, checks, skipped }: Report, title: string | undefined): string {
  const isCertain = !skipped.includes("key") && checks.every(({ name }) => name !== READ_ONLY);
  const isChecked = checks.every(({ status }) => status !== "skip");
  if (ok && isCertain && isChecked) return "A video can be made.";
  if (ok) return `Nothing was found that stops this server${isChecked ? "." : ", but this was not checked:"}`;
  const restart = title === undefined ? "" : ` and restart ${title}`;
  return `Before a video can be made, fix this${restart}:`;
}

/** Removes the keys of these environments and whatever looks like one: a key may be in the wrong variable. */
export function redactReport(text: string, environments: readonly Environment[]): string {
  const values = environments.map((env) => stripUnsafeCharacters(env["FACELESS_API_KEY"] ?? "").trim());
  // A short word set as the key, such as "status", would be removed from the report itself.
  const likeKeys = values.filter(
    (value) => value.length <= 512 && (value.startsWith("fl_") || value.length >= 12),
  );
  const redacted = likeKeys.reduce((rest, value) => createRedact(value)(rest), text);
  // The sandbox's key is public.
  return redacted.replace(/fl_(?!sandbox\b)[A-Za-z0-9][\w-]*/g, "[redacted]");
}
