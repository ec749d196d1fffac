// Makes the code by which a caller confirms that a request is to be sent again. Pure.

import type { JournalEntry } from "./journal.ts";

const CODE_CHARACTERS = 6;

/** Changes with every entry and every outcome that is added, and with nothing else. */
export function fingerprintOf(entries: readonly JournalEntry[]): string {
  return entries.map(({ id, outcome }) => `${id} ${outcome ?? "none"}`).join("\n");
}

/** The code that confirms sending `request` again. It changes with the state of the entries. */
export function confirmationCode(request: readonly string[], entries: readonly JournalEntry[]): string {
  const text = [...request, fingerprintOf(entries)].join("\n");
  // eslint-disable-next-line no-restricted-globals -- loaded on first use: it takes a thirtieth of the start
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(text).digest("hex").slice(0, CODE_CHARACTERS);
}
