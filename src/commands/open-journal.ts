// Opens the journal that the settings name: the same one for the server and for commands that only read it.

import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import { JournalError } from "../idempotency/errors.ts";
import { Journal, type JournalStore } from "../idempotency/journal.ts";
import { JournalFiles } from "../idempotency/journal-files.ts";
import { JournalPostgres } from "../idempotency/journal-postgres.ts";
import { openPrivateFolder } from "../private-folder.ts";

/** Where the journal is kept; undefined where the settings keep none. */
export function openJournalStore(
  { journalUrl, stateDir, makesStateDir }: Pick<Config, "journalUrl" | "stateDir" | "makesStateDir">,
  clock: Clock,
): JournalStore | undefined {
  if (journalUrl !== undefined) return new JournalPostgres(journalUrl, clock);
  if (stateDir === undefined) return undefined;
  return new JournalFiles(openPrivateFolder(stateDir, { mayMake: makesStateDir }), clock);
}

/** What the journal holds, for a command that adds nothing, or why it can't be read. */
export async function readJournal(store: JournalStore) {
  const journal = new Journal({ store, redact: (line) => line, onUnwritable() {} });
  try {
    return { journal, entries: await journal.entries() };
  } catch (error) {
    if (error instanceof JournalError) return error;
    throw error;
  }
}
