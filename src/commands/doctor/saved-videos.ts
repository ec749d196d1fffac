// Checks whether finished videos can be saved.

import type { Config } from "../../config.ts";
import { type Check, pass, warn } from "./check.ts";
import { findFolderProblem } from "./folder.ts";

const NAME = "saved videos";

/** Nothing where no folder is set. */
export async function checkSavedVideos({ saveDir }: Config): Promise<readonly Check[]> {
  if (saveDir === undefined) return [];
  const problem = await findFolderProblem(saveDir);
  if (problem !== undefined)
    return [
      warn(
        NAME,
        `${saveDir} can't be written: ${problem}. Finished videos are not saved`,
        "Set FACELESS_SAVE_DIR to a folder that you can write to",
      ),
    ];
  return [pass(NAME, saveDir)];
}
