// The journal's files: lines of text, one file per UTC day, which all server processes of a user append to and read. Knows no meaning of
// a line and no policy. Decides nothing by the clock but the name of a new file.

import { mkdir, open, readdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { BridgeError } from "../errors.ts";

/** One folder. Every method rejects as Node's file system does, and with the code `NO_ANSWER` where it takes too long. */
export interface Disk {
  /** Where the folder is, for messages. */
  readonly path: string;
  /** The journal's files in it. */
  list(): Promise<readonly FileState[]>;
  /** At most 64 KB from `offset` on; empty at the end. */
  read(name: string, offset: number): Promise<Uint8Array>;
  /** Resolves when the bytes are on disk. Makes the folder and the file where they are missing. */
  append(name: string, bytes: Uint8Array): Promise<void>;
  remove(name: string): Promise<void>;
}

/** Equal for a file that has not changed. */
export interface FileState {
  readonly name: string;
  readonly size: number;
  readonly modifiedMs: number;
}

const MAX_FILES = 90;
/** A disk that takes longer is treated as one that can't be read or written, so that the call still ends in time. */
const MAX_DISK_MS = 4_000;
const NO_ANSWER = `no answer in ${MAX_DISK_MS / 1000} s`;
const READ_ATTEMPTS = 3;
const READ_RETRY_MS = 50;
const CHUNK_BYTES = 64 * 1024;
/** Our own lines are shorter; a longer one is nothing that we wrote. */
const MAX_LINE_BYTES = 512 * 1024;
/** Lines hold random ids: two files that agree in so many bytes are the same file. */
const TAIL_BYTES = 100;
const NEWLINE = 0x0a;
const FILE_NAME = /^journal-\d{4}-\d{2}-\d{2}\.jsonl$/;

/** How far a file was read, so that only what was appended since is read again. */
interface ReadFile {
  /** When it was last read to its end. */
  state?: FileState;
  /** Where the first line begins that was not read yet. */
  offset: number;
  /** The last bytes before that, by which the file is recognised. */
  tail: Uint8Array;
}

export class JournalFiles {
  readonly #disk: Disk;
  readonly #now: () => number;
  /** By name. */
  readonly #files = new Map<string, ReadFile>();
  /** The newest file of the last look. */
  #newestName = "";
  /** Looks one after the other: two at once would both read what is new. */
  #reading: Promise<unknown> = Promise.resolve();

  /** `now` in milliseconds since the epoch. */
  constructor(disk: Disk, now: () => number) {
    this.#disk = disk;
    this.#now = now;
  }

  /** Resolves when the line is on disk. Rejects as the disk does, and where it takes too long. */
  async append(line: string): Promise<void> {
    const today = `journal-${new Date(this.#now()).toISOString().slice(0, 10)}.jsonl`;
    // A clock that was set back must not begin an earlier file: in one file, all processes agree on the order of lines.
    const name = today > this.#newestName ? today : this.#newestName;
    // The newline in front ends a line that a crash has torn, so that it does not swallow this one.
    await this.#disk.append(name, Buffer.from(`\n${line}\n`));
  }

  /**
   * Calls `onLine` for each line that was added since the last look, in the order of the files' names and lines; for those of a file that was
   * replaced, again. Rejects with a BridgeError where a file is there but can't be read: what it holds might forbid the next request.
   */
  async readNew(onLine: (line: string, fileName: string) => void): Promise<void> {
    const look = this.#reading.then(() => this.#look(onLine));
    this.#reading = look.catch(() => {});
    await look.catch((error: unknown) => {
      throw error instanceof BridgeError ? error : unreadableError(this.#disk.path, codeOf(error));
    });
  }

  async #look(onLine: (line: string, fileName: string) => void): Promise<void> {
    const disk = this.#disk;
    const listed = await retried(disk.path, () => disk.list(), []);
    const files = listed.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    this.#newestName = files.at(-1)?.name ?? "";
    // By name and never by the clock, which may be wrong for one process.
    for (const { name } of files.slice(0, -MAX_FILES)) await disk.remove(name).catch(() => {});
    for (const state of files.slice(-MAX_FILES)) {
      const known = this.#files.get(state.name)?.state;
      if (known?.size === state.size && known.modifiedMs === state.modifiedMs) continue;
      await retried(join(disk.path, state.name), () => this.#readFile(state, onLine), undefined);
    }
  }

  async #readFile(state: FileState, onLine: (line: string, fileName: string) => void): Promise<void> {
    const { name } = state;
    const before = this.#files.get(name);
    const isSame = before !== undefined && (await this.#holdsTail(name, before));
    const file = isSame ? before : { offset: 0, tail: new Uint8Array() };
    this.#files.set(name, file);
    let rest: Buffer = Buffer.alloc(0);
    for (let position = file.offset; ;) {
      // Chunk by chunk, each an await, so that a large file never holds up the event loop.
      const chunk = await this.#disk.read(name, position);
      if (chunk.length === 0) break;
      position += chunk.length;
      const bytes = Buffer.concat([rest, chunk]);
      const end = bytes.lastIndexOf(NEWLINE) + 1;
      for (const line of bytes.toString("utf8", 0, end).split("\n")) if (line !== "") onLine(line, name);
      if (end > 0) file.tail = bytes.subarray(Math.max(0, end - TAIL_BYTES), end);
      rest = bytes.subarray(end);
      if (rest.length > MAX_LINE_BYTES) rest = Buffer.alloc(0);
      file.offset = position - rest.length;
    }
    file.state = state;
  }

  /** Whether the file still is the one that was read, and not another in its place. */
  async #holdsTail(name: string, { offset, tail }: ReadFile): Promise<boolean> {
    const start = await this.#disk.read(name, offset - tail.length);
    return Buffer.from(start).subarray(0, tail.length).equals(tail);
  }
}

/** The folder at an absolute path. */
export function openDisk(path: string): Disk {
  return {
    path,
    list: bounded(async () => {
      const names = (await readdir(path)).filter((name) => FILE_NAME.test(name));
      const files = names.map(async (name) => {
        // Removed by another process meanwhile.
        const found = await stat(join(path, name)).catch(ignoreMissing);
        return found === undefined ? [] : [{ name, size: found.size, modifiedMs: found.mtimeMs }];
      });
      return (await Promise.all(files)).flat();
    }),
    read: bounded(async (name, offset) => {
      const file = await open(join(path, name), "r");
      try {
        const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
        const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, offset);
        return chunk.subarray(0, bytesRead);
      } finally {
        await file.close();
      }
    }),
    append: bounded(async (name, bytes) => {
      await mkdir(path, { recursive: true, mode: 0o700 });
      const file = await open(join(path, name), "a", 0o600);
      try {
        const isNew = (await file.stat()).size === 0;
        const { bytesWritten } = await file.write(bytes);
        // A disk that is almost full takes a part and reports no error.
        if (bytesWritten < bytes.length)
          throw Object.assign(new Error("The line was cut off"), { code: "ENOSPC" });
        await file.sync();
        if (isNew) await syncFolder(path);
      } finally {
        await file.close();
      }
    }),
    remove: bounded((name) => unlink(join(path, name))),
  };
}

