// Keeps the journal's files: lines of text, one file per UTC day, which all server processes of a user share.
// Knows no meaning of a line and no policy. Decides nothing by the clock but the name of a new file.

import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../clock.ts";
import { JournalError } from "./errors.ts";

/** One folder. Rejects as Node's file system does. */
export interface Disk {
  /** Where the folder is, for messages. */
  readonly path: string;
  /** The versions, which change with the files, of this user's own journal files, by name. Lists no links. */
  list(): Promise<ReadonlyMap<string, string>>;
  /** The file's bytes from `start` on. */
  read(name: string, start: number): Promise<Buffer>;
  /** Resolves when the text is on disk. Makes the folder and the file where they are missing. */
  append(name: string, text: string): Promise<void>;
  remove(name: string): Promise<void>;
}

type OnLine = (line: string, fileName: string) => void;

const MAX_DAYS = 90;
/** A disk that takes longer counts as one that can't be read or written, so that the call ends in time. */
const MAX_DISK_MS = 4_000;
/** Matches the copies of programs for synchronising too, which have more in their names. */
const FILE_NAME = /^journal-.*\.jsonl$/;
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

const NOTHING_READ: Progress = { version: "", length: 0, tail: Buffer.alloc(0) };

export class JournalFiles {
  readonly #disk: Disk;
  readonly #clock: Pick<Clock, "now" | "after">;
  /** By the files' names. */
  readonly #progress = new Map<string, Progress>();
  /** The newest day of the last look, such as 2026-11-23. */
  #newestDay = "";
  /** Looks one after the other: two at once would both read what is new. */
  #reading: Promise<unknown> = Promise.resolve();

  constructor(disk: Disk, clock: Pick<Clock, "now" | "after">) {
    this.#disk = disk;
    this.#clock = clock;
  }

  /** Resolves when the line is on disk. Throws a JournalError. */
  async append(line: string): Promise<void> {
    const today = new Date(this.#clock.now()).toISOString().slice(0, 10);
    // A clock that was set back begins no earlier file: processes agree on the order of lines in one file.
    const day = today > this.#newestDay ? today : this.#newestDay;
    const name = `journal-${day}.jsonl`;
    // The newline in front ends a line that a crash has torn, so that it does not swallow this one.
    await this.#inTime(this.#disk.append(name, `\n${line}\n`)).catch((error: unknown) => {
      throw new JournalError("written", join(this.#disk.path, name), reasonOf(error));
    });
  }

  /**
   * Calls `onLine` for each line that was added since the last look. Files come in the order of their names.
   * Throws a JournalError where a file can't be read: what it holds might forbid the next request.
   */
  readNew(onLine: OnLine): Promise<void> {
    const look = this.#reading.then(() => this.#look(onLine));
    this.#reading = look.catch(() => {});
    return look;
  }

  async #look(onLine: OnLine): Promise<void> {
    const disk = this.#disk;
    const files = await this.#readOr(new Map<string, string>(), disk.path, disk.list());
    const names = [...files.keys()].sort();
    const days = [...new Set(names.map(dayOf))].filter((day) => day !== "").slice(-MAX_DAYS);
    this.#newestDay = days.at(-1) ?? "";
    for (const name of names) {
      const day = dayOf(name);
      const version = files.get(name) ?? "";
      // By name and never by the clock, which may be wrong for one process.
      if (day !== "" && !days.includes(day)) await this.#inTime(disk.remove(name)).catch(() => {});
      else if (this.#progress.get(name)?.version !== version) await this.#read(name, version, onLine);
    }
  }

  async #read(name: string, version: string, onLine: OnLine): Promise<void> {
    const path = join(this.#disk.path, name);
    const bytesFrom = (from: number) => this.#readOr(Buffer.alloc(0), path, this.#disk.read(name, from));
    const { length, tail } = this.#progress.get(name) ?? NOTHING_READ;
    let [start, known] = [length - tail.length, tail.length];
    let bytes = await bytesFrom(start);
    if (!bytes.subarray(0, known).equals(tail)) {
      // The file was edited, or is another one.
      [start, known] = [0, 0];
      bytes = await bytesFrom(start);
    }
    // A last line without its end counts if it is whole, and is read again.
    for (const [index, line] of bytes.toString("utf8", known).split("\n").entries()) {
      // A long file must not hold up what else is under way.
      if (index % LINES_PER_TURN === LINES_PER_TURN - 1) await nextTurn();
      onLine(line, name);
    }
    const end = bytes.lastIndexOf("\n") + 1;
    const last = bytes.subarray(Math.max(0, end - COMPARED_BYTES), end);
    this.#progress.set(name, { version, length: start + end, tail: Buffer.from(last) });
  }

  /** What is read, or `missing` where there is nothing. Throws a JournalError. */
  #readOr<Result>(missing: Result, path: string, reading: Promise<Result>): Promise<Result> {
    return orMissing(missing, this.#inTime(reading)).catch((error: unknown) => {
      throw new JournalError("read", path, reasonOf(error));
    });
  }

  /** Rejects where the disk takes too long. */
  #inTime<Result>(work: Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const late = new Error(`no answer in ${MAX_DISK_MS / 1000} s`);
      const cancel = this.#clock.after(MAX_DISK_MS, () => reject(late));
      void work.then(resolve, reject).finally(cancel);
    });
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
    async list() {
      const versions = new Map<string, string>();
      const look = async (name: string) => {
        // A file may have gone since.
        const stats = await orMissing(undefined, lstat(join(path, name)));
        if (stats !== undefined && isOwnFile(stats))
          versions.set(name, `${stats.ino} ${stats.size} ${stats.mtimeMs}`);
      };
      const names = await readdir(path);
      await Promise.all(names.filter((name) => FILE_NAME.test(name)).map(look));
      return versions;
    },
    read: (name, start) =>
      withFile(join(path, name), constants.O_RDONLY, async (file) => {
        const bytes = Buffer.alloc(Math.max(0, (await file.stat()).size - start));
        const { bytesRead } = await file.read(bytes, 0, bytes.length, start);
        return bytes.subarray(0, bytesRead);
      }),
    async append(name, text) {
      await mkdir(path, { recursive: true, mode: 0o700 });
      const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;
      await withFile(join(path, name), flags, async (file) => {
        const { bytesWritten } = await file.write(text);
        // A disk that is almost full takes a part and reports no error.
        if (bytesWritten < Buffer.byteLength(text)) throw new Error("the disk is full");
        await file.sync();
      });
    },
    remove: (name) => unlink(join(path, name)),
  };
}

/** Follows no link and waits for no pipe: the file may have been exchanged since it was listed. */
async function withFile<Result>(
  path: string,
  flags: number,
  use: (file: FileHandle) => Promise<Result>,
): Promise<Result> {
  // Windows has neither flag: undefined counts as 0.
  const file = await open(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o600);
  try {
    if (isOwnFile(await file.stat())) return await use(file);
    throw new Error("it is a link, a pipe or another user's file");
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
    if (["ENOENT", "ENOTDIR"].includes(reasonOf(error))) return missing;
    throw error;
  });
}

/** The code of a file system error, or what an own one says. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown reason";
  return "code" in error ? String(error.code) : error.message;
}
