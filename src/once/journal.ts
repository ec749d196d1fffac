// The journal: every paid or public request before it is sent, and what became of it afterwards. One append-only file per UTC day, read
// and written by all server processes of a user. Knows nothing of HTTP, MCP or of which requests are the same. Never holds the key.

import { type FileHandle, mkdir, open, readdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { BridgeError } from "../errors.ts";
import { lazyValue } from "../lazy.ts";

/** Made on first use, to keep the start fast. */
const recordSchema = lazyValue(() =>
  z.discriminatedUnion("event", [
    z.object({
      event: z.literal("intent"),
      id: z.string(),
      atMs: z.number(),
      operation: z.enum(["generate", "publish"]),
      /** Hash of the base URL and the key. */
      account: z.string(),
      /** What the user knows the request by: the topic. */
      label: z.string(),
      /** Of a generation: hash of the account and the arguments, equal for equal requests. */
      fingerprint: z.string().optional(),
      /** Of a generation: how the video was ordered, topic and defaults included. */
      settings: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
      /** Of a publication. */
      jobId: z.string().optional(),
      /** Of a publication; absent in files of earlier versions. */
      platforms: z.array(z.string()).optional(),
      /** The process that sends it. */
      pid: z.number().optional(),
    }),
    z.object({
      event: z.literal("outcome"),
      id: z.string(),
      atMs: z.number(),
      outcome: z.enum(["done", "not_sent", "rejected", "unknown"]),
      /** Of a generation that is done. */
      jobId: z.string().optional(),
      /** Of a publication that is done: what the service said of each platform. */
      results: z.array(z.looseObject({ platform: z.string(), ok: z.boolean() })).optional(),
    }),
  ]),
);

type JournalRecord = z.infer<ReturnType<typeof recordSchema>>;
type IntentRecord = Extract<JournalRecord, { event: "intent" }>;
type OutcomeRecord = Extract<JournalRecord, { event: "outcome" }>;

/** What the service said of one platform. */
export type PlatformResult = NonNullable<OutcomeRecord["results"]>[number];

/** How a video was ordered. */
export type Settings = NonNullable<IntentRecord["settings"]>;

export type Intent = Omit<IntentRecord, "event" | "id" | "atMs">;
export type Ending = Omit<OutcomeRecord, "event" | "id" | "atMs">;

/** A request and what became of it. */
export interface JournalEntry extends Omit<IntentRecord, "event" | "atMs" | "jobId"> {
  /** Milliseconds since the epoch. */
  readonly intentAtMs: number;
  /** When the last thing was known of it. Milliseconds since the epoch. */
  readonly lastKnownAtMs: number;
  /** `open` as long as no outcome is written: the request is under way, or its process died. */
  readonly outcome: Ending["outcome"] | "open";
  /** Of a publication: the job it posts. Of a generation that is done: the job it started. */
  readonly jobId?: string | undefined;
  readonly results?: readonly PlatformResult[] | undefined;
  /** The name of the file that holds the intent. In one file, entries are in the order in which they were written. */
  readonly file: string;
}

export interface Journal {
  /**
   * Resolves with the id of the new entry when it is on disk. Never rejects: an entry that can't be written is known to this process
   * alone, and the user is warned once.
   */
  begin(intent: Intent): Promise<string>;
  /** Resolves when the outcome is on disk. Never rejects. */
  settle(id: string, ending: Ending): Promise<void>;
  /**
   * The entries of the last 90 days, those of other processes included, in the order of their files and lines. Reads the disk afresh.
   * Rejects with a BridgeError where a file is there but can't be read: what it holds might forbid the next request.
   */
  entries(): Promise<readonly JournalEntry[]>;
}

export interface JournalOptions {
  /** Absolute path of the folder; undefined keeps the journal in memory. */
  readonly folder: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Takes the key out of a line. */
  readonly redact: (line: string) => string;
  /** An entry could not be written; called once. */
  readonly onUnwritable: (reason: string) => void;
  readonly pid: number;
}

const DAY_MS = 24 * 3_600_000;
const MAX_AGE_MS = 90 * DAY_MS;
/** A disk that takes longer is treated as one that can't be read or written, so that the call still ends in time. */
const MAX_DISK_MS = 4_000;
const NO_ANSWER = `no answer in ${MAX_DISK_MS / 1000} s`;
const READ_ATTEMPTS = 3;
const READ_RETRY_MS = 50;
const CHUNK_BYTES = 64 * 1024;
/** Our own lines are far shorter; a longer one is nothing that we wrote. */
const MAX_LINE_BYTES = 256 * 1024;
const MAX_LABEL_CHARACTERS = 200;
const MAX_SETTING_CHARACTERS = 2_000;
/** What a service says of one platform beyond this is not kept. */
const MAX_RESULT_CHARACTERS = 2_000;
const NEWLINE = 0x0a;
/** Files of this version, and those of the versions before it. */
const FILE_NAME = /^journal(?:-(\d{4}-\d{2}-\d{2})|\.1)?\.jsonl$/;

/** How far a file was read, so that only what was appended since is parsed. */
interface ReadFile {
  size: number;
  modifiedMs: number;
  readonly inode: number;
  /** Where the first line begins that is not parsed yet. */
  offset: number;
}

export function createJournal(options: JournalOptions): Journal {
  return new FileJournal(options);
}

class FileJournal implements Journal {
  readonly #options: JournalOptions;
  /** By name. */
  readonly #files = new Map<string, ReadFile>();
  /** By id; those of one file in the order of its lines, and what could not be written. */
  readonly #entries = new Map<string, JournalEntry>();
  /** Outcomes that were read before their intents: the clock was set back, so they are in an earlier file. */
  readonly #earlyOutcomes = new Map<string, OutcomeRecord>();
  /** Reads one after the other: two at once would both add what they read. */
  #reading: Promise<unknown> = Promise.resolve();
  #isWarned = false;

  constructor(options: JournalOptions) {
    this.#options = options;
  }

  async begin(intent: Intent): Promise<string> {
    const { now, redact, pid } = this.#options;
    const id = crypto.randomUUID();
    // Redacted before it is cut: redaction would not recognise the half of a key.
    const cut = (text: string, limit: number) => Array.from(redact(text)).slice(0, limit).join("");
    const { label, settings, ...rest } = intent;
    await this.#append({
      event: "intent",
      id,
      atMs: now(),
      ...rest,
      label: cut(label, MAX_LABEL_CHARACTERS),
      ...(settings !== undefined && {
        settings: mapTexts(settings, (text) => cut(text, MAX_SETTING_CHARACTERS)),
      }),
      pid,
    });
    return id;
  }

  async settle(id: string, { results, ...ending }: Ending): Promise<void> {
    const atMs = this.#options.now();
    await this.#append({
      event: "outcome",
      id,
      atMs,
      ...ending,
      ...(results !== undefined && { results: results.map(bounded) }),
    });
  }

  async entries(): Promise<readonly JournalEntry[]> {
    const { folder, now } = this.#options;
    if (folder !== undefined) await this.#readFolder(folder);
    const sinceMs = now() - MAX_AGE_MS;
    return [...this.#entries.values()].filter(({ lastKnownAtMs }) => lastKnownAtMs >= sinceMs);
  }

  async #append(record: JournalRecord): Promise<void> {
    const { folder, redact, onUnwritable } = this.#options;
    try {
      // The newline in front ends a line that a crash has torn, so that it does not swallow this one.
      const line = Buffer.from(`\n${redact(JSON.stringify(record))}\n`);
      if (folder !== undefined) {
        await inTime(appendDurably(folder, `journal-${utcDay(record.atMs)}.jsonl`, line));
        return;
      }
    } catch (error) {
      if (!this.#isWarned) onUnwritable(codeOf(error));
      this.#isWarned = true;
    }
    this.#add(record, "");
  }

  async #readFolder(folder: string): Promise<void> {
    const read = this.#reading.then(async () => {
      const names = await retried(folder, () => inTime(readdir(folder)), []);
      const files = names.filter((candidate) => FILE_NAME.test(candidate)).sort(oldestFirst);
      // Counted from the newest day in the folder too: a clock that is wrong for one call must not remove what later ones need.
      const newestMs = endOfDayMs(files.at(-1) ?? "") ?? Infinity;
      const oldestMs = Math.min(this.#options.now(), newestMs) - MAX_AGE_MS;
      for (const name of files) {
        const path = join(folder, name);
        if ((endOfDayMs(name) ?? (await modifiedMs(path))) < oldestMs) await unlink(path).catch(() => {});
        await retried(path, () => this.#readFile(name, path), undefined);
      }
    });
    this.#reading = read.catch(() => {});
    await read.catch((error: unknown) => {
      throw error instanceof BridgeError ? error : unreadableError(folder, codeOf(error));
    });
  }

  async #readFile(name: string, path: string): Promise<void> {
    const { size, mtimeMs, ino } = await inTime(stat(path));
    let known = this.#files.get(name);
    if (known?.size === size && known.modifiedMs === mtimeMs && known.inode === ino) return;
    // Our files only ever grow: anything else is another file, and what the old one said no longer counts.
    if (known !== undefined && (known.inode !== ino || size <= known.size)) {
      this.#forget(name);
      known = undefined;
    }
    known ??= { size: 0, modifiedMs: 0, inode: ino, offset: 0 };
    this.#files.set(name, known);
    const file = await inTime(open(path, "r"));
    try {
      await readAppended(file, known, (record) => this.#add(record, name));
    } finally {
      await inTime(file.close());
    }
    Object.assign(known, { size, modifiedMs: mtimeMs });
  }

  #forget(name: string): void {
    for (const { id, file } of this.#entries.values()) if (file === name) this.#entries.delete(id);
  }

  #add(record: JournalRecord, file: string): void {
    const entry = this.#entries.get(record.id);
    if (record.event === "outcome") {
      if (entry === undefined) this.#earlyOutcomes.set(record.id, record);
      else this.#entries.set(record.id, withOutcome(entry, record));
      return;
    }
    // A record may be there twice: kept in memory because the disk was slow, and written after all.
    if (entry !== undefined) return;
    const { event: _, atMs, ...intent } = record;
    const begun = { ...intent, intentAtMs: atMs, lastKnownAtMs: atMs, outcome: "open" as const, file };
    const early = this.#earlyOutcomes.get(record.id);
    this.#entries.set(record.id, early === undefined ? begun : withOutcome(begun, early));
  }
}

