// Saves finished videos on this computer: which ones, when and under which name. A file has its name only
// when it is whole, and one that is there already is left alone. Knows neither HTTP nor the SDK.

// Not from node:fs/promises, which would be loaded at the start and takes a millisecond.
import { promises as fs } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { type Clock, pause } from "../clock.ts";
import { describeDiskError, makeFolder } from "../disk.ts";
import { errnoOf } from "../errors.ts";
import { stateOf } from "../service/job.ts";
import type { Log } from "../log.ts";
import type { JobBook } from "./job-book.ts";
import { type JobRecord, lastStatus, jobTitle } from "./job-record.ts";
import type { Poller } from "./poller.ts";
import type { JobReader } from "./reader.ts";

/** Why a download failed, as a clause that follows a colon. Contains no text from the host. */
export class DownloadFailure extends Error {
  /** True if another request may succeed. */
  readonly mayPass: boolean;

  constructor(reason: string, mayPass = false) {
    super(reason);
    this.mayPass = mayPass;
  }
}

export interface VideoSaverOptions {
  /** Absolute. Made with the first file. Nothing is saved if there is none. */
  readonly folder: string | undefined;
  readonly book: JobBook;
  readonly poller: Pick<Poller, "follow">;
  readonly reader: Pick<JobReader, "refreshFromList">;
  /** Writes a new file. Throws a DownloadFailure, or an error of the file system. */
  readonly download: (link: string, path: string, signal: AbortSignal) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Pauses between attempts, each twice as long as the one before. */
const ATTEMPT_PAUSE_MS = { first: 1_000, max: 60_000 } as const;
/** The file of a new job may reach its host minutes after the service has named the link. */
const NEW_JOB_MS = 30 * 60_000;
const MAX_RETRYING_MS = { newJob: 5 * 60_000, olderJob: 5_000 } as const;
/** Before another attempt, an older list is read again: the link may have expired, or be named by now. */
const LINK_AGE_MS = 60_000;
const LIST_AGE_MS = 2_000;
/** A virus scanner or a synchronising program may hold a file for a moment. */
const HELD: ReadonlySet<string | undefined> = new Set(["EPERM", "EACCES", "EBUSY"]);
const HELD_PAUSE_MS = 250;
const MAX_HELD_MS = 10_000;
/** The first call that asks for a failed video after this pause tries it again. */
const RETRY_PAUSE_MS = 30_000;
/** A list may show a hundred videos that are not saved yet. */
const MAX_DOWNLOADS = 3;
/** A slow disk must not hold up a user's call. */
const FOLDER_DEADLINE_MS = 1_000;
const MAX_NAME_BYTES = 140;
/** A line of JSON for each video that was ever saved, so that one that the user removed isn't saved again. */
const RECORD = ".faceless-saved.jsonl";
const lineSchema = z.object({ jobId: z.string(), name: z.string() });

export class VideoSaver {
  readonly #options: VideoSaverOptions;
  /** The videos that are being saved. Each promise resolves when work on the video has ended. */
  readonly #pending = new Map<string, Promise<void>>();
  /** When a failed video may be tried again, on the monotonic clock. */
  readonly #retryAtMs = new Map<string, number>();
  /** Each promise resolves when the last download in its slot has ended. */
  readonly #slots = Array.from({ length: MAX_DOWNLOADS }, () => Promise.resolve());
  readonly #shutdown = new AbortController();

