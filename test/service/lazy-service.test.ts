import { EventEmitter, once } from "node:events";
import { describe, expect, test } from "vitest";
import { BridgeError, describeFailure } from "../../src/errors.ts";
import type { Service } from "../../src/service/client.ts";
import { deferService, unconfiguredService } from "../../src/service/lazy-service.ts";

interface Call {
  readonly method: string;
  readonly args: readonly unknown[];
}

/** A service that answers at once and remembers what it was asked. */
function createRecorder(): { service: Service; calls: Call[] } {
  const calls: Call[] = [];
  const answer =
    <Result>(method: string, result: Result) =>
    (...args: readonly unknown[]) => {
      calls.push({ method, args });
      return Promise.resolve(result);
    };
  const service: Service = {
    generate: answer("generate", { jobId: "j", status: "processing" }),
    getJob: answer("getJob", { jobId: "j", status: "completed", videoUrls: [], done: true }),
    publish: answer("publish", { results: [] }),
    listVideos: answer("listVideos", { videos: [] }),
    listConnectedPlatforms: answer("listConnectedPlatforms", { platforms: [] }),
    listing: () => ({ maxLimit: 50, canPage: true }),
    backgroundWaitMs: () => 1_500,
    close: () => void calls.push({ method: "close", args: [] }),
  };
  return { service, calls };
}

test("knows of the list and the rate budget what the service knows, once it is there", async () => {
  const { service } = createRecorder();
  const deferred = deferService(() => Promise.resolve(service));
  expect([deferred.listing(), deferred.backgroundWaitMs()]).toEqual([{ maxLimit: 100, canPage: false }, 0]);
  await deferred.listVideos({});
  expect([deferred.listing(), deferred.backgroundWaitMs()]).toEqual([{ maxLimit: 50, canPage: true }, 1_500]);
});

const OPERATIONS: readonly (readonly [string, (service: Service) => Promise<unknown>])[] = [
  ["generate", (service) => service.generate({ topic: "t" })],
  ["getJob", (service) => service.getJob("j")],
  ["publish", (service) => service.publish({ jobId: "j", platforms: ["tiktok"] })],
  ["listVideos", (service) => service.listVideos({})],
  ["listConnectedPlatforms", (service) => service.listConnectedPlatforms()],
];

