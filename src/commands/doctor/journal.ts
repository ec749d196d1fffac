// Checks whether the journal can be read and written, without making its folder.

import type { Config } from "../../config.ts";
import { BridgeError } from "../../errors.ts";
import { Journal, type JournalEntry } from "../../idempotency/journal.ts";
import { describeFolderError } from "../../saved-videos/video-folder.ts";
import { openDisk } from "../../idempotency/journal-files.ts";
import { generationsOfLastDay } from "../../idempotency/same-request.ts";
import { type Check, fail, pass } from "./check.ts";
import { findFolderProblem } from "./folder.ts";

const NAME = "journal";

export async function checkJournal(config: Config): Promise<Check> {
  const { stateDir: folder } = config;
  if (folder === undefined)
    return config.sandbox
      ? pass(NAME, "the sandbox keeps none")
      : pass(NAME, "switched off: after a restart nothing protects against paying or posting twice");
  const entries = await readEntries(folder);
  if (typeof entries === "string")
    return fail(
      NAME,
      `${entries}. Nothing is paid for or posted, since it might have been done already`,
      "Give yourself the right to read it",
    );
  const problem = await findFolderProblem(folder);
  if (problem === undefined)
    return pass(
      NAME,
      `${folder} keeps what was paid and posted, so that nothing is done twice${describeLeft(entries, config.maxGenerations)}`,
    );
  return fail(
    NAME,
    `${folder} can't be written: ${problem}. Nothing is paid for or posted, since a repeat would not be noticed`,
    "Give yourself the right to write it, and the disk some space. FACELESS_STATE_DIR=off switches this guard off",
  );
}

/** The entries, or why they can't be read. What is not there yet holds nothing. */
async function readEntries(folder: string): Promise<readonly JournalEntry[] | string> {
  const journal = new Journal({
    disk: openDisk(folder),
    now: Date.now,
    redact: (line) => line,
    onUnwritable() {},
  });
  return journal.entries().catch((error: unknown) =>
    error instanceof BridgeError
      ? // The doctor sends nothing anyway.
        error.facts.message.replace(/, so nothing was sent\.$/, "")
      : describeFolderError(error),
  );
}

function describeLeft(entries: readonly JournalEntry[], max: number | undefined): string {
  if (max === undefined) return "";
  const left = Math.max(0, max - generationsOfLastDay(entries, Date.now()));
  return `; FACELESS_MAX_GENERATIONS leaves ${left} of ${max} videos in these 24 hours`;
}
