// Keeps the journal's files: lines of text, one file per UTC day, which all server processes of a user share.
// Knows no meaning of a line and no policy. Decides nothing by the clock but the name of a new file.

import { constants, type Stats } from "node:fs";
import { lstat, mkdir, open, readdir, unlink } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { JournalError } from "./errors.ts";

/** A file as it now is. */
export interface ListedFile {
  readonly name: string;
  /** Stays the same for as long as the file does. */
  readonly version: string;
}

/** One folder. Rejects as Node's file system does, and with the code `NO_ANSWER` where it takes too long. */
export interface Disk {
  /** Where the folder is, for messages. */
  readonly path: string;
  /** The journal's files in it: this user's own, and no links. */
  list(): Promise<readonly ListedFile[]>;
  /** The file's bytes from `start` on. */
  read(name: string, start: number): Promise<Buffer>;
  /** Resolves when the text is on disk. Makes the folder and the file where they are missing. */
  append(name: string, text: string): Promise<void>;
  remove(name: string): Promise<void>;
}

const MAX_DAYS = 90;
/** A disk that takes longer counts as one that can't be read or written, so that the call ends in time. */
const MAX_DISK_MS = 4_000;
const NO_ANSWER = `no answer in ${MAX_DISK_MS / 1000} s`;
const NOT_OWN = "it is a link, a pipe or another user's file";
/** Matches the copies of programs for synchronising too, which have more in their names. */
const FILE_NAME = /^journal-.*\.jsonl$/;
const LINE_END = 0x0a;
const LINES_PER_TURN = 1_000;
/** How much of what was read is compared before only the rest of a file is read. */
const COMPARED_BYTES = 256;

/** How far a file was read. */
interface Progress {
  readonly version: string;
  /** Bytes up to the end of the last whole line. */
  readonly length: number;
  /** The last of these bytes. */
  readonly tail: Buffer;
}

export class JournalFiles {
  readonly #disk: Disk;
  readonly #now: () => number;
  /** By the files' names. */
  readonly #progress = new Map<string, Progress>();
  /** The newest day of the last look, such as 2026-11-23. */
  #newestDay = "";
  /** Looks one after the other: two at once would both read what is new. */
  #reading: Promise<unknown> = Promise.resolve();

  /** `now` in milliseconds since the epoch. */
  constructor(disk: Disk, now: () => number) {
    this.#disk = disk;
    this.#now = now;
  }

