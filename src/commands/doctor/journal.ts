// Checks whether the journal can be read and written, and by whom, without making its folder.

import { stat } from "node:fs/promises";
import { systemClock } from "../../clock.ts";
import type { Config } from "../../config.ts";
import { JournalError } from "../../idempotency/errors.ts";
import { Journal } from "../../idempotency/journal.ts";
import { openDisk } from "../../idempotency/journal-files.ts";
import { type Check, fail, type Machine, pass, warn } from "./check.ts";
import { findFolderProblem } from "./folder.ts";

const NAME = "journal";

/** `now` in milliseconds since the epoch. */
export async function checkJournal(
  config: Config,
  { platform }: Pick<Machine, "platform">,
  now: () => number,
): Promise<Check> {
  const { stateDir: folder } = config;
  if (folder === undefined)
    return config.sandbox
      ? pass(NAME, "the sandbox keeps none")
      : pass(NAME, "switched off: after a restart nothing protects against paying or posting twice");
  const journal = new Journal({
    disk: openDisk(folder),
    clock: { ...systemClock, now },
    redact: (line) => line,
    onUnwritable() {},
  });
  const entries = await journal.entries().catch((error: unknown) => {
    if (error instanceof JournalError) return error;
    throw error;
  });
  if (entries instanceof JournalError)
    return fail(
      NAME,
      `it ${entries.problem}. Nothing is paid for or posted, since it might have been done already`,
      `${entries.fix[0]?.toUpperCase()}${entries.fix.slice(1)}`,
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
  return pass(NAME, `${folder} keeps what was paid and posted, so that nothing is done twice`);
}

function mayOthersWrite(folder: string): Promise<boolean> {
  return stat(folder).then(
    ({ mode }) => (mode & 0o022) !== 0,
    () => false,
  );
}
