// Makes folders, flushes files, and says what the failures of a disk mean. Knows nothing of what lies on it.

// Not from node:fs/promises, which would be loaded at the start and takes a millisecond.
import { promises as fs } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { errnoOf } from "./errors.ts";

/** Why root makes nothing in another user's home: the user could not use it afterwards. */
const FOREIGN_ROOT = "root would own it in the home folder of another user";

const DENIED = ["permission denied", "give this server the right to"] as const;
const ALL_OPEN = ["too many files are open", "close other programs, which have too many files open"] as const;
const SPACE = "free some space on its disk";

/** What they mean, and the user's fix, as clauses, by the system's codes and reasons of our own. */
const FAILURES: Readonly<Record<string, readonly [meaning: string, fix: string]>> = {
  EACCES: DENIED,
  EPERM: DENIED,
  EROFS: ["the disk is read-only", "make its disk writable"],
  ENOENT: ["the folder is missing", "create that folder, or mount the disk that holds it"],
  ENOTDIR: ["a part of the folder's path is a file", "move the file that a part of its path leads to"],
  EISDIR: ["a folder is in the file's place", "put the files that this folder holds in its place"],
  ENOSPC: ["the disk is full", SPACE],
  EDQUOT: ["the disk quota is used up", SPACE],
  EMFILE: ALL_OPEN,
  ENFILE: ALL_OPEN,
  EBUSY: ["another program holds the file", "close the program that holds it"],
  [FOREIGN_ROOT]: [FOREIGN_ROOT, "run this without sudo, as the user whose home folder it is"],
};
/** Reasons that another folder may not have. */
export const OF_PLACE: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EROFS", "ENOENT", "ENOTDIR"]);

/** The code of the operating system, or a reason of our own. */
export function diskReason(error: unknown): string {
  return errnoOf(error) ?? (error instanceof Error ? error.message : "unknown reason");
}

/** Says why a file or folder can't be used, as a clause with the system's code. */
export function describeDiskError(error: unknown): string {
  const reason = diskReason(error);
  const [meaning] = FAILURES[reason] ?? ["the disk failed"];
  return meaning === reason ? meaning : `${meaning} (${reason})`;
}

/** The user's fix, as a clause. `place`: the file or folder. */
export function fixForDisk(use: "read" | "written", reason: string, place: string): string {
  const failure = FAILURES[reason];
  if (failure !== DENIED) return failure?.[1] ?? "check it and the disk that holds it";
  // Another user has made it, such as root by sudo.
  const folder = place.replace(/\/journal-[^/]*$/i, "");
  const own = folder.startsWith("/") && !folder.includes("'");
  const command = own ? `, such as with: sudo chown -R "$(id -un)" '${folder}'` : "";
  return `${DENIED[1]} ${use === "read" ? "read" : "write"} it${command}`;
}

/** Makes this folder and those above it. Rejects as Node does, or with FOREIGN_ROOT, even if it is there. */
export async function makeFolder(path: string, mode?: number): Promise<void> {
  const missing = await missingFolders(path);
  // Not recursive: on a read-only disk Node would report ENOENT, and after an ENOENT it retries forever.
  for (const folder of missing)
    // eslint-disable-next-line no-await-in-loop -- each lies in the one before
    await fs.mkdir(folder, { mode }).catch((error: unknown) => {
      if (errnoOf(error) !== "EEXIST") throw error;
    });
}

/** The folders to be made, the outermost first. Rejects with FOREIGN_ROOT. */
export async function missingFolders(path: string): Promise<readonly string[]> {
  const stats = await orMissing(undefined, fs.stat(path));
  if (stats === undefined && dirname(path) !== path) return [...(await missingFolders(dirname(path))), path];
  // eslint-disable-next-line no-restricted-globals -- who this process runs as is nobody's setting
  const isRoot = process.geteuid?.() === 0;
  if (isRoot && stats !== undefined && stats.uid !== 0) throw new Error(FOREIGN_ROOT);
  return [];
}

export function orMissing<Found, Missing>(
  missing: Missing,
  reading: Promise<Found>,
): Promise<Found | Missing> {
  return reading.catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT") return missing;
    throw error;
  });
}

/** Network drives, FUSE and shared folders of virtual machines can't flush, each with its own error. */
const CANT_FLUSH = /^E(?:ACCES|INVAL|NOSYS|NOTSUP|NOTTY|PERM)$/;

/** Resolves when the file's bytes are on its disk, or with its file system alone if that is all it can do. */
export async function flush(file: Pick<FileHandle, "sync">): Promise<void> {
  await file.sync().catch((error: unknown) => {
    if (!CANT_FLUSH.test(errnoOf(error) ?? "")) throw error;
  });
}
