// Checks what the server writes to: the journal's folder or table, and the folder of saved videos. Leaves
// nothing behind.

import { mkdtemp, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../clock.ts";
import type { Config } from "../../config.ts";
import { errnoOf } from "../../errors.ts";
import { folderOpenToOthers } from "../../folder-access.ts";
import { JournalError } from "../../idempotency/errors.ts";
import { JournalPostgres } from "../../idempotency/journal-postgres.ts";
import { describeFolderError } from "../../saved-videos/video-folder.ts";
import { openJournalStore, readJournal } from "../open-journal.ts";
import { type Check, fail, type HostInfo, pass, warn } from "./check.ts";

const NAME = "journal";

/** Checks whether the journal can be read and written, and by whom, without making its folder or table. */
export async function checkJournal(
  config: Config,
  { platform, clock }: Pick<HostInfo, "platform"> & { readonly clock: Clock },
): Promise<Check> {
  const store = openJournalStore(config, clock);
  if (store === undefined)
    return config.sandbox
      ? pass(NAME, "the sandbox keeps none")
      : pass(NAME, "switched off: after a restart nothing protects against paying or posting twice");
  const read = await readJournal(store);
  if (read instanceof JournalError)
    return fail(
      NAME,
      `it ${read.problem}. Nothing is paid for or posted, since it might have been done already`,
      `${read.fix[0]?.toUpperCase()}${read.fix.slice(1)}`,
    );
  const { place } = store;
  const isTable = store instanceof JournalPostgres;
  const unwritable = isTable
    ? await findLackOfRights(store)
    : await findLackOfFolder(place, config.makesStateDir);
  if (unwritable !== undefined)
    return fail(
      NAME,
      `${place} ${unwritable.problem}. Nothing is paid for or posted, since a repeat would not be noticed`,
      unwritable.fix,
    );
  const open = isTable || platform === "win32" ? undefined : await findOpenFolder(place);
  if (open !== undefined)
    return warn(
      NAME,
      `other users may write to ${open}, so they could make this server refuse or forget requests`,
      "Run chmod go-w on this folder",
    );
  return pass(
    NAME,
    `${place} keeps what was paid and posted, so that nothing is done twice. faceless-video-mcp history shows it`,
  );
}

/** Why nothing can be written, as a predicate. */
type Lack = { readonly problem: string; readonly fix: string } | undefined;

async function findLackOfFolder(folder: string, mayMake: boolean): Promise<Lack> {
  const problem = await findFolderProblem(folder, mayMake);
  const fix =
    "Make sure that the folder is there, that you may write to it, and that its disk has space. FACELESS_STATE_DIR=off switches this guard off";
  return problem === undefined ? undefined : { problem: `can't be written: ${problem}`, fix };
}

/** What the user of a table that can be read, or is missing, lacks to write it. */
async function findLackOfRights(table: JournalPostgres): Promise<Lack> {
  const { role, isReadOnly, mayCreate, mayInsert } = await table.rights();
  if (isReadOnly)
    return {
      problem: "can only be read",
      fix: "Name a database in FACELESS_JOURNAL_URL that can be written",
    };
  if (mayInsert === false)
    return {
      problem: `can't be written: ${role} may not insert into it`,
      fix: `As its owner, run: grant select, insert on public.faceless_journal to ${role}`,
    };
  if (mayInsert === null && !mayCreate)
    return {
      problem: `is missing, and ${role} may not make it`,
      fix: `As the owner of the database, make it as docs/GATEWAYS.md shows, or run: grant create on schema public to ${role}`,
    };
  return undefined;
}

/** The folder through which other users can change the journal; undefined if it is not there yet. */
async function findOpenFolder(place: string): Promise<string | undefined> {
  try {
    return folderOpenToOthers(place, (await stat(place)).uid);
  } catch {
    return undefined;
  }
}

/** Nothing where no folder is set. */
export async function checkSavedVideos({ saveDir }: Config): Promise<readonly Check[]> {
  if (saveDir === undefined) return [];
  const name = "saved videos";
  const problem = await findFolderProblem(saveDir, true);
  if (problem === undefined) return [pass(name, saveDir)];
  const detail = `${saveDir} can't be written: ${problem}. Finished videos are not saved`;
  return [warn(name, detail, "Set FACELESS_SAVE_DIR to a folder that you can write to")];
}

/**
 * Why the folder, or if it may be made the nearest existing one above it, can't be written; undefined if it
 * can. A disk that does not answer is a problem too.
 */
function findFolderProblem(folder: string, mayMake: boolean): Promise<string | undefined> {
  return Promise.race([findProblem(folder, mayMake), sleep(2_000, "no answer within 2 s", { ref: false })]);
}

/** Some systems show only by writing whether writing is allowed. */
async function findProblem(folder: string, mayMake: boolean): Promise<string | undefined> {
  try {
    await rmdir(await mkdtemp(join(folder, "doctor-")));
    return undefined;
  } catch (error) {
    return mayMake && errnoOf(error) === "ENOENT" && dirname(folder) !== folder
      ? findProblem(dirname(folder), mayMake)
      : describeFolderError(error);
  }
}
