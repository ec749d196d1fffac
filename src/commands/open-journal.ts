// Opens the journal that the settings name: the same one for the server and for commands that only read it.

import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import { JournalError } from "../idempotency/errors.ts";
import { Journal, type JournalStore } from "../idempotency/journal.ts";
import { JournalFiles } from "../idempotency/journal-files.ts";
import { JournalPostgres } from "../idempotency/journal-postgres.ts";
import { openPrivateFolder } from "../disk.ts";

/** Where the journal is kept; undefined if the settings keep none. */
export function openJournalStore(
  { journalUrl, stateDir, makesStateDir }: Pick<Config, "journalUrl" | "stateDir" | "makesStateDir">,
  clock: Clock,
): JournalStore | undefined {
  const folder = stateDir === undefined ? undefined : openPrivateFolder(stateDir, { mayMake: makesStateDir });
  const files = folder && new JournalFiles(folder, clock);
  if (journalUrl === undefined) return files;
  return new JournalPostgres(journalUrl, clock, files);
}

/** Resolves to the error if the journal can't be used. */
export function orJournalError<Value>(work: Promise<Value>): Promise<Value | JournalError> {
  return work.catch((error: unknown) => {
    if (error instanceof JournalError) return error;
    throw error;
  });
}

/** Opens the journal for a command that adds nothing. */
export function openJournal(store: JournalStore, { sandbox }: Config, clock: Clock): Journal {
  return new Journal({ store, isSandbox: sandbox, clock, redact: (line) => line, onUnwritable() {} });
}
