// What a card reads of its job. While it reads, the poller watches the job and answers; a card that is hidden or closed stops reading,
// and the watching ends with it.

import type { Clock } from "../../jobs/clock.ts";
import type { JobReader } from "../../jobs/job-reader.ts";
import type { JobStore, Unsubscribe } from "../../jobs/job-store.ts";
import type { Poller } from "../../jobs/poller.ts";
import type { SavedVideos } from "../../saved-videos/saved-videos.ts";
import type { Service } from "../../service/client.ts";
import type { Job } from "../../service/answers.ts";

export interface CardReadsOptions {
  readonly poller: Pick<Poller, "watch">;
  readonly reader: Pick<JobReader, "read" | "readRecent">;
  readonly jobs: Pick<JobStore, "get">;
  readonly service: Pick<Service, "backgroundWaitMs">;
  readonly savedVideos: Pick<SavedVideos, "saveWhenFinished">;
  readonly clock: Pick<Clock, "after">;
}

interface Watch {
  readonly unwatch: Unsubscribe;
  cancelTimer: () => void;
}

/** A card reads every 3 s. */
const WATCH_MS = 15_000;
/** A poll is a card's answer for as long. */
const POLL_FRESH_MS = 10_000;
const FRESH_MS = 5_000;

export class CardReads {
  readonly #options: CardReadsOptions;
  /** By job. */
  readonly #watches = new Map<string, Watch>();

  constructor(options: CardReadsOptions) {
    this.#options = options;
  }

  async read(jobId: string, signal: AbortSignal): Promise<Job> {
    const { reader } = this.#options;
    const job = this.#watches.has(jobId) ? await this.#readPolled(jobId, signal) : undefined;
    const isEnough = job !== undefined && !job.done;
    const answer = isEnough ? job : await reader.readRecent(jobId, FRESH_MS, { background: false, signal });
    if (!answer.done) this.#watch(jobId);
    return answer;
  }

  /** The poll's answer; where the last one is old, a poll of its own, as far as the rate limit has room for polls. */
  async #readPolled(jobId: string, signal: AbortSignal): Promise<Job | undefined> {
    const { reader, jobs, service } = this.#options;
    const last = jobs.get(jobId)?.job;
    if (service.backgroundWaitMs() > 0) return last;
    return reader.readRecent(jobId, POLL_FRESH_MS, { background: true, signal }).catch(() => last);
  }

  #watch(jobId: string): void {
    const { poller, savedVideos, clock } = this.#options;
    // A video that is watched is saved.
    savedVideos.saveWhenFinished(jobId);
    const watch = this.#watches.get(jobId) ?? {
      unwatch: watchIfPossible(poller, jobId),
      cancelTimer: () => {},
    };
    watch.cancelTimer();
    watch.cancelTimer = clock.after(WATCH_MS, () => {
      this.#watches.delete(jobId);
      watch.unwatch();
    });
    this.#watches.set(jobId, watch);
  }
}

/** Where too many jobs are watched, the card's own reads have to do. */
function watchIfPossible(poller: Pick<Poller, "watch">, jobId: string): Unsubscribe {
  try {
    return poller.watch(jobId);
  } catch {
    return () => {};
  }
}
