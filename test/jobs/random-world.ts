// Subscribers, users and waiting calls of the real poller, and a service that fails and whose list may be
// wrong. Violations are collected, because an error thrown inside would be caught there.

import { BridgeError } from "../../src/errors.ts";
import type { CallOptions } from "../../src/service/request-sender.ts";
import { waitForEnd } from "../../src/jobs/wait.ts";
import type { Job } from "../../src/service/answers.ts";
import { seededRandom } from "../fixtures/durations.ts";
import { failure, job, LimitedWorld } from "./polled-service.ts";

const LIMIT = 60;
const WINDOW_MS = 60_000;
const MAX_POLLS_PER_WINDOW = 36;
export const JOBS = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"] as const;
export type JobId = (typeof JOBS)[number];
/** Less than the shortest interval of the schedule, with its jitter. */
const MIN_INTERVAL_MS = 4_500;
/** The first interval of a new job's schedule, unless it is scaled. */
const FIRST_INTERVAL_MS = 30_000;
/** Hints of one job may cause polls this often. */
const HINT_INTERVAL_MS = 5_000;
/** How long a wait may look for the final video after the end. */
const FINAL_VIDEO_MS = 3_000;
export const FAULTS = ["429", "429 with Retry-After", "503", "timeout"] as const;
export type Fault = (typeof FAULTS)[number];

interface Subscriber {
  readonly jobId: JobId;
  readonly unwatch: () => void;
  endNotified: boolean;
}

interface WaitingCall {
  readonly jobId: JobId;
  /** The job is polled until then; after that the call may look for the final video. */
  readonly untilMs: number;
  readonly cancel: () => void;
}

export class RandomWorld extends LimitedWorld {
  readonly brokenPromises = new Set<string>();
  readonly subscribers: Subscriber[] = [];
  readonly waiting = new Set<WaitingCall>();
  /** Jobs that the list wrongly shows as completed. */
  readonly #wronglyListed = new Set<string>();
  readonly #random: () => number;
  readonly #faults: Fault[] = [];
  /** Requests in flight; each has a timer. */
  #inFlight = 0;
  readonly #inFlightJobs = new Set<string>();
  readonly #pollsInWindow = new Map<number, number>();
  /** When a job's status was last polled, unless it may be polled again immediately. */
  readonly #polledMs = new Map<string, number>();
  /** Jobs of which a hint came that no early poll has answered. */
  readonly #hinted = new Set<string>();
  /** When a hint last caused a job to be polled. */
  readonly #hintPolledMs = new Map<string, number>();
  /** The last state that was emitted. */
  readonly #emitted = new Map<string, string>();
  #minScale = 1;

  /** @param options.unlisted how many jobs the list never shows */
  constructor({ seed, unlisted }: { seed: number; unlisted: number }) {
    const random = seededRandom(seed);
    super({ limit: LIMIT, random });
    this.#random = random;
    this.found(...JOBS);
    this.list.splice(0, unlisted);
    for (const video of this.list) video.finalVideoUrl = `https://media.example/${video.jobId}`;
    this.store.on("change", (jobId) => this.#onChange(jobId));
    // The age of the others is not known.
    for (const jobId of JOBS.filter((_, index) => index % 2 === 0)) this.store.addStarted(jobId, "topic");
  }

  // --- the service

  protected override async send<T>(what: string, options: CallOptions, answer: () => T): Promise<T> {
    if (what === "list") {
      return this.#request(options, () => {
        // An end may have to be confirmed at once.
        for (const { jobId, status } of this.list) if (status !== "processing") this.#polledMs.delete(jobId);
        return answer();
      });
    }
    this.#expect(!this.#inFlightJobs.has(what), `two requests at once for ${what}`);
    let isEarly = false;
    if (options.background) {
      this.#expect(this.#watched().has(what), `${what} is polled although it is not watched`);
      const sinceLastMs = this.clock.now() - (this.#polledMs.get(what) ?? -Infinity);
      const scale = this.schedule.nextDelayMs({ ageMs: 0, observedMs: 0 }) / FIRST_INTERVAL_MS;
      this.#minScale = Math.min(this.#minScale, scale);
      isEarly = sinceLastMs < MIN_INTERVAL_MS * this.#minScale;
      if (isEarly) this.#expectHinted(what, sinceLastMs);
      else this.#polledMs.set(what, this.clock.now());
    }
    this.#inFlightJobs.add(what);
    try {
      return await this.#request(options, answer);
    } catch (error) {
      // The hint is still to be answered.
      if (isEarly) this.#hinted.add(what);
      // The rate limiter says when it is sent again.
      if (error instanceof BridgeError && error.facts.code === "rate_limited") this.#polledMs.delete(what);
      throw error;
    } finally {
      this.#inFlightJobs.delete(what);
    }
  }

