// One computer with several server processes that make paid and public requests, each with its own journal
// object for one folder. The test sets the clocks and the service's answers, which use no network.

import { systemClock } from "../../src/clock.ts";
import { BridgeError, type Outcome } from "../../src/errors.ts";
import {
  type CallerOptions,
  GenerateOnce,
  type GenerateOnceOptions,
} from "../../src/idempotency/generate-once.ts";
import { Journal } from "../../src/idempotency/journal.ts";
import { JournalFiles } from "../../src/idempotency/journal-files.ts";
import { type PrivateFolder, openPrivateFolder } from "../../src/idempotency/private-folder.ts";
import { type Prepare, PublishOnce } from "../../src/idempotency/publish-once.ts";
import { Guard } from "../../src/idempotency/guard.ts";
import type { Service } from "../../src/service/client.ts";
import type { Order, Job, PublishRequest, Video } from "../../src/service/responses.ts";
import { ENDS } from "../fixtures/constants.ts";
import { temporaryFolder } from "../fixtures/folder.ts";

export const NOW = Date.UTC(2026, 10, 21, 12);
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
export const TIDES: Order = { topic: "Tides rise", duration: 20 };
export const JOB = "0f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c";

type Changes = Partial<GenerateOnceOptions> & { readonly disk?: PrivateFolder | undefined };

/** A server process. */
export type Process = ReturnType<Computer["process"]>;

export class Computer {
  readonly folder = temporaryFolder();
  /** The wall clock, which may be set, and the machine's monotonic one. */
  readonly clock = { epochMs: NOW, machineMs: 5_000_000 };
  /** The requests that reached the service, in order. */
  readonly orders: Order[] = [];
  readonly posts: PublishRequest[] = [];
  /** The options of each of these requests. */
  readonly options: { deadlineMs?: number | undefined; signal?: AbortSignal | undefined }[] = [];
  /** The status of each job by its id; "processing" unless said. */
  readonly statuses = new Map<string, string>();
  /** Of completed jobs. */
  finalVideoUrl: string | undefined;
  /** How much time passes while a call waits for another one. */
  waitMs = 1_000;
  /** The newest videos of the list. */
  listed: Video[] = [];
  readonly started: string[] = [];
  readonly warnings: string[] = [];

  /** What the service does; gives job-1, job-2, … and posts everywhere unless a test says otherwise. */
  onGenerate: Service["generate"] = async () => ({
    jobId: `job-${this.orders.length}`,
    status: "processing",
  });
  onPublish: Service["publish"] = async ({ platforms }) => ({
    results: platforms.map((platform) => ({
      platform,
      ok: true,
      url: `https://${platform}.example/${this.posts.length}`,
    })),
  });

  pass(ms: number): void {
    this.clock.epochMs += ms;
    this.clock.machineMs += ms;
  }

  /** Another process. */
  process({ disk = openPrivateFolder(this.folder), ...changes }: Changes = {}) {
    const { clock } = this;
    const journal = new Journal({
      store: new JournalFiles(disk, { ...systemClock, now: () => clock.epochMs }),
      redact: (line) => line,
      onUnwritable: (error) => void this.warnings.push(String(error)),
    });
    const guard = new Guard({
      journal,
      clock: {
        now: () => clock.epochMs,
        monotonicMs: () => clock.machineMs,
        after: (_, action) => {
          this.pass(this.waitMs);
          const turn = setImmediate(action);
          return () => clearImmediate(turn);
        },
      },
    });
    const options: GenerateOnceOptions = {
      service: {
        generate: (request, more) => {
          this.orders.push(request);
          this.options.push(more ?? {});
          return this.onGenerate(request, more);
        },
        listVideos: async () => ({ videos: this.listed }),
      },
      guard,
      journal,
      maxGenerations: undefined,
      tryReadJob: async (jobId) => this.#jobOf(jobId, this.statuses.get(jobId)),
      jobs: {
        ids: () => new Set(),
        hasFailed: (jobId) => this.statuses.get(jobId) === "failed",
        updateFromPage() {},
        addStarted: (jobId) => void this.started.push(jobId),
      },
      ...changes,
    };
    const generateOnce = new GenerateOnce(options);
    const publishOnce = new PublishOnce({
      ...options,
      service: {
        publish: (request, more) => {
          this.posts.push(request);
          this.options.push(more ?? {});
          return this.onPublish(request, more);
        },
      },
    });
    return {
      journal,
      guard,
      generateOnce,
      publishOnce,
      generate: (request: Order, caller?: CallerOptions) => generateOnce.run(request, caller),
      publish: (
        platforms: readonly string[],
        caller?: CallerOptions,
        prepare: Prepare = async () => ({ userMs: 0 }),
      ) => publishOnce.run({ jobId: JOB, platforms }, prepare, caller),
    };
  }

  #jobOf(jobId: string, status = "processing"): Job | "not found" | undefined {
    if (status === "not found") return status;
    if (status === "unreadable") return undefined;
    const done = ENDS.includes(status);
    const { finalVideoUrl } = this;
    return { jobId, status, done, videoUrls: [], ...(finalVideoUrl !== undefined && { finalVideoUrl }) };
  }
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

/** The confirmation code in an error. */
export function codeIn({ nextStep }: { readonly nextStep: string }): string {
  const code = /confirm: "(\w+)"/.exec(nextStep)?.[1];
  if (code === undefined) throw new Error(`There is no code in: ${nextStep}`);
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

/** A promise that the test settles. */
export function resolvers() {
  let resolve: (value: { jobId: string; status: string }) => void = () => {};
  const promise = new Promise<{ jobId: string; status: string }>((settle) => (resolve = settle));
  return { promise, resolve };
}
