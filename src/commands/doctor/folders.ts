// Checks the two folders that the server writes to: the journal's, and that of saved videos. Leaves nothing
// behind.

import { mkdtemp, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../clock.ts";
import type { Config } from "../../config.ts";
import { errnoOf } from "../../errors.ts";
import { JournalError } from "../../idempotency/errors.ts";
import { describeFolderError } from "../../saved-videos/video-folder.ts";
import { openJournalStore, readJournal } from "../open-journal.ts";
import { type Check, fail, type HostInfo, pass, warn } from "./check.ts";

const NAME = "journal";

/** Checks whether the journal can be read and written, and by whom, without making its folder. */
export async function checkJournal(
  config: Config,
  { platform, clock }: Pick<HostInfo, "platform"> & { readonly clock: Clock },
): Promise<Check> {
  const { stateDir: folder, sandbox } = config;
  const store = openJournalStore(config, clock);
  if (folder === undefined || store === undefined)
    return sandbox
      ? pass(NAME, "the sandbox keeps none")
      : pass(NAME, "switched off: after a restart nothing protects against paying or posting twice");
  const read = await readJournal(store);
  if (read instanceof JournalError)
    return fail(
      NAME,
      `it ${read.problem}. Nothing is paid for or posted, since it might have been done already`,
      `${read.fix[0]?.toUpperCase()}${read.fix.slice(1)}`,
    );
  const problem = await findFolderProblem(folder);
  if (problem !== undefined)
    return fail(
      NAME,
      `${folder} can't be written: ${problem}. Nothing is paid for or posted, since a repeat would not be noticed`,
      "Give yourself write permission for it, and make sure that the disk has space. FACELESS_STATE_DIR=off switches this guard off",
    );
  if (platform !== "win32" && (await mayOthersWrite(folder)))
    return warn(
      NAME,
      `other users may write to ${folder}, so they could make this server refuse or forget requests`,
      "Run chmod go-w on this folder",
    );
  return pass(
    NAME,
    `${folder} keeps what was paid and posted, so that nothing is done twice. faceless-video-mcp history shows it`,
  );
}

function mayOthersWrite(folder: string): Promise<boolean> {
  return stat(folder).then(
    ({ mode }) => (mode & 0o022) !== 0,
    () => false,
  );
}

/** Nothing where no folder is set. */
export async function checkSavedVideos({ saveDir }: Config): Promise<readonly Check[]> {
  if (saveDir === undefined) return [];
  const name = "saved videos";
  const problem = await findFolderProblem(saveDir);
  if (problem === undefined) return [pass(name, saveDir)];
  const detail = `${saveDir} can't be written: ${problem}. Finished videos are not saved`;
  return [warn(name, detail, "Set FACELESS_SAVE_DIR to a folder that you can write to")];
}

/**
 * Why the folder, or the nearest existing one above it, can't be written; undefined if it can. A disk that
 * does not answer is a problem too.
 */
function findFolderProblem(folder: string): Promise<string | undefined> {
  return Promise.race([findProblem(folder), sleep(2_000, "no answer within 2 s", { ref: false })]);
}

/** Some systems show only by writing whether writing is allowed. */
async function findProblem(folder: string): Promise<string | undefined> {
  try {
    await rmdir(await mkdtemp(join(folder, "doctor-")));
    return undefined;
  } catch (error) {
    return errnoOf(error) === "ENOENT" && dirname(folder) !== folder
      ? findProblem(dirname(folder))
      : describeFolderError(error);
  }
}
