// The service client in front of a scripted service: what the tests of src/service share.

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

export const KEY = "fl_a_key_that_is_no_key";
export const JOB = "0f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c";

export interface ServiceStart {
  /** Without the trailing slash that config take away. */
  readonly baseUrl: string;
  readonly proxies?: Proxies;
  /** Asked before each wait between attempts. 0 waits no longer than the service asks for. */
  readonly random?: () => number;
}

/** A client on the real clock that never waits between attempts unless it is told to. Closed when the test is over. */
export function connect({ baseUrl, proxies = {}, random = () => 0 }: ServiceStart): Service {
  const service = createService({
    config: { apiKey: KEY, baseUrl: new URL(baseUrl), proxies },
    version: "1.2.3",
    now: Date.now,
    random,
  });
  onTestFinished(() => service.close());
  return service;
}

export interface Bridge {
  readonly service: Service;
  readonly rest: ScriptedService;
}

export async function bridge(scripts: Scripts = {}, prefix = ""): Promise<Bridge> {
  const rest = await scriptedService(scripts);
  return { rest, service: connect({ baseUrl: rest.url + prefix }) };
}

/** What a call failed with. Fails itself where the call did not, or with anything but a BridgeError. */
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

/** What a GET and a POST fail with when the service answers them so. */
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

/** Waits, without sleeping, until something has come about. */
export async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 200_000 && !condition(); turn++)
    await new Promise((resolve) => setImmediate(resolve));
  if (!condition()) throw new Error("It did not come about");
}