  #expectHinted(jobId: string, sinceLastMs: number) {
    this.#expect(this.#hinted.delete(jobId), `${jobId} is polled again after ${sinceLastMs} ms`);
    const sinceHintMs = this.clock.now() - (this.#hintPolledMs.get(jobId) ?? -Infinity);
    this.#expect(
      sinceHintMs >= HINT_INTERVAL_MS,
      `hints cause ${jobId} to be polled after ${sinceHintMs} ms`,
    );
    this.#hintPolledMs.set(jobId, this.clock.now());
  }

  async #request<T>({ background = false }: CallOptions, answer: () => T): Promise<T> {
    await Promise.resolve();
    // The real client makes a user's request wait for its turn or refuses it: either way nothing is sent.
    const permit = this.rateLimiter.tryAcquire(background ? "background" : "user");
    if ("retryInMs" in permit) throw failure("rate_limited");
    const fault = this.#faults.shift();
    // The state is that of any moment between request and response.
    const early = this.#random() < 0.5 ? answer() : undefined;
    this.#inFlight += 1;
    await this.pass(fault === "timeout" ? 20_000 : 3_000 * this.#random() ** 3);
    this.#inFlight -= 1;
    if (fault === "timeout") {
      permit.release();
      throw failure("timeout");
    }
    if (background) this.#countPoll();
    const { status, headers } = this.service.answer(this.clock.now());
    this.#expect(status === 200, "a 429 that the rate limiter should have prevented");
    const error = errorOf(fault);
    permit.release({
      status: error?.facts.status ?? status,
      headers: fault === "429 with Retry-After" ? { ...headers, "retry-after": "7" } : headers,
    });
    if (error !== undefined) throw error;
    return early ?? answer();
  }

  /** In the window in which the service counts it. */
  #countPoll() {
    const window = Math.floor(this.clock.now() / WINDOW_MS);
    const polls = (this.#pollsInWindow.get(window) ?? 0) + 1;
    this.#pollsInWindow.set(window, polls);
    this.#expect(polls <= MAX_POLLS_PER_WINDOW, `${polls} polls in a window`);
  }

  progress(jobId: JobId) {
    const before = this.#state(jobId);
    const completed = Math.min(9, (before.progress?.completed ?? 0) + 1);
    if (!before.done) this.jobs.set(jobId, job(jobId, { progress: { total: 9, completed, failed: 0 } }));
  }

  end(jobId: JobId, status: "completed" | "failed") {
    const before = this.#state(jobId);
    if (!before.done) this.jobs.set(jobId, job(jobId, { ...before, status }));
    const isWrong = this.#wronglyListed.has(jobId);
    this.listAs(jobId, isWrong ? "completed" : this.#state(jobId).status);
  }

  listWrongly(jobId: JobId) {
    this.#wronglyListed.add(jobId);
    this.listAs(jobId, "completed");
  }

  #state(jobId: string): Job {
    const state = this.jobs.get(jobId);
    if (state === undefined) throw failure("not_found");
    return state;
  }

  hint(jobId: JobId) {
    this.#hinted.add(jobId);
    this.poller.hint(jobId);
  }

  break(fault: Fault, times: number) {
    for (let each = 0; each < times; each++) this.#faults.push(fault);
  }

  // --- subscribers, users and waiting calls

  subscribe(jobId: JobId) {
    this.#polledMs.delete(jobId);
    const unwatch = this.poller.watch(jobId);
    this.subscribers.push({ jobId, unwatch, endNotified: this.#isEndKnown(jobId) });
  }

  unsubscribe(index: number) {
    const [subscriber] = this.subscribers.splice(index, 1);
    subscriber?.unwatch();
    // The second call must not end another one's watch.
    subscriber?.unwatch();
  }

  /** As get_video_status does. */
  read(jobId: JobId, signal = new AbortController().signal) {
    return this.reader.read(jobId, { background: false, signal });
  }

  async wait(jobId: JobId, forMs: number): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    const { clock, store } = this;
    const first = await this.read(jobId, signal);
    this.#polledMs.delete(jobId);
    const untilMs = clock.now() + forMs;
    const call = { jobId, untilMs, cancel: () => controller.abort() };
    this.waiting.add(call);
    const latest = await waitForEnd(this, { job: first, forMs, signal, onChange: () => {} });
    this.waiting.delete(call);
    this.#expect(clock.now() <= untilMs + FINAL_VIDEO_MS, "a wait took longer than it may");
    const isEarly = clock.now() < untilMs && !signal.aborted && store.get(jobId)?.watchEnded === undefined;
    this.#expect(!isEarly || latest.done || this.#wronglyListed.has(jobId), "a wait ended for no reason");
  }

  cancelWait() {
    for (const { cancel } of [...this.waiting].slice(0, 1)) cancel();
  }

  endConnection() {
    while (this.subscribers.length > 0) this.unsubscribe(0);
    for (const { cancel } of this.waiting) cancel();
  }

  // --- invariants

  #watched(): Set<string> {
    const waiting = [...this.waiting].filter(({ untilMs }) => untilMs > this.clock.now());
    return new Set([...this.subscribers, ...waiting].map(({ jobId }) => jobId));
  }

  #isEndKnown(jobId: string): boolean {
    return this.store.get(jobId)?.job?.done === true;
  }

  #onChange(jobId: string) {
    const { job: known, watchEnded } = this.store.get(jobId) ?? {};
    const state = JSON.stringify([known?.status, known?.progress, watchEnded]);
    this.#expect(state !== this.#emitted.get(jobId), `emitted without a change: ${state}`);
    this.#emitted.set(jobId, state);
    const isEnd = known?.done === true;
    const isRight = this.#state(jobId).done || this.#wronglyListed.has(jobId);
    this.#expect(!isEnd || isRight, `a wrong end of ${jobId} is emitted`);
    for (const subscriber of this.subscribers) {
      if (subscriber.jobId !== jobId) continue;
      this.#expect(!isEnd || !subscriber.endNotified, `the end of ${jobId} is notified twice`);
      subscriber.endNotified = isEnd;
    }
  }

  check() {
    const timers = this.#inFlight + 2 * this.waiting.size + (this.#watched().size > 0 ? 1 : 0);
    const pending = this.clock.pending();
    this.#expect(pending <= timers, `${pending} timers, where ${timers} have a reason`);
  }

  /** The service recovers, all jobs end, and every remaining subscriber is notified. */
  async settle() {
    this.#faults.length = 0;
    this.#wronglyListed.clear();
    for (const jobId of JOBS) this.end(jobId, "completed");
    await this.clock.runFor(10 * 60_000);
    this.check();
    for (const { jobId, endNotified } of this.subscribers)
      this.#expect(
        endNotified || this.store.get(jobId)?.watchEnded !== undefined,
        `the end of ${jobId} is not notified`,
      );
    this.endConnection();
    await this.clock.runFor(0);
    this.#expect(this.clock.pending() === 0 && this.waiting.size === 0, "timers or waiting calls remain");
    this.poller.close();
  }

  #expect(holds: boolean, otherwise: string) {
    if (!holds) this.brokenPromises.add(otherwise);
  }
}

function errorOf(fault: Fault | undefined): BridgeError | undefined {
  if (fault === "503") return failure("service_failed", { status: 503 });
  if (fault === "429") return failure("rate_limited", { status: 429 });
  if (fault === "429 with Retry-After") return failure("rate_limited", { status: 429, retryAfterSeconds: 7 });
  return undefined;
}
