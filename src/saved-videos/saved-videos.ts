// Decides which finished videos are saved on this computer, when, and under which name, which is made of
// this computer's date, the words it has ordered and the job's id. Knows neither HTTP nor the SDK.

import { basename } from "node:path";
import { JOB_ID, jobIdFrom, stateOf } from "../job.ts";
import { type Clock, pause } from "../clock.ts";
import type { JobStore, Unsubscribe } from "../jobs/job-store.ts";
import type { Log } from "../log.ts";
import { firstSpokenWords } from "../spoken-words.ts";
import { describeFolderError, type VideoFolder } from "./video-folder.ts";

/** Whether a finished video is saved. */
export type SavedVideo =
  | { readonly state: "saving" | "saved"; readonly path: string }
  /** `problem` is a clause that follows a colon. */
  | { readonly state: "failed"; readonly problem: string };

/** Why a download failed, as a clause that follows a colon. Contains no text of the other side. */
export class DownloadFailure extends Error {
  /** Whether another request may succeed. */
  readonly mayPass: boolean;

  constructor(reason: string, { mayPass = false } = {}) {
    super(reason);
    this.mayPass = mayPass;
  }
}

export interface SavedVideosOptions {
  readonly folder: Pick<VideoFolder, keyof VideoFolder>;
  readonly store: JobStore;
  /** What this computer has ordered; undefined where that is not known. Never rejects. */
  readonly topicOf: (jobId: string) => Promise<string | undefined>;
  /** Yields the file, or throws a DownloadFailure. */
  readonly download: (url: string, signal: AbortSignal) => AsyncIterable<Uint8Array>;
  /** Polls the job. Resolves when it has ended, by the signal, or when it is polled no more. Never rejects. */
  readonly untilEnded: (jobId: string, signal: AbortSignal) => Promise<unknown>;
  /** Updates the store from the newest page of the video list, which has the links. Never rejects. */
  readonly lookUpLinks: () => Promise<unknown>;
  readonly clock: Clock;
  readonly log: Log;
}

/** A video that is to be saved and is not yet. */
interface PendingVideo {
  /** Undefined until its download begins. */
  state: SavedVideo | undefined;
  /** When one that failed may be tried again, on the monotonic clock. */
  retryAtMs: number;
  /** Ends what is done for it. */
  readonly stop: AbortController;
  /** Resolves when its file has a name, or when nothing is done for it any more. */
  readonly named: Promise<void>;
  readonly setNamed: () => void;
  /** Resolves when nothing is done for it any more. */
  saving?: Promise<void>;
}

const MAX_PENDING = 500;
const MAX_ATTEMPTS = 3;
/** The pause before the second attempt; the one before the third is twice as long. */
const ATTEMPT_PAUSE_MS = 1_000;
/** The first call that asks for a failed video after this pause tries it again. */
const RETRY_PAUSE_MS = 30_000;
/** The list may lag behind the status, or never name a link: about 8 minutes in all. */
const LOOKUPS = { firstMs: 2_000, maxMs: 60_000, max: 12 } as const;
/** A slow disk must not hold up a user's call. */
const FOLDER_DEADLINE_MS = 1_000;
/** A list may show a hundred videos that are not saved yet. */
const MAX_DOWNLOADS = 3;
/** A link that is no older was looked up for the call that asks for the video. */
const FRESH_LINK_MS = 10_000;
/** Characters: with 40 letters of 4 bytes, the date and the ending of a partial file, 249 bytes of 255. */
const MAX_ID = 50;
const DATED = "faceless-2026-11-20".length;

export class SavedVideos {
  readonly #options: SavedVideosOptions;
  readonly #pending = new Map<string, PendingVideo>(); // by jobId
  /** The files that are there, as the folder was last read. */
  #names: ReadonlySet<string> = new Set();
  /** The file of each job that was ever saved, by `idOf`: what the user removes or moves is not saved again. */
  readonly #everSaved = new Map<string, string>();
  /** Each resolves when the last download that was given to it has ended. */
  readonly #lanes = Array.from({ length: MAX_DOWNLOADS }, () => Promise.resolve());
  #folderRead: Promise<void> | undefined; // in progress
  readonly #unsubscribe: Unsubscribe;
  #isClosed = false;

  constructor(options: SavedVideosOptions) {
    this.#options = options;
    this.#unsubscribe = options.store.on("start", (jobId) => this.saveWhenFinished(jobId));
  }

