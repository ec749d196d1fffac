// Sends what is paid for or public at most once: in the journal before it leaves, guarded against the same request again, and
// seen through when its caller is gone or the process has to end.

import { BridgeError, toBridgeError } from "../errors.ts";
import type { Generation, Publication } from "../service/schemas.ts";
import { fingerprintOf } from "./fingerprint.ts";
import type { Entry, Journal, Operation } from "./journal.ts";

/** As they are sent, defaults filled in: what makes two requests the same. */
export type Arguments = Readonly<Record<string, unknown>>;

export interface PaidRequest<Result> {
  readonly args: Arguments;
  /** What a person knows it by. */
  readonly label: string;
  /** The person knows of an earlier one and wants it sent all the same. */
  readonly confirmed: boolean;
  /** Jobs of the same request that have ended, and so are no reason against another. */
  readonly ended?: ReadonlySet<string>;
  readonly send: () => Promise<Result>;
}

export type Paid<Result> =
  /** `shared` with the same request, which was on its way already. */
  | { readonly kind: "sent" | "shared"; readonly result: Result }
  /** The same request started this job before, `ageMs` ago; nothing was sent. */
  | { readonly kind: "earlier"; readonly jobId: string; readonly ageMs: number };

export interface OnceOnly<Result> {
  /** Throws what `send` throws, and a BridgeError where an earlier request may have been carried out. */
  once(request: PaidRequest<Result>): Promise<Paid<Result>>;
  /** The latest of the same requests that counts, if there is one. */
  latest(args: Arguments): Latest | undefined;
}

export interface Latest {
  readonly id: string;
  readonly ageMs: number;
  /** Else nobody knows what became of it. */
  readonly isDone: boolean;
}

export interface PaidRequests {
  readonly generate: OnceOnly<Generation>;
  readonly publish: OnceOnly<Publication>;
  /** The process ends: resolves when nothing is on its way any longer. Jobs that start meanwhile are told of. */
  finish(onJob: (jobId: string) => void): Promise<void>;
  /** Every generation of the last days that has a job, the latest first. */
  started(): readonly { readonly jobId: string; readonly topic: string; readonly createdAtMs: number }[];
}

export interface PaidRequestsOptions {
  readonly journal: Journal;
  /** What tells accounts apart: the service's address and the key. Only its hash is kept. */
  readonly account: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const GUARD_MS = 10 * 60_000;

export function createPaidRequests({ journal, account: secret, now }: PaidRequestsOptions): PaidRequests {
  let known: string | undefined;
  const account = () => (known ??= fingerprintOf(secret));
  const onTheirWay = new Set<Promise<unknown>>();
  let tellOfJob: (jobId: string) => void = () => {};

  const onceOnly = <Result>(
    operation: Operation,
    jobIdOf: (result: Result) => string | undefined,
  ): OnceOnly<Result> => {
    const flights = new Map<string, Promise<Result>>();
    const nameOf = (args: Arguments) => fingerprintOf(`${account()} ${operation} ${canonical(args)}`);

    const send = async (request: PaidRequest<Result>, fingerprint: string): Promise<Result> => {
      const id = journal.begin({ operation, fingerprint, account: account(), label: request.label });
      try {
        // Another process may have begun the same since it was looked for: the first in the journal goes.
        const rival = request.confirmed ? undefined : earlier(fingerprint, id);
        if (rival !== undefined && rival.outcome !== "done") throw unknownError(rival, now());
        const result = await request.send();
        const jobId = jobIdOf(result);
        journal.settle(id, "done", jobId);
        if (jobId !== undefined) tellOfJob(jobId);
        return result;
      } catch (error) {
        journal.settle(id, toBridgeError(error, "unknown").facts.outcome);
        throw error;
      }
    };

    /** The latest of the same requests, or of those before `ownId`, that was or may have been carried out, as long as it counts. */
    const earlier = (fingerprint: string, ownId?: string): Entry | undefined => {
      const entries = journal.entries();
      const own = entries.findIndex(({ id }) => id === ownId);
      return entries
        .slice(0, own === -1 ? undefined : own)
        .findLast(
          (entry) =>
            entry.fingerprint === fingerprint &&
            ageMs(entry, now()) < GUARD_MS &&
            entry.outcome !== "rejected" &&
            entry.outcome !== "not_sent",
        );
    };

    return {
      async once(request) {
        const fingerprint = nameOf(request.args);
        if (!request.confirmed) {
          const flying = flights.get(fingerprint);
          if (flying !== undefined) return { kind: "shared", result: await flying };
          const entry = earlier(fingerprint);
          if (entry !== undefined && entry.outcome !== "done") throw unknownError(entry, now());
          if (entry?.jobId !== undefined && request.ended?.has(entry.jobId) !== true)
            return { kind: "earlier", jobId: entry.jobId, ageMs: ageMs(entry, now()) };
        }
        const flight = send(request, fingerprint);
        // A confirmed one beside the same unconfirmed one is another flight.
        const key = flights.has(fingerprint) ? `${fingerprint} ${crypto.randomUUID()}` : fingerprint;
        flights.set(key, flight);
        onTheirWay.add(flight);
        try {
          return { kind: "sent", result: await flight };
        } finally {
          flights.delete(key);
          onTheirWay.delete(flight);
        }
      },

      latest(args) {
        const entry = earlier(nameOf(args));
        if (entry === undefined) return undefined;
        return { id: entry.id, ageMs: ageMs(entry, now()), isDone: entry.outcome === "done" };
      },
    };
  };

  return {
    generate: onceOnly("generate", ({ jobId }) => jobId),
    publish: onceOnly("publish", () => undefined),

    async finish(onJob) {
      tellOfJob = onJob;
      while (onTheirWay.size > 0) await Promise.allSettled(onTheirWay);
    },

    started: () =>
      journal
        .entries()
        .filter((entry) => entry.account === account())
        .flatMap(({ jobId, label, atMs }) =>
          jobId === undefined ? [] : [{ jobId, topic: label, createdAtMs: atMs }],
        )
        .reverse(),
  };
}

/** The clock may have been set back since: what lies in the future is new. */
function ageMs({ atMs }: Entry, nowMs: number): number {
  return Math.max(0, nowMs - atMs);
}

/** The same text for the same values, whatever the order of their names. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

const WORDS: Record<Operation, { readonly request: string; readonly check: string }> = {
  generate: {
    request: "request for the same video",
    check:
      "Look with list_videos whether that video is there. Only if the person wants another one all the same, call again with confirmDuplicate: true.",
  },
  publish: {
    request: "request to publish the same video on the same platforms",
    check: "Look at the accounts themselves whether it was posted there.",
  },
};

function unknownError(entry: Entry, nowMs: number): BridgeError {
  const { operation } = entry;
  const { request, check } = WORDS[operation];
  const seconds = Math.max(1, Math.ceil((GUARD_MS - ageMs(entry, nowMs)) / 1000));
  const minutes = Math.max(1, Math.round(ageMs(entry, nowMs) / 60_000));
  return new BridgeError({
    code: "duplicate",
    message: `A ${request} was sent about ${minutes} min ago, and it is not known what became of it, so this one was not sent.`,
    nextStep: check,
    outcome: "not_sent",
    retryable: operation === "publish",
    ...(operation === "publish" && { retryAfterSeconds: seconds }),
  });
}
