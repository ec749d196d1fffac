// Records every paid or public request before it is sent, and its outcome afterwards; each line is a whole
// entry as it then stood. Knows nothing of HTTP, MCP or of which requests are the same. Never holds the key.

import * as z from "zod";
import type { Clock } from "../clock.ts";
import { UNDER_WAY_MS } from "../service/time-budget.ts";
import { JournalError } from "./errors.ts";
import { isTorn } from "./torn-line.ts";

const common = {
  id: z.string(),
  /** When it was begun, in milliseconds since the epoch, as far as a Date reaches. */
  atMs: z.number().min(-8.64e15).max(8.64e15),
  outcome: z.enum(["done", "rejected", "not_sent"]).optional(),
  /** Made with the sandbox's key: practice that doesn't count for the account. */
  sandbox: z.literal(true).optional(),
  /** The name and version of the MCP client that made the call, if it gave them. */
  client: z.string().optional(),
  /** Where the store keeps the entry's first line. Known once it was read, and not written. */
  source: z.string().optional(),
};
const text = z.string().optional();
const platformResult = z.object({ platform: z.string(), ok: z.boolean(), url: text, reason: text });
const order = z.object({
  ...common,
  operation: z.literal("generate"),
  // Not z.record, which takes as long as the rest of the entry.
  arguments: z.custom<Readonly<Record<string, unknown>>>(
    (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  ),
  jobId: z.string().optional(),
});
const publication = z.object({
  ...common,
  operation: z.literal("publish"),
  jobId: z.string(),
  platforms: z.array(z.string()),
  results: z.array(platformResult).optional(),
});
const entrySchema = z.discriminatedUnion("operation", [order, publication]);

export type JournalEntry = Readonly<z.infer<typeof entrySchema>>;
export type OrderEntry = Readonly<z.infer<typeof order>>;
export type PublicationEntry = Readonly<z.infer<typeof publication>>;

/** The part of the service's answer for one platform that an entry keeps. */
export type PlatformResult = z.infer<typeof platformResult>;

/** A request that is about to be sent. */
export type Intent =
  | Pick<OrderEntry, "operation" | "arguments" | "client">
  | Pick<PublicationEntry, "operation" | "jobId" | "platforms" | "client">;

/** A request's outcome, with the job of an order that is done. */
export type RequestOutcome = Required<Pick<JournalEntry, "outcome">> &
  Pick<OrderEntry, "jobId"> &
  Pick<PublicationEntry, "results">;

/** Receives a line and its source. Returns false if it is not an entry, as it may be a damaged one. */
export type OnLine = (line: string, source: string) => boolean;

/** Keeps the journal's lines. They are only added, and all processes that share the store see them. */
export interface JournalStore {
  /** Where the lines are kept; shown in messages, so without secrets. */
  readonly place: string;
  /** Returns milliseconds since the epoch by the clock that dates the entries. */
  now(): number;
  /** Resolves when the lines, which are ASCII, are kept for good. Throws a JournalError; some may be kept. */
  append(lines: readonly string[]): Promise<void>;
  /**
   * Calls `onLine` for each new line; every process sees the lines of one source in the same order. Throws a
   * JournalError if a line is not an entry: it might forbid the next request. Never called concurrently.
   */
  readNew(onLine: OnLine): Promise<void>;
  /** The user's fix, as a clause, if what was written can't be read. */
  readonly fixIfHidden?: string;
  /** Does what a paid request does, and leaves nothing behind. Throws a JournalError. */
  rehearse?(): Promise<void>;
  /** Abandons unanswered statements; the next line uses a new connection. Files need no such method. */
  reconnect?(): void;
}

const RESTORE = "make sure that nothing removes or hides what this server has written there";

/** The pause before the store is tried again. */
const RETRY_MS = 5_000;

export interface JournalOptions {
  readonly store: JournalStore;
  /** For the pauses between attempts to write, which don't keep the process alive. */
  readonly clock: Pick<Clock, "after">;
  /** True to add and show only the sandbox's entries; otherwise only the service's. */
  readonly isSandbox?: boolean;
  readonly randomId?: (() => string) | undefined;
  /** Removes the key from a line. */
  readonly redact: (line: string) => string;
  /** Called when an outcome could not be written yet, so that this process alone knows it. */
  readonly onUnwritable: (error: unknown) => void;
}

/** Forgets nothing that was read or written, even if files are removed or put back. */
export class Journal {
  readonly #options: JournalOptions;
  /** By id; in the order in which this process has read them. */
  readonly #entries = new Map<string, JournalEntry>();
  /** The list that `entries` returns, which stays one object until an entry changes. */
  #list: readonly JournalEntry[] | undefined;
  /** Outcomes that the store didn't take. Written before the next line, after a read, or by a timer. */
  #unwritten: readonly string[] = [];
  /** True while a timer retries them. */
  #isRetrying = false;
  /** Why the store didn't take them. */
  #failure: unknown;
  /** Reads run one after the other: two at once would both read what is new. */
  #looks: Promise<void> = Promise.resolve();

  constructor(options: JournalOptions) {
    this.#options = options;
  }

  /** Resolves when the intent can be read from the store. Throws a JournalError: it must not be sent. */
  async begin(intent: Intent): Promise<{ own: JournalEntry; entries: readonly JournalEntry[] }> {
    const { store, isSandbox = false, randomId = () => crypto.randomUUID() } = this.#options;
    const mark = isSandbox ? { sandbox: true } : {};
    const { entry: own, line } = this.#toLine({ id: randomId(), atMs: store.now(), ...mark, ...intent });
    try {
      await this.#write(line);
      const entries = await this.entries();
      if (this.#entries.has(own.id)) return { own, entries };
      throw new JournalError(
        "written",
        store.place,
        "what was written is gone",
        store.fixIfHidden ?? RESTORE,
      );
    } catch (error) {
      // Part of it may already be stored, or may still arrive.
      await this.#record(own, { outcome: "not_sent" }).catch(() => {});
      throw error;
    }
  }

  /** Records the outcome of a request. Never rejects. */
  async end(own: JournalEntry, ended: RequestOutcome): Promise<void> {
    await this.#record(own, ended).catch(this.#options.onUnwritable);
  }

  /**
   * The requests of all processes that were or may have been carried out, in the order of the store. Throws a
   * JournalError if the store can't be read, or holds what this version doesn't understand.
   */
  async entries(): Promise<readonly JournalEntry[]> {
    await this.#look();
    if (this.#unwritten.length > 0) {
      await this.writeOutcomes();
      // Others may have written meanwhile: an outdated read could give out a code for their request.
      await this.#look();
    }
    const { isSandbox = false } = this.#options;
    return (this.#list ??= [...this.#entries.values()].filter(
      ({ outcome, sandbox = false }) =>
        sandbox === isSandbox && outcome !== "rejected" && outcome !== "not_sent",
    ));
  }

  /** Why outcomes that this process alone knows are not in the store; undefined if all are. */
  unwrittenReason(): Pick<JournalError, "problem" | "fix"> | undefined {
    if (this.#unwritten.length === 0) return undefined;
    const { store } = this.#options;
    return this.#failure instanceof JournalError
      ? this.#failure
      : new JournalError("written", store.place, "unknown reason");
  }

  /** Writes the outcomes that the store didn't take. Never rejects. */
  async writeOutcomes(): Promise<void> {
    if (this.#unwritten.length > 0) await this.#write().catch((error: unknown) => (this.#failure = error));
  }

  /** Milliseconds since the request was begun; 0 for one from the future, after a clock was set back. */
  ageMs({ atMs }: Pick<JournalEntry, "atMs">): number {
    return Math.max(0, this.#options.store.now() - atMs);
  }

  youngerThan(ageMs: number, entries: readonly JournalEntry[]): JournalEntry[] {
    const sinceMs = this.#options.store.now() - ageMs;
    return entries.filter(({ atMs }) => atMs > sinceMs);
  }

  /** True if its outcome isn't known and its time is near, before or after now: a clock may be ahead. */
  isUnderWay({ outcome, atMs }: JournalEntry): boolean {
    return outcome === undefined && Math.abs(this.#options.store.now() - atMs) < UNDER_WAY_MS;
  }

  /** Callers that wait for a read share its failure, so that no call waits for several. */
  #look(): Promise<void> {
    const { store } = this.#options;
    const look = this.#looks.then(() => store.readNew((line, source) => this.#add(line, source)));
    this.#looks = look;
    const forget = () => {
      if (this.#looks === look) this.#looks = Promise.resolve();
    };
    look.then(forget, forget);
    return look;
  }

  /** A duplicate line counts once. */
  async #write(...line: readonly string[]): Promise<void> {
    const unwritten = this.#unwritten;
    await this.#options.store.append([...unwritten, ...line]);
    this.#unwritten = this.#unwritten.filter((other) => !unwritten.includes(other));
  }

  async #record(own: JournalEntry, ended: RequestOutcome): Promise<void> {
    const { entry, line } = this.#toLine({ ...own, ...ended });
    this.#set({ ...entry, source: this.#entries.get(own.id)?.source });
    await this.#write(line).catch((error: unknown) => {
      this.#unwritten = [...this.#unwritten, line];
      this.#failure = error;
      this.#retry();
      throw error;
    });
  }

  /** Writes the outcomes after a pause, and again until the store has taken all. */
  #retry(): void {
    if (this.#isRetrying) return;
    this.#isRetrying = true;
    const end = () => {
      this.#isRetrying = false;
      if (this.#unwritten.length > 0) this.#retry();
    };
    this.#options.clock.after(RETRY_MS, () => void this.writeOutcomes().then(end));
  }

  /** Checks that every process will be able to read what is about to be written, in any encoding. */
  #toLine(fields: object): { readonly entry: JournalEntry; readonly line: string } {
    const json = this.#options.redact(JSON.stringify(fields));
    const line = json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
    return { entry: entrySchema.parse(JSON.parse(line)), line };
  }

  #add(line: string, source: string): boolean {
    if (line === "") return true;
    // Editors add white space and byte order marks.
    const text = line.startsWith("{") && line.endsWith("}") ? line : line.trim();
    if (text === "") return true;
    // A letter was lost in another encoding, which would change the topic.
    if (text.includes("\uFFFD")) return false;
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      return isTorn(text);
    }
    const read = entrySchema.safeParse(json);
    if (!read.success) {
      if (!isOfNewerVersion(json)) return false;
      throw new JournalError("understood", source, "a line has another form");
    }
    const known = this.#entries.get(read.data.id);
    // A known outcome never changes.
    if (known?.outcome !== undefined) return true;
    // A copy would be slower to read ever after.
    read.data.source = known?.source ?? source;
    this.#set(read.data);
    return true;
  }

  #set(entry: JournalEntry): void {
    this.#entries.set(entry.id, entry);
    this.#list = undefined;
  }
}

function isOfNewerVersion(json: unknown): boolean {
  return z.looseObject({ id: z.string(), operation: z.string() }).safeParse(json).success;
}

/** A store for one process alone. */
export function memoryStore({ now }: Pick<Clock, "now">): JournalStore {
  const lines: string[] = [];
  return {
    place: "memory",
    now,
    append: async (added) => void lines.push(...added),
    readNew: async (onLine) => lines.splice(0).forEach((line) => onLine(line, "memory")),
  };
}