  /** Saves the video of a job as soon as it is there. Tries again what failed a while ago. */
  saveWhenFinished(jobId: string): void {
    const before = this.#pending.get(jobId);
    if (this.#isClosed || (before !== undefined && !this.#maySucceedNow(jobId, before))) return;
    this.#forget(jobId);
    const [oldest = ""] = this.#pending.keys();
    if (this.#pending.size >= MAX_PENDING) this.#forget(oldest);
    let setNamed = () => {};
    const named = new Promise<void>((resolve) => (setNamed = resolve));
    const stop = new AbortController();
    const video: PendingVideo = { state: before?.state, retryAtMs: Infinity, stop, named, setNamed };
    this.#pending.set(jobId, video);
    video.saving = this.#save(jobId, video).finally(setNamed);
  }

  /** Brings `stateOf` up to date, and saves those of these videos that are finished. Takes a second at most. */
  async refresh(jobIds: readonly string[] = []): Promise<void> {
    if (this.#isClosed) return;
    const { clock, log } = this.#options;
    const read = this.#readFolder().catch((error: unknown) =>
      log.debug("The folder of saved videos can't be read.", error),
    );
    const named = jobIds
      .filter((jobId) => this.#isReady(jobId))
      .map((jobId) => {
        this.saveWhenFinished(jobId);
        return this.#linkOf(jobId) === undefined ? undefined : this.#pending.get(jobId)?.named;
      });
    await Promise.race([Promise.all([read, ...named]), pause(clock, FOLDER_DEADLINE_MS)]);
  }

  /** undefined for a video that is not saved and need not be, or is not finished. */
  stateOf(jobId: string): SavedVideo | undefined {
    const state = this.#pending.get(jobId)?.state;
    // A file is there a moment before it is recorded.
    const name = this.#everSaved.get(idOf(jobId)) ?? (state?.state === "saving" ? basename(state.path) : "");
    if (!this.#names.has(name)) return state;
    return { state: "saved", path: this.#options.folder.pathOf(name) };
  }

  /** Ends all downloads for good. Resolves when nothing of them is left on disk. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#unsubscribe();
    const videos = [...this.#pending.values()];
    for (const { stop } of videos) stop.abort();
    await Promise.all(videos.flatMap(({ saving = [] }) => saving));
  }

  #forget(jobId: string): void {
    this.#pending.get(jobId)?.stop.abort();
    this.#pending.delete(jobId);
  }

  /** It failed long enough ago, or a call has found the link for which it waits. */
  #maySucceedNow(jobId: string, { state, retryAtMs }: PendingVideo): boolean {
    if (state === undefined) return this.#linkOf(jobId) !== undefined;
    return this.#options.clock.monotonicMs() >= retryAtMs;
  }

  #isReady(jobId: string): boolean {
    return stateOf(this.#options.store.get(jobId)?.status ?? "") === "ready";
  }

  /** The link of a video that is finished. */
  #linkOf(jobId: string): string | undefined {
    return this.#isReady(jobId) ? this.#options.store.get(jobId)?.finalVideoUrl : undefined;
  }

  /** All that is done for a video, from its render to its file. Never rejects. */
  async #save(jobId: string, video: PendingVideo): Promise<void> {
    const { untilEnded, clock, log } = this.#options;
    const { signal } = video.stop;
    try {
      if (!this.#isReady(jobId)) await untilEnded(jobId, signal);
      await this.#findLink(jobId, video);
      if (this.#linkOf(jobId) !== undefined && !signal.aborted) await this.#writeFile(jobId, video);
      if (this.#pending.get(jobId) === video) this.#pending.delete(jobId);
    } catch (error) {
      if (signal.aborted) return;
      const problem = error instanceof DownloadFailure ? error.message : describeFolderError(error);
      video.state = { state: "failed", problem };
      video.retryAtMs = clock.monotonicMs() + RETRY_PAUSE_MS;
      log.warn(`The video of job ${jobId} was not saved: ${problem}.`, error);
    }
  }

  /** Resolves when a finished video has a link, when the list names none for long, or by the signal. */
  async #findLink(jobId: string, { state, stop: { signal } }: PendingVideo): Promise<void> {
    const { store, lookUpLinks, clock } = this.#options;
    // A link that failed may have expired.
    const { linkAtMs = -Infinity } = store.get(jobId) ?? {};
    if (state !== undefined && clock.monotonicMs() - linkAtMs > FRESH_LINK_MS) await lookUpLinks();
    for (let lookups = 0; lookups < LOOKUPS.max && !signal.aborted; lookups++) {
      if (!this.#isReady(jobId) || this.#linkOf(jobId) !== undefined) return;
      await pause(clock, Math.min(LOOKUPS.maxMs, LOOKUPS.firstMs * 2 ** lookups), signal);
      if (!signal.aborted) await lookUpLinks();
    }
  }

  async #writeFile(jobId: string, video: PendingVideo): Promise<void> {
    const { folder, topicOf } = this.#options;
    const { signal } = video.stop;
    const id = idOf(jobId);
    await this.#readFolder();
    if (this.#everSaved.has(id)) return;
    const name = this.#nameOf(id, (await topicOf(jobId)) ?? "");
    video.state = { state: "saving", path: folder.pathOf(name) };
    video.setNamed();
    await this.#inLane(() => this.#download(jobId, name, signal));
    await folder.record(id, name);
    // A read that began before has not seen the file.
    await this.#folderRead;
    await this.#readFolder();
  }

  /** Runs it when one of few others has ended. */
  async #inLane(run: () => Promise<void>): Promise<void> {
    const ended = (this.#lanes.shift() ?? Promise.resolve()).then(run);
    this.#lanes.push(ended.catch(() => {}));
    await ended;
  }

  /** A new file's name, or that of the job's file which is there but for another date. */
  #nameOf(id: string, topic: string): string {
    const { folder, clock } = this.#options;
    const nowMs = clock.now();
    const localMs = nowMs - new Date(nowMs).getTimezoneOffset() * 60_000;
    const start = `faceless-${new Date(localMs).toISOString().slice(0, 10)}`;
    const saving = [...this.#pending.values()].flatMap(({ state }) =>
      state?.state === "saving" ? state.path : [],
    );
    const others = new Set([...Array.from(this.#everSaved.values(), folder.pathOf), ...saving]);
    const isFree = (name: string) => !others.has(folder.pathOf(name));
    const end = (part: string) => `-${[...wordsOf(topic), part].join("-")}.mp4`;
    const short = end(JOB_ID.test(id) ? id.slice(0, 8) : id);
    const kept = [...this.#names].find((name) => name.slice(DATED) === short && isFree(name));
    return kept ?? (isFree(start + short) ? start + short : start + end(id));
  }

  /** Starts over when the connection breaks, twice at most. */
  async #download(jobId: string, name: string, signal: AbortSignal): Promise<void> {
    const { folder, download, clock } = this.#options;
    for (let attempt = 1; ; attempt++) {
      signal.throwIfAborted();
      try {
        return await folder.write(name, download(this.#linkOf(jobId) ?? "", signal));
      } catch (error) {
        const mayPass = error instanceof DownloadFailure && error.mayPass;
        if (!mayPass || attempt === MAX_ATTEMPTS) throw error;
        await pause(clock, ATTEMPT_PAUSE_MS * attempt, signal);
      }
    }
  }

  #readFolder(): Promise<void> {
    const { folder } = this.#options;
    const read = async () => {
      for (const [id, name] of await folder.recorded()) this.#everSaved.set(id, name);
      this.#names = new Set(await folder.names());
    };
    return (this.#folderRead ??= read().finally(() => (this.#folderRead = undefined)));
  }
}

/** A job's id as names and the record of saved videos have it: safe whatever the service gives. */
function idOf(jobId: string): string {
  const id = jobIdFrom(jobId);
  if (/^[\da-z][\da-z-]*$/.test(id) && id.length <= MAX_ID) return id;
  // Ids mostly differ at their end.
  return Buffer.from(jobId).toString("hex").slice(-MAX_ID);
}

/** The first spoken words as a part of a file's name: letters and digits of any script, at most 40 characters. */
function wordsOf(topic: string): string[] {
  const text = firstSpokenWords(topic)
    .normalize()
    .replace(/[\p{Default_Ignorable_Code_Point}'’]/gu, "");
  const words = (text.match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu) ?? []).join("-");
  return /^(?:.{1,40}$|.{20,40}(?=-)|.{40})/u.exec(words) ?? [];
}

/** Used if no folder is set. */
export const NOTHING_SAVED: Pick<SavedVideos, keyof SavedVideos> = {
  saveWhenFinished: () => {},
  refresh: async () => {},
  stateOf: () => undefined,
  close: async () => {},
};
