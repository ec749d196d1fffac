// Checks whether finished videos can be saved, and whether the user will find them.

import { access } from "node:fs/promises";
import type { Config } from "../../config.ts";
import { type Check, pass, warn } from "./check.ts";
import { findFolderProblem } from "./folder.ts";

const NAME = "saved videos";
/** Docker makes the one, Podman the other. */
const CONTAINER_MARKS = ["/.dockerenv", "/run/.containerenv"];

/** Nothing where no folder is set. */
export async function checkSavedVideos(
  { saveDir }: Config,
  containerMarks: readonly string[] = CONTAINER_MARKS,
): Promise<readonly Check[]> {
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
  const isInContainer = await Promise.any(containerMarks.map((path) => access(path))).then(
    () => true,
    () => false,
  );
  const remark = ", in this container: mount a folder of your computer there, or the videos go with it";
  return [pass(NAME, `${saveDir}${isInContainer ? remark : ""}`)];
}