  constructor(options: VideoSaverOptions) {
    this.#options = options;
    const { folder, book, poller } = options;
    if (folder === undefined) return;
    book.on("start", (jobId) => void poller.follow(jobId));
    book.on("change", (jobId) => this.#saveIfReady(jobId));
  }

  /**
   * Brings `saved` of these jobs up to date, and saves those that are ready. Takes a second at most, and so
   * much longer for the files that are being saved.
   */
  async refresh(jobIds: readonly string[], patienceMs = 0): Promise<void> {
    const { folder, book, clock } = this.#options;
    if (folder === undefined || this.#shutdown.signal.aborted) return;
    await Promise.race([this.#refresh(folder, jobIds), pause(clock, FOLDER_DEADLINE_MS)]);
    const linked = jobIds.filter((jobId) => book.get(jobId).link !== undefined);
    const saving = linked.flatMap((jobId) => this.#pending.get(jobId) ?? []);
    if (saving.length > 0) await Promise.race([Promise.all(saving), pause(clock, patienceMs)]);
  }

  /** Ends all downloads for good. Resolves when nothing of them is left on disk. */
  async close(): Promise<void> {
    this.#shutdown.abort();
    await Promise.all(this.#pending.values());
  }

  async #refresh(folder: string, jobIds: readonly string[]): Promise<void> {
    const { book, log } = this.#options;
    const names = await this.#readNames(folder).catch((error: unknown) => {
      log.warn(`The list of saved videos can't be read: ${describeDiskError(error)}.`, error);
    });
    if (names === undefined) return;
    for (const jobId of jobIds) {
      const name = names.get(jobId);
      const path = join(folder, name ?? "");
      if (name === undefined) this.#saveIfReady(jobId);
      else
        book.note(jobId, { saved: (await exists(path)) ? { state: "saved", path } : { state: "removed" } });
    }
  }

  #saveIfReady(jobId: string): void {
    const { folder, book, clock } = this.#options;
    const retryAtMs = this.#retryAtMs.get(jobId) ?? -Infinity;
    if (folder === undefined || this.#shutdown.signal.aborted || this.#pending.has(jobId)) return;
    if (stateOf(lastStatus(book.get(jobId)) ?? "") !== "ready" || clock.monotonicMs() < retryAtMs) return;
    this.#pending.set(
      jobId,
      this.#save(folder, jobId).finally(() => this.#pending.delete(jobId)),
    );
  }

  /** Never rejects. */
  async #save(folder: string, jobId: string): Promise<void> {
    const { book, clock, log } = this.#options;
    const { signal } = this.#shutdown;
    try {
      await book.readJournal();
      const name = fileNameOf(book.get(jobId), clock.now());
      const path = join(folder, name);
      if ((await this.#readNames(folder)).has(jobId)) return;
      if (!(await exists(folder))) await makeFolder(folder);
      if (!(await exists(path))) await this.#write(folder, path, jobId);
      const line = `${JSON.stringify({ jobId, name })}\n`;
      await this.#whenFree(() => this.#addLine(folder, line)).catch((error: unknown) => {
        // The video is there. At worst it is saved again after the user has removed it.
        log.warn(`${RECORD} was not written: ${describeDiskError(error)}.`, error);
      });
      book.note(jobId, { saved: { state: "saved", path } });
    } catch (error) {
      // Each call about a job without a link asks for it again.
      if (signal.aborted || book.get(jobId).link === undefined) return;
      const problem = error instanceof DownloadFailure ? error.message : describeDiskError(error);
      this.#retryAtMs.set(jobId, clock.monotonicMs() + RETRY_PAUSE_MS);
      book.note(jobId, { saved: { state: "failed", problem } });
      log.warn(`The video of job ${jobId} was not saved: ${problem}.`, error);
    }
  }

  /** Writes the file, and starts over after what may pass: for some minutes if the job is new. */
  async #write(folder: string, path: string, jobId: string): Promise<void> {
    const { book, reader, clock } = this.#options;
    const { firstSeenAtMs = Infinity, seenReadyAtMs = -Infinity } = book.get(jobId);
    // A job that was ordered elsewhere may have ended long ago, unless it was seen running.
    const endedMs = firstSeenAtMs < seenReadyAtMs ? clock.now() - seenReadyAtMs : Infinity;
    const isNew = Math.min(endedMs, book.ageMs(jobId) ?? Infinity) < NEW_JOB_MS;
    const write = async (attempt: number) => {
      const isUnlinked = book.get(jobId).link === undefined;
      if (attempt > 1 || isUnlinked) await reader.refreshFromList(isUnlinked ? LIST_AGE_MS : LINK_AGE_MS);
      const { link } = book.get(jobId);
      if (link === undefined) throw new DownloadFailure("its link is not known", true);
      book.note(jobId, { saved: { state: "saving", path } });
      await this.#inSlot(() => this.#writeOnce(folder, path, link.url));
    };
    const { first, max } = ATTEMPT_PAUSE_MS;
    await this.#retry(MAX_RETRYING_MS[isNew ? "newJob" : "olderJob"], write, (error, attempt) =>
      error instanceof DownloadFailure && error.mayPass
        ? Math.min(max, first * 2 ** (attempt - 1))
        : undefined,
    );
  }

