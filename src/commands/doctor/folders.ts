// Checks what the server writes to: the journal's folder or table, and the folder of saved videos. Leaves
// nothing behind.

import { mkdtemp, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Config } from "../../config.ts";
import { errnoOf } from "../../errors.ts";
import { JournalError } from "../../idempotency/errors.ts";
import type { JournalStore } from "../../idempotency/journal.ts";
import { FOREIGN_ROOT, missingFolders } from "../../idempotency/private-folder.ts";
import { describeFolderError } from "../../jobs/save-video.ts";
import { capitalized } from "../../text.ts";
import type { Host } from "../host.ts";
import { openJournal, openJournalStore } from "../open-journal.ts";
import { commandOf } from "../server-entry.ts";
import { type Check, fail, pass, warn } from "./check.ts";

const NAME = "journal";

/** Checks whether the journal can be read and written, without making its folder or table. */
export async function checkJournal(
  config: Config,
  host: Pick<Host, "clock" | "files" | "isOnNpm">,
): Promise<Check> {
  const store = openJournalStore(config, host.clock);
  if (store === undefined)
    return config.startsSandbox
      ? pass(NAME, "the sandbox keeps none")
      : pass(NAME, "switched off: after a restart nothing protects against paying or posting twice");
  const unusable = await findJournalProblem(store, config);
  if (unusable === undefined)
    return pass(
      NAME,
      `${store.place} keeps what was paid and posted, so that nothing is done twice. To see it: ${commandOf("history", host)}`,
    );
  return fail(
    NAME,
    `it ${unusable.problem}. Nothing is paid for or posted, since a repeat would not be noticed`,
    capitalized(unusable.fix),
  );
}

/** The problem is a predicate. */
async function findJournalProblem(
  store: JournalStore,
  config: Config,
): Promise<Pick<JournalError, "problem" | "fix"> | undefined> {
  try {
    await openJournal(store, config).entries();
    await store.rehearse?.();
  } catch (error) {
    if (error instanceof JournalError) return error;
    throw error;
  }
  if (store.rehearse !== undefined) return undefined;
  if (config.makesStateDir && (await isOfOtherUser(store.place)))
    return new JournalError("written", store.place, FOREIGN_ROOT);
  const reason = await findFolderProblem(store.place, config.makesStateDir);
  const fix = "make sure that the folder is there, that you may write to it, and that its disk has space";
  return reason === undefined ? undefined : new JournalError("written", store.place, reason, fix);
}

/** True for root in another user's home. */
function isOfOtherUser(folder: string): Promise<boolean> {
  return missingFolders(folder).then(
    () => false,
    (error: unknown) => error instanceof Error && error.message === FOREIGN_ROOT,
  );
}

/** Checks the folder for videos, if one is set. */
export async function checkSavedVideos({ saveDir }: Config): Promise<readonly Check[]> {
  if (saveDir === undefined) return [];
  const name = "saved videos";
  const problem = await findFolderProblem(saveDir, true);
  if (problem === undefined) return [pass(name, saveDir)];
  const detail = `${saveDir} can't be written: ${problem}. Finished videos are not saved`;
  return [warn(name, detail, "Set FACELESS_SAVE_DIR to a folder that you can write to")];
}

/**
 * Says why the folder can't be written, or if it may be made, the nearest existing one above it; undefined if it
 * can. On some systems only writing shows whether it is allowed.
 */
async function findFolderProblem(folder: string, mayMake: boolean): Promise<string | undefined> {
  try {
    await rmdir(await mkdtemp(join(folder, "doctor-")));
    return undefined;
  } catch (error) {
    return mayMake && errnoOf(error) === "ENOENT" && dirname(folder) !== folder
      ? findFolderProblem(dirname(folder), mayMake)
      : describeFolderError(error);
  }
}
