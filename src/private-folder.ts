// One folder on this computer, in which only regular files of this user are read and written. Follows no link
// and waits for no pipe, since other users and programs may write to the folder too: such a file is an error,
// as what it hides might matter.

// Not from node:fs/promises, which would be loaded at the start and takes a millisecond.
import { constants, promises as fs, type Stats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "./errors.ts";

export type PrivateFolder = ReturnType<typeof openPrivateFolder>;

/**
 * The folder at an absolute path. One that the user has set is not made: its disk may not be mounted yet.
 * Rejects as Node's file system does. For reading, a missing folder is empty, and so is a missing file.
 */
export function openPrivateFolder(path: string, { mayMake = true } = {}) {
  return {
    /** For messages. */
    path,
    /** The versions, which change with the files, of the files whose names match, by name. */
    async list(namePattern: RegExp): Promise<ReadonlyMap<string, string>> {
      const versions = new Map<string, string>();
      const look = async (name: string) => {
        // A file may have gone since.
        const stats = await orMissing(undefined, fs.lstat(join(path, name)));
        if (stats === undefined) return;
        if (!isOwnFile(stats)) throw new Error(`${NOT_OURS}: ${name}`);
        versions.set(name, `${stats.ino} ${stats.size} ${stats.mtimeMs}`);
      };
      const names = await orMissing([], fs.readdir(path));
      await Promise.all(names.filter((name) => namePattern.test(name)).map(look));
      return versions;
    },
    /** The file's bytes from `start` on. */
    read: (name: string, start: number): Promise<Buffer> =>
      orMissing(
        Buffer.alloc(0),
        withFile(join(path, name), constants.O_RDONLY, async (file) => {
          const bytes = Buffer.alloc(Math.max(0, (await file.stat()).size - start));
          const { bytesRead } = await file.read(bytes, 0, bytes.length, start);
          return bytes.subarray(0, bytesRead);
        }),
      ),
    /** Resolves when the text is on disk. Makes the file where it is missing, and the folder if it may. */
    async append(name: string, text: string): Promise<void> {
      if (mayMake) await fs.mkdir(path, { recursive: true, mode: 0o700 });
      const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;
      await withFile(join(path, name), flags, async (file) => {
        // Under a second name it may be any file.
        if ((await file.stat()).nlink > 1) throw new Error(NOT_OURS);
        const { bytesWritten } = await file.write(text);
        // A disk that is almost full takes a part and reports no error.
        if (bytesWritten < Buffer.byteLength(text)) throw new Error("the disk is full");
        await file.sync();
      });
    },
    remove: (name: string): Promise<void> => fs.unlink(join(path, name)),
  };
}

const NOT_OURS = "there is a link, a pipe, a folder or another user's file";

/** Looks at the opened file too: it may have been exchanged since it was listed. */
async function withFile<Result>(
  path: string,
  flags: number,
  use: (file: FileHandle) => Promise<Result>,
): Promise<Result> {
  // Windows has neither flag: undefined counts as 0.
  const file = await fs.open(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o600);
  try {
    if (isOwnFile(await file.stat())) return await use(file);
    throw new Error(NOT_OURS);
  } finally {
    await file.close();
  }
}

function isOwnFile(stats: Stats): boolean {
  // eslint-disable-next-line no-restricted-globals -- the user's id is no setting
  return stats.isFile() && stats.uid === (process.getuid?.() ?? stats.uid);
}

function orMissing<Found, Missing>(missing: Missing, reading: Promise<Found>): Promise<Found | Missing> {
  return reading.catch((error: unknown) => {
    if (["ENOENT", "ENOTDIR"].includes(errnoOf(error) ?? "")) return missing;
    throw error;
  });
}
