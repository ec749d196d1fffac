// What was paid for or posted, kept on disk so that a crash loses nothing: each request before it is sent, and what became
// of it. Append-only JSON lines, safe with several processes at once and with a torn last line. Holds no key.

import {
  closeSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import * as z from "zod";

/** Made on first use: the start has no time for it. */
const makeRecordSchema = () =>
  z.discriminatedUnion("event", [
    z.object({
      event: z.literal("intent"),
      id: z.string(),
      atMs: z.number(),
      operation: z.enum(["generate", "publish"]),
      /** Of the account and the arguments: the same for the same request. */
      fingerprint: z.string(),
      /** Of the account alone. */
      account: z.string(),
      /** What a person knows it by. */
      label: z.string(),
    }),
    z.object({
      event: z.literal("outcome"),
      id: z.string(),
      atMs: z.number(),
      outcome: z.enum(["done", "not_sent", "rejected", "unknown"]),
      /** Of a generation that is done. */
      jobId: z.string().optional(),
    }),
  ]);
let made: ReturnType<typeof makeRecordSchema> | undefined;
const recordSchema = () => (made ??= makeRecordSchema());

type JournalRecord = z.infer<ReturnType<typeof makeRecordSchema>>;
type IntentRecord = Extract<JournalRecord, { event: "intent" }>;
export type Operation = IntentRecord["operation"];
export type PaidOutcome = Extract<JournalRecord, { event: "outcome" }>["outcome"];

/** A request and what became of it; `open` while nobody has said, be it on its way or lost in a crash. */
export interface Entry extends Omit<IntentRecord, "event"> {
  readonly outcome: PaidOutcome | "open";
  readonly jobId?: string | undefined;
}

export type Intent = Pick<Entry, "operation" | "fingerprint" | "account" | "label">;

/** Throws for no disk: what can't be written is known to this process alone. */
export interface Journal {
  /** On disk when this returns. Gives the id for `settle`. */
  begin(intent: Intent): string;
  settle(id: string, outcome: PaidOutcome, jobId?: string): void;
  /** Of the last seven days, the oldest first, those of other processes included. */
  entries(): readonly Entry[];
}

export interface JournalOptions {
  /** The folder; undefined keeps the journal in memory alone. */
  readonly folder: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Takes the key out of a line. */
  readonly redact: (line: string) => string;
  /** A line could not be written; told once. */
  readonly onUnwritable: (reason: string) => void;
}

const MAX_AGE_MS = 7 * 24 * 3_600_000;
const MOST_OWN_RECORDS = 1_000;
const MAX_FILE_BYTES = 512 * 1024;
const LABEL_CHARACTERS = 200;
const STALE_LOCK_MS = 10_000;

export function createJournal({ folder, now, redact, onUnwritable }: JournalOptions): Journal {
  /** What this process has to tell, whether the disk took it or not. */
  const own: JournalRecord[] = [];
  let told = false;
  const inFolder = (name: string) => join(folder ?? "", name);
  const current = inFolder("journal.jsonl");
  const previous = inFolder("journal.1.jsonl");
  const lock = inFolder("journal.lock");

  const append = (record: JournalRecord) => {
    own.push(record);
    if (own.length > MOST_OWN_RECORDS) own.shift();
    if (folder === undefined) return;
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      rotate();
      appendLine(current, redact(JSON.stringify(record)));
    } catch (error) {
      if (!told)
        onUnwritable(error instanceof Error && "code" in error ? String(error.code) : "unknown reason");
      told = true;
    }
  };

  /** The full file becomes the previous one, whose own predecessor goes. Whoever is just writing to it still does. */
  const rotate = () => {
    if (sizeOf(current) <= MAX_FILE_BYTES) return;
    try {
      if (now() - modifiedMs(lock) > STALE_LOCK_MS) unlinkSync(lock);
      closeSync(openSync(lock, "wx", 0o600));
      try {
        if (sizeOf(current) > MAX_FILE_BYTES) renameSync(current, previous);
      } finally {
        unlinkSync(lock);
      }
    } catch {
      // Another process is at it, or has one of the files open, as Windows minds: the full one is good to write to.
    }
  };

  const read = (): readonly JournalRecord[] => {
    if (folder === undefined) return own;
    // The current file first: if it is rotated between the two, the previous one holds it all.
    const latest = [...recordsIn(current)];
    return [...recordsIn(previous), ...latest, ...own];
  };

  return {
    begin({ operation, fingerprint, account, label }) {
      const id = crypto.randomUUID();
      // Redacted before it is cut: of a key that the cut goes through, redaction would not know the rest.
      const shown = Array.from(redact(label)).slice(0, LABEL_CHARACTERS).join("");
      append({ event: "intent", id, atMs: now(), operation, fingerprint, account, label: shown });
      return id;
    },

    settle(id, outcome, jobId) {
      append({ event: "outcome", id, atMs: now(), outcome, jobId });
    },

    entries() {
      const found = new Map<string, Entry>();
      for (const record of read()) {
        const entry = found.get(record.id);
        // A record may be there twice, and its second intent says no more than the first.
        if (record.event === "intent") {
          const { event: _, ...intent } = record;
          found.set(record.id, entry ?? { ...intent, outcome: "open" });
        } else if (entry !== undefined)
          found.set(record.id, { ...entry, outcome: record.outcome, jobId: record.jobId });
      }
      const sinceMs = now() - MAX_AGE_MS;
      return [...found.values()].filter(({ atMs }) => atMs >= sinceMs);
    },
  };
}

/** One write at the end of the file, on disk when this returns. What a crash left without a newline stays a line of its own. */
function appendLine(path: string, line: string): void {
  const file = openSync(path, "a+", 0o600);
  try {
    // Stays as it is where the file is empty.
    const last = Buffer.from("\n");
    readSync(file, last, 0, 1, Math.max(0, fstatSync(file).size - 1));
    const bytes = Buffer.from(`${last.toString() === "\n" ? "" : "\n"}${line}\n`);
    // A disk that is almost full takes a part without a word.
    if (writeSync(file, bytes) < bytes.length)
      throw Object.assign(new Error("The line was cut off"), { code: "ENOSPC" });
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function* recordsIn(path: string): Generator<JournalRecord> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return;
  }
  for (const line of text.split("\n")) {
    try {
      yield recordSchema().parse(JSON.parse(line));
    } catch {
      // Torn, or of another version.
    }
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function modifiedMs(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
}
