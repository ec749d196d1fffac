// The yes to a series of videos: what it covers, and what ends it. Clients of the modern protocol may show several
// forms at once and answer them in any order, which no SDK does: their messages are written by hand.

import { expect, test } from "vitest";
import { connectLegacy, lateAnswer, type Question, textOf, type UsersAnswer } from "../fixtures/clients.ts";
import { GENERATE, JOB_ID, KEY, STATUS } from "../fixtures/constants.ts";
import { journalFolder } from "../fixtures/journal-folder.ts";
import { type LocalStart, startLocal } from "../fixtures/local-server.ts";
import { connectRaw } from "../fixtures/raw-server.ts";
import { scriptedService } from "../fixtures/scripted-service.ts";
import { valueAt } from "../../src/value-at.ts";
import { createVirtualClock } from "../fixtures/virtual-clock.ts";

const HOUR_MS = 3_600_000;
const ALL = "Pay for this and further videos in this conversation";
const choose = (decision: string): UsersAnswer => ({ action: "accept", content: { decision } });
const NO = choose("Don't start it");
const DECLINED = { isError: true, _meta: { "faceless/error": { code: "declined", outcome: "not_sent" } } };
const STARTED = { structuredContent: { status: "processing" } };
const ASKED = { resultType: "input_required", requestState: expect.any(String) };

/** The service, which gives each order a job of its own, and what a server needs to order there. */
async function service() {
  let count = 0;
  const rest = await scriptedService({
    [GENERATE]: () => ({ json: { jobId: `${count++}${JOB_ID.slice(1)}`, status: "processing" } }),
    [STATUS]: { json: { status: "processing", videoUrls: [] } },
  });
  const env = {
    FACELESS_API_KEY: KEY,
    FACELESS_BASE_URL: rest.url,
    FACELESS_STATE_DIR: journalFolder().folder,
  };
  return { env, orders: () => rest.lines(GENERATE).length };
}

/** A client of 2026-07-28 whose messages are written by hand. */
async function modern(start: LocalStart = {}) {
  const { env, orders } = await service();
  const { ask } = connectRaw(startLocal({ env, ...start }));
  const order = async (topic: string, more: object = {}, name = "raw") => {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name, version: "1" },
      "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
    };
    const params = { name: "generate_video", arguments: { topic }, ...more, _meta };
    return (await ask("tools/call", params)).result ?? {};
  };
  const answer = (
    topic: string,
    { requestState }: Record<string, unknown>,
    confirmation?: object,
    name = "raw",
  ) => order(topic, { requestState, ...(confirmation && { inputResponses: { confirmation } }) }, name);
  /** The order of another video, to whose form the user says yes for a series. */
  const beginSeries = async () =>
    expect(await answer("Tides turn.", await order("Tides turn."), choose(ALL))).toMatchObject(STARTED);
  return { order, answer, beginSeries, orders };
}

test.each<[string, object | undefined]>([
  ["a no", NO],
  ["a decline", { action: "decline" }],
  ["a cancel", { action: "cancel" }],
  ["an answer without a choice", { action: "accept" }],
  ["an empty answer", {}],
  ["no answer", undefined],
])(
  "after a yes to a series in one of three open forms, %s in another one pays nothing and ends it",
  async (_, no) => {
    const { order, answer, orders } = await modern();
    const [tides, rivers, clouds] = await Promise.all([
      order("Tides turn."),
      order("Rivers run."),
      order("Clouds drift."),
    ]);

    expect(await answer("Tides turn.", tides, choose(ALL))).toMatchObject(STARTED);
    expect(await answer("Rivers run.", rivers, no)).toMatchObject(DECLINED);
    expect(await order("Rains fall.")).toMatchObject(ASKED);
    expect(await answer("Clouds drift.", clouds, choose("Pay for this video"))).toMatchObject(STARTED);
    expect(orders()).toBe(2);
  },
);

