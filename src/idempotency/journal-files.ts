// Keeps the journal's files: lines of text, one file per UTC day, which all server processes of a user share.
// Knows no meaning of a line and no policy. Decides nothing by the clock but the name of a new file.

import { mkdir, open, readdir, readFile, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { BridgeError } from "../errors.ts";

/** One folder. Rejects as Node's file system does, and with the code `NO_ANSWER` where it takes too long. */
export interface Disk {
  /** Where the folder is, for messages. */
  readonly path: string;
  /** The journal's files in it. A file's version stays the same for as long as the file does. */
  list(): Promise<readonly { readonly name: string; readonly version: string }[]>;
  read(name: string): Promise<string>;
  /** Resolves when the text is on disk. Makes the folder and the file where they are missing. */
  append(name: string, text: string): Promise<void>;
  remove(name: string): Promise<void>;
}

const MAX_FILES = 90;
/** A disk that takes longer counts as one that can't be read or written, so that the call ends in time. */
const MAX_DISK_MS = 4_000;
const NO_ANSWER = `no answer in ${MAX_DISK_MS / 1000} s`;
const READ_ATTEMPTS = 3;
const READ_RETRY_MS = 75;
const FILE_NAME = /^journal-\d{4}-\d{2}-\d{2}\.jsonl$/;

export class JournalFiles {
  readonly #disk: Disk;
  readonly #now: () => number;
  /** Of the files as they were last read, by their names. */
  readonly #versions = new Map<string, string>();
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
    // A clock that was set back begins no earlier file: processes agree on the order of lines in one file.
    const name = today > this.#newestName ? today : this.#newestName;
    // The newline in front ends a line that a crash has torn, so that it does not swallow this one.
    await this.#disk.append(name, `\n${line}\n`);
  }

  /**
   * Calls `onLine` for each line of the files that have changed since the last look, in the order of their
   * names. Throws a BridgeError where one can't be read: what it holds might forbid the next request.
   */
  readChanged(onLine: (line: string, fileName: string) => void): Promise<void> {
    const look = this.#reading.then(() => this.#look(onLine));
    this.#reading = look.catch(() => {});
    return look;
  }

  async #look(onLine: (line: string, fileName: string) => void): Promise<void> {
    const disk = this.#disk;
    const listed = await retried(disk.path, () => disk.list(), []);
    const files = listed.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    this.#newestName = files.at(-1)?.name ?? "";
    // By name and never by the clock, which may be wrong for one process.
    for (const { name } of files.slice(0, -MAX_FILES)) await disk.remove(name).catch(() => {});
    for (const { name, version } of files.slice(-MAX_FILES)) {
      if (this.#versions.get(name) === version) continue;
      const text = await retried(join(disk.path, name), () => disk.read(name), "");
      for (const line of text.split("\n")) onLine(line, name);
      this.#versions.set(name, version);
    }
  }
}

/** The folder at an absolute path. */
export function openDisk(path: string): Disk {
  return {
    path,
    list: bounded(async () => {
      const names = (await readdir(path)).filter((name) => FILE_NAME.test(name));
      return Promise.all(names.map(async (name) => ({ name, version: await versionOf(join(path, name)) })));
    }),
    read: bounded((name) => readFile(join(path, name), "utf8")),
    append: bounded(async (name, text) => {
      await mkdir(path, { recursive: true, mode: 0o700 });
      const file = await open(join(path, name), "a", 0o600);
      try {
        const isNew = (await file.stat()).size === 0;
        const { bytesWritten } = await file.write(text);
        // A disk that is almost full takes a part and reports no error.
        if (bytesWritten < Buffer.byteLength(text))
          throw Object.assign(new Error("The line was cut off"), { code: "ENOSPC" });
        await file.sync();
        // Else a power cut can lose the new file's name. Windows can't do it and doesn't need it.
        if (isNew) await syncFolder(path).catch(() => {});
      } finally {
        await file.close();
      }
    }),
    remove: bounded((name) => unlink(join(path, name))),
  };
}

async function versionOf(path: string): Promise<string> {
  try {
    const { size, mtimeMs } = await stat(path);
    return `${size} ${mtimeMs}`;
  } catch (error) {
    if (isMissing(error)) return "removed by another process";
    throw error;
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** What `read` gives, or `absent`. Tries again, as another program may have the file open for a moment. */
async function retried<Result>(path: string, read: () => Promise<Result>, absent: Result): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read();
    } catch (error) {
      if (isMissing(error)) return absent;
      const code = codeOf(error);
      if (attempt === READ_ATTEMPTS || code === NO_ANSWER) throw unreadableError(path, code);
      await sleep(READ_RETRY_MS);
    }
  }
}

/** The same with a limit on its time. */
function bounded<Args extends unknown[], Result>(work: (...args: Args) => Promise<Result>) {
  return (...args: Args): Promise<Result> =>
    new Promise((resolve, reject) => {
      const late = Object.assign(new Error("The disk did not answer in time"), { code: NO_ANSWER });
      const timer = setTimeout(() => reject(late), MAX_DISK_MS).unref();
      void work(...args)
        .then(resolve, reject)
        .finally(() => clearTimeout(timer));
    });
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

function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(codeOf(error));
}

/** The code of a file system error. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
}
