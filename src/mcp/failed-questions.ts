// A client of the older era may declare that it can ask the person and then fail to. The SDK would answer the call that waits
// for it in words of its own: this stands between the two and has such a question count as one that was closed unanswered.

import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { BridgeError } from "../errors.ts";
import { failureResult } from "./tool-result.ts";

export interface FailedQuestions {
  /** The client's message, or what it comes to. */
  onInbound(message: JSONRPCMessage): JSONRPCMessage;
  /** The SDK's message, or ours where it tells of a question that nobody answered in time. */
  onOutbound(message: JSONRPCMessage): JSONRPCMessage;
}

export function createFailedQuestions(): FailedQuestions {
  const asked = new Set<unknown>();
  /** Questions that the SDK no longer waits for: the failed calls that come next were theirs. */
  let expired = 0;
  return {
    onInbound(message) {
      if ("method" in message || message.id === undefined || !asked.delete(message.id)) return message;
      if ("result" in message && "action" in message.result) return message;
      return { jsonrpc: "2.0", id: message.id, result: { action: "cancel" } };
    },

    onOutbound(message) {
      if ("method" in message) {
        if (message.method === "elicitation/create" && "id" in message) asked.add(message.id);
        const cancelled = message.method === "notifications/cancelled" && message.params?.["requestId"];
        if (asked.delete(cancelled)) expired += 1;
        return message;
      }
      // Every failure of ours says in its _meta what it is.
      if (expired === 0 || !("result" in message) || message.result["isError"] !== true) return message;
      if (message.result["_meta"] !== undefined) return message;
      expired -= 1;
      return { ...message, result: failureResult(unansweredError(), "publishes") };
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
