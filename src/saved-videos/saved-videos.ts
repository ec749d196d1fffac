// Decides which finished videos are saved on this computer, when, and under which name, which is made of
// this computer's date and the job's id alone. Knows neither HTTP nor the SDK.

import { stateOf } from "../job.ts";
import { type Clock, pause } from "../clock.ts";
import type { JobStore, Unsubscribe } from "../jobs/job-store.ts";
import type { Log } from "../log.ts";
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
  readonly folder: Pick<VideoFolder, "names" | "pathOf" | "write">;
  readonly store: JobStore;
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
/** Characters: a file name has 255 at most. */
const MAX_HEX = 100;
const FILE_NAME = /^faceless-\d{4}-\d{2}-\d{2}-(.+)\.mp4$/;

export class SavedVideos {
  readonly #options: SavedVideosOptions;
  readonly #pending = new Map<string, PendingVideo>(); // by jobId
  /** Paths by the part of the name that identifies the job, as the folder was last read. */
  #saved: ReadonlyMap<string, string> = new Map();
  /** The same parts of all names that it ever had: what the user removes is not saved again. */
  readonly #everSaved = new Set<string>();
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
    const video: PendingVideo = { state: before?.state, retryAtMs: Infinity, stop: new AbortController() };
    this.#pending.set(jobId, video);
    video.saving = this.#save(jobId, video);
  }

  /** Brings `stateOf` up to date, and saves the video that a call has asked for. Takes a second at most. */
  async refresh(jobId?: string): Promise<void> {
    if (this.#isClosed) return;
    if (jobId !== undefined && this.#isReady(jobId)) this.saveWhenFinished(jobId);
    await Promise.race([this.#readFolder(), pause(this.#options.clock, FOLDER_DEADLINE_MS)]);
  }

  /** undefined for a video that is not saved and need not be, or is not finished. */
  stateOf(jobId: string): SavedVideo | undefined {
    const path = this.#saved.get(this.#idPart(jobId));
    return path === undefined ? this.#pending.get(jobId)?.state : { state: "saved", path };
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
    const { lookUpLinks, clock } = this.#options;
    // A link that failed may have expired.
    if (state !== undefined) await lookUpLinks();
    for (let lookups = 0; lookups < LOOKUPS.max && !signal.aborted; lookups++) {
      if (!this.#isReady(jobId) || this.#linkOf(jobId) !== undefined) return;
      await pause(clock, Math.min(LOOKUPS.maxMs, LOOKUPS.firstMs * 2 ** lookups), signal);
      if (!signal.aborted) await lookUpLinks();
    }
  }

  async #writeFile(jobId: string, video: PendingVideo): Promise<void> {
    const { folder, clock } = this.#options;
    const { signal } = video.stop;
    await this.#readFolder();
    if (this.#everSaved.has(this.#idPart(jobId))) return;
    const nowMs = clock.now();
    const localMs = nowMs - new Date(nowMs).getTimezoneOffset() * 60_000;
    const name = `faceless-${new Date(localMs).toISOString().slice(0, 10)}-${this.#idPart(jobId)}.mp4`;
    video.state = { state: "saving", path: folder.pathOf(name) };
    await this.#download(jobId, name, signal);
    // A read that began before has not seen the file.
    await this.#folderRead;
    await this.#readFolder();
  }

  /** Starts over when the connection breaks, twice at most. */
  async #download(jobId: string, name: string, signal: AbortSignal): Promise<void> {
    const { folder, download, clock } = this.#options;
    for (let attempt = 1; ; attempt++) {
      try {
        return await folder.write(name, download(this.#linkOf(jobId) ?? "", signal));
      } catch (error) {
        const mayPass = error instanceof DownloadFailure && error.mayPass;
        if (!mayPass || attempt === MAX_ATTEMPTS) throw error;
        await pause(clock, ATTEMPT_PAUSE_MS * attempt, signal);
        signal.throwIfAborted();
      }
    }
  }

  /** If the folder can't be read, what was known before stands. */
  #readFolder(): Promise<void> {
    const { folder, log } = this.#options;
    const read = async () => {
      try {
        const names = await folder.names();
        this.#saved = new Map(
          names.sort().flatMap((name): [string, string][] => {
            const id = FILE_NAME.exec(name)?.[1];
            return id === undefined ? [] : [[id, folder.pathOf(name)]];
          }),
        );
        for (const id of this.#saved.keys()) this.#everSaved.add(id);
      } catch (error) {
        log.debug("The folder of saved videos can't be read.", error);
      }
    };
    return (this.#folderRead ??= read().finally(() => (this.#folderRead = undefined)));
  }

  /**
   * The part of the file's name that identifies the job: the first 8 digits of a UUID, unless an older job
   * has them. UUIDs that begin with the time share these digits with those of the same minutes. They are used
   * whole, and so is any other id.
   */
  #idPart(jobId: string): string {
    const id = jobId.toLowerCase();
    if (/^[\da-f]{8}-[\da-f]{4}-[1-5][\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/.test(id)) {
      const known = this.#options.store.recent(Infinity).map((job) => job.jobId.toLowerCase());
      const oldest = known.findLast((other) => other.startsWith(id.slice(0, 8)));
      return oldest === undefined || oldest === id ? id.slice(0, 8) : id;
    }
    if (/^[\da-z][\da-z-]{0,63}$/.test(jobId)) return jobId;
    // Ids mostly differ at their end.
    return Buffer.from(jobId).toString("hex").slice(-MAX_HEX);
  }
}

/** Used if no folder is set. */
export const NOTHING_SAVED: Pick<SavedVideos, keyof SavedVideos> = {
  saveWhenFinished: () => {},
  refresh: async () => {},
  stateOf: () => undefined,
  close: async () => {},
};
