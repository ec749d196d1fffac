// Checks what the server writes to: the journal's folder or table, and the folder of saved videos. Leaves
// nothing behind.

import { promises as fs } from "node:fs";
import { dirname } from "node:path";
import type { Config } from "../../config.ts";
import { describeDiskError, openPrivateFolder } from "../../disk.ts";
import { JournalError } from "../../idempotency/errors.ts";
import { inSentences } from "../../sentences.ts";
import { capitalized } from "../../text.ts";
import type { Host } from "../host.ts";
import { openJournal, openJournalStore, orJournalError } from "../open-journal.ts";
import { commandOf } from "../server-entry.ts";
import { type Check, fail, pass, warn } from "./check.ts";

const NAME = "journal";

/** Checks whether the journal can be read and written, without making its folder or table. */
export async function checkJournal(config: Config, host: Host): Promise<Check> {
  const store = openJournalStore(config, host.clock);
  if (store === undefined)
    return config.startsSandbox
      ? pass(NAME, "the sandbox keeps none")
      : pass(NAME, "switched off: after a restart nothing protects against paying or posting twice");
  const tried = openJournal(store, config, host.clock)
    .entries()
    .then(() => store.rehearse?.());
  const unusable = await orJournalError(tried);
  if (unusable instanceof JournalError) {
    const detail = `it ${unusable.problem}. Nothing is paid for or posted, since a repeat would not be noticed`;
    return fail(NAME, detail, capitalized(unusable.fix));
  }
  const { journalUrl, stateDir = "" } = config;
  if (journalUrl === undefined && (await isShared(stateDir)))
    return warn(
      NAME,
      inSentences(
        `${store.place} lies on a network or synchronised disk.`,
        "Several computers that use it pay and post twice, and lose what was recorded",
      ),
      "Let one computer alone use this folder, and set FACELESS_JOURNAL_URL for several",
    );
  const kept = `${store.place} keeps what was paid and posted, so that nothing is done twice`;
  return pass(NAME, `${kept}. To see it: ${commandOf("history", host)}`);
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

/** NFS, SMB (3), FUSE, 9P, Ceph, AFS, Lustre, GFS2, OCFS2, VirtualBox and VMware, as Linux numbers them. */
const SHARED_DISKS: ReadonlySet<number> = new Set([
  0x6969, 0x517b, 0xfe534d42, 0xff534d42, 0x65735546, 0x01021997, 0x00c36400, 0x5346414f, 0x0bd00bd0,
  0x01161970, 0x7461636f, 0x786f4256, 0xbacbacbc,
]);
/** A part of a path that a synchronising program or a network drive has made. */
const SHARED_PATH =
  /^[\\/]{2}[^\\/]|[\\/](?:CloudStorage|Mobile Documents)(?=[\\/]|$)|Dropbox|OneDrive|Google ?Drive|iCloud|Nextcloud|ownCloud/i;

/** True if several computers may share the folder. */
async function isShared(folder: string): Promise<boolean> {
  const existing = fs.realpath(folder).catch(() => fs.realpath(dirname(folder)));
  const path = await existing.catch(() => folder);
  const disk = await fs.statfs(path).catch(() => undefined);
  return SHARED_PATH.test(path) || (disk !== undefined && SHARED_DISKS.has(disk.type));
}