function withOutcome(entry: JournalEntry, record: OutcomeRecord): JournalEntry {
  const { atMs, outcome, results, jobId = entry.jobId } = record;
  return { ...entry, outcome, results, jobId, lastKnownAtMs: Math.max(atMs, entry.lastKnownAtMs) };
}

/** Of the UTC day in a file's name. */
function endOfDayMs(name: string): number | undefined {
  const day = FILE_NAME.exec(name)?.[1];
  return day === undefined ? undefined : Date.parse(`${day}T00:00:00Z`) + DAY_MS;
}

/** Files of earlier versions have no day in their name and come before the others. */
function oldestFirst(a: string, b: string): number {
  const [dayA, dayB] = [a, b].map((name) => FILE_NAME.exec(name)?.[1] ?? "");
  return (dayA ?? "").localeCompare(dayB ?? "") || a.localeCompare(b);
}

/** Reads chunk by chunk, each an await, so that a large file never holds up the event loop. */
async function readAppended(
  file: FileHandle,
  read: ReadFile,
  onRecord: (record: JournalRecord) => void,
): Promise<void> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let rest: Buffer = Buffer.alloc(0);
  for (let position = read.offset; ;) {
    const { bytesRead } = await inTime(file.read(chunk, 0, CHUNK_BYTES, position));
    if (bytesRead === 0) return;
    position += bytesRead;
    const bytes = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    for (const line of bytes.toString("utf8", 0, end).split("\n")) {
      const record = readRecord(line);
      if (record !== undefined) onRecord(record);
    }
    rest = bytes.subarray(end);
    if (rest.length > MAX_LINE_BYTES) rest = Buffer.alloc(0);
    read.offset = position - rest.length;
  }
}

