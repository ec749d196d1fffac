// One folder on this computer and the files in it that this user alone may read. Knows nothing of what they hold.

// Not from node:fs/promises, which would be loaded at the start and takes a millisecond.
import { promises as fs } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errnoOf } from "../errors.ts";
import { flush } from "../flush.ts";

/** Why root makes nothing in another user's home: the user could not use it afterwards. */
export const FOREIGN_ROOT = "root would own it in the home folder of another user";

/**
 * Makes this folder, and those above it that are missing, for this user alone. Rejects as Node's file system does,
 * or with FOREIGN_ROOT, also if the folder is there.
 */
export async function makePrivateFolder(path: string): Promise<void> {
  const missing = await missingFolders(path);
  // Not recursive, which turns the error of a disk that can't be written into ENOENT.
  for (const folder of missing)
    // eslint-disable-next-line no-await-in-loop -- each lies in the one before
    await fs.mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
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

export type PrivateFolder = ReturnType<typeof openPrivateFolder>;

/**
 * The folder at an absolute path. One that the user has set is not made, and is an error while it is missing:
 * its disk may not be mounted yet. Rejects as Node's file system does.
 */
export function openPrivateFolder(path: string, { mayMake = true } = {}) {
  return {
    /** The path, for messages. */
    path,
    /**
     * Gives the versions, which change with the files, of the files with these names, by name. A link whose file is
     * missing has none.
     */
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
      orMissing(
        undefined,
        withFile(join(path, name), "r", async (file) => {
          const bytes = Buffer.alloc(Math.max(0, (await file.stat()).size - start));
          for (let length = 0; length < bytes.length;) {
            // Some disks give fewer bytes than requested: FUSE, MTP, SFTP, some network drives.
            const rest = { buffer: bytes, offset: length, position: start + length };
            const { bytesRead } = await file.read(rest);
            if (bytesRead === 0) throw new Error("its disk gives fewer bytes than the file has");
            length += bytesRead;
          }
          return bytes;
        }),
      ),
    /** Resolves when the text is on disk. Makes the file if it is missing, and the folder if it may. */
    async append(name: string, text: string): Promise<void> {
      if (mayMake) await makePrivateFolder(path);
      await withFile(join(path, name), "a", async (file) => {
        const { bytesWritten } = await file.write(text);
        // A disk that is almost full takes a part and reports no error.
        if (bytesWritten < Buffer.byteLength(text)) throw new Error("the disk is full");
        await flush(file);
      });
    },
    remove: (name: string): Promise<void> => fs.unlink(join(path, name)),
  };
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

function orMissing<Found, Missing>(missing: Missing, reading: Promise<Found>): Promise<Found | Missing> {
  return reading.catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT") return missing;
    throw error;
  });
}
