import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { createFailedQuestions } from "../../src/mcp/failed-questions.ts";

const QUESTION: JSONRPCMessage = {
  jsonrpc: "2.0",
  id: 3,
  method: "elicitation/create",
  params: { message: "Publish?", requestedSchema: { type: "object", properties: {} } },
};
const GIVEN_UP: JSONRPCMessage = {
  jsonrpc: "2.0",
  method: "notifications/cancelled",
  params: { requestId: 3, reason: "Request timed out" },
};
const sdkFailure = (id: number): JSONRPCMessage => ({
  jsonrpc: "2.0",
  id,
  result: { content: [{ type: "text", text: "Fulfilling input required failed" }], isError: true },
});
const failed = (id: number): JSONRPCMessage => ({
  jsonrpc: "2.0",
  id,
  error: { code: -32601, message: "No such method" },
});

test("an error or nonsense in answer to a question is a question closed, once", () => {
  for (const answer of [failed(3), { jsonrpc: "2.0" as const, id: 3, result: {} }]) {
    const questions = createFailedQuestions();
    expect(questions.onOutbound(QUESTION)).toBe(QUESTION);
    expect(questions.onInbound(answer)).toEqual({ jsonrpc: "2.0", id: 3, result: { action: "cancel" } });
    expect(questions.onInbound(answer)).toBe(answer);
  }
});

test("answers, other errors and requests of the client pass as they are", () => {
  const questions = createFailedQuestions();
  questions.onOutbound(QUESTION);
  const messages: JSONRPCMessage[] = [
    failed(4),
    { jsonrpc: "2.0", id: 3, method: "ping" },
    { jsonrpc: "2.0", id: 3, result: { action: "accept", content: { publish: true } } },
  ];
  for (const message of messages) expect(questions.onInbound(message)).toBe(message);
});

/** Of the question, as the SDK hands it to the transport. */
const ASKED_BY_1 = { relatedRequestId: 1 };

test("the call whose question nobody answered in time fails in our words, and no other", () => {
  const questions = createFailedQuestions();
  questions.onOutbound(QUESTION, ASKED_BY_1);
  expect(questions.onOutbound(GIVEN_UP)).toBe(GIVEN_UP);

  const other = sdkFailure(2);
  expect(questions.onOutbound(other)).toBe(other);
  expect(questions.onOutbound(sdkFailure(1))).toEqual({
    jsonrpc: "2.0",
    id: 1,
    result: {
      content: [
        {
          type: "text",
          text: "The person was asked whether to publish, and no answer came. No request was carried out, so nothing was published. Calling again is safe. Ask them what they would like, and call again if they want it published.",
        },
      ],
      isError: true,
      _meta: { "faceless/error": { code: "declined", outcome: "not_sent", retryable: true } },
    },
  });
  const again = sdkFailure(1);
  expect(questions.onOutbound(again)).toBe(again);
});

test("a call that the client cancels while its question is open leaves nothing behind", () => {
  const questions = createFailedQuestions();
  questions.onOutbound(QUESTION, ASKED_BY_1);
  questions.onInbound({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
  questions.onOutbound(GIVEN_UP);

  const reused = sdkFailure(1);
  expect(questions.onOutbound(reused)).toBe(reused);
});

test("other cancellations, answers of calls that asked nothing and errors pass as they are", () => {
  const questions = createFailedQuestions();
  questions.onOutbound(QUESTION, ASKED_BY_1);
  const other = { ...GIVEN_UP, params: { requestId: 9 } };
  const messages: JSONRPCMessage[] = [other, sdkFailure(1), failed(5), GIVEN_UP, sdkFailure(2), failed(5)];
  for (const message of messages) expect(questions.onOutbound(message)).toBe(message);
});
