// Records every paid or public request before it is sent, and its outcome afterwards; each line is a whole
// entry as it then stood. Knows nothing of HTTP, MCP or of which requests are the same. Never holds the key.

import * as z from "zod";
import type { Outcome } from "../errors.ts";
import { lazyValue } from "../lazy.ts";
import { codeOf, type Disk, JournalFiles } from "./journal-files.ts";

/** Made on first use, to keep the start fast. */
const entrySchema = lazyValue(() => {
  const common = {
    id: z.string(),
    /** When it was begun, in milliseconds since the epoch. */
    atMs: z.number(),
    /** The same on the machine's monotonic clock. */
    machineMs: z.number(),
    /** None as long as it is not known. */
    outcome: z.enum(["done", "rejected", "not_sent", "unknown"]).optional(),
    /** When the outcome was known, in milliseconds since the epoch. */
    endedAtMs: z.number().optional(),
  };
  const generation = z.object({
    ...common,
    operation: z.literal("generate"),
    /** Hash of the base URL and the key. */
    account: z.string(),
    /** Hash of the account and the arguments, equal for equal requests. */
    fingerprint: z.string(),
    arguments: z.record(z.string(), z.union([z.string(), z.number()])),
    /** The job that it has started. */
    jobId: z.string().optional(),
  });
  const publication = z.object({
    ...common,
    operation: z.literal("publish"),
    jobId: z.string(),
    platforms: z.array(z.string()),
    /** What the service said of each platform. */
    results: z.array(z.looseObject({ platform: z.string(), ok: z.boolean() })).optional(),
  });
  return z.discriminatedUnion("operation", [generation, publication]);
});
type StoredEntry = z.infer<ReturnType<typeof entrySchema>>;
type StoredGeneration = Extract<StoredEntry, { operation: "generate" }>;
type StoredPublication = Extract<StoredEntry, { operation: "publish" }>;

/** What the service said of one platform. */
export type PlatformResult = NonNullable<StoredPublication["results"]>[number];

/** The arguments of generate_video. */
export type GenerationArguments = StoredGeneration["arguments"];

/** A request that is about to be sent. */
export type Intent =
  | Pick<StoredGeneration, "operation" | "account" | "fingerprint" | "arguments">
  | Pick<StoredPublication, "operation" | "jobId" | "platforms">;

/** What became of it; with the job of a generation that is done. */
export type RequestOutcome = Pick<Readonly<StoredGeneration>, "jobId"> & {
  readonly outcome: "done" | Outcome;
  readonly results?: readonly PlatformResult[];
};

/**
 * `under way`: without an outcome, and begun less than a minute ago or awaited by this process. `unknown`:
 * without an outcome and neither, or with one that can't be known. Everything else is `over`.
 */
export type RequestState = "under way" | "unknown" | "over";

interface Known {
  readonly state: RequestState;
  /** The file that holds its first line; none while this process alone knows it. */
  readonly file?: string | undefined;
}

export type GenerationEntry = Readonly<StoredGeneration> & Known;
export type PublicationEntry = Readonly<StoredPublication> & Known;
export type JournalEntry = GenerationEntry | PublicationEntry;

/** An intent that this process has recorded. */
export interface Recorded {
  readonly id: string;
  /** Whether it is on disk. Else this process alone knows it. */
  readonly isOnDisk: boolean;
}

export interface JournalOptions {
  /** None keeps the journal in memory. */
  readonly disk: Disk | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds on a monotonic clock that all processes of this machine share. */
  readonly machineMs: () => number;
  /** A random UUID unless given. */
  readonly randomId?: (() => string) | undefined;
  /** Takes the key out of a line. */
  readonly redact: (line: string) => string;
  /** An entry could not be written. */
  readonly onUnwritable: (reason: string) => void;
}

const UNDER_WAY_MS = 60_000;
/** Which outcome counts where two lines differ: an unknown one may become known, and no known one changes. */
const CERTAINTY = { none: 0, unknown: 1, not_sent: 2, rejected: 2, done: 2 } as const;

/** Nothing that was read or written is forgotten, even if files are removed or put back. */
export class Journal {
  readonly #options: JournalOptions;
  readonly #files: JournalFiles | undefined;
  /** Entries that were read from the disk, by id, in the order of the files and lines. */
  readonly #read = new Map<string, StoredEntry & { readonly file: string }>();
  /** Entries that this process has written and not read yet, or could not write, by id. */
  readonly #unread = new Map<string, StoredEntry>();
  /** The ids of entries that this process has begun. */
  readonly #own = new Set<string>();

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#files = options.disk === undefined ? undefined : new JournalFiles(options.disk, options.now);
  }

  /** Resolves when the intent is on disk, or as soon as that has failed. Never rejects. */
  async begin(intent: Intent): Promise<Recorded> {
    const { now, machineMs, randomId = () => crypto.randomUUID() } = this.#options;
    const id = randomId();
    const record: StoredEntry = { id, atMs: now(), machineMs: machineMs(), ...intent };
    this.#own.add(id);
    return { id, isOnDisk: await this.#write(record) };
  }

  /** Resolves with whether the outcome is on disk. Never rejects. */
  async recordOutcome(id: string, { outcome, ...rest }: RequestOutcome): Promise<boolean> {
    const record = this.#read.get(id) ?? this.#unread.get(id);
    if (record === undefined) throw new TypeError("This request was never begun.");
    // Without the file that it was read from.
    const ended = { ...record, outcome, endedAtMs: this.#options.now(), ...rest };
    return this.#write(entrySchema().parse(ended));
  }

  /**
   * All entries: those on disk, of all processes, in the order of files and lines, then those that this
   * process alone knows. Reads the disk afresh. Throws a BridgeError where a file can't be read.
   */
  async entries(): Promise<readonly JournalEntry[]> {
    await this.#files?.readChanged((line, file) => this.#add(line, file));
    const records = [...this.#read.values(), ...this.#unread.values()];
    return records.map((record) => Object.assign({ state: this.#stateOf(record) }, record));
  }

  #stateOf({ id, outcome, atMs, machineMs }: StoredEntry): RequestState {
    if (outcome === "unknown") return "unknown";
    if (outcome !== undefined) return "over";
    if (this.#own.has(id)) return "under way";
    // By either clock: one may have been set, and where a folder is shared the other is another machine's.
    const isRecent =
      Math.abs(this.#options.now() - atMs) < UNDER_WAY_MS ||
      Math.abs(this.#options.machineMs() - machineMs) < UNDER_WAY_MS;
    return isRecent ? "under way" : "unknown";
  }

  async #write(record: StoredEntry): Promise<boolean> {
    const { redact, onUnwritable } = this.#options;
    const file = this.#read.get(record.id)?.file ?? (this.#files === undefined ? "memory" : undefined);
    if (file === undefined) this.#unread.set(record.id, record);
    else this.#read.set(record.id, { ...record, file });
    try {
      await this.#files?.append(redact(JSON.stringify(record)));
      return true;
    } catch (error) {
      onUnwritable(codeOf(error));
      return false;
    }
  }

  #add(line: string, file: string): void {
    let read: StoredEntry;
    try {
      read = entrySchema().parse(JSON.parse(line));
    } catch {
      // Empty, torn by a crash, or of another kind.
      return;
    }
    const placed = this.#read.get(read.id);
    const known = placed ?? this.#unread.get(read.id) ?? read;
    const isNewer = CERTAINTY[read.outcome ?? "none"] > CERTAINTY[known.outcome ?? "none"];
    this.#unread.delete(read.id);
    this.#read.set(read.id, { ...(isNewer ? read : known), file: placed?.file ?? file });
  }
}
