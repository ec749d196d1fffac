// Checks whether the journal can be read and written, without making its folder.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../config.ts";
import { stateFolder } from "../state-folder.ts";
import { type Check, fail, pass, reasonOf, warn } from "./check.ts";
import { findFolderProblem, inTime } from "./folder.ts";

const NAME = "journal";

export async function checkJournal(config: Config): Promise<Check> {
  const folder = stateFolder(config);
  if (folder === undefined)
    return config.sandbox
      ? pass(NAME, "the sandbox keeps none")
      : pass(NAME, "switched off: after a restart nothing protects against paying or posting twice");
  const unreadable = await inTime(findUnreadable(folder));
  if (unreadable !== undefined)
    return fail(
      NAME,
      `${folder} or a file in it can't be read: ${unreadable}. Nothing is paid for or posted, since it might have been done already`,
      "Give yourself the right to read it, or set FACELESS_STATE_DIR to another folder",
    );
  const problem = await findFolderProblem(folder);
  if (problem === undefined)
    return pass(NAME, `${folder} keeps what was paid and posted, so that nothing is done twice`);
  return warn(
    NAME,
    `${folder} can't be written: ${problem}. After a restart nothing protects against paying or posting twice`,
    "Set FACELESS_STATE_DIR to a folder that you can write to",
  );
}

/** Why the folder or a file of the journal in it can't be read. What is not there yet holds nothing. */
async function findUnreadable(folder: string): Promise<string | undefined> {
  try {
    const names = (await readdir(folder)).filter((name) => /^journal.*\.jsonl$/.test(name));
    await Promise.all(names.map((name) => readFile(join(folder, name))));
    return undefined;
  } catch (error) {
    const reason = reasonOf(error);
    return /ENOENT|ENOTDIR/.test(reason) ? undefined : reason;
  }
}