/** Undefined for a line that is torn, empty or of an unknown kind. */
function readRecord(line: string): JournalRecord | undefined {
  if (line === "") return undefined;
  try {
    return recordSchema().parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

async function appendDurably(folder: string, name: string, line: Buffer): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, name);
  const file = await open(path, "a", 0o600);
  try {
    const isNew = (await file.stat()).size === 0;
    const { bytesWritten } = await file.write(line);
    // A disk that is almost full takes a part and reports no error.
    if (bytesWritten < line.length)
      throw Object.assign(new Error("The line was cut off"), { code: "ENOSPC" });
    await file.sync();
    if (isNew) await syncFolder(folder);
  } finally {
    await file.close();
  }
}

/** Without it, a power cut can lose the new file's name. Windows can't do it and doesn't need it. */
async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
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
      const code = codeOf(error);
      if (code === "ENOENT" || code === "ENOTDIR") return absent;
      if (attempt === READ_ATTEMPTS || code === NO_ANSWER) throw unreadableError(path, code);
      await sleep(READ_RETRY_MS * attempt);
    }
  }
}

/** Of one operation of the disk: what this process does in between takes as long as it takes on a busy machine. */
async function inTime<Result>(work: Promise<Result>): Promise<Result> {
  const timer = new AbortController();
  const late = sleep(MAX_DISK_MS, undefined, { ref: false, signal: timer.signal }).then(() => {
    throw Object.assign(new Error("The disk did not answer in time"), {
      code: NO_ANSWER,
    });
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
    late.catch(() => {});
    work.catch(() => {});
  }
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

function mapTexts(settings: Settings, map: (text: string) => string): Settings {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [name, typeof value === "string" ? map(value) : value]),
  );
}

function bounded(result: PlatformResult): PlatformResult {
  const { platform, ok } = result;
  return JSON.stringify(result).length <= MAX_RESULT_CHARACTERS
    ? result
    : { platform: platform.slice(0, 100), ok };
}

async function modifiedMs(path: string): Promise<number> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => Number.NaN,
  );
}

function utcDay(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
}
