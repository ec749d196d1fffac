// A service client connected to a scripted service, shared by the tests of src/service.

import { onTestFinished } from "vitest";
import { type Clock, systemClock } from "../../src/clock.ts";
import { BridgeError } from "../../src/errors.ts";
import { ServiceClient, type Service } from "../../src/service/client.ts";
import type { Proxies } from "../../src/config.ts";
import { GENERATE, JOB_ID, KEY, STATUS } from "../fixtures/constants.ts";
import { type ModelFacts, modelFacts } from "../fixtures/model-words.ts";
import { type Reply, type Scripts, scriptedService } from "../fixtures/scripted-service.ts";

export interface ServiceStart {
  /** Without a trailing slash, which config.ts removes. */
  readonly baseUrl: string;
  readonly proxies?: Proxies;
  /** In [0, 1); called before each wait between attempts. 0 waits only as long as the service asks for. */
  readonly random?: () => number;
  /** Default: the real clock. */
  readonly clock?: Clock;
}

/** A clock that only moves when code sleeps: it then jumps ahead. `slept` has the durations. */
export function jumpingClock(): Clock & { readonly slept: number[]; advance(ms: number): void } {
  const slept: number[] = [];
  let nowMs = 1_000;
  return {
    slept,
    advance: (ms) => void (nowMs += ms),
    monotonicMs: () => nowMs,
    now: () => Date.UTC(2026, 0, 1) + nowMs,
    after(ms, action) {
      slept.push(ms);
      nowMs += ms;
      queueMicrotask(action);
      return () => {};
    },
  };
}

/** A client on the real clock without waits between attempts, unless given. Closed when the test is over. */
export function connect({
  baseUrl,
  proxies = {},
  random = () => 0,
  clock = systemClock,
}: ServiceStart): Service {
  const service = new ServiceClient({
    connect: async () => ({ apiKey: KEY, baseUrl: new URL(baseUrl), proxies }),
    clock,
    random,
  });
  onTestFinished(() => service.close());
  return service;
}

export async function bridge(
  scripts: Scripts = {},
  { prefix = "", ...options }: { prefix?: string } & Omit<ServiceStart, "baseUrl"> = {},
) {
  const rest = await scriptedService(scripts);
  return { rest, service: connect({ baseUrl: rest.url + prefix, ...options }) };
}

/** The facts of the BridgeError with which a call failed, in a model's words. Rejects if it succeeds or fails otherwise. */
export async function failureOf(call: Promise<unknown>): Promise<ModelFacts> {
  const error = await call.then(
    (value) => {
      throw new Error(`It did not fail: ${JSON.stringify(value)}`);
    },
    (reason: unknown) => reason,
  );
  if (error instanceof BridgeError) return modelFacts(error.facts);
  throw error;
}

/** The failures of a GET and a POST to which the service gives this reply. */
export async function failures(reply: Reply): Promise<Record<"get" | "post", ModelFacts>> {
  const { service } = await bridge({
    [STATUS]: reply,
    [GENERATE]: reply,
  });
  return {
    get: await failureOf(service.getJob(JOB_ID)),
    post: await failureOf(service.generate({ topic: "x" })),
  };
}
