// A client of the older era may declare that it can ask the person and then fail to. The SDK would answer the call that waits
// for it in words of its own: this stands between the two and has such a question count as one that was closed unanswered.

import type { JSONRPCMessage, TransportSendOptions } from "@modelcontextprotocol/server";
import { BridgeError } from "../errors.ts";
import { failureResult } from "./tool-result.ts";

export interface FailedQuestions {
  /** The client's message, or what it comes to. */
  onInbound(message: JSONRPCMessage): JSONRPCMessage;
  /** The SDK's message, or ours where it tells of a question that nobody answered in time. */
  onOutbound(message: JSONRPCMessage, options?: TransportSendOptions): JSONRPCMessage;
}

export function createFailedQuestions(): FailedQuestions {
  /** The calls that wait for an answer, by the id of their question. */
  const asked = new Map<unknown, unknown>();
  /** Calls whose question the SDK has given up. */
  const unanswered = new Set<unknown>();
  return {
    onInbound(message) {
      if ("method" in message) {
        // It gets no answer, so none has to be found for it.
        const cancelled = message.method === "notifications/cancelled" && message.params?.["requestId"];
        for (const [question, call] of asked) if (call === cancelled) asked.delete(question);
        return message;
      }
      if (message.id === undefined || !asked.delete(message.id)) return message;
      if ("result" in message && "action" in message.result) return message;
      return { jsonrpc: "2.0", id: message.id, result: { action: "cancel" } };
    },

    onOutbound(message, options) {
      if ("method" in message) {
        if (message.method === "elicitation/create" && "id" in message)
          asked.set(message.id, options?.relatedRequestId);
        if (message.method !== "notifications/cancelled") return message;
        const question = message.params?.["requestId"];
        if (asked.has(question)) unanswered.add(asked.get(question));
        asked.delete(question);
        return message;
      }
      if (message.id === undefined || !unanswered.delete(message.id)) return message;
      return { jsonrpc: "2.0", id: message.id, result: failureResult(unansweredError(), "publishes") };
    },
  };
}

function unansweredError(): BridgeError {
  return new BridgeError({
    code: "declined",
    message: "The person was asked whether to publish, and no answer came.",
    nextStep: "Ask them what they would like, and call again if they want it published.",
    outcome: "not_sent",
    retryable: true,
  });
}