describe("a deferred service", () => {
  test("is loaded at the first call and not before, once for all of them", async () => {
    const { service, calls } = createRecorder();
    let loads = 0;
    const deferred = deferService(() => {
      loads += 1;
      return Promise.resolve(service);
    });
    expect(loads).toBe(0);

    await Promise.all(OPERATIONS.map(([, call]) => call(deferred)));

    expect(loads).toBe(1);
    expect(calls.map(({ method }) => method)).toEqual(OPERATIONS.map(([name]) => name));
  });

  test("passes on what it is asked and what is answered, unchanged", async () => {
    const { service, calls } = createRecorder();
    const deferred = deferService(() => Promise.resolve(service));
    const options = { signal: new AbortController().signal, deadlineMs: 5 };

    expect(await deferred.generate({ topic: "t" }, options)).toEqual({ jobId: "j", status: "processing" });
    expect(await deferred.getJob("j", options)).toEqual({
      jobId: "j",
      status: "completed",
      videoUrls: [],
      done: true,
    });
    expect(await deferred.publish({ jobId: "j", platforms: ["x"] }, options)).toEqual({ results: [] });
    expect(await deferred.listVideos({ limit: 2 }, options)).toEqual({ videos: [] });
    expect(await deferred.listConnectedPlatforms(options)).toEqual({ platforms: [] });
    expect(calls).toEqual([
      { method: "generate", args: [{ topic: "t" }, options] },
      { method: "getJob", args: ["j", options] },
      { method: "publish", args: [{ jobId: "j", platforms: ["x"] }, options] },
      { method: "listVideos", args: [{ limit: 2 }, options] },
      { method: "listConnectedPlatforms", args: [options] },
    ]);
  });

  test("passes on the error of a call, and is not loaded again for it", async () => {
    const failure = new TypeError("of the call");
    let loads = 0;
    const deferred = deferService(() => {
      loads += 1;
      return Promise.resolve({ ...createRecorder().service, getJob: () => Promise.reject(failure) });
    });

    await expect(deferred.getJob("j")).rejects.toBe(failure);
    await expect(deferred.getJob("j")).rejects.toBe(failure);
    expect(loads).toBe(1);
  });

  test.each(OPERATIONS)("that can't be loaded says of %s that nothing was sent", async (_, call) => {
    const cause = new Error("EMFILE");
    const error = await call(deferService(() => Promise.reject(cause))).catch((thrown: unknown) => thrown);

    expect(error).toBeInstanceOf(BridgeError);
    expect(error).toMatchObject({
      cause,
      facts: { code: "internal", outcome: "not_sent", retryable: false },
    });
  });

  test("that could not be loaded is loaded by a later call", async () => {
    const { service, calls } = createRecorder();
    const loads = [() => Promise.reject(new Error("EMFILE")), () => Promise.resolve(service)];
    const deferred = deferService(() => loads.shift()?.() ?? Promise.reject(new Error("a third load")));

    await expect(deferred.getJob("j")).rejects.toBeInstanceOf(BridgeError);
    await deferred.getJob("j");
    await deferred.getJob("j");

    expect(calls.map(({ method }) => method)).toEqual(["getJob", "getJob"]);
  });

  test("closes what was loaded, once, and loads nothing to close it", async () => {
    const { service, calls } = createRecorder();
    let loads = 0;
    const deferred = deferService(() => {
      loads += 1;
      return Promise.resolve(service);
    });
    deferService(() => Promise.reject(new Error("never"))).close();

    await deferred.getJob("j");
    deferred.close();

    expect({ loads, methods: calls.map(({ method }) => method) }).toEqual({
      loads: 1,
      methods: ["getJob", "close"],
    });
  });

  test("closed while it loads is closed as soon as it is there, before the call that waits for it, and once", async () => {
    const { service, calls } = createRecorder();
    const loads = new EventEmitter();
    const loading = deferService(() => once(loads, "loaded").then(() => service));
    const call = loading.getJob("j");

    loading.close();
    expect(calls).toEqual([]);
    loads.emit("loaded");
    await call;

    expect(calls.map(({ method }) => method)).toEqual(["close", "getJob"]);
  });

  test("closed while a load fails leaves no rejection unheard", async () => {
    const loads = new EventEmitter();
    const loading = deferService(() => once(loads, "loaded").then(() => createRecorder().service));
    const call = loading.getJob("j");

    loading.close();
    loads.emit("error", new Error("EMFILE"));

    await expect(call).rejects.toBeInstanceOf(BridgeError);
  });
});

describe("a service without settings", () => {
  const service = unconfiguredService([
    { variable: "FACELESS_API_KEY", problem: "is not set", remedy: "Create a key" },
    { variable: "FACELESS_BASE_URL", problem: "is not a URL", remedy: "Set it to the service's address" },
  ]);

  test.each(OPERATIONS)("says to every call what to set and how: %s", async (_, call) => {
    for (const attempt of [call(service), call(service)]) {
      const error = await attempt.catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(BridgeError);
      expect(error).toMatchObject({
        facts: {
          code: "not_configured",
          message: "This server is not set up: FACELESS_API_KEY is not set; FACELESS_BASE_URL is not a URL.",
          nextStep:
            "FACELESS_API_KEY: Create a key. FACELESS_BASE_URL: Set it to the service's address. Then restart this server. To try it without an account, start it with --sandbox.",
          outcome: "not_sent",
          retryable: false,
        },
      });
    }
  });

  test("reads as whole sentences for a person", async () => {
    const error = await service.generate({ topic: "t" }).catch((thrown: unknown) => thrown);

    expect(error instanceof BridgeError && describeFailure(error, "spends")).toBe(
      "This server is not set up: FACELESS_API_KEY is not set; FACELESS_BASE_URL is not a URL. No request was carried out, so no credits were spent. Calling again unchanged will fail again. FACELESS_API_KEY: Create a key. FACELESS_BASE_URL: Set it to the service's address. Then restart this server. To try it without an account, start it with --sandbox.",
    );
  });

  test("can be closed", () => {
    expect(service.close()).toBeUndefined();
  });
});
