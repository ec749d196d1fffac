// The folder of saved videos on disk. A file appears under its name only when it is whole, and nothing that is there already is ever
// changed. Knows nothing of jobs and downloads.

import * as fs from "node:fs/promises";
import { type FileHandle, lstat, mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

/** A file that is being written. */
export interface NewFile {
  /** Appends. Rejects with the system's error. */
  write(chunk: Uint8Array): Promise<void>;
  /** Drops all that was written. */
  clear(): Promise<void>;
}

export interface VideoFolderOptions {
  /** Absolute. Created with the first file. */
  readonly path: string;
  /** Of this process. */
  readonly pid: number;
  readonly isRunning: (pid: number) => boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** As in node:fs/promises. */
  readonly open?: (path: string, flags: string) => Promise<FileHandle>;
  /** As in node:fs/promises. */
  readonly link?: (existingPath: string, newPath: string) => Promise<void>;
}

/** A file of this name that is being written, or was when its process died. */
const PART_NAME = /^faceless-.+\.mp4\.(\d+)-[\da-f]{8}\.part$/;
/** Longer than any download, for process ids that mean nothing here: those of another computer or container. */
const MAX_PART_AGE_MS = 60 * 60_000;

export class VideoFolder {
  readonly #options: VideoFolderOptions;

  constructor(options: VideoFolderOptions) {
    this.#options = options;
  }

  pathOf(name: string): string {
    return join(this.#options.path, name);
  }

  /** The names of the regular files: no links, no folders. Empty where there is no folder. */
  async names(): Promise<string[]> {
    try {
      const entries = await readdir(this.#options.path, { withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
    } catch (error) {
      if (codeOf(error) === "ENOENT") return [];
      throw error;
    }
  }

  /**
   * Writes a file beside its place and puts it there when it is whole. Nothing is written where the file is there already. Rejects, and
   * leaves nothing behind, if `fill` does, or if something else than a file has the name.
   */
  async write(name: string, fill: (file: NewFile) => Promise<void>): Promise<void> {
    const { path: folder, pid, open = fs.open, link = fs.link } = this.#options;
    const path = this.pathOf(name);
    await mkdir(folder, { recursive: true });
    if (await isThere(path)) return;
    await this.#removeLeftovers();
    // A name of its own for each attempt, so that two processes never write to the same file; "x" follows no link.
    const part = `${path}.${pid}-${crypto.randomUUID().slice(0, 8)}.part`;
    const file = await open(part, "wx");
    try {
      try {
        await fill(newFile(file));
        await file.sync();
      } finally {
        await file.close();
      }
      await place(part, path, link);
    } finally {
      await rm(part, { force: true }).catch(() => {});
    }
  }

  async #removeLeftovers(): Promise<void> {
    const { pid, isRunning, now } = this.#options;
    for (const name of await this.names()) {
      const owner = Number(PART_NAME.exec(name)?.[1]);
      if (Number.isNaN(owner)) continue;
      const path = this.pathOf(name);
      const { mtimeMs } = await lstat(path).catch(() => ({ mtimeMs: Infinity }));
      const isAbandoned = (owner !== pid && !isRunning(owner)) || now() - mtimeMs > MAX_PART_AGE_MS;
      // What can't be removed is in nobody's way.
      if (isAbandoned) await rm(path, { force: true }).catch(() => {});
    }
  }
}

function newFile(file: FileHandle): NewFile {
  let size = 0;
  return {
    async write(chunk) {
      // A disk that is almost full takes a part and reports no error until the next write.
      for (let rest = chunk; rest.length > 0;) {
        const { bytesWritten } = await file.write(rest, 0, rest.length, size);
        if (bytesWritten === 0) throw Object.assign(new Error("Nothing was written"), { code: "ENOSPC" });
        size += bytesWritten;
        rest = rest.subarray(bytesWritten);
      }
    },
    async clear() {
      await file.truncate(0);
      size = 0;
    },
  };
}

/** Gives the finished file its name, unless another process was faster: its file is left alone. */
async function place(
  part: string,
  path: string,
  link: (existingPath: string, newPath: string) => Promise<void>,
): Promise<void> {
  try {
    // Unlike a rename, a link never takes the place of anything.
    await link(part, path);
  } catch {
    // The name is taken, or the file system has no links.
    if (!(await isThere(path))) await rename(part, path);
  }
}

/** Whether the file is there. Rejects with `ENOTFILE` where something else is: what a link leads to is not ours to trust. */
async function isThere(path: string): Promise<boolean> {
  try {
    if ((await lstat(path)).isFile()) return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
  throw Object.assign(new Error("Not a regular file"), { code: "ENOTFILE" });
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
