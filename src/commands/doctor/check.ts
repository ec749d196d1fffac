// The result of one of doctor's checks, and how they are shown. Pure.

import { createRedact } from "../../redact.ts";
import { cleanServiceText } from "../../text.ts";

export interface Check {
  readonly name: string;
  /** `fail`: no video can be made. `skip`: it isn't known. `warn`: one can, but something is wrong. */
  readonly status: "ok" | "warn" | "skip" | "fail";
  /** The finding, without a full stop. */
  readonly detail: string;
  /** The fix, in whole sentences, or up to the command. */
  readonly fix?: string;
  readonly command?: string;
}

/** Characters, enough for a sentence with a few paths. */
const MAX_CHARS = 1_000;

/** Names in entries come from outside, and must not add lines, colours or pages of their own. */
const clean = (text: string) => cleanServiceText(text, MAX_CHARS);

export const pass = (name: string, detail: string): Check => ({
  name: clean(name),
  status: "ok",
  detail: clean(detail),
});

/** `fix` has no full stop. */
const finding =
  (status: Check["status"]) =>
  (name: string, detail: string, fix: string, command?: string): Check => ({
    ...pass(name, detail),
    status,
    ...(command === undefined ? { fix: clean(`${fix}.`) } : { fix: clean(`${fix}:`), command }),
  });
export const warn = finding("warn");
export const skip = finding("skip");
export const fail = finding("fail");

/** The check that fails if the server has no tool that makes a video. */
export const READ_ONLY = "--read-only";

const MARKS = {
  ok: "\u001B[32m✔\u001B[0m",
  warn: "\u001B[33m!\u001B[0m",
  skip: "\u001B[33m?\u001B[0m",
  fail: "\u001B[31m✖\u001B[0m",
};

/**
 * Says first what to fix, then what is fine. `ok`: a video could be made. `skipped`: the names of the checks that
 * need one that failed. `title`: the application whose entry was checked, if any.
 */
export function formatReport(
  { ok, checks, skipped }: Readonly<{ ok: boolean; checks: readonly Check[]; skipped: readonly string[] }>,
  title: string | undefined,
  colours: boolean,
): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const line = ({ name, status, detail, fix, command }: Check) => {
    const start = `${colours ? MARKS[status] : status.padEnd(4)}  ${name.padEnd(width)}  `;
    if (fix === undefined) return `${start}${detail}`;
    const indent = " ".repeat((colours ? 1 : 4) + 2 + width + 2);
    return [`${start}${fix}`, command ?? [], `(${detail})`].flat().join(`\n${indent}`);
  };
  const lines = (["fail", "skip", "warn", "ok"] as const).flatMap((status) =>
    checks.filter((check) => check.status === status).map(line),
  );
  const isCertain = !skipped.includes("key") && checks.every(({ name }) => name !== READ_ONLY);
  const restart = title === undefined ? "" : ` and restart ${title}`;
  const headline = () => {
    if (!ok) return `Before a video can be made, fix this${restart}:`;
    if (checks.some(({ status }) => status === "skip"))
      return "Nothing was found that stops this server, but this was not checked:";
    return isCertain ? "A video can be made." : "Nothing was found that stops this server.";
  };
  return [
    headline(),
    "",
    ...lines,
    ...(skipped.length > 0 ? ["", `Not checked: ${skipped.join(", ")}.`] : []),
  ].join("\n");
}

/** Removes these keys, and what looks like one in the wrong variable. The sandbox's is public. */
export function redactReport(text: string, keys: readonly (string | undefined)[]): string {
  // A word set as the key, such as "status", would be removed from the report itself.
  const known = keys.map((key = "") => key.trim()).filter((key) => key.startsWith("fl_"));
  const redacted = known.reduce((rest, key) => createRedact(key)(rest), text);
  return redacted.replace(/fl_(?!sandbox\b)[A-Za-z0-9][\w-]*/g, "[redacted]");
}
