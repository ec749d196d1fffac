import dns from "node:dns";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Clock } from "../../src/clock.ts";
import { JobBook } from "../../src/jobs/job-book.ts";
import { JobReader } from "../../src/jobs/reader.ts";
import { GENERATE, JOB_ID, KEY, STATUS, TIDES } from "../fixtures/constants.ts";
import { envelope, type Reply, scriptedService, type Scripts } from "../fixtures/scripted-service.ts";
import { type ProxyBehaviour, startProxyServer } from "../fixtures/proxy-server.ts";
import { until } from "../fixtures/until.ts";
import { createVirtualClock, type VirtualClock } from "../fixtures/virtual-clock.ts";
import { bridge, connect, failureOf, jumpingClock } from "./bridge.ts";

const DONE = { json: { status: "completed" } };
const RENDERING = { json: { status: "processing" } };
const GENERATED: Reply = { status: 201, json: { jobId: JOB_ID, status: "processing" } };
const busy = (headers: Record<string, string> = {}): Reply => ({
  ...envelope(429, "rate_limited", "Slow down."),
  headers,
});
/** A service whose rate limit is used up until the reset. */
async function usedUp(resetSeconds: number, clock: Clock) {
  const headers = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(resetSeconds) };
  const started = await bridge({ [STATUS]: { ...DONE, headers }, [GENERATE]: GENERATED }, { clock });
  await started.service.getJob(JOB_ID);
  return started;
}

test("a GET in the background is never retried", async () => {
  const { service, rest } = await bridge({ [STATUS]: { status: 503 } });

  expect(await failureOf(service.getJob(JOB_ID, { background: true }))).toMatchObject({
    code: "service_failed",
    retryable: true,
  });
  expect(rest.lines()).toEqual([STATUS]);
});

test("a GET waits between attempts with jitter, or as long as Retry-After says", async () => {
  const clock = jumpingClock();
  const answers = [{ status: 503 }, { status: 503, headers: { "retry-after": "3" } }, DONE];
  const { service } = await bridge({ [STATUS]: answers }, { clock, random: () => 0.5 });

  await service.getJob(JOB_ID);

  expect(clock.slept).toEqual([250, 3_000]);
});

test("the attempts of a read that a wait makes are at least a second apart, whatever Retry-After says", async () => {
  const clock = jumpingClock();
  const answers = [{ status: 503 }, { status: 503, headers: { "retry-after": "0" } }, RENDERING];
  const { service } = await bridge({ [STATUS]: answers }, { clock });
  const readJournal = () => Promise.reject(new Error("There is none."));
  const book = new JobBook({ clock, log: { info() {} }, readJournal });
  const reader = new JobReader({ source: service, book, clock });

  await reader.readRecent(JOB_ID, 0, new AbortController().signal);

  expect(clock.slept).toEqual([1_000, 1_000]);
});

test.each([9_999, -1])("a POST is not begun with %i ms of its deadline left", async (deadlineMs) => {
  const { service, rest } = await bridge({ [GENERATE]: GENERATED }, { clock: jumpingClock() });

  expect(await failureOf(service.generate({ topic: "x" }, { deadlineMs }))).toMatchObject({
    code: "timeout",
    outcome: "not_sent",
    retryable: true,
  });
  expect(rest.requests).toEqual([]);
});

/** A POST whose connection is ready only when the test says so. */
async function connectingPost(entry?: { readonly id: string; readonly begunAtMs: number }) {
  const clock = createVirtualClock(Date.UTC(2026, 0, 1));
  const rest = await scriptedService({ [GENERATE]: GENERATED });
  const lookups: (() => void)[] = [];
  const lookup = vi.spyOn(dns, "lookup").mockImplementation((...args: unknown[]) => {
    const callback = args.at(-1);
    if (typeof callback === "function")
      lookups.push(() => callback(null, [{ address: "127.0.0.1", family: 4 }]));
  });
  onTestFinished(() => lookup.mockRestore());
  const service = connect({ baseUrl: `http://service.localhost:${rest.port}`, clock });
  const ended = service.generate(TIDES, { entry }).catch((error: unknown) => error);
  await until(() => lookups.length === 1);
  const letConnect = () => {
    for (const answer of lookups.splice(0)) answer();
  };
  return { clock, rest, ended, letConnect };
}

const NOT_BEGUN = { facts: { code: "timeout", outcome: "not_sent", retryable: true } };

