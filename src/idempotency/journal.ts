// Records every paid or public request before it is sent, and its outcome afterwards; each line is a whole
// entry as it then stood. Knows nothing of HTTP, MCP or of which requests are the same. Never holds the key.

import { join } from "node:path";
import * as z from "zod";
import type { Clock } from "../clock.ts";
import { lazyValue } from "../lazy.ts";
import { JournalError } from "./errors.ts";
import { type PrivateFolder } from "../private-folder.ts";
import { JournalFiles } from "./journal-files.ts";

/** Made on first use, to keep the start fast. */
const entrySchema = lazyValue(() => {
  const common = {
    id: z.string(),
    /** When it was begun, in milliseconds since the epoch. */
    atMs: z.number(),
    /** None as long as it is not known. */
    outcome: z.enum(["done", "rejected", "not_sent"]).optional(),
    /** The name of the file with the entry's first line. Known once it was read, and not written. */
    file: z.string().optional(),
  };
  const generation = z.object({
    ...common,
    operation: z.literal("generate"),
    /** Hash of the arguments, equal for equal requests. */
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

export type JournalEntry = Readonly<z.infer<ReturnType<typeof entrySchema>>>;
export type GenerationEntry = Extract<JournalEntry, { operation: "generate" }>;
export type PublicationEntry = Extract<JournalEntry, { operation: "publish" }>;

/** What the service said of one platform. */
export type PlatformResult = NonNullable<PublicationEntry["results"]>[number];

/** A request that is about to be sent. */
export type Intent =
  | Pick<GenerationEntry, "operation" | "fingerprint" | "arguments">
  | Pick<PublicationEntry, "operation" | "jobId" | "platforms">;

/** What became of it; with the job of a generation that is done. */
export type RequestOutcome = Required<Pick<JournalEntry, "outcome">> &
  Pick<GenerationEntry, "jobId"> &
  Pick<PublicationEntry, "results">;

export interface JournalOptions {
  /** None keeps the journal in memory. */
  readonly folder: PrivateFolder | undefined;
  readonly clock: Pick<Clock, "now" | "after">;
  /** A random UUID unless given. */
  readonly randomId?: (() => string) | undefined;
  /** Takes the key out of a line. */
  readonly redact: (line: string) => string;
  /** An outcome could not be written, and this process alone knows it. */
  readonly onUnwritable: (error: unknown) => void;
}

/** Longer than an answer is awaited: a call's 38 s and five minutes for a late answer. */
const UNDER_WAY_MS = 6 * 60_000;

/** Nothing that was read or written is forgotten, even if files are removed or put back. */
export class Journal {
  readonly #options: JournalOptions;
  readonly #files: JournalFiles | undefined;
  /** By id; in the order of the files and lines in which this process has read them. */
  readonly #entries = new Map<string, JournalEntry>();
  /** What `entries` gives, which stays one object until an entry changes. */
  #list: readonly JournalEntry[] | undefined;
  /** The ids of the requests whose answers this process awaits. */
  readonly #awaited = new Set<string>();

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#files = options.folder === undefined ? undefined : new JournalFiles(options.folder, options.clock);
  }

  /** Resolves when the intent can be read from the disk. Throws a JournalError: it must not be sent. */
  async begin(intent: Intent): Promise<{ own: JournalEntry; entries: readonly JournalEntry[] }> {
    const { clock, folder, randomId = () => crypto.randomUUID() } = this.#options;
    const own: JournalEntry = { id: randomId(), atMs: clock.now(), ...intent };
    this.#awaited.add(own.id);
    try {
      await this.#write(own);
      const entries = await this.entries();
      if (this.#entries.has(own.id)) return { own, entries };
      throw new JournalError("written", folder?.path ?? "", "what was written is gone");
    } catch (error) {
      // A part of it may be on disk, or come there later.
      await this.end(own, { outcome: "not_sent" });
      throw error;
    }
  }

  /** This process no longer awaits the answer. Records the outcome, if it is known. Never rejects. */
  async end(own: JournalEntry, ended: RequestOutcome | undefined): Promise<void> {
    this.#awaited.delete(own.id);
    if (ended === undefined) return;
    const entry = entrySchema().parse({ ...own, ...ended });
    this.#set({ ...entry, file: this.#entries.get(own.id)?.file });
    await this.#write(entry).catch(this.#options.onUnwritable);
  }

  /**
   * The requests of all processes that were or may have been carried out, in the order of files and lines.
   * Reads what is new on the disk. Throws a JournalError where a file can't be read, or holds what this
   * version doesn't understand.
   */
  async entries(): Promise<readonly JournalEntry[]> {
    await this.#files?.readNew((line, file) => this.#add(line, file));
    return (this.#list ??= [...this.#entries.values()].filter(
      ({ outcome }) => outcome !== "rejected" && outcome !== "not_sent",
    ));
  }

  /**
   * Whether a request may still be carried out: its outcome is not known, and it is younger than six minutes,
   * or this process awaits its answer. Whether its own process still lives makes no difference.
   */
  isUnderWay({ id, outcome, atMs }: JournalEntry): boolean {
    const isRecent = this.#options.clock.now() - atMs < UNDER_WAY_MS;
    return outcome === undefined && (isRecent || this.#awaited.has(id));
  }

  async #write(entry: JournalEntry): Promise<void> {
    if (this.#files === undefined) this.#set({ ...entry, file: "memory" });
    else await this.#files.append(this.#options.redact(JSON.stringify(entry)));
  }

  #add(line: string, file: string): void {
    const { folder } = this.#options;
    let json: unknown;
    try {
      json = JSON.parse(line);
    } catch {
      // Empty, or torn by a crash.
      return;
    }
    const read = entrySchema().safeParse(json);
    if (!read.success)
      throw new JournalError("understood", join(folder?.path ?? "", file), "a line has another form");
    const known = this.#entries.get(read.data.id);
    // A known outcome never changes.
    if (known?.outcome !== undefined) return;
    // A copy would be slower to read ever after.
    read.data.file = known?.file ?? file;
    this.#set(read.data);
  }

  #set(entry: JournalEntry): void {
    this.#entries.set(entry.id, entry);
    this.#list = undefined;
  }
}
