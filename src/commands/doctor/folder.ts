// Checks whether a folder can be written, or created where it is, and so whether videos can be saved. Leaves
// nothing behind.

import { mkdtemp, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../../config.ts";
import { describeFolderError } from "../../saved-videos/video-folder.ts";
import { type Check, pass, warn } from "./check.ts";

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
export function findFolderProblem(folder: string): Promise<string | undefined> {
  return Promise.race([findProblem(folder), sleep(2_000, "no answer within 2 s", { ref: false })]);
}

/** Some systems show only by writing whether writing is allowed. */
async function findProblem(folder: string): Promise<string | undefined> {
  try {
    await rmdir(await mkdtemp(join(folder, "doctor-")));
    return undefined;
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    return isMissing && dirname(folder) !== folder
      ? findProblem(dirname(folder))
      : describeFolderError(error);
  }
}
