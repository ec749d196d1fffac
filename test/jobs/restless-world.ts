// A service that fails and lies, and who wants to know of its jobs, in front of the real watcher, reader, store, schedule and
// allowance on a virtual clock. It notes every promise that is broken, since what is thrown in the middle of it all is caught there.

import type { BridgeError } from "../../src/errors.ts";
import { createJobReader, type RequestOptions } from "../../src/jobs/job-reader.ts";
import { createSchedule, type Schedule } from "../../src/jobs/schedule.ts";
import { createJobStore } from "../../src/jobs/store.ts";
import { waitForEnd } from "../../src/jobs/wait.ts";
import { createWatcher } from "../../src/jobs/watcher.ts";
import { RateLimiter } from "../../src/service/rate-limiter.ts";
import type { Job } from "../../src/service/schemas.ts";
import { createVirtualClock } from "../bench/virtual-clock.ts";
import { seededRandom } from "../fixtures/durations.ts";
import { createLimitedService } from "../fixtures/rate-limit.ts";
import { failure, job, START_MS } from "./watching.ts";

const LIMIT = 60;
const MOST_POLLS_A_MINUTE = 36;
export const JOBS = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"] as const;
export type JobId = (typeof JOBS)[number];
const MOST_ENDS_OF_A_LIAR = 4;
/** Where somebody waits, less a tenth. */
const SHORTEST_INTERVAL_MS = 4_500;
export const FAULTS = ["429", "429 with Retry-After", "503", "timeout"] as const;
export type Fault = (typeof FAULTS)[number];

interface Subscriber {
  readonly jobId: JobId;
  readonly leave: () => void;
  /** The end was known before. */
  readonly late: boolean;
  ends: number;
}

interface Waiting {
  readonly jobId: JobId;
  readonly cancel: () => void;
}

export class RestlessWorld {
  readonly broken = new Set<string>();
  readonly clock = createVirtualClock(START_MS);
  readonly store = createJobStore(this.clock.now);
  readonly subscribers: Subscriber[] = [];
  readonly waiting = new Set<Waiting>();
  readonly #jobs = new Map<JobId, Job>(JOBS.map((jobId) => [jobId, job(jobId)]));
  readonly #listLies = new Set<JobId>();
  readonly #allowance = new RateLimiter({ monotonicMs: this.clock.now, now: this.clock.now });
  readonly #service = createLimitedService({ limit: LIMIT, windowMs: 60_000, encoding: "seconds left" });
  readonly #random: () => number;
  readonly #faults: Fault[] = [];
  /** Requests on their way; each has a timer. */
  #onTheirWay = 0;
  readonly #asking = new Set<string>();
  readonly #polls: number[] = [];
  /** When a job's status was last polled, unless there is a reason since to poll it again at once. */
  readonly #polled = new Map<string, number>();
  readonly #announced = new Map<string, string>();
  readonly #listed: readonly JobId[];
  readonly #schedule: Schedule;
  #leastScale = 1;
  readonly #reader;
  readonly #watcher;

