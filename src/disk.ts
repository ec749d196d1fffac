// What the failures of a disk mean, and how folders are made. Knows nothing of what they hold.

// Not from node:fs/promises, which would be loaded at the start and takes a millisecond.
import { promises as fs } from "node:fs";
import { dirname } from "node:path";
import { errnoOf } from "./errors.ts";

export const DISK_FULL = "the disk is full";
/** Why root makes nothing in another user's home: the user could not use it afterwards. */
const FOREIGN_ROOT = "root would own it in the home folder of another user";

interface DiskFailure {
  /** A clause. */
  readonly meaning: string;
  /** The user's fix, as a clause. */
  readonly fix: string;
  /** Another folder may be usable. */
  readonly isOfPlace?: true;
}

const DENIED: DiskFailure = {
  meaning: "permission denied",
  fix: "give this server the right to",
  isOfPlace: true,
};
const ALL_OPEN: DiskFailure = {
  meaning: "too many files are open",
  fix: "close other programs, which have too many files open",
};
const SPACE = "free some space on its disk";

/** By the codes of operating systems, and reasons of our own. */
const FAILURES: Readonly<Record<string, DiskFailure>> = {
  EACCES: DENIED,
  EPERM: DENIED,
  EROFS: { meaning: "the disk is read-only", fix: "make its disk writable", isOfPlace: true },
  ENOENT: {
    meaning: "the folder is missing",
    fix: "create that folder, or mount the disk that holds it",
    isOfPlace: true,
  },
  ENOTDIR: {
    meaning: "a part of the folder's path is a file",
    fix: "move the file that a part of its path leads to",
    isOfPlace: true,
  },
  EISDIR: {
    meaning: "a folder is in the file's place",
    fix: "put the files that this folder holds in its place",
  },
  ENOSPC: { meaning: DISK_FULL, fix: SPACE },
  [DISK_FULL]: { meaning: DISK_FULL, fix: SPACE },
  EDQUOT: { meaning: "the disk quota is used up", fix: SPACE },
  EMFILE: ALL_OPEN,
  ENFILE: ALL_OPEN,
  EBUSY: { meaning: "another program holds the file", fix: "close the program that holds it" },
  [FOREIGN_ROOT]: {
    meaning: FOREIGN_ROOT,
    fix: "run this without sudo, as the user whose home folder it is",
  },
};

/** The code of the operating system, or a reason of our own. */
export function diskReason(error: unknown): string {
  return errnoOf(error) ?? (error instanceof Error ? error.message : "unknown reason");
}

/** Says why a folder can't be used, as a clause with the system's code. */
export function describeDiskError(error: unknown): string {
  const reason = diskReason(error);
  const meaning = FAILURES[reason]?.meaning ?? "writing to the folder failed";
  return meaning === reason ? meaning : `${meaning} (${reason})`;
}

/** The user's fix, as a clause. `place`: the file or folder. */
export function fixForDisk(use: "read" | "written", reason: string, place: string): string {
  const { fix, meaning } = FAILURES[reason] ?? { fix: "check it and the disk that holds it" };
  if (meaning !== DENIED.meaning) return fix;
  // What another user has made, such as root by sudo.
  const folder = place.replace(/\/journal-[^/]*$/i, "");
  const own = folder.startsWith("/") && !folder.includes("'");
  const command = own ? `, such as with: sudo chown -R "$(id -un)" '${folder}'` : "";
  return `${fix} ${use === "read" ? "read" : "write"} it${command}`;
}

/** True for a folder that can't be made where it is to be. */
export function isOfPlace(reason: string): boolean {
  return FAILURES[reason]?.isOfPlace === true;
}

/**
 * Makes this folder, and those above it that are missing. Rejects as Node's file system does, or with FOREIGN_ROOT, also
 * if the folder is there.
 */
export async function makeFolder(path: string, mode?: number): Promise<void> {
  const missing = await missingFolders(path);
  // Not recursive: Node turns the error of a disk that can't be written into ENOENT, and tries again for ever after one.
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
