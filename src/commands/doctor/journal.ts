// Checks whether the journal can be written, without making its folder.

import type { Config } from "../../config.ts";
import { stateFolder } from "../state-folder.ts";
import { type Check, pass, warn } from "./check.ts";
import { findFolderProblem } from "./folder.ts";

export async function checkJournal({ stateDir }: Config): Promise<Check> {
  if (stateDir === false)
    return pass("journal", "switched off: after a restart nothing protects against paying or posting twice");
  const folder = stateDir ?? stateFolder();
  const problem = await findFolderProblem(folder);
  if (problem === undefined)
    return pass("journal", `${folder} keeps what was paid and posted, so that nothing is done twice`);
  return warn(
    "journal",
    `${folder} can't be written (${problem}): after a restart nothing protects against paying or posting twice`,
    "Set FACELESS_STATE_DIR to a folder that you can write to",
  );
}
