// In the modern protocol the client keeps the state of a question and sends it back. A client that invents, keeps or swaps states must
// not publish anything that the user was not asked about. The messages are written by hand, because no real client does this.

import { expect, onTestFinished, test } from "vitest";
import { type Message, startRaw } from "../fixtures/raw-server.ts";
import { envelope, type Script, scriptedService } from "../fixtures/scripted-service.ts";

const PUBLISH = "POST /api/v1/publish";
const JOB = "0f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c";
const ON_TIKTOK = { jobId: JOB, platforms: ["tiktok"] };
const ON_YOUTUBE = { jobId: JOB, platforms: ["youtube"] };
const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "forger", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
};
const YES = { confirmation: { action: "accept", content: { decision: "Publish on tiktok" } } };

async function startForger(script: Script = { json: { results: [{ platform: "tiktok", ok: true }] } }) {
  const rest = await scriptedService({ [PUBLISH]: script });
  const server = startRaw({
    env: { FACELESS_API_KEY: "fl_test_key_0123456789", FACELESS_BASE_URL: rest.url },
  });
  onTestFinished(async () => {
    server.child.kill();
    await server.ended;
  });
  let serial = 0;
  const waiting = new Map<unknown, (message: Message) => void>();
  server.onMessage((message) => {
    if (typeof message !== "string") waiting.get(message.id)?.(message);
  });
  const publish = (args: object, more: object = {}) =>
    new Promise<Message>((resolve) => {
      const id = (serial += 1);
      waiting.set(id, resolve);
      const params = { name: "publish_video", arguments: args, ...more, _meta: ENVELOPE };
      server.send({ jsonrpc: "2.0", id, method: "tools/call", params });
    });
  return { publish, posts: () => rest.lines(PUBLISH).length };
}

const QUESTION = {
  resultType: "input_required",
  inputRequests: { confirmation: expect.objectContaining({ method: "elicitation/create" }) },
  requestState: expect.any(String),
};

function stateOf({ result }: Message): string {
  return String(result?.["requestState"]);
}

test.each([
  ["that is invented", "11111111-2222-4333-8444-555555555555"],
  ["that is empty", ""],
  ["of another kind", JSON.stringify({ key: "x", atMs: 0 })],
])("A state %s is answered with the question", async (_, requestState) => {
  const { publish, posts } = await startForger();

  expect((await publish(ON_TIKTOK, { requestState, inputResponses: YES })).result).toMatchObject(QUESTION);
  expect(posts()).toBe(0);
});

test("An answer without a state publishes nothing", async () => {
  const { publish, posts } = await startForger();

  expect((await publish(ON_TIKTOK, { inputResponses: YES })).result).toMatchObject(QUESTION);
  expect(posts()).toBe(0);
});

test("A state that is replayed posts nothing", async () => {
  const { publish, posts } = await startForger();
  const requestState = stateOf(await publish(ON_TIKTOK));

  const answered = await publish(ON_TIKTOK, { requestState, inputResponses: YES });
  const replayed = await publish(ON_TIKTOK, { requestState, inputResponses: YES });

  expect(answered.result).toMatchObject({ structuredContent: { results: [{ ok: true }] } });
  expect(replayed.result).toMatchObject({ structuredContent: { results: [{ alreadyPublished: true }] } });
  expect(posts()).toBe(1);
});

test("A state cannot be used again after a publication that failed", async () => {
  const { publish, posts } = await startForger(envelope(422, "not_ready", "The video is not ready."));
  const requestState = stateOf(await publish(ON_TIKTOK));

  const refused = await publish(ON_TIKTOK, { requestState, inputResponses: YES });
  const replayed = await publish(ON_TIKTOK, { requestState, inputResponses: YES });

  expect(refused.result).toMatchObject({ isError: true });
  expect(replayed.result).toMatchObject(QUESTION);
  expect(posts()).toBe(1);
});

test("A state that is used twice at the same time posts once", async () => {
  const { publish, posts } = await startForger();
  const requestState = stateOf(await publish(ON_TIKTOK));

  const both = [1, 2].map(() => publish(ON_TIKTOK, { requestState, inputResponses: YES }));

  expect(
    (await Promise.all(both)).filter(({ result }) => "structuredContent" in (result ?? {})),
  ).toHaveLength(1);
  expect(posts()).toBe(1);
});

test("The state of one question is not valid for another", async () => {
  const { publish, posts } = await startForger();
  const requestState = stateOf(await publish(ON_TIKTOK));

  const swapped = await publish(ON_YOUTUBE, { requestState, inputResponses: YES });

  expect(swapped.result).toMatchObject(QUESTION);
  expect(posts()).toBe(0);
});

test.each([
  ["no answer at all", undefined],
  ["another answer", { other: YES.confirmation }],
  ["a yes of another type", { confirmation: { action: "accept", content: { decision: true } } }],
  [
    "a yes in other words",
    { confirmation: { action: "accept", content: { decision: "publish on tiktok" } } },
  ],
  ["a yes without words", { confirmation: { action: "accept" } }],
  ["an action that isn't one", { confirmation: { action: "accepted" } }],
])("A valid state with %s publishes nothing", async (_, inputResponses) => {
  const { publish, posts } = await startForger();
  const requestState = stateOf(await publish(ON_TIKTOK));

  const { result } = await publish(ON_TIKTOK, {
    requestState,
    ...(inputResponses !== undefined && { inputResponses }),
  });

  expect(result?.["structuredContent"]).toBeUndefined();
  expect(posts()).toBe(0);
});
