// Decides which finished videos are saved on this computer, when, and under which name. The name is made of the date and the job's id
// alone. Knows neither HTTP nor the SDK.

import type { Log } from "../log.ts";
import type { Download } from "./download.ts";
import type { Clock } from "../jobs/clock.ts";
import type { Unsubscribe } from "../jobs/emitter.ts";
import type { JobStore } from "../jobs/job-store.ts";
import type { VideoFolder } from "./video-folder.ts";

/** How the saving of a finished video stands. */
export type SavedVideo =
  | { readonly state: "saving" | "saved"; readonly path: string }
  /** `problem` is a clause that follows a colon. */
  | { readonly state: "failed"; readonly problem: string };

export interface SavedVideosOptions {
  /** undefined: nothing is saved. */
  readonly folder: Pick<VideoFolder, "names" | "pathOf" | "write"> | undefined;
  readonly store: JobStore;
  readonly download: Download;
  /** Polls the job until it ends or the returned function is called. May throw. */
  readonly watch: (jobId: string) => Unsubscribe;
  /** Updates the store from the newest page of the video list, which has the links. */
  readonly lookUpLinks: () => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

/** A video that is to be saved and is not yet. */
interface WantedVideo {
  readonly jobId: string;
  /** `failed` until a look after `retryAtMs`. */
  state: "rendering" | "waiting for its link" | "queued" | "saving" | "failed";
  /** Why the last attempt failed. */
  problem: string;
  /** On the monotonic clock. */
  retryAtMs: number;
  /** How often the list was asked for the link. */
  lookups: number;
  /** Ends the polling, or the timer of the next lookup. */
  cancel: Unsubscribe;
}

const NOT_POLLED: Unsubscribe = () => {};
const MAX_WANTED = 500;
const MAX_AT_ONCE = 2;
/** The first look after this pause tries a failed download again. */
const RETRY_PAUSE_MS = 30_000;
/** The list may lag behind the status, or never name a link: about 8 minutes in all. A user's call looks too, at once. */
const LOOKUPS = { firstMs: 2_000, maxMs: 60_000, max: 12 } as const;
/** A slow disk must not hold up a user's call. */
const FOLDER_DEADLINE_MS = 1_000;
/** Characters: a file name has 255 at most. */
const MAX_HEX = 100;
const FILE_NAME = /^faceless-\d{4}-\d{2}-\d{2}-(.+)\.mp4$/;

export class SavedVideos {
  readonly #options: SavedVideosOptions;
  /** By job. */
  readonly #wanted = new Map<string, WantedVideo>();
  /** Paths by the part of the name that stands for the job, as the folder was last read. */
  #saved: ReadonlyMap<string, string> = new Map();
  #folderRead: Promise<void> | undefined; // in progress
  readonly #inProgress = new Set<Promise<void>>(); // downloads
  readonly #ending = new AbortController();
  readonly #unsubscribes: readonly Unsubscribe[];

