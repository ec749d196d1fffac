// Records every paid or public request before it is sent, and its outcome afterwards; each line is a whole
// entry as it then stood. Knows nothing of HTTP, MCP or of which requests are the same. Never holds the key.

import * as z from "zod";
import type { Clock } from "../clock.ts";
import { UNDER_WAY_MS } from "../time-budget.ts";
import { JournalError } from "./errors.ts";

const common = {
  id: z.string(),
  /** When it was begun, in milliseconds since the epoch, as far as a Date reaches. */
  atMs: z.number().min(-8.64e15).max(8.64e15),
  /** None as long as it is not known. */
  outcome: z.enum(["done", "rejected", "not_sent"]).optional(),
  /** The name and version of the MCP client that made the call, where it gave them. */
  client: z.string().optional(),
  /** Where the store keeps the entry's first line. Known once it was read, and not written. */
  source: z.string().optional(),
};
const text = z.string().optional();
const platformResult = z.object({ platform: z.string(), ok: z.boolean(), url: text, reason: text });
const order = z.object({
  ...common,
  operation: z.literal("generate"),
  /** Hash of the arguments, equal for equal requests. */
  fingerprint: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  /** The job that it has started. */
  jobId: z.string().optional(),
});
const publication = z.object({
  ...common,
  operation: z.literal("publish"),
  jobId: z.string(),
  platforms: z.array(z.string()),
  /** What the service said of each platform, in short. */
  results: z.array(platformResult).optional(),
});
const entrySchema = z.discriminatedUnion("operation", [order, publication]);

export type JournalEntry = Readonly<z.infer<typeof entrySchema>>;
export type OrderEntry = Readonly<z.infer<typeof order>>;
export type PublicationEntry = Readonly<z.infer<typeof publication>>;

/** What an entry keeps of the service's answer for one platform. */
export type PlatformResult = z.infer<typeof platformResult>;

/** A request that is about to be sent. */
export type Intent =
  | Pick<OrderEntry, "operation" | "fingerprint" | "arguments" | "client">
  | Pick<PublicationEntry, "operation" | "jobId" | "platforms" | "client">;

/** What became of it; with the job of an order that is done. */
export type RequestOutcome = Required<Pick<JournalEntry, "outcome">> &
  Pick<OrderEntry, "jobId"> &
  Pick<PublicationEntry, "results">;

/** Keeps the journal's lines. They are only added, and all processes that share the store see them. */
export interface JournalStore {
  /** Where the lines are, for messages, without secrets. */
  readonly place: string;
  /** What the user can do if it can't be read or written, as a clause. Not needed for files. */
  readonly fix?: string;
  /** Milliseconds since the epoch by the clock that dates the entries. */
  now(): number;
  /**
   * Resolves when the line is kept for good. Throws a JournalError. A store that can be away for a time may
   * go on trying to keep an outcome after that.
   */
  append(line: string, isOutcome?: boolean): Promise<void>;
  /**
   * Calls `onLine` for each line that was added since the last look, and says where it is kept. Lines of one
   * source come in the same order for all processes. Throws a JournalError where a line can't be read: it
   * might forbid the next request.
   */
  readNew(onLine: (line: string, source: string) => void): Promise<void>;
}

export interface JournalOptions {
  readonly store: JournalStore;
  /** A random UUID unless given. */
  readonly randomId?: (() => string) | undefined;
  /** Takes the key out of a line. */
  readonly redact: (line: string) => string;
  /** An outcome could not be written, and this process alone knows it. */
  readonly onUnwritable: (error: unknown) => void;
}

/** Nothing that was read or written is forgotten, even if files are removed or put back. */
export class Journal {
  readonly #options: JournalOptions;
  /** By id; in the order in which this process has read them. */
  readonly #entries = new Map<string, JournalEntry>();
  /** What `entries` gives, which stays one object until an entry changes. */
  #list: readonly JournalEntry[] | undefined;
  /** The ids of the requests whose answers this process awaits. */
  readonly #awaited = new Set<string>();

