// Keeps files that this user alone may read, makes folders, flushes files, and says what a disk's failures
// mean. Knows nothing of what the files hold.

// Not from node:fs/promises, which would be loaded at the start and takes a millisecond.
import { promises as fs } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errnoOf } from "./errors.ts";

/** Why root makes nothing in another user's home: the user could not use it afterwards. */
const FOREIGN_ROOT = "root would own it in the home folder of another user";

const DENIED = ["permission denied", "give this server the right to"] as const;
const ALL_OPEN = ["too many files are open", "close other programs, which have too many files open"] as const;
const FREE_SPACE = "free some space on its disk";

/** Meaning and fix, as clauses, by the system's error codes and our own reasons. */
const FAILURES: Readonly<Record<string, readonly [meaning: string, fix: string]>> = {
  EACCES: DENIED,
  EPERM: DENIED,
  EROFS: ["the disk is read-only", "make its disk writable"],
  ENOENT: ["the folder is missing", "create that folder, or mount the disk that holds it"],
  ENOTDIR: ["a part of the folder's path is a file", "move the file that a part of its path leads to"],
  EISDIR: ["a folder is in the file's place", "put the files that this folder holds in its place"],
  ENOSPC: ["the disk is full", FREE_SPACE],
  EDQUOT: ["the disk quota is used up", FREE_SPACE],
  EMFILE: ALL_OPEN,
  ENFILE: ALL_OPEN,
  EBUSY: ["another program holds the file", "close the program that holds it"],
  [FOREIGN_ROOT]: [FOREIGN_ROOT, "run this without sudo, as the user whose home folder it is"],
};
/** Reasons that choosing another folder may fix. */
export const FOLDER_REASONS: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EROFS", "ENOENT", "ENOTDIR"]);

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
async function missingFolders(path: string): Promise<readonly string[]> {
  const stats = await orMissing(undefined, fs.stat(path));
  if (stats === undefined && dirname(path) !== path) return [...(await missingFolders(dirname(path))), path];
  // eslint-disable-next-line no-restricted-globals -- who this process runs as is nobody's setting
  const isRoot = process.geteuid?.() === 0;
  if (isRoot && stats !== undefined && stats.uid !== 0) throw new Error(FOREIGN_ROOT);
  return [];
}

function orMissing<Found, Missing>(missing: Missing, reading: Promise<Found>): Promise<Found | Missing> {
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

const PRIVATE = 0o700;
const READS_DIFFERENTLY = "its disk gives back something else than was written";
const LINE = "This server tries whether it can write here.\n";

export type PrivateFolder = ReturnType<typeof openPrivateFolder>;

/**
 * The folder at an absolute path. One that the user has set is not made, and is an error while it is missing:
 * its disk may not be mounted yet. Rejects as Node's file system does.
 */
export function openPrivateFolder(path: string, { mayMake = true } = {}) {
  return {
    path,
    /** By name, the versions of files, which change with them. A link whose file is missing has none. */
    async list(isWanted: (name: string) => boolean): Promise<ReadonlyMap<string, string | undefined>> {
      const versions = new Map<string, string | undefined>();
      const names = await (mayMake ? orMissing([], fs.readdir(path)) : fs.readdir(path));
      const look = async (name: string) => {
        // A file may have gone since.
        const stats = await orMissing(undefined, fs.stat(join(path, name)));
        const link = stats ?? (await orMissing(undefined, fs.lstat(join(path, name))));
        if (stats !== undefined) versions.set(name, `${stats.ino} ${stats.size} ${stats.mtimeMs}`);
        else if (link?.isSymbolicLink() === true) versions.set(name, undefined);
      };
      await Promise.all(names.filter(isWanted).map(look));
      return versions;
    },
    /** Gives every byte of the file from `start` on; undefined if it is missing. */
    read: (name: string, start: number): Promise<Buffer | undefined> =>
      orMissing(undefined, readFrom(join(path, name), start)),
    /** Resolves when the text is on disk. Makes the file if it is missing, and the folder if it may. */
    async append(name: string, text: string): Promise<void> {
      if (mayMake) await makeFolder(path, PRIVATE);
      await appendTo(join(path, name), text);
    },
    remove: (name: string): Promise<void> => fs.unlink(join(path, name)),
    /** True if the folder may be made and isn't there, as far as this user can see. */
    isUnmade: async (): Promise<boolean> =>
      mayMake && (await fs.stat(path).catch(() => undefined)) === undefined,
    /** Writes a line here, or into the nearest folder if this may be made, reads it back and removes it. */
    async rehearse(): Promise<void> {
      const [outermost] = mayMake ? await missingFolders(path) : [];
      const folder = outermost === undefined ? path : dirname(outermost);
      const file = join(folder, `.faceless-${crypto.randomUUID()}.tmp`);
      try {
        await appendTo(file, LINE);
        if ((await readFrom(file, 0)).toString() !== LINE) throw new Error(READS_DIFFERENTLY);
      } finally {
        await fs.rm(file, { force: true });
      }
    },
  };
}

function readFrom(path: string, start: number): Promise<Buffer> {
  return withFile(path, "r", async (file) => {
    const bytes = Buffer.alloc(Math.max(0, (await file.stat()).size - start));
    for (let length = 0; length < bytes.length;) {
      // Some disks give fewer bytes than requested: FUSE, MTP, SFTP, some network drives.
      const { bytesRead } = await file.read({ buffer: bytes, offset: length, position: start + length });
      if (bytesRead === 0) throw new Error("its disk gives fewer bytes than the file has");
      length += bytesRead;
    }
    return bytes;
  });
}

function appendTo(path: string, text: string): Promise<void> {
  return withFile(path, "a", async (file) => {
    const { bytesWritten } = await file.write(text);
    // A disk that is almost full takes a part and reports no error.
    if (bytesWritten < Buffer.byteLength(text))
      throw Object.assign(new Error("Not all was written."), { code: "ENOSPC" });
    await flush(file);
  });
}

async function withFile<Result>(
  path: string,
  flags: "r" | "a",
  use: (file: FileHandle) => Promise<Result>,
): Promise<Result> {
  const file = await fs.open(path, flags, 0o600);
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}
