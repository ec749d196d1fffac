// Checks what the server writes to: the journal's folder or table, and the folder of saved videos. Leaves
// nothing behind.

import { promises as fs } from "node:fs";
import { dirname } from "node:path";
import type { Config } from "../../config.ts";
import { describeDiskError } from "../../disk.ts";
import { JournalError } from "../../idempotency/errors.ts";
import type { JournalStore } from "../../idempotency/journal.ts";
import { openPrivateFolder } from "../../idempotency/private-folder.ts";
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
  const unusable = await findJournalProblem(store, config, host);
  if (unusable !== undefined)
    return fail(
      NAME,
      `it ${unusable.problem}. Nothing is paid for or posted, since a repeat would not be noticed`,
      capitalized(unusable.fix),
    );
  const { journalUrl, stateDir = "" } = config;
  const sharing = journalUrl === undefined ? await findSharing(stateDir) : undefined;
  if (sharing !== undefined)
    return warn(
      NAME,
      `${store.place} lies on a network or synchronised disk (${sharing}). Several computers that use it pay and post twice, and lose what was recorded`,
      "Let one computer alone use this folder, and set FACELESS_JOURNAL_URL for several",
    );
  return pass(
    NAME,
    `${store.place} keeps what was paid and posted, so that nothing is done twice. To see it: ${commandOf("history", host)}`,
  );
}

/** The problem is a predicate. */
async function findJournalProblem(
  store: JournalStore,
  config: Config,
  host: Pick<Host, "clock">,
): Promise<Pick<JournalError, "problem" | "fix"> | undefined> {
  try {
    await openJournal(store, config, host.clock).entries();
    await store.rehearse?.();
    return undefined;
  } catch (error) {
    if (error instanceof JournalError) return error;
    throw error;
  }
}

/** Checks the folder for videos, if one is set. */
export async function checkSavedVideos({ saveDir }: Config): Promise<readonly Check[]> {
  if (saveDir === undefined) return [];
  const name = "saved videos";
  // Root may use another user's folder that is there, as in a container, but makes none.
  const isThere = await fs.stat(saveDir).catch(() => undefined);
  try {
    await openPrivateFolder(saveDir, { mayMake: isThere === undefined }).rehearse();
    return [pass(name, saveDir)];
  } catch (error) {
    const detail = `${saveDir} can't be written: ${describeDiskError(error)}. Finished videos are not saved`;
    return [warn(name, detail, "Set FACELESS_SAVE_DIR to a folder that you can write to")];
  }
}

/** The types of file systems that several computers can share, as Linux numbers them. */
const SHARED_DISKS: Readonly<Record<number, string>> = {
  0x6969: "NFS",
  0x517b: "SMB",
  0xfe534d42: "SMB",
  0xff534d42: "SMB",
  0x65735546: "FUSE",
  0x01021997: "9P",
  0x00c36400: "Ceph",
  0x5346414f: "AFS",
  0x0bd00bd0: "Lustre",
  0x01161970: "GFS2",
  0x7461636f: "OCFS2",
  0x786f4256: "VirtualBox",
  0xbacbacbc: "VMware",
};
/** A part of a path that a synchronising program or a network drive has made. */
const SHARED_PATH =
  /^[\\/]{2}[^\\/]+|(?<=[\\/])(?:CloudStorage|Mobile Documents|[^\\/]*(?:Dropbox|OneDrive|Google ?Drive|iCloud|Nextcloud|ownCloud)[^\\/]*)(?=[\\/]|$)/i;

/** What shows that several computers may share the folder, if something does. */
async function findSharing(folder: string): Promise<string | undefined> {
  const existing = fs.realpath(folder).catch(() => fs.realpath(dirname(folder)));
  const path = await existing.catch(() => folder);
  const disk = await fs.statfs(path).then(
    ({ type }) => SHARED_DISKS[type],
    () => undefined,
  );
  return disk ?? SHARED_PATH.exec(path)?.[0];
}
