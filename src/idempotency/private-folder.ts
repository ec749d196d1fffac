// A folder and the files in it that this user alone may read. Knows nothing of what they hold.

// Not from node:fs/promises, which would be loaded at the start and takes a millisecond.
import { promises as fs } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { flush, makeFolder, missingFolders, orMissing } from "../disk.ts";

const PRIVATE = 0o700;
const DIFFERS = "its disk gives back something else than was written";
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
    /** True if it may be made and isn't there, as far as this user can see. */
    isUnmade: async (): Promise<boolean> =>
      mayMake && (await fs.stat(path).catch(() => undefined)) === undefined,
    /** Writes a line here, or into the nearest folder if this may be made, reads it back and removes it. */
    async rehearse(): Promise<void> {
      const [outermost] = mayMake ? await missingFolders(path) : [];
      const folder = outermost === undefined ? path : dirname(outermost);
      const file = join(folder, `.faceless-${crypto.randomUUID()}.tmp`);
      try {
        await appendTo(file, LINE);
        if ((await readFrom(file, 0)).toString() !== LINE) throw new Error(DIFFERS);
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
