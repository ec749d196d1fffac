// The folder of saved videos on disk. A file appears under its name only when it is whole, and one that is
// there already is left alone. Knows nothing of jobs and downloads.

// Not from node:fs/promises, which would be loaded at the start and takes a millisecond.
import { promises as fs } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "../errors.ts";

export interface VideoFolderOptions {
  /** Absolute. Created with the first file. */
  readonly path: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A file that is being written, or was when its process died. */
const PART_NAME = /^faceless-.+\.mp4\.[\da-f]{8}\.part$/;
/** Has a line for each video that was ever saved: its job's id and its file's name, which hold no spaces. */
const RECORD = ".faceless-saved";
/** Far longer than a download may stand still. */
const ABANDONED_AFTER_MS = 60 * 60_000;

export class VideoFolder {
  readonly #options: VideoFolderOptions;

  constructor(options: VideoFolderOptions) {
    this.#options = options;
  }

  readonly pathOf = (name: string): string => join(this.#options.path, name);

  /** What `record` was told, by whichever process. */
  async recorded(): Promise<(readonly [id: string, name: string])[]> {
    if (!(await isThere(this.pathOf(RECORD)))) return [];
    const lines = await fs.readFile(this.pathOf(RECORD), "utf8");
    return Array.from(lines.matchAll(/^(\S+) (\S+)$/gm), ([, id = "", name = ""]) => [id, name] as const);
  }

  /** Remembers that a job's video was saved, also for when its file is no longer there. */
  async record(id: string, name: string): Promise<void> {
    await isThere(this.pathOf(RECORD));
    await fs.appendFile(this.pathOf(RECORD), `${id} ${name}\n`);
  }

  /** The names of the regular files: no links, no folders. Empty where there is no folder. */
  async names(): Promise<string[]> {
    try {
      const entries = await fs.readdir(this.#options.path, { withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).map(({ name }) => name.normalize());
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }

  /**
   * Writes a file beside its place and renames it when it is whole. Reads and writes nothing if the file is
   * there already. Rejects, and leaves nothing behind, if `chunks` throws or something else than a file has
   * the name.
   */
  async write(name: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const path = this.pathOf(name);
    await fs.mkdir(this.#options.path, { recursive: true });
    if (await isThere(path)) return;
    await this.#removeAbandoned();
    // Two processes may save the same video, so each writes to a file of its own; "x" follows no link.
    const part = `${path}.${crypto.randomUUID().slice(0, 8)}.part`;
    const file = await fs.open(part, "wx");
    try {
      try {
        for await (const chunk of chunks) await file.appendFile(chunk);
        await file.sync();
      } finally {
        await file.close();
      }
      if (!(await isThere(path))) await fs.rename(part, path);
    } finally {
      await fs.rm(part, { force: true }).catch(() => {});
    }
  }

  async #removeAbandoned(): Promise<void> {
    const { path: folder, now } = this.#options;
    for (const name of await this.names()) {
      if (!PART_NAME.test(name)) continue;
      const path = join(folder, name);
      const { mtimeMs } = await fs.lstat(path).catch(() => ({ mtimeMs: Infinity }));
      // What can't be removed is in nobody's way.
      if (now() - mtimeMs > ABANDONED_AFTER_MS) await fs.rm(path, { force: true }).catch(() => {});
    }
  }
}

/** Rejects with `ENOTFILE` if something else than a file is there: what a link leads to is not trusted. */
async function isThere(path: string): Promise<boolean> {
  try {
    if ((await fs.lstat(path)).isFile()) return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
  throw Object.assign(new Error("Not a regular file"), { code: "ENOTFILE" });
}

/** A path that leads through a file is said to do so by what makes the folder. */
function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(errnoOf(error) ?? "");
}

const PROBLEMS: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the disk is read-only",
  ENOTDIR: "a part of the folder's path is a file",
  EEXIST: "the folder's path leads to a file",
  ENOTFILE: "a link or a folder has the file's name",
};

/** Why a folder did not take a file, as a clause with the system's code. */
export function describeFolderError(error: unknown): string {
  const code = errnoOf(error) ?? "unknown reason";
  return `${PROBLEMS[code] ?? "writing to the folder failed"} (${code})`;
}