test.each<[string, (clock: VirtualClock) => unknown, object, number]>([
  ["10 s of its deadline are left", (clock) => clock.sleep(28_000), { jobId: JOB_ID }, 1],
  ["less than 10 s of its deadline are left", (clock) => clock.sleep(28_001), NOT_BEGUN, 0],
  ["its deadline has passed", (clock) => clock.sleep(38_001), NOT_BEGUN, 0],
  ["the computer has slept for half a minute", (clock) => clock.set(30_000), NOT_BEGUN, 0],
  ["the computer has slept for an hour", (clock) => clock.set(3_600_000), NOT_BEGUN, 0],
  ["its clock was set back by an hour", (clock) => clock.set(-3_600_000), NOT_BEGUN, 0],
])("a POST whose connection is ready when %s is sent only if it is still young", async (...given) => {
  const [, pass, outcome, requests] = given;
  const { clock, rest, ended, letConnect } = await connectingPost();

  pass(clock);
  letConnect();

  expect(await ended).toMatchObject(outcome);
  expect(rest.requests).toHaveLength(requests);
});

test("a POST isn't begun half a minute after it was recorded, even by its first attempt", async () => {
  const begunAtMs = Date.now() - 30_000;
  const { service, rest } = await bridge({ [GENERATE]: GENERATED });

  expect(await failureOf(service.generate(TIDES, { entry: { id: "one", begunAtMs } }))).toMatchObject(
    NOT_BEGUN.facts,
  );
  expect(rest.requests).toEqual([]);
});

test("a POST that is sent again because it never left has the Idempotency-Key of its entry", async () => {
  const rest = await scriptedService({ [GENERATE]: GENERATED });
  const behaviours: ProxyBehaviour[] = ["drop"];
  const proxy = await startProxyServer(() => behaviours.shift() ?? { tunnelTo: rest.port });
  onTestFinished(() => proxy.close());
  const proxies = { http: proxy.url };
  const service = connect({ baseUrl: `http://service.localhost:${rest.port}`, proxies });

  await service.generate(TIDES, { entry: { id: "0f4b", begunAtMs: Date.now() } });

  expect(proxy.asked).toHaveLength(2);
  expect(rest.requests.map(({ headers }) => headers["idempotency-key"])).toEqual(['"0f4b"']);
});

test.each([
  [27, [28_000], [STATUS, GENERATE]],
  [28, [], [STATUS]],
])(
  "a POST waits for a reset only if 10 s of its 38 s remain after it: %i s",
  async (resetSeconds, slept, lines) => {
    const clock = jumpingClock();
    const { service, rest } = await usedUp(resetSeconds, clock);

    const ended = await service.generate({ topic: "x" }).catch((error: unknown) => error);

    expect(ended).toMatchObject(
      slept.length > 0 ? { jobId: JOB_ID } : { facts: { code: "rate_limited", outcome: "not_sent" } },
    );

    expect(clock.slept).toEqual(slept);
    expect(rest.lines()).toEqual(lines);
  },
);

test("the rate limit pauses every call after a 429, and the error says how long", async () => {
  const { service, rest } = await bridge(
    { [STATUS]: busy({ "retry-after": "90" }) },
    { clock: jumpingClock() },
  );
  await failureOf(service.getJob(JOB_ID));

  const facts = await Promise.all([
    failureOf(service.generate({ topic: "x" })),
    failureOf(service.getJob(JOB_ID, { background: true })),
    failureOf(service.listConnectedPlatforms()),
  ]);

  for (const each of facts)
    expect(each).toEqual({
      code: "rate_limited",
      message: expect.stringMatching(
        /^The service's rate limit is used up, so the request to .+ was not sent\.$/,
      ),
      // Listing the platforms waits for the OpenAPI document first.
      nextStep: expect.stringMatching(/^Wait (88|9[01]) s before the next call\.$/),
      outcome: "not_sent",
      retryable: true,
      retryAfterSeconds: expect.toBeOneOf([88, 90, 91]),
    });
  expect(rest.lines()).toEqual([STATUS]);
});

test("cancelling a GET ends it immediately", async () => {
  const cancel = new AbortController();
  const { service, rest } = await bridge({ [STATUS]: () => (cancel.abort(), "hang") });

  expect(await failureOf(service.getJob(JOB_ID, { signal: cancel.signal }))).toMatchObject({
    code: "cancelled",
    outcome: "unknown",
    retryable: true,
  });
  expect(rest.lines()).toEqual([STATUS]);
  await until(() => rest.connections() === 0);
});