  /** Resolves when the line is on disk. Throws a BridgeError: nothing was sent. */
  async append(line: string): Promise<void> {
    const today = new Date(this.#now()).toISOString().slice(0, 10);
    // A clock that was set back begins no earlier file: processes agree on the order of lines in one file.
    const day = today > this.#newestDay ? today : this.#newestDay;
    const name = `journal-${day}.jsonl`;
    try {
      // The newline in front ends a line that a crash has torn, so that it does not swallow this one.
      await this.#disk.append(name, `\n${line}\n`);
    } catch (error) {
      throw new JournalError("written", join(this.#disk.path, name), codeOf(error));
    }
  }

  /**
   * Calls `onLine` for each line that was added since the last look. Files come in the order of their names.
   * Throws a BridgeError where a file can't be read: what it holds might forbid the next request.
   */
  readNew(onLine: (line: string, fileName: string) => void): Promise<void> {
    const look = this.#reading.then(() => this.#look(onLine));
    this.#reading = look.catch(() => {});
    return look;
  }

  async #look(onLine: (line: string, fileName: string) => void): Promise<void> {
    const disk = this.#disk;
    const listed = await readOr<readonly ListedFile[]>(disk.path, [], () => disk.list());
    const files = listed.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const days = new Set(files.map(({ name }) => dayOf(name)).filter((day) => day !== ""));
    const kept = [...days].sort().slice(-MAX_DAYS);
    this.#newestDay = kept.at(-1) ?? "";
    for (const { name, version } of files) {
      const day = dayOf(name);
      // By name and never by the clock, which may be wrong for one process.
      if (day !== "" && !kept.includes(day)) await disk.remove(name).catch(() => {});
      else if (this.#progress.get(name)?.version !== version) await this.#read(name, version, onLine);
    }
  }

  async #read(
    name: string,
    version: string,
    onLine: (line: string, fileName: string) => void,
  ): Promise<void> {
    const bytesFrom = (start: number) =>
      readOr(join(this.#disk.path, name), Buffer.alloc(0), () => this.#disk.read(name, start));
    const { length, tail } = this.#progress.get(name) ?? { length: 0, tail: Buffer.alloc(0) };
    let start = length - tail.length;
    let bytes = await bytesFrom(start);
    let knownBytes = tail.length;
    if (!bytes.subarray(0, knownBytes).equals(tail)) {
      // The file was edited, or is another one.
      [start, knownBytes] = [0, 0];
      bytes = await bytesFrom(start);
    }
    // A last line without its end counts if it is whole, and is read again.
    for (const [index, line] of bytes.toString("utf8", knownBytes).split("\n").entries()) {
      // A long file must not hold up what else is under way.
      if (index % LINES_PER_TURN === LINES_PER_TURN - 1) await nextTurn();
      onLine(line, name);
    }
    const end = bytes.lastIndexOf(LINE_END) + 1;
    const last = bytes.subarray(Math.max(0, end - COMPARED_BYTES), end);
    this.#progress.set(name, { version, length: start + end, tail: Buffer.from(last) });
  }
}

/** The UTC day in a file's name, such as 2026-11-23; empty where there is none. */
function dayOf(name: string): string {
  return /^journal-(\d{4}-\d{2}-\d{2})/.exec(name)?.[1] ?? "";
}

/** The folder at an absolute path. */
export function openDisk(path: string): Disk {
  return {
    path,
    list: bounded(async () => {
      const names = (await readdir(path)).filter((name) => FILE_NAME.test(name));
      const files = await Promise.all(names.map((name) => listedFile(join(path, name), name)));
      return files.filter((file) => file !== undefined);
    }),
    read: bounded(async (name, start) => {
      const file = await openOwn(join(path, name), constants.O_RDONLY);
      try {
        const bytes = Buffer.alloc(Math.max(0, (await file.stat()).size - start));
        const { bytesRead } = await file.read(bytes, 0, bytes.length, start);
        return bytes.subarray(0, bytesRead);
      } finally {
        await file.close();
      }
    }),
    append: bounded(async (name, text) => {
      await mkdir(path, { recursive: true, mode: 0o700 });
      const file = await openOwn(
        join(path, name),
        constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT,
      );
      try {
        const { bytesWritten } = await file.write(text);
        // A disk that is almost full takes a part and reports no error.
        if (bytesWritten < Buffer.byteLength(text)) throw failure("ENOSPC", "The line was cut off");
        await file.sync();
      } finally {
        await file.close();
      }
    }),
    remove: bounded((name) => unlink(join(path, name))),
  };
}

/** Undefined for what is not the journal's: another user's file, a link, a pipe, or a file that is gone. */
async function listedFile(path: string, name: string): Promise<ListedFile | undefined> {
  try {
    const stats = await lstat(path);
    const { ino, size, mtimeMs } = stats;
    return isOwnFile(stats) ? { name, version: `${ino} ${size} ${mtimeMs}` } : undefined;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Opens a file that may have been exchanged since it was listed: follows no link and waits for no pipe. */
async function openOwn(path: string, flags: number) {
  // Windows has neither flag: undefined counts as 0.
  const file = await open(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o600);
  if (isOwnFile(await file.stat())) return file;
  await file.close();
  throw failure(NOT_OWN, "Not a file of this user");
}

function isOwnFile(stats: Stats): boolean {
  const uid = ownUserId();
  return stats.isFile() && (uid === -1 || stats.uid === uid);
}

/** -1 on Windows, which has no user ids, and for a user without a name, as in containers. */
function ownUserId(): number {
  try {
    return userInfo().uid;
  } catch {
    return -1;
  }
}

/** What `read` gives, or `absent` where there is nothing. Throws a BridgeError. */
async function readOr<Result>(path: string, absent: Result, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (isMissing(error)) return absent;
    throw new JournalError("read", path, codeOf(error));
  }
}

/** The same with a limit on its time. */
function bounded<Args extends unknown[], Result>(work: (...args: Args) => Promise<Result>) {
  return (...args: Args): Promise<Result> =>
    new Promise((resolve, reject) => {
      const late = failure(NO_ANSWER, "The disk did not answer in time");
      const timer = setTimeout(() => reject(late), MAX_DISK_MS).unref();
      void work(...args)
        .then(resolve, reject)
        .finally(() => clearTimeout(timer));
    });
}

function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(codeOf(error));
}

/** The code of a file system error. */
function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
}