  /** Writes a temporary file in the same folder, and renames it when it is whole. */
  async #writeOnce(folder: string, path: string, link: string): Promise<void> {
    // Two processes may save the same video, so each writes to a file of its own.
    const part = join(folder, `.faceless-${crypto.randomUUID()}.part`);
    try {
      await this.#options.download(link, part, this.#shutdown.signal);
      await this.#whenFree(() => fs.rename(part, path));
    } finally {
      await fs.rm(part, { force: true, maxRetries: 3 }).catch(() => {});
    }
  }

  /** The file of each job that any process has ever saved. */
  async #readNames(folder: string): Promise<ReadonlyMap<string, string>> {
    return new Map((await this.#readRecord(folder)).split("\n").flatMap(parseLine));
  }

  async #readRecord(folder: string): Promise<string> {
    return this.#whenFree(() => fs.readFile(join(folder, RECORD), "utf8")).catch((error: unknown) => {
      if (HELD.has(errnoOf(error))) throw error;
      return "";
    });
  }

  async #addLine(folder: string, line: string): Promise<void> {
    const path = join(folder, RECORD);
    await fs.appendFile(path, line).catch(async (error: unknown) => {
      // Mounts that take a file only once refuse to add to one, but take it whole.
      if (errnoOf(error) !== "EPERM") throw error;
      await fs.writeFile(path, (await this.#readRecord(folder)) + line);
    });
  }

  /** Tries again for some seconds while another program holds the file. */
  #whenFree<Result>(use: () => Promise<Result>): Promise<Result> {
    return this.#retry(MAX_HELD_MS, use, (error) => (HELD.has(errnoOf(error)) ? HELD_PAUSE_MS : undefined));
  }

  /** Tries again after each failure that `pauseMsAfter` names a pause for, if that ends in time. */
  async #retry<Result>(
    maxMs: number,
    run: (attempt: number) => Promise<Result>,
    pauseMsAfter: (error: unknown, attempt: number) => number | undefined,
  ): Promise<Result> {
    const { clock } = this.#options;
    const { signal } = this.#shutdown;
    const endsMs = clock.monotonicMs() + maxMs;
    for (let attempt = 1; ; attempt++) {
      try {
        return await run(attempt);
      } catch (error) {
        const pauseMs = pauseMsAfter(error, attempt);
        if (pauseMs === undefined || clock.monotonicMs() + pauseMs > endsMs) throw error;
        await pause(clock, pauseMs, signal);
        signal.throwIfAborted();
      }
    }
  }

  /** Runs the download once fewer than MAX_DOWNLOADS others are running. */
  async #inSlot(run: () => Promise<void>): Promise<void> {
    const ended = (this.#slots.shift() ?? Promise.resolve()).then(run);
    this.#slots.push(ended.catch(() => {}));
    await ended;
  }
}

/** "faceless-2026-11-20-Why-the-sea-is-salty-0f4b6f2e.mp4". The date is this computer's. */
export function fileNameOf(record: JobRecord, nowMs: number): string {
  const localMs = nowMs - new Date(nowMs).getTimezoneOffset() * 60_000;
  const date = new Date(localMs).toISOString().slice(0, 10);
  const id = record.jobId.replace(/[^\w-]/g, "").slice(0, 8);
  const free = MAX_NAME_BYTES - `faceless-${date}--${id}.mp4`.length;
  return ["faceless", date, ...wordsOf(jobTitle(record) ?? "", free), `${id}.mp4`].join("-");
}

/** Letters and digits of any script, joined by hyphens: whole words if possible. */
function wordsOf(title: string, maxBytes: number): string[] {
  const text = title.normalize().replace(/[\p{Default_Ignorable_Code_Point}'’]/gu, "");
  const words = (text.match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu) ?? []).join("-");
  const [cut] = /^(?:.{1,40}$|.{20,40}(?=-)|.{40})/u.exec(words) ?? [];
  if (cut === undefined) return [];
  const characters = Array.from(cut);
  while (Buffer.byteLength(characters.join("")) > maxBytes) characters.pop();
  return [characters.join("").replace(/-$/, "")];
}

function parseLine(line: string): (readonly [jobId: string, name: string])[] {
  try {
    const { jobId, name } = lineSchema.parse(JSON.parse(line));
    return [[jobId, name]];
  } catch {
    // The line was torn.
    return [];
  }
}

async function exists(path: string): Promise<boolean> {
  return fs.stat(path).then(
    () => true,
    () => false,
  );
}