  constructor(options: JournalOptions) {
    this.#options = options;
  }

  /** Resolves when the intent can be read from the store. Throws a JournalError: it must not be sent. */
  async begin(intent: Intent): Promise<{ own: JournalEntry; entries: readonly JournalEntry[] }> {
    const { store, randomId = () => crypto.randomUUID() } = this.#options;
    const { entry: own, line } = this.#toLine({ id: randomId(), atMs: store.now(), ...intent });
    this.#awaited.add(own.id);
    try {
      await store.append(line);
      const entries = await this.entries();
      if (this.#entries.has(own.id)) return { own, entries };
      throw new JournalError("written", store.place, "what was written is gone", store.fix);
    } catch (error) {
      // A part of it may be in the store, or come there later.
      await this.#end(own, { outcome: "not_sent" }).catch(() => {});
      throw error;
    }
  }

  /** This process no longer awaits the answer. Records the outcome, if it is known. Never rejects. */
  async end(own: JournalEntry, ended: RequestOutcome | undefined): Promise<void> {
    if (ended === undefined) this.#awaited.delete(own.id);
    else await this.#end(own, ended).catch(this.#options.onUnwritable);
  }

  /**
   * The requests of all processes that were or may have been carried out, in the order of the store. Reads
   * what is new there. Throws a JournalError where that can't be read, or holds what this version doesn't
   * understand.
   */
  async entries(): Promise<readonly JournalEntry[]> {
    await this.#options.store.readNew((line, source) => this.#add(line, source));
    return (this.#list ??= [...this.#entries.values()].filter(
      ({ outcome }) => outcome !== "rejected" && outcome !== "not_sent",
    ));
  }

  /** Milliseconds since the request was begun; 0 for one from the future, as a clock was set back. */
  ageMs({ atMs }: Pick<JournalEntry, "atMs">): number {
    return Math.max(0, this.#options.store.now() - atMs);
  }

  /**
   * Whether a request may still be carried out: its outcome is not known, and it is younger than six minutes,
   * or this process awaits its answer. Whether its own process still lives makes no difference.
   */
  isUnderWay({ id, outcome, atMs }: JournalEntry): boolean {
    return outcome === undefined && (this.ageMs({ atMs }) < UNDER_WAY_MS || this.#awaited.has(id));
  }

  async #end(own: JournalEntry, ended: RequestOutcome): Promise<void> {
    this.#awaited.delete(own.id);
    const { entry, line } = this.#toLine({ ...own, ...ended });
    this.#set({ ...entry, source: this.#entries.get(own.id)?.source });
    await this.#options.store.append(line, true);
  }

  /** Checks that every process will be able to read what is about to be written. */
  #toLine(fields: object): { readonly entry: JournalEntry; readonly line: string } {
    const line = this.#options.redact(JSON.stringify(fields));
    return { entry: entrySchema.parse(JSON.parse(line)), line };
  }

  #add(line: string, source: string): void {
    let json: unknown;
    try {
      json = JSON.parse(line);
    } catch {
      // Empty, or torn by a crash.
      return;
    }
    const read = entrySchema.safeParse(json);
    if (!read.success)
      throw new JournalError("understood", source, "a line has another form", this.#options.store.fix);
    const known = this.#entries.get(read.data.id);
    // A known outcome never changes.
    if (known?.outcome !== undefined) return;
    // A copy would be slower to read ever after.
    read.data.source = known?.source ?? source;
    this.#set(read.data);
  }

  #set(entry: JournalEntry): void {
    this.#entries.set(entry.id, entry);
    this.#list = undefined;
  }
}

/** A store for one process alone. */
export function memoryStore({ now }: Pick<Clock, "now">): JournalStore {
  const lines: string[] = [];
  return {
    place: "memory",
    now,
    append: async (line) => void lines.push(line),
    readNew: async (onLine) => lines.splice(0).forEach((line) => onLine(line, "memory")),
  };
}
