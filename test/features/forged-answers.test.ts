// In the modern protocol the client keeps the state of a question and sends it back. A client that invents,
// keeps or swaps states must not publish anything that the user was not asked about. No real client does
// this: the messages are written by hand.

import { expect, test } from "vitest";
import { KEY, ON_TIKTOK, PUBLISH, STATUS } from "../fixtures/constants.ts";
import { startLocal } from "../fixtures/local-server.ts";
import { connectRaw, type Message } from "../fixtures/raw-server.ts";
import { envelope, type Script, scriptedService } from "../fixtures/scripted-service.ts";

const POSTED = { json: { results: [{ platform: "tiktok", ok: true }] } };
const YES = { confirmation: { action: "accept", content: { decision: "Publish on TikTok" } } };
const QUESTION = {
  resultType: "input_required",
  inputRequests: { confirmation: expect.objectContaining({ method: "elicitation/create" }) },
  requestState: expect.any(String),
};
const DECLINED = { code: "declined", outcome: "not_sent", retryable: false };

async function startForger(script: Script = POSTED) {
  const rest = await scriptedService({
    [PUBLISH]: script,
    [STATUS]: { json: { status: "completed", videoUrls: [] } },
  });
  const { ask } = connectRaw(startLocal({ env: { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: rest.url } }));
  const publish = (args: object, more: object = {}, capabilities: object = { elicitation: {} }) => {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "forger", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": capabilities,
    };
    return ask("tools/call", { name: "publish_video", arguments: args, ...more, _meta });
  };
  return { publish, posts: () => rest.lines(PUBLISH).length };
}

function stateOf({ result }: Message): string {
  return String(result?.["requestState"]);
}

test.each<[string, (asked: string) => object]>([
  ["an invented state", () => ({ requestState: "11111111-2222-4333-8444-555555555555" })],
  ["no state", () => ({})],
  ["the state of another question", (asked) => ({ requestState: asked })],
])("a yes with %s publishes nothing and is answered with the question", async (_, stateFrom) => {
  const { publish, posts } = await startForger();
  const state = stateFrom(stateOf(await publish({ ...ON_TIKTOK, platforms: ["youtube"] })));

  expect((await publish(ON_TIKTOK, { ...state, inputResponses: YES })).result).toMatchObject(QUESTION);
  expect(posts()).toBe(0);
});

test.each<[string, Script, object]>([
  ["posted", POSTED, { structuredContent: { results: [{ alreadyPublished: true }] } }],
  ["was refused", envelope(422, "not_ready", "The video is not ready."), QUESTION],
])("a yes that is replayed after it %s sends nothing more", async (_, script, answer) => {
  const { publish, posts } = await startForger(script);
  const requestState = stateOf(await publish(ON_TIKTOK));
  await publish(ON_TIKTOK, { requestState, inputResponses: YES });

  const replayed = await publish(ON_TIKTOK, { requestState, inputResponses: YES });
  expect(replayed.result).toMatchObject(answer);
  expect(posts()).toBe(1);
});

test.each([
  ["no answer at all", undefined],
  ["a yes in other words", { confirmation: { ...YES.confirmation, content: { decision: "Publish" } } }],
  ["a yes without words", { confirmation: { action: "accept" } }],
  ["an action that isn't one", { confirmation: { ...YES.confirmation, action: "accepted" } }],
])("a valid state with %s publishes nothing", async (_, inputResponses) => {
  const { publish, posts } = await startForger();
  const requestState = stateOf(await publish(ON_TIKTOK));

  const { result } = await publish(ON_TIKTOK, { requestState, inputResponses });

  expect(result?.["structuredContent"]).toBeUndefined();
  expect(posts()).toBe(0);
});

test("a call's answer counts even if its client declares that it can't ask", async () => {
  const { publish, posts } = await startForger();
  const answer = async (inputResponses: object, requestState?: string) =>
    (await publish(ON_TIKTOK, { inputResponses, requestState }, {})).result;
  const no = { confirmation: { action: "decline" } };
  const refusal = { isError: true, _meta: { "faceless/error": DECLINED } };

  expect(await answer(no, stateOf(await publish(ON_TIKTOK)))).toMatchObject(refusal);
  expect(await answer(no)).toMatchObject(refusal);
  expect(await answer(YES)).toMatchObject(refusal);
  expect(posts()).toBe(0);
  expect(await answer(YES, stateOf(await publish(ON_TIKTOK)))).toHaveProperty("structuredContent");
  expect(posts()).toBe(1);
});
