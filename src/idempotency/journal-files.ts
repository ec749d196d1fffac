// Keeps the journal's files: lines of text, one file per UTC day, shared by all server processes of a user.
// Knows no meaning of a line and no policy. Decides nothing by the clock but the name of a new file.

import { join } from "node:path";
import { type Clock, inTime, inTurns } from "../clock.ts";
import { diskReason, FOLDER_REASONS, type PrivateFolder } from "../disk.ts";
import { MAX_DISK_MS } from "../service/time-budget.ts";
import { JournalError } from "./errors.ts";
import type { JournalStore, OnLine } from "./journal.ts";

const MAX_DAYS = 90;
const OWN_NAME = /^journal-\d{4}-\d{2}-\d{2}\.jsonl$/;
/**
 * A file whose name begins like this holds lines of that day: a copy, a backup, a conflict or a rotated log.
 * A hidden one is a lock or half a copy, unless iCloud has put it in place of a file that it keeps elsewhere.
 */
const DAY_FILE = /^(?:\.(?=.*\.icloud$))?journal-(\d{4}-\d{2}-\d{2})/i;
const KEEP_HERE = "have the synchronising program keep that file on this computer";
const REMOVE_LINE =
  "look at the list of videos and at the accounts for what that line may have held, then remove the line, or put the file back as it was";
const IF_FOREIGN_FILE =
  "if it is compressed, put what it holds in its place; if it isn't part of the journal, move it to another folder; otherwise ";
/** The fix for a service whose home folder is `/` or missing. */
const SET_STATE_DIR =
  "set FACELESS_STATE_DIR to a folder that this server may write to (for a systemd service, StateDirectory= makes one)";
/** How many of the last bytes read are compared, to tell whether a file only grew. */
const COMPARED_BYTES = 256;

/** How far a file was read. */
interface ReadPosition {
  readonly version: string;
  /** Bytes and lines up to the end of the last whole line. */
  readonly length: number;
  readonly lines: number;
  /** The last of these bytes. */
  readonly tail: Buffer;
}

export class JournalFiles implements JournalStore {
  readonly place: string;
  readonly #folder: PrivateFolder;
  readonly #clock: Pick<Clock, "now" | "after">;
  /** By the files' names. */
  readonly #positions = new Map<string, ReadPosition>();
  /** Files that are older than the days to keep, as of the last read. */
  #outdated: readonly string[] = [];

  constructor(folder: PrivateFolder, clock: Pick<Clock, "now" | "after">) {
    this.place = folder.path;
    this.#folder = folder;
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  async append(lines: readonly string[]): Promise<void> {
    const name = `journal-${new Date(this.now()).toISOString().slice(0, 10)}.jsonl`;
    // The newline in front ends a line that a crash has torn, so that it does not swallow this one.
    const text = lines.map((line) => `\n${line}\n`).join("");
    await this.#inTime("written", join(this.place, name), this.#folder.append(name, text));
    const outdated = this.#outdated.map((old) => this.#folder.remove(old));
    await this.#inTime("written", this.place, Promise.allSettled(outdated));
  }

  async rehearse(): Promise<void> {
    await this.#inTime("written", this.place, this.#folder.rehearse());
  }

  /** Files come in the order of their names; the source of a line is its file's path. */
  async readNew(onLine: OnLine): Promise<void> {
    const files = await this.#inTime(
      "read",
      this.place,
      this.#folder.list((name) => dayOf(name) !== ""),
    );
    const names = [...files.keys()].sort();
    // Sorted by name, not by the clock, which may be wrong in one process.
    const days = [...new Set(names.map(dayOf))].sort().slice(-MAX_DAYS);
    const [firstDay = ""] = days;
    for (const name of names) {
      const version = files.get(name);
      if (dayOf(name) < firstDay) continue;
      if (version === undefined || name.startsWith(".")) throw this.#elsewhere(name);
      if (this.#positions.get(name)?.version !== version) await this.#read(name, version, onLine);
    }
    // A file under another name may be the user's.
    this.#outdated = names.filter((name) => dayOf(name) < firstDay && OWN_NAME.test(name));
  }

  async #read(name: string, version: string, onLine: OnLine): Promise<void> {
    const path = join(this.place, name);
    const bytesFrom = (from: number) => this.#inTime("read", path, this.#folder.read(name, from));
    const read = this.#positions.get(name) ?? { length: 0, lines: 0, tail: Buffer.alloc(0) };
    const { tail } = read;
    let [start, known, lines] = [read.length - tail.length, tail.length, read.lines];
    let bytes = await bytesFrom(start);
    if (bytes?.subarray(0, known).equals(tail) === false) {
      // The file was edited or replaced.
      [start, known, lines] = [0, 0, 0];
      bytes = await bytesFrom(start);
    }
    // A file that has gone since it was listed may be put back as it was.
    if (bytes === undefined) return;
    const text = bytes.toString("utf8", known);
    const isOwn = OWN_NAME.test(name);
    // Some programs leave an empty file under another name in place of one whose content they keep elsewhere.
    if (!isOwn && known === 0 && text.trim() === "") throw this.#elsewhere(name);
    // A last line without a line break counts if its entry is complete, and is read again next time.
    for await (const part of inTurns(text.split("\n")))
      for (const line of part) {
        lines += 1;
        if (onLine(line, path)) continue;
        const fix = isOwn ? REMOVE_LINE : IF_FOREIGN_FILE + REMOVE_LINE;
        throw new JournalError("read", path, `line ${lines} is not an entry`, fix);
      }
    const end = bytes.lastIndexOf("\n") + 1;
    const last = bytes.subarray(Math.max(0, end - COMPARED_BYTES), end);
    this.#positions.set(name, { version, length: start + end, lines: lines - 1, tail: Buffer.from(last) });
  }

  #elsewhere(name: string): JournalError {
    return new JournalError("read", join(this.place, name), "its content is not on this computer", KEEP_HERE);
  }

  /** Throws a JournalError, also if the disk takes too long. */
  async #inTime<Result>(use: "read" | "written", path: string, work: Promise<Result>): Promise<Result> {
    try {
      return await inTime(this.#clock, MAX_DISK_MS, "no answer", work);
    } catch (error) {
      const reason = diskReason(error);
      const cantMake = FOLDER_REASONS.has(reason) && (await this.#folder.isUnmade());
      throw new JournalError(use, path, reason, cantMake ? SET_STATE_DIR : undefined);
    }
  }
}

/** The UTC day of the lines in a file of this name, 2026-11-23; empty for what isn't the journal's. */
function dayOf(name: string): string {
  return DAY_FILE.exec(name)?.[1] ?? "";
}
