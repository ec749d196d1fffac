// The real book, reader and poller on a virtual clock. Tests change the service, which records requests.

import { BridgeError, type BridgeErrorFacts } from "../../src/errors.ts";
import { JobBook } from "../../src/jobs/job-book.ts";
import { type JobOrder, lastStatus } from "../../src/jobs/job-record.ts";
import { Poller } from "../../src/jobs/poller.ts";
import { JobReader, type JobSource } from "../../src/jobs/reader.ts";
import { Schedule } from "../../src/jobs/schedule.ts";
import type { Job, Video } from "../../src/service/responses.ts";
import type { CallOptions } from "../../src/service/request-sender.ts";
import { createVirtualClock } from "../checks/bench/virtual-clock.ts";
import { ENDS } from "../fixtures/constants.ts";

const START_MS = Date.UTC(2026, 10, 20);

export function job(jobId: string, more: Partial<Job> = {}): Job {
  const status = more.status ?? "processing";
  return { videoUrls: [], ...more, jobId, status, done: ENDS.includes(status) };
}

/** An error of the service client. */
export function failure(code: BridgeErrorFacts["code"], more: Partial<BridgeErrorFacts> = {}): BridgeError {
  const retryable = ["timeout", "network", "service_failed", "rate_limited", "bad_answer"].includes(code);
  return new BridgeError({
    code,
    message: `${code}.`,
    nextStep: "",
    outcome: "rejected",
    retryable,
    ...more,
  });
}

export function ids(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`);
}

export interface WorldOptions {
  /** FACELESS_POLL_SECONDS. */
  readonly fixedMs?: number | undefined;
  /** Without jitter unless given. */
  readonly random?: () => number;
}

export class PolledWorld {
  readonly clock = createVirtualClock(START_MS);
  readonly book = new JobBook({
    clock: this.clock,
    log: { info() {} },
    readJournal: async () => ({ orders: [], jobs: this.journal }),
  });
  /** The journal's part of each job. */
  readonly journal: Map<string, { order: JobOrder; posts: [] }> = new Map();
  readonly schedule: Schedule;
  readonly reader: JobReader;
  readonly poller: Poller;
  /** The status of each job. */
  readonly jobs = new Map<string, Job>();
  /** The video list, newest first. */
  list: Video[] = [];
  pageSize = 100;
  answerMs = 0;
  /** The interval between background requests after the first two. */
  paceMs = 0;
  /** The minimum wait of background requests. */
  waitMs = 0;
  /** False while little of the rate limit is left. */
  hasSpareRequests = true;
  /** The error of each failing request, by job id or "list". */
  readonly failing = new Map<string, Error>();
  /** Every change that the book emitted: seconds since the start, the job and its state. */
  readonly changes: string[] = [];
  /** Every request: seconds since the start, "list" or the job, and "user" if it isn't a poll. */
  readonly #requests: string[] = [];
  /** When the next background request is due at an even pace. */
  #nextBackgroundMs = 0;

  constructor({ fixedMs, random = () => 0.5 }: WorldOptions = {}) {
    const source: JobSource = {
      getJob: (jobId, options) =>
        this.send(jobId, options ?? {}, () => {
          const found = this.jobs.get(jobId);
          if (found === undefined) throw failure("not_found", { status: 404 });
          return found;
        }),
      listNewestVideos: (options) =>
        this.send("list", options ?? {}, () => ({
          videos: structuredClone(this.list.slice(0, this.pageSize)),
        })),
      backgroundWaitMs: () => this.backgroundWaitMs(),
      hasSpareRequests: () => this.hasSpare(),
    };
    const { clock, book } = this;
    this.schedule = new Schedule({ fixedMs, random });
    this.reader = new JobReader({ source, book, clock });
    this.poller = new Poller({
      source,
      reader: this.reader,
      book,
      schedule: this.schedule,
      clock,
      log: { debug() {}, info() {}, warn() {}, error() {} },
    });
    book.on("change", (jobId) => {
      this.changes.push(
        `${this.seconds()} ${jobId} ${book.get(jobId).followingEnded ?? lastStatus(book.get(jobId))}`,
      );
    });
  }

  protected backgroundWaitMs(): number {
    return Math.max(this.waitMs, this.#nextBackgroundMs - this.paceMs - this.clock.monotonicMs(), 0);
  }

  protected hasSpare(): boolean {
    return this.hasSpareRequests;
  }

  protected async send<T>(what: string, { background = false }: CallOptions, answer: () => T): Promise<T> {
    // The real client also counts a request a moment after the call.
    await Promise.resolve();
    if (background)
      this.#nextBackgroundMs = Math.max(this.#nextBackgroundMs, this.clock.monotonicMs()) + this.paceMs;
    this.#requests.push(`${this.seconds()} ${what}${background ? "" : " user"}`);
    await this.pass(this.answerMs);
    const error = this.failing.get(what);
    if (error !== undefined) throw error;
    return answer();
  }

  /** Resolves when so much time has passed. */
  protected pass(ms: number): Promise<void> {
    return new Promise((resolve) => void this.clock.after(ms, resolve));
  }

  /** Since the start. */
  seconds(): number {
    return Math.round((this.clock.monotonicMs() - START_MS) / 100) / 10;
  }

  /** Moves the clock to so many seconds after the start. */
  until(seconds: number): Promise<void> {
    return this.clock.runUntil(START_MS + seconds * 1000);
  }

  /** The requests since the last call. */
  requests(): string[] {
    return this.#requests.splice(0);
  }

  /** Jobs that this process starts now, the last one being the newest. */
  start(...jobIds: string[]): void {
    for (const jobId of jobIds) {
      this.book.addStarted(jobId, { arguments: { topic: "topic" } });
      this.jobs.set(jobId, job(jobId));
      this.list.unshift({ jobId, status: "processing" });
    }
  }

  /** Running jobs that were started elsewhere, each older than the one before. */
  found(...jobIds: string[]): void {
    for (const jobId of jobIds) {
      this.jobs.set(jobId, job(jobId));
      this.list.push({ jobId, status: "processing" });
    }
  }

  /** Changes a job, in its status and in the list. */
  change(jobId: string, more: Partial<Job>): void {
    const state = job(jobId, { ...this.jobs.get(jobId), ...more });
    this.jobs.set(jobId, state);
    this.listAs(jobId, state.status);
  }

  /** Changes a job in the list, but not its status. */
  listAs(jobId: string, status: string, more: Partial<Video> = {}): void {
    for (const video of this.list) if (video.jobId === jobId) Object.assign(video, { status, ...more });
  }

  followAll(...jobIds: string[]): (() => void)[] {
    return jobIds.map((jobId) => this.poller.follow(jobId));
  }
}