test("cancelling a POST after it was sent doesn't stop it", async () => {
  const cancel = new AbortController();
  const { service } = await bridge({
    [GENERATE]: async () => {
      cancel.abort();
      // A client that gave up would have done so by then.
      await new Promise((resolve) => setImmediate(resolve));
      return GENERATED;
    },
  });

  expect(await service.generate({ topic: "x" }, { signal: cancel.signal })).toEqual({
    jobId: JOB_ID,
    status: "processing",
  });
});

test("cancelling a POST that waits for the rate limiter prevents it", async () => {
  const cancel = new AbortController();
  const clock = jumpingClock();
  const after = () => (clock.advance(60_000), queueMicrotask(() => cancel.abort()), () => {});
  const cancelling = { ...clock, after };
  const { service, rest } = await usedUp(5, cancelling);

  expect(await failureOf(service.generate({ topic: "x" }, { signal: cancel.signal }))).toMatchObject({
    code: "cancelled",
    outcome: "not_sent",
  });
  expect(rest.lines()).toEqual([STATUS]);
});

test("cancelling a GET between two attempts ends it", async () => {
  const cancel = new AbortController();
  const { signal } = cancel;
  const scripts: Scripts = { [STATUS]: busy({ "retry-after": "8" }) };
  // The wait begins right after `random` is called.
  const { service, rest } = await bridge(scripts, {
    random: () => (setImmediate(() => cancel.abort()), 0),
  });

  expect(await failureOf(service.getJob(JOB_ID, { signal }))).toMatchObject({
    code: "cancelled",
    outcome: "rejected",
    retryable: true,
  });
  expect(rest.lines()).toEqual([STATUS]);
});

test.each([
  ["<html>", "it is not readable JSON"],
  [JSON.stringify({ status: 5, videoUrls: [] }), "status is missing or has another form"],
  [JSON.stringify([]), "it is not an object"],
])("the error for an answer of another form, %s, names the place", async (body, problem) => {
  const { service } = await bridge({ [STATUS]: { body } });

  expect(await failureOf(service.getJob(JOB_ID))).toMatchObject({
    message: expect.stringContaining(`is not as documented: ${problem} (HTTP 200).`),
  });
});

test("a GET whose answer can't be read is not sent again", async () => {
  const { service, rest } = await bridge({ [STATUS]: { body: "<html>" } });

  expect(await failureOf(service.getJob(JOB_ID))).toMatchObject({ retryable: true });
  expect(rest.lines()).toEqual([STATUS]);
});

test.each([301, 308])(
  "a redirect with %i is never followed, and only its origin is shown",
  async (status) => {
    const elsewhere = await scriptedService();
    const location = `${elsewhere.url.replace("//", "//user:secret@")}/path/secret?secret#secret`;
    const reply: Reply = { status, headers: { location } };
    const { service, rest } = await bridge({ [STATUS]: reply, [GENERATE]: reply });

    const get = await failureOf(service.getJob(JOB_ID));
    const post = await failureOf(service.generate({ topic: "x" }));

    expect(get).toMatchObject({ code: "redirected", outcome: "rejected", retryable: false, status });
    expect(get.message).toContain(` "${elsewhere.url}", `);
    expect(post).toMatchObject({ code: "redirected", outcome: "unknown", retryable: false });
    expect(elsewhere.requests).toEqual([]);
    expect(rest.lines()).toEqual([STATUS, GENERATE]);
    expect(JSON.stringify([get, post])).not.toMatch(new RegExp(`secret|${KEY}`));
  },
);

test("no part of the key is shown though the header location holds it", async () => {
  const headers = { location: `https://${KEY}.example` };
  const { service } = await bridge({ [STATUS]: { status: 302, headers } });

  expect((await failureOf(service.getJob(JOB_ID))).message).not.toContain(KEY.slice(0, 4));
});

test.each([
  [12, 1, []],
  [8, 2, [8_000]],
] as const)(
  "a GET has 20 s: a wait of %i s after 10 s means %i requests",
  async (seconds, requests, slept) => {
    const clock = jumpingClock();
    const { service, rest } = await bridge(
      { [STATUS]: [() => (clock.advance(10_000), busy({ "retry-after": String(seconds) })), DONE] },
      { clock },
    );

    await service.getJob(JOB_ID).catch(() => {});

    expect(rest.lines()).toHaveLength(requests);
    expect(clock.slept).toEqual(slept);
  },
);