test("a no to a repeat ends a series", async () => {
  const { order, beginSeries, orders } = await modern();
  await beginSeries();
  const [code = ""] =
    /(?<=confirm: ")\w+/.exec(JSON.stringify(await order("Tides turn.")).replaceAll("\\", "")) ?? [];
  const repeat = { arguments: { topic: "Tides turn.", confirm: code } };
  const question = await order("", repeat);

  const inputResponses = { confirmation: choose("Don't start it") };
  const { requestState } = question;
  expect(await order("", { ...repeat, requestState, inputResponses })).toMatchObject(DECLINED);
  expect(await order("Rivers run.")).toMatchObject(ASKED);
  expect(orders()).toBe(1);
});

test("a series ends when a client with another name calls", async () => {
  const { order, beginSeries, orders } = await modern();
  await beginSeries();

  expect(await order("Rivers run.")).toMatchObject(STARTED);
  expect(await order("Clouds drift.", {}, "another")).toMatchObject(ASKED);
  expect(await order("Rains fall.")).toMatchObject(ASKED);
  expect(orders()).toBe(2);
});

test.each<[string, "sleep" | "set", number]>([
  ["an hour", "sleep", HOUR_MS],
  ["an hour in which the computer sleeps", "set", HOUR_MS],
  ["an hour by a clock that was set back", "set", -HOUR_MS],
])(
  "a series ends after %s without an order, and an order in it says when the user agreed",
  async (_, pass, ms) => {
    const clock = createVirtualClock(Date.parse("2026-11-28T12:00:00Z"));
    const { order, beginSeries, orders } = await modern({ clock });
    await beginSeries();
    clock.sleep(30 * 60_000);
    const rivers = await order("Rivers run.");
    clock.sleep(59 * 60_000);

    expect(rivers["structuredContent"]).toMatchObject({
      summary: expect.stringContaining("The user agreed to this and further videos 30 minutes ago."),
    });
    expect(JSON.stringify(rivers)).not.toContain("asked");
    expect(await order("Clouds drift.")).toMatchObject(STARTED);
    clock[pass](ms);
    expect(await order("Rains fall.")).toMatchObject(ASKED);
    expect(orders()).toBe(3);
  },
);

test("a series ends with a new initialize, even if its form was open before that", async () => {
  const { env, orders } = await service();
  const { ask, open, send, onMessage } = connectRaw(startLocal({ env }));
  const initialize = () => {
    const clientInfo = { name: "raw", version: "1" };
    return ask("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: { elicitation: {} },
      clientInfo,
    });
  };
  const order = (topic: string) => ask("tools/call", { name: "generate_video", arguments: { topic } });
  const questions: unknown[] = [];
  const answers: (() => UsersAnswer | Promise<UsersAnswer>)[] = [
    async () => (await initialize(), choose(ALL)),
    () => choose(ALL),
    () => NO,
  ];
  onMessage((message) => {
    if (typeof message === "string" || message.method !== "elicitation/create") return;
    void Promise.resolve(answers[questions.push(message) - 1]?.()).then((result) => {
      send({ jsonrpc: "2.0", id: message.id, result });
    });
  });
  await open("legacy");
  await initialize();

  await order("Tides turn.");
  await order("Rivers run.");
  await order("Clouds drift.");
  expect([questions.length, orders()]).toEqual([2, 3]);
  await initialize();
  await order("Rains fall.");
  expect([questions.length, orders()]).toEqual([3, 3]);
});

test("under FACELESS_CONFIRM_GENERATE=always there is no yes to a series", async () => {
  const { env, orders } = await service();
  const questions: Question[] = [];
  const client = await connectLegacy({
    env: { ...env, FACELESS_CONFIRM_GENERATE: "always" },
    user: async (question) => (questions.push(question), choose(ALL)),
  });

  expect((await client.call("generate_video", { topic: "Tides turn." })).isError).toBe(true);
  expect(questions[0]?.form).toMatchObject({
    properties: { decision: { enum: ["Don't start it", "Pay for this video"] } },
  });
  expect(orders()).toBe(0);
});

test("a caller that asked for progress hears every 20 seconds that its question is open", async () => {
  const clock = createVirtualClock(0);
  const { env } = await service();
  let answer: ((given: UsersAnswer) => void) | undefined;
  const user = () => new Promise<UsersAnswer>((resolve) => (answer = resolve));
  const methods: unknown[] = [];
  const onMessage = (message: unknown) => methods.push(valueAt(message, "method"));
  const client = await connectLegacy({ env, clock, user, onMessage });
  const progress: object[] = [];
  const onprogress = (one: object) => progress.push(one);
  const ordered = client.call("generate_video", { topic: "Tides turn." }, { onprogress });
  await expect.poll(() => answer).toBeDefined();
  await clock.runFor(61_000);

  const waiting = (step: number) => ({ progress: step, message: "Waiting for the user's answer." });
  await expect.poll(() => progress).toEqual([0, 0.01, 0.02].map(waiting));
  answer?.(choose(ALL));
  expect(textOf(await ordered)).toContain("The user was asked and agreed.");
  await clock.runFor(61_000);
  await client.raw.ping();
  expect(methods.filter((method) => method === "notifications/progress")).toHaveLength(3);
});

test("a call that was cancelled while another one's question is open reports no progress", async () => {
  const clock = createVirtualClock(0);
  const { env } = await service();
  const questions: Question[] = [];
  const user = (question: Question) => (questions.push(question), new Promise<UsersAnswer>(() => {}));
  const methods: unknown[] = [];
  const onMessage = (message: unknown) => methods.push(valueAt(message, "method"));
  const client = await connectLegacy({ env, clock, user, onMessage });
  const cancelled = new AbortController();
  const order = (topic: string, options: object) =>
    client.call("generate_video", { topic }, options).catch((error: unknown) => error);
  void order("Tides turn.", {});
  await expect.poll(() => questions).toHaveLength(1);
  const timers = clock.pending();
  void order("Rivers run.", { onprogress() {}, signal: cancelled.signal });
  await expect.poll(() => clock.pending()).toBeGreaterThan(timers);
  cancelled.abort();
  await client.raw.ping();
  await clock.runFor(61_000);
  await client.raw.ping();

  expect(methods).not.toContain("notifications/progress");
});

test("a no that comes after its call has ended also ends a series", async () => {
  const { env, orders } = await service();
  const late = lateAnswer();
  const questions: Question[] = [];
  const answers = [late.answer, choose(ALL), NO];
  const user = async (question: Question) => answers[questions.push(question) - 1] ?? NO;
  const client = await connectLegacy({ env, user });
  const ended = new AbortController();
  const first = client.call("generate_video", { topic: "Tides turn." }, { signal: ended.signal });
  await expect.poll(() => questions).toHaveLength(1);
  ended.abort();
  await expect(first).rejects.toThrow(/abort/i);
  await client.call("generate_video", { topic: "Rivers run." });
  late.give(NO);
  await late.arrived(client);
  await client.call("generate_video", { topic: "Clouds drift." });

  expect([questions.length, orders()]).toEqual([3, 1]);
});
