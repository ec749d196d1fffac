// Keeps the journal's files: lines of text, one file per UTC day, which all server processes of a user share.
// Knows no meaning of a line and no policy. Decides nothing by the clock but the name of a new file.

import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../clock.ts";
import type { PrivateFolder } from "../private-folder.ts";
import { errnoOf } from "../errors.ts";
import { MAX_DISK_MS } from "../time-budget.ts";
import { JournalError } from "./errors.ts";
import type { JournalStore } from "./journal.ts";

type OnLine = Parameters<JournalStore["readNew"]>[0];

const MAX_DAYS = 90;
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

export class JournalFiles implements JournalStore {
  readonly place: string;
  readonly #folder: PrivateFolder;
  readonly #clock: Pick<Clock, "now" | "after">;
  /** By the files' names. */
  readonly #progress = new Map<string, Progress>();
  /** The newest day of the last look, such as 2026-11-23. */
  #newestDay = "";
  /** Looks one after the other: two at once would both read what is new. */
  #reading: Promise<unknown> = Promise.resolve();

  constructor(folder: PrivateFolder, clock: Pick<Clock, "now" | "after">) {
    this.place = folder.path;
    this.#folder = folder;
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  /** Resolves when the line is on disk. Throws a JournalError. */
  async append(line: string): Promise<void> {
    const today = new Date(this.now()).toISOString().slice(0, 10);
    // A clock that was set back begins no earlier file: processes agree on the order of lines in one file.
    const day = today > this.#newestDay ? today : this.#newestDay;
    const name = `journal-${day}.jsonl`;
    // The newline in front ends a line that a crash has torn, so that it does not swallow this one.
    await this.#inTime(this.#folder.append(name, `\n${line}\n`)).catch((error: unknown) => {
      throw new JournalError("written", join(this.#folder.path, name), reasonOf(error));
    });
  }

  /** Files come in the order of their names; the source of a line is its file's path. */
  readNew(onLine: OnLine): Promise<void> {
    const look = this.#reading.then(() => this.#look(onLine));
    this.#reading = look.catch(() => {});
    return look;
  }

  async #look(onLine: OnLine): Promise<void> {
    const folder = this.#folder;
    const files = await this.#readInTime(folder.path, folder.list(FILE_NAME));
    const names = [...files.keys()].sort();
    const days = [...new Set(names.map(dayOf))].filter((day) => day !== "").slice(-MAX_DAYS);
    this.#newestDay = days.at(-1) ?? "";
    for (const name of names) {
      const day = dayOf(name);
      const version = files.get(name) ?? "";
      // By name and never by the clock, which may be wrong for one process.
      if (day !== "" && !days.includes(day)) await this.#inTime(folder.remove(name)).catch(() => {});
      else if (this.#progress.get(name)?.version !== version) await this.#read(name, version, onLine);
    }
  }

  async #read(name: string, version: string, onLine: OnLine): Promise<void> {
    const path = join(this.#folder.path, name);
    const bytesFrom = (from: number) => this.#readInTime(path, this.#folder.read(name, from));
    const { length, tail } = this.#progress.get(name) ?? { length: 0, tail: Buffer.alloc(0) };
    let [start, known] = [length - tail.length, tail.length];
    let bytes = await bytesFrom(start);
    if (!bytes.subarray(0, known).equals(tail)) {
      // The file was edited, or is another one.
      [start, known] = [0, 0];
      bytes = await bytesFrom(start);
    }
    // A file that has gone since it was listed may be put back as it was.
    if (bytes.length === 0) return;
    // A last line without its end counts if it is whole, and is read again.
    for (const [index, line] of bytes.toString("utf8", known).split("\n").entries()) {
      // A long file must not hold up what else is under way.
      if (index % LINES_PER_TURN === LINES_PER_TURN - 1) await nextTurn();
      onLine(line, path);
    }
    const end = bytes.lastIndexOf("\n") + 1;
    const last = bytes.subarray(Math.max(0, end - COMPARED_BYTES), end);
    this.#progress.set(name, { version, length: start + end, tail: Buffer.from(last) });
  }

  /** Throws a JournalError. */
  #readInTime<Result>(path: string, reading: Promise<Result>): Promise<Result> {
    return this.#inTime(reading).catch((error: unknown) => {
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

function reasonOf(error: unknown): string {
  return errnoOf(error) ?? (error instanceof Error ? error.message : "unknown reason");
}