  /** @param options.unlisted how many jobs the list never shows */
  constructor({ seed, unlisted }: { seed: number; unlisted: number }) {
    this.#random = seededRandom(seed);
    this.#listed = JOBS.slice(unlisted);
    this.#schedule = createSchedule({ random: this.#random });
    const source = {
      getJob: (jobId: string, options: RequestOptions) => this.#getJob(jobId, options),
      listVideos: (_: unknown, options: RequestOptions) =>
        this.#send(options, () => ({ videos: this.#list() })),
      listing: () => ({ maxLimit: 100, canPage: false }),
      backgroundWaitMs: () => this.#allowance.waitMs("background"),
    };
    this.#reader = createJobReader({ source, store: this.store, now: this.clock.now });
    this.#watcher = createWatcher({
      source,
      reader: this.#reader,
      store: this.store,
      schedule: this.#schedule,
      clock: this.clock,
      log: { debug() {}, info() {}, warn() {}, error() {} },
    });
    this.store.changes.listen((jobId) => this.#onChange(jobId));
    // The others are of an age that nobody knows.
    for (const jobId of JOBS.filter((_, index) => index % 2 === 0)) this.store.start(jobId, "topic");
  }

  // --- the service

  async #getJob(jobId: string, options: RequestOptions): Promise<Job> {
    this.#claim(!this.#asking.has(jobId), `two flights for ${jobId}`);
    if (options.background) {
      this.#claim(this.#held().has(jobId), `${jobId} is polled for nobody`);
      const sinceLastMs = this.clock.now() - (this.#polled.get(jobId) ?? -Infinity);
      this.#leastScale = Math.min(this.#leastScale, this.#schedule.scale());
      this.#claim(
        sinceLastMs >= SHORTEST_INTERVAL_MS * this.#leastScale,
        `${jobId} is polled again after ${sinceLastMs} ms`,
      );
      this.#polled.set(jobId, this.clock.now());
    }
    this.#asking.add(jobId);
    try {
      return await this.#send(options, () => this.#state(jobId));
    } finally {
      this.#asking.delete(jobId);
    }
  }

  async #send<T>({ background }: RequestOptions, answer: () => T): Promise<T> {
    await Promise.resolve();
    // The real client has a person's call wait for its turn or refuses it: either way nothing is sent.
    const slot = this.#allowance.tryAcquire(background ? "background" : "user");
    if ("retryInMs" in slot) throw failure("rate_limited");
    const fault = this.#faults.shift();
    // What is told may be as old as the question, or as new as the answer.
    const early = this.#random() < 0.5 ? answer() : undefined;
    this.#onTheirWay += 1;
    const tookMs = fault === "timeout" ? 20_000 : 3_000 * this.#random() ** 3;
    await new Promise<void>((resolve) => void this.clock.after(tookMs, resolve));
    this.#onTheirWay -= 1;
    if (fault === "timeout") {
      slot.release();
      throw failure("timeout");
    }
    const { status, headers } = this.#service.answer(this.clock.now());
    if (background) this.#countPoll();
    this.#claim(status === 200, "a 429 of our own making");
    const error = errorOf(fault);
    slot.release({
      status: error?.facts.status ?? status,
      headers: fault === "429 with Retry-After" ? { ...headers, "retry-after": "7" } : headers,
    });
    if (error !== undefined) throw error;
    return early ?? answer();
  }

  #countPoll() {
    const window = Math.floor(this.clock.now() / 60_000);
    this.#polls.push(window);
    const count = this.#polls.filter((other) => other === window).length;
    this.#claim(count <= MOST_POLLS_A_MINUTE, `${count} polls in the service's minute`);
  }

  #state(jobId: string): Job {
    const state = [...this.#jobs.values()].find((each) => each.jobId === jobId);
    if (state === undefined) throw failure("not_found");
    return state;
  }

  #list() {
    return this.#listed.map((jobId) => {
      const status = this.#listLies.has(jobId) ? "completed" : this.#state(jobId).status;
      // What it says may have to be confirmed at once.
      if (status !== "processing") this.#polled.delete(jobId);
      return { jobId, status, finalVideoUrl: `https://media.example/${jobId}` };
    });
  }

  progress(jobId: JobId) {
    const before = this.#state(jobId);
    if (before.done) return;
    const completed = Math.min(9, (before.progress?.completed ?? 0) + 1);
    this.#jobs.set(jobId, job(jobId, { progress: { total: 9, completed, failed: 0 } }));
  }

  /** A list that lies is not right so often that it is believed without asking. */
  end(jobId: JobId, status: "completed" | "failed") {
    const before = this.#state(jobId);
    const ends = [...this.#jobs.values()].filter(({ done }) => done).length;
    if (!before.done && (this.#listLies.size === 0 || ends < MOST_ENDS_OF_A_LIAR))
      this.#jobs.set(jobId, job(jobId, { ...before, status }));
  }

  letListLie(jobId: JobId) {
    const ends = [...this.#jobs.values()].filter(({ done }) => done).length;
    if (ends <= MOST_ENDS_OF_A_LIAR) this.#listLies.add(jobId);
  }

  break(fault: Fault, times: number) {
    for (let each = 0; each < times; each++) this.#faults.push(fault);
  }

  // --- who wants to know

  subscribe(jobId: JobId) {
    this.#polled.delete(jobId);
    const late = this.#knowsEnd(jobId);
    const leave = this.#watcher.watch(jobId, { awaited: false });
    this.subscribers.push({ jobId, leave, late, ends: 0 });
  }

  unsubscribe(index: number) {
    const [subscriber] = this.subscribers.splice(index, 1);
    subscriber?.leave();
    // Harmless, whoever else there is.
    subscriber?.leave();
  }

  /** As get_video_status does. */
  read(jobId: JobId, signal = new AbortController().signal) {
    return this.#reader.read(jobId, { background: false, signal });
  }

  async wait(jobId: JobId, forMs: number): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    const self = { jobId, cancel: () => controller.abort() };
    const first = await this.read(jobId, signal);
    this.#polled.delete(jobId);
    const untilMs = this.clock.now() + forMs;
    this.waiting.add(self);
    const { clock, store } = this;
    const latest = await waitForEnd(
      { watcher: this.#watcher, store, clock },
      { job: first, forMs, signal, onChange: () => {} },
    );
    this.waiting.delete(self);
    this.#claim(clock.now() <= untilMs, "a wait took longer than asked for");
    const early = clock.now() < untilMs && !signal.aborted && store.get(jobId)?.watchEnded === undefined;
    this.#claim(!early || latest.done, "a wait ended for no reason");
  }

  cancelWait() {
    for (const { cancel } of [...this.waiting].slice(0, 1)) cancel();
  }

  endConnection() {
    while (this.subscribers.length > 0) this.unsubscribe(0);
    for (const { cancel } of this.waiting) cancel();
  }

  // --- what always holds

  #held(): Set<string> {
    return new Set([...this.subscribers, ...this.waiting].map(({ jobId }) => jobId));
  }

  #knowsEnd(jobId: string): boolean {
    return this.store.get(jobId)?.job?.done === true;
  }

  #onChange(jobId: string) {
    const { job: known, watchEnded } = this.store.get(jobId) ?? {};
    const state = JSON.stringify([known?.status, known?.progress, watchEnded]);
    this.#claim(state !== this.#announced.get(jobId), `announced without a change: ${state}`);
    this.#announced.set(jobId, state);
    if (known?.done !== true) return;
    this.#claim(this.#state(jobId).done, `${jobId} is announced as ended, which it is not`);
    for (const subscriber of this.subscribers) if (subscriber.jobId === jobId) subscriber.ends += 1;
  }

  check() {
    for (const { jobId, ends } of this.subscribers)
      this.#claim(ends <= 1, `the end of ${jobId} is heard twice`);
    const polled = [...this.#held()].filter(
      (jobId) => !this.#knowsEnd(jobId) && this.store.get(jobId)?.watchEnded === undefined,
    ).length;
    const size = this.#watcher.size();
    this.#claim(size === polled, `${size} jobs are polled, where ${polled} are watched`);
    const timers = this.#onTheirWay + this.waiting.size + (polled > 0 ? 1 : 0);
    this.#claim(
      this.clock.pending() <= timers,
      `${this.clock.pending()} timers, where ${timers} have a reason`,
    );
  }

  /** Peace: whoever is still there hears of every end. */
  async settle() {
    this.#faults.length = 0;
    this.#listLies.clear();
    for (const jobId of JOBS) this.end(jobId, "completed");
    await this.clock.runFor(10 * 60_000);
    this.check();
    for (const { jobId, late, ends } of this.subscribers) {
      const heard = ends === (late ? 0 : 1) || this.store.get(jobId)?.watchEnded !== undefined;
      this.#claim(
        heard,
        `the end of ${jobId} is heard ${ends} times${late ? " by one who came after it" : ""}`,
      );
    }
    this.endConnection();
    await this.clock.runFor(0);
    this.#claim(this.clock.pending() === 0 && this.waiting.size === 0, "something is left");
    this.#watcher.close();
  }

  #claim(holds: boolean, otherwise: string) {
    if (!holds) this.broken.add(otherwise);
  }
}

function errorOf(fault: Fault | undefined): BridgeError | undefined {
  if (fault === "503") return failure("service_failed", { status: 503 });
  if (fault === "429") return failure("rate_limited", { status: 429 });
  if (fault === "429 with Retry-After") return failure("rate_limited", { status: 429, retryAfterSeconds: 7 });
  return undefined;
}
