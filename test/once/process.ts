// Several server processes of one user that make paid and public requests: each has its own journal object for the same folder or,
// without a folder, for the same memory. The test controls the service and the clock.

import { BridgeError, type Outcome } from "../../src/errors.ts";
import { GenerationLimit } from "../../src/once/generation-limit.ts";
import { createJournal, type Journal } from "../../src/once/journal.ts";
import type { PublicationPlan } from "../../src/once/plan-publication.ts";
import { SendOnce, type SendOnceOptions } from "../../src/once/send-once.ts";
import type { Service } from "../../src/service/client.ts";
import type { CallOptions } from "../../src/service/request-sender.ts";
import type { GenerationRequest, Job, PublishRequest } from "../../src/service/answers.ts";

export const NOW = Date.UTC(2026, 10, 21, 12);
export const MINUTE_MS = 60_000;
export const DAY_MS = 24 * 60 * MINUTE_MS;
export const TIDES: GenerationRequest = { topic: "Tides rise", duration: 20 };
export const JOB = "0f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c";

export interface World {
  /** Wall clock and monotonic clock. Only the first one moves while the machine sleeps. */
  readonly clock: { epochMs: number; monotonicMs: number };
  /** The requests that reached the service, in order. */
  readonly generations: GenerationRequest[];
  readonly posts: PublishRequest[];
  /** What each of these requests was given: how long it may take, and what withdraws it. */
  readonly deadlinesMs: (number | undefined)[];
  readonly signals: AbortSignal[];
  /** What the service does with a generation; gives job-1, job-2, … unless a test says otherwise. */
  onGenerate: (request: GenerationRequest) => Promise<{ jobId: string; status: string }>;
  onPublish: Service["publish"];
  readonly statuses: Map<string, string>;
  readonly running: Set<number>;
  /** Another process with this journal. */
  process(more?: Partial<SendOnceOptions>): SendOnce;
  /** Its journal. */
  journal(pid: number): Journal;
}

let pids = 100;

export function createWorld(folder?: string): World {
  const clock = { epochMs: NOW, monotonicMs: 5_000 };
  const shared = journalOf(undefined, clock, 1);
  /** As the service client does, which sends nothing for a caller that is gone. */
  const record = ({ signal, deadlineMs }: CallOptions = {}) => {
    if (signal?.aborted === true) throw failure("not_sent");
    if (signal !== undefined) world.signals.push(signal);
    world.deadlinesMs.push(deadlineMs);
  };
  const world: World = {
    clock,
    generations: [],
    posts: [],
    deadlinesMs: [],
    signals: [],
    statuses: new Map(),
    running: new Set(),
    onGenerate: async () => ({ jobId: `job-${world.generations.length}`, status: "processing" }),
    onPublish: (request) => postsAll(world)(request),
    journal: (pid) => (folder === undefined ? shared : journalOf(folder, clock, pid)),
    process(more = {}) {
      const { pid = (pids += 1) } = more;
      return new SendOnce({
        service: {
          async generate(request, options) {
            record(options);
            world.generations.push(request);
            return world.onGenerate(request);
          },
          async publish(request, options) {
            record(options);
            world.posts.push(request);
            return world.onPublish(request, options);
          },
          listVideos: async () => ({ videos: [] }),
        },
        journal: world.journal(pid),
        generationLimit: new GenerationLimit(undefined),
        account: "https://service.example/ fl_example",
        lookAtJob: async (jobId) => jobOf(jobId, world.statuses.get(jobId)),
        knownJobIds: () => new Set(),
        onListed: () => {},
        isRunning: (other) => world.running.has(other),
        pid,
        now: () => clock.epochMs,
        monotonicMs: () => clock.monotonicMs,
        ...more,
      });
    },
  };
  return world;
}

/** A service that posts to every platform; each link names the number of the post. */
export function postsAll(world: World): Service["publish"] {
  return async ({ platforms }) => ({
    results: platforms.map((platform) => ({
      platform,
      ok: true,
      url: `https://${platform}.example/${world.posts.length}`,
    })),
  });
}

function journalOf(folder: string | undefined, clock: { epochMs: number }, pid: number): Journal {
  return createJournal({
    folder,
    now: () => clock.epochMs,
    redact: (line) => line,
    onUnwritable: (reason) => {
      throw new Error(reason);
    },
    pid,
  });
}

function jobOf(jobId: string, status = "processing"): Job | undefined {
  if (status === "not found") return undefined;
  return { jobId, status, done: status === "completed" || status === "failed", videoUrls: [] };
}

export function failure(outcome: Outcome): BridgeError {
  return new BridgeError({
    code: outcome === "rejected" ? "refused" : "network",
    message: "It failed.",
    nextStep: "Look.",
    outcome,
    retryable: false,
  });
}

export const fails = (outcome: Outcome) => () => Promise.reject(failure(outcome));

/** The confirmation code in an answer or an error. */
export function codeIn(text: string | undefined): string {
  const code = /confirmDuplicate: "(\w+)"/.exec(text ?? "")?.[1];
  if (code === undefined) throw new Error(`There is no code in: ${text}`);
  return code;
}

/** The error with which a call fails. */
export async function errorOf(call: Promise<unknown>): Promise<BridgeError["facts"]> {
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof BridgeError) return error.facts;
  throw new Error("The call did not fail with a BridgeError.", { cause: error });
}

/** A user who agrees to everything; records the questions. */
export function yes(): { ask: (plan: PublicationPlan) => Promise<void>; plans: PublicationPlan[] } {
  const plans: PublicationPlan[] = [];
  return { plans, ask: async (plan) => void plans.push(plan) };
}

/** A promise that the test settles. */
export function pending<Value>() {
  let resolve: (value: Value) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<Value>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { promise, resolve, reject };
}