  constructor(options: SavedVideosOptions) {
    this.#options = options;
    const { folder, store } = options;
    this.#unsubscribes =
      folder === undefined
        ? []
        : [store.starts.on((jobId) => this.want(jobId)), store.changes.on((jobId) => this.#changed(jobId))];
  }

  /** Saves the video of a job that was started, watched or waited for, as soon as it is there. */
  want(jobId: string): void {
    if (this.#options.folder === undefined || this.#ending.signal.aborted || this.#wanted.has(jobId)) return;
    // One that is rendering or failed can be wanted again.
    const [oldest] = [...this.#wanted.values()].filter(({ state }) => state !== "saving");
    if (this.#wanted.size >= MAX_WANTED && oldest !== undefined) this.#forget(oldest);
    const video: WantedVideo = {
      jobId,
      state: "rendering",
      problem: "",
      retryAtMs: 0,
      lookups: 0,
      cancel: NOT_POLLED,
    };
    this.#wanted.set(jobId, video);
    this.#advance(video);
  }

  /** Brings `stateOf` up to date before a user looks, and tries again what has failed. Never rejects, and takes a second at most. */
  async refresh(): Promise<void> {
    if (this.#options.folder === undefined || this.#ending.signal.aborted) return;
    const { clock } = this.#options;
    await new Promise<void>((resolve) => {
      const cancelTimer = clock.after(FOLDER_DEADLINE_MS, resolve);
      void this.#readFolder().then(() => {
        cancelTimer();
        resolve();
      });
    });
    for (const video of Array.from(this.#wanted.values())) {
      if (video.state === "failed" && video.retryAtMs <= clock.monotonicMs()) video.state = "rendering";
      this.#advance(video);
    }
  }

  /** undefined for a video that is not saved and need not be, or is not finished. */
  stateOf(jobId: string): SavedVideo | undefined {
    const path = this.#saved.get(idPart(jobId));
    if (path !== undefined) return { state: "saved", path };
    const { state, problem } = this.#wanted.get(jobId) ?? {};
    if (state === "failed" && problem !== undefined) return { state, problem };
    const isDue = state === "queued" || state === "saving";
    return isDue ? { state: "saving", path: this.#pathOf(jobId) } : undefined;
  }

  /** Ends all downloads for good. Resolves when nothing of them is left on disk. */
  async close(): Promise<void> {
    this.#ending.abort();
    for (const unsubscribe of this.#unsubscribes) unsubscribe();
    for (const video of Array.from(this.#wanted.values())) this.#forget(video);
    await Promise.all(this.#inProgress);
  }

  #changed(jobId: string): void {
    const video = this.#wanted.get(jobId);
    if (video !== undefined) this.#advance(video);
  }

  #forget(video: WantedVideo): void {
    video.cancel();
    this.#wanted.delete(video.jobId);
  }

  /** Takes a video as far as what is known of its job allows. */
  #advance(video: WantedVideo): void {
    if (video.state !== "rendering" && video.state !== "waiting for its link") return;
    const { job, status } = this.#options.store.get(video.jobId) ?? {};
    if (job?.done !== true) {
      if (video.cancel === NOT_POLLED) video.cancel = this.#watch(video.jobId);
      return;
    }
    if (status !== "completed") return this.#forget(video);
    if (this.#linkOf(video.jobId) === undefined) return this.#lookUpLater(video);
    video.cancel();
    video.state = "queued";
    this.#startQueued();
  }

  #watch(jobId: string): Unsubscribe {
    try {
      return this.#options.watch(jobId);
    } catch (error) {
      // Too many are watched: then a user's call has to find out that it has ended.
      this.#options.log.debug(`Job ${jobId} is not polled for its video.`, error);
      return NOT_POLLED;
    }
  }

  #lookUpLater(video: WantedVideo): void {
    if (video.state === "waiting for its link" || video.lookups >= LOOKUPS.max) return;
    const { clock, lookUpLinks, log } = this.#options;
    video.cancel();
    video.state = "waiting for its link";
    const delayMs = Math.min(LOOKUPS.maxMs, LOOKUPS.firstMs * 2 ** video.lookups);
    video.lookups += 1;
    video.cancel = clock.after(delayMs, () => {
      const look = this.#linkOf(video.jobId) === undefined ? lookUpLinks() : Promise.resolve();
      void look
        .catch((error: unknown) => log.debug("The links of finished videos could not be listed.", error))
        .then(() => {
          if (this.#wanted.get(video.jobId) !== video || video.state !== "waiting for its link") return;
          video.state = "rendering";
          this.#advance(video);
        });
    });
  }

  #linkOf(jobId: string): string | undefined {
    const { job, finalVideoUrl } = this.#options.store.get(jobId) ?? {};
    // The list's is the newer one after a lookup.
    return finalVideoUrl ?? job?.finalVideoUrl;
  }

  #startQueued(): void {
    for (const video of this.#wanted.values()) {
      if (this.#inProgress.size >= MAX_AT_ONCE) return;
      if (video.state !== "queued") continue;
      video.state = "saving";
      const saving = this.#save(video).finally(() => {
        this.#inProgress.delete(saving);
        this.#startQueued();
      });
      this.#inProgress.add(saving);
    }
  }

  async #save(video: WantedVideo): Promise<void> {
    const { folder, download, lookUpLinks, clock, log } = this.#options;
    const { jobId } = video;
    const { signal } = this.#ending;
    try {
      await this.#readFolder();
      if (!this.#saved.has(idPart(jobId))) {
        // A link that failed may have expired.
        if (video.problem !== "") await lookUpLinks().catch(() => {});
        await folder?.write(this.#nameOf(jobId), async (target) => {
          const { problem } = await download({ url: this.#linkOf(jobId) ?? "", target, signal });
          if (problem !== undefined) throw new NotDownloaded(problem);
        });
        // A read that began before has not seen the file.
        await this.#folderRead;
        await this.#readFolder();
      }
      this.#forget(video);
    } catch (error) {
      if (signal.aborted) return;
      video.state = "failed";
      video.problem = error instanceof NotDownloaded ? error.message : describeDiskError(error);
      video.retryAtMs = clock.monotonicMs() + RETRY_PAUSE_MS;
      log.warn(`The video of job ${jobId} was not saved: ${video.problem}.`, error);
    }
  }

  /** Where the folder can't be read, what was known before stands. */
  #readFolder(): Promise<void> {
    const { folder, log } = this.#options;
    const read = async () => {
      try {
        const names = (await folder?.names()) ?? [];
        this.#saved = new Map(
          names.sort().flatMap((name): [string, string][] => {
            const id = FILE_NAME.exec(name)?.[1];
            return id === undefined || folder === undefined ? [] : [[id, folder.pathOf(name)]];
          }),
        );
      } catch (error) {
        log.debug("The folder of saved videos can't be read.", error);
      }
    };
    return (this.#folderRead ??= read().finally(() => (this.#folderRead = undefined)));
  }

  #nameOf(jobId: string): string {
    const { store, clock } = this.#options;
    const dayMs = store.get(jobId)?.createdAtMs ?? clock.now();
    return `faceless-${new Date(dayMs).toISOString().slice(0, 10)}-${idPart(jobId)}.mp4`;
  }

  #pathOf(jobId: string): string {
    return this.#options.folder?.pathOf(this.#nameOf(jobId)) ?? "";
  }
}

/** The message is the download's problem. */
class NotDownloaded extends Error {}

/**
 * What stands for the job in its file's name: the first 8 digits of a UUID. A UUID that begins with the time begins like those of the
 * minutes around it, so such a one, and any other id, is used whole.
 */
function idPart(jobId: string): string {
  const id = jobId.toLowerCase();
  if (/^[\da-f]{8}-[\da-f]{4}-[1-5][\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/.test(id)) return id.slice(0, 8);
  if (/^[\da-z][\da-z-]{0,63}$/.test(jobId)) return jobId;
  // Ids mostly differ at their end.
  return Buffer.from(jobId).toString("hex").slice(-MAX_HEX);
}

const DISK_ERRORS: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EACCES: "the folder can't be written",
  EPERM: "the folder can't be written",
  EROFS: "the folder can't be written",
  ENOTDIR: "the path of the folder leads through a file",
  EEXIST: "the path of the folder leads to a file",
  ENOTFILE: "a link or a folder has the file's name",
  EFBIG: "the disk takes no file of this size",
};

function describeDiskError(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
  return `${DISK_ERRORS[code] ?? "writing to the folder failed"} (${code})`;
}
