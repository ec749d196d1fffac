// A service client connected to a scripted service: what the tests of src/service share.

import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { BridgeError, type BridgeErrorFacts } from "../../src/errors.ts";
import { createService, type Service } from "../../src/service/client.ts";
import type { Proxies } from "../../src/config.ts";
import {
  type Reply,
  type ScriptedService,
  type Scripts,
  scriptedService,
} from "../fixtures/scripted-service.ts";

export const KEY = "fl_example_key_of_no_account";
export const JOB = "0f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c";

export interface ServiceStart {
  /** Without the trailing slash that config take away. */
  readonly baseUrl: string;
  readonly proxies?: Proxies;
  /** Called before each wait between attempts. 0 waits no longer than the service asks for. */
  readonly random?: () => number;
  /** What must be left of a POST's deadline to begin it, where a test can't wait for the real 10 s. */
  readonly minPostMs?: number;
  /** The real clock unless given. */
  readonly clock?: TestClock;
}

export interface TestClock {
  readonly monotonicMs: () => number;
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<unknown>;
}

/** A clock on which seconds pass so many times as fast. */
export function fastClock(speed: number): TestClock {
  const startMs = performance.now();
  const elapsedMs = () => (performance.now() - startMs) * speed;
  return {
    monotonicMs: elapsedMs,
    now: () => Date.UTC(2026, 0, 1) + elapsedMs(),
    sleep: (ms, signal) => sleep(ms / speed, undefined, { ref: false, signal }),
  };
}

/** A clock that stands still unless somebody sleeps, for which it jumps ahead. `slept` has what was slept. */
export function jumpingClock(): TestClock & { readonly slept: number[]; advance(ms: number): void } {
  const slept: number[] = [];
  let nowMs = 1_000;
  return {
    slept,
    advance: (ms) => void (nowMs += ms),
    monotonicMs: () => nowMs,
    now: () => Date.UTC(2026, 0, 1) + nowMs,
    async sleep(ms) {
      slept.push(ms);
      nowMs += ms;
    },
  };
}

/** A client on the real clock that never waits between attempts unless it is told to. Closed when the test is over. */
export function connect({
  baseUrl,
  proxies = {},
  random = () => 0,
  minPostMs,
  clock,
}: ServiceStart): Service {
  const service = createService({
    config: { apiKey: KEY, baseUrl: new URL(baseUrl), proxies },
    version: "1.2.3",
    now: Date.now,
    ...clock,
    random,
    ...(minPostMs !== undefined && { minAttemptMs: { GET: 250, POST: minPostMs } }),
  });
  onTestFinished(() => service.close());
  return service;
}

export interface Bridge {
  readonly service: Service;
  readonly rest: ScriptedService;
}

export async function bridge(
  scripts: Scripts = {},
  { prefix = "", ...options }: { prefix?: string } & Omit<ServiceStart, "baseUrl"> = {},
): Promise<Bridge> {
  const rest = await scriptedService(scripts);
  return { rest, service: connect({ baseUrl: rest.url + prefix, ...options }) };
}

/** The facts of the BridgeError that a call failed with. Rejects if the call succeeds or fails with anything else. */
export async function failureOf(call: Promise<unknown>): Promise<BridgeErrorFacts> {
  const error = await call.then(
    (value) => {
      throw new Error(`It did not fail: ${JSON.stringify(value)}`);
    },
    (reason: unknown) => reason,
  );
  if (error instanceof BridgeError) return error.facts;
  throw error;
}

/** What a GET and a POST fail with when the service gives them this reply. */
export async function failures(reply: Reply): Promise<Record<"get" | "post", BridgeErrorFacts>> {
  const { service } = await bridge({
    [`GET /api/v1/status/${JOB}`]: reply,
    "POST /api/v1/generate": reply,
  });
  return {
    get: await failureOf(service.getJob(JOB)),
    post: await failureOf(service.generate({ topic: "x" })),
  };
}

/** Waits, without sleeping, until a condition holds. */
export async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 200_000 && !condition(); turn++)
    await new Promise((resolve) => setImmediate(resolve));
  if (!condition()) throw new Error("The condition never held");
}
