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
  /** Polls the job until it ends or the returned function is called. */
  readonly watch: (jobId: string) => Unsubscribe;
  /** Updates the store from the newest page of the video list, which has the links. Never rejects. */
  readonly lookUpLinks: () => Promise<unknown>;
  readonly clock: Clock;
  readonly log: Log;
}

/** A video that is to be saved and is not yet. */
interface PendingVideo {
  readonly jobId: string;
  /** A failed video is tried again by the first look after `retryAtMs`. */
  state: "rendering" | "waiting for its link" | "saving" | "failed";
  /** Why it failed the last time; empty before. */
  problem: string;
  /** A time of the monotonic clock. */
  retryAtMs: number;
  /** The name of its file, once it is being saved. */
  name: string;
  /** How often the list was asked for the link. */
  lookups: number;
  /** Ends the polling, or the timer of the next lookup. */
  stopWaiting: Unsubscribe;
}

const NOT_WAITING: Unsubscribe = () => {};
const MAX_PENDING = 500;
const MAX_ATTEMPTS = 3;
/** The pause before the second attempt; the one before the third is twice as long. */
const ATTEMPT_PAUSE_MS = 1_000;
/** The first look after this pause tries a failed video again. */
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
  #folderRead: Promise<void> | undefined; // in progress
  readonly #inProgress = new Set<Promise<void>>(); // videos that are being saved
  readonly #shutdown = new AbortController();
  readonly #unsubscribes: readonly Unsubscribe[];

  constructor(options: SavedVideosOptions) {
    this.#options = options;
    const { store } = options;
    this.#unsubscribes = [
      store.on("start", (jobId) => this.saveWhenFinished(jobId)),
      store.on("change", (jobId) => this.#advance(this.#pending.get(jobId))),
    ];
  }

  /** Saves the video of a job that was started, watched or waited for, as soon as it is there. */
  saveWhenFinished(jobId: string): void {
    if (this.#shutdown.signal.aborted || this.#pending.has(jobId)) return;
    const [oldest] = this.#pending.values();
    if (this.#pending.size >= MAX_PENDING && oldest !== undefined) this.#forget(oldest);
    const video: PendingVideo = {
      jobId,
      state: "rendering",
      problem: "",
      retryAtMs: 0,
      name: "",
      lookups: 0,
      stopWaiting: NOT_WAITING,
    };
    this.#pending.set(jobId, video);
    this.#advance(video);
  }

  /** Brings `stateOf` up to date, and tries again what has failed. Takes a second at most. Never rejects. */
  async refresh(): Promise<void> {
    const { clock } = this.#options;
    if (this.#shutdown.signal.aborted) return;
    await Promise.race([this.#readFolder(), pause(clock, FOLDER_DEADLINE_MS)]);
    for (const video of Array.from(this.#pending.values())) {
      if (video.state === "failed" && video.retryAtMs <= clock.monotonicMs()) video.state = "rendering";
      this.#advance(video);
    }
  }

  /** undefined for a video that is not saved and need not be, or is not finished. */
  stateOf(jobId: string): SavedVideo | undefined {
    const path = this.#saved.get(this.#idPart(jobId));
    if (path !== undefined) return { state: "saved", path };
    const video = this.#pending.get(jobId);
    if (video?.state === "failed") return { state: "failed", problem: video.problem };
    if (video?.state !== "saving") return undefined;
    return { state: "saving", path: this.#options.folder.pathOf(video.name) };
  }

  /** Ends all downloads for good. Resolves when nothing of them is left on disk. */
  async close(): Promise<void> {
    this.#shutdown.abort();
    for (const unsubscribe of this.#unsubscribes) unsubscribe();
    for (const video of Array.from(this.#pending.values())) this.#forget(video);
    await Promise.all(this.#inProgress);
  }

  #forget(video: PendingVideo): void {
    video.stopWaiting();
    this.#pending.delete(video.jobId);
  }

  /** Does the next step that the known state of the job allows. */
  #advance(video: PendingVideo | undefined): void {
    if (video?.state !== "rendering" && video?.state !== "waiting for its link") return;
    const { job } = this.#options.store.get(video.jobId) ?? {};
    if (job?.done !== true) {
      if (video.stopWaiting === NOT_WAITING) video.stopWaiting = this.#options.watch(video.jobId);
      return;
    }
    if (stateOf(job.status) !== "ready") return this.#forget(video);
    if (this.#linkOf(video.jobId) === undefined) return this.#lookUpLater(video);
    video.state = "saving";
    const nowMs = this.#options.clock.now();
    const localMs = nowMs - new Date(nowMs).getTimezoneOffset() * 60_000;
    video.name = `faceless-${new Date(localMs).toISOString().slice(0, 10)}-${this.#idPart(video.jobId)}.mp4`;
    const saving = this.#save(video).finally(() => this.#inProgress.delete(saving));
    this.#inProgress.add(saving);
  }

  #lookUpLater(video: PendingVideo): void {
    if (video.state === "waiting for its link" || video.lookups === LOOKUPS.max) return;
    const { clock, lookUpLinks } = this.#options;
    video.stopWaiting();
    video.state = "waiting for its link";
    const lookUp = async () => {
      await lookUpLinks();
      if (this.#pending.get(video.jobId) !== video || video.state !== "waiting for its link") return;
      video.state = "rendering";
      this.#advance(video);
    };
    const delayMs = Math.min(LOOKUPS.maxMs, LOOKUPS.firstMs * 2 ** video.lookups);
    video.lookups += 1;
    video.stopWaiting = clock.after(delayMs, () => void lookUp());
  }

  #linkOf(jobId: string): string | undefined {
    const { job, finalVideoUrl } = this.#options.store.get(jobId) ?? {};
    // The list's is the newer one after a lookup.
    return finalVideoUrl ?? job?.finalVideoUrl;
  }

  async #save(video: PendingVideo): Promise<void> {
    const { lookUpLinks, clock, log } = this.#options;
    const { jobId } = video;
    try {
      await this.#readFolder();
      if (!this.#saved.has(this.#idPart(jobId))) {
        // A link that failed may have expired.
        if (video.problem !== "") await lookUpLinks();
        await this.#download(video);
        // A read that began before has not seen the file.
        await this.#folderRead;
        await this.#readFolder();
      }
      this.#forget(video);
    } catch (error) {
      if (this.#shutdown.signal.aborted) return;
      video.state = "failed";
      video.problem = error instanceof DownloadFailure ? error.message : describeFolderError(error);
      video.retryAtMs = clock.monotonicMs() + RETRY_PAUSE_MS;
      log.warn(`The video of job ${jobId} was not saved: ${video.problem}.`, error);
    }
  }

  /** Starts over when the connection breaks, twice at most. */
  async #download({ jobId, name }: PendingVideo): Promise<void> {
    const { folder, download, clock } = this.#options;
    const { signal } = this.#shutdown;
    for (let attempt = 1; ; attempt++) {
      try {
        const url = this.#linkOf(jobId) ?? "";
        return await folder.write(name, download(url, signal));
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