/** Without it, a power cut can lose the new file's name. Windows can't do it and doesn't need it. */
async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, "r");
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  } catch {
    // Then the file's own sync is all that can be had.
  }
}

/** What `read` gives, or `absent` where there is nothing. Tries again: another program may have the file open for a moment. */
async function retried<Result>(path: string, read: () => Promise<Result>, absent: Result): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read();
    } catch (error) {
      if (isMissing(error)) return absent;
      const code = codeOf(error);
      if (attempt === READ_ATTEMPTS || code === NO_ANSWER) throw unreadableError(path, code);
      await sleep(READ_RETRY_MS * attempt);
    }
  }
}

/** The same with a limit on its time. */
function bounded<Args extends unknown[], Result>(work: (...args: Args) => Promise<Result>) {
  return async (...args: Args): Promise<Result> => {
    const timer = new AbortController();
    const late = sleep(MAX_DISK_MS, undefined, { ref: false, signal: timer.signal }).then(() => {
      throw Object.assign(new Error("The disk did not answer in time"), { code: NO_ANSWER });
    });
    const working = work(...args);
    try {
      return await Promise.race([working, late]);
    } finally {
      timer.abort();
      late.catch(() => {});
      working.catch(() => {});
    }
  };
}

function unreadableError(path: string, reason: string): BridgeError {
  return new BridgeError({
    code: "journal_unreadable",
    message: `The journal that guards against paying or posting twice can't be read (${reason}: ${path}), so nothing was sent.`,
    nextStep:
      "Tell the user: give this server the right to read that file, or set FACELESS_STATE_DIR to another folder and restart the server.",
    outcome: "not_sent",
    retryable: true,
  });
}

function ignoreMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

function isMissing(error: unknown): boolean {
  const code = codeOf(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

/** The code of a file system error. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
}
