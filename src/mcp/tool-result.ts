// Turns what a tool returned or threw into a protocol result: the same facts twice, since some clients show the model
// only the text and others only the structure; a failure as text, with its facts in _meta.

import type { CallToolResult } from "@modelcontextprotocol/server";
import { type BridgeError, describeFailure, type Effect } from "../errors.ts";
import type { ToolOutcome } from "../tools/tool.ts";

export function successResult({ sentence, result }: ToolOutcome<Record<string, unknown>>): CallToolResult {
  return {
    content: [{ type: "text", text: `${sentence}\n${JSON.stringify(result)}` }],
    structuredContent: result,
  };
}

export function failureResult(error: BridgeError, effect: Effect): CallToolResult {
  return {
    content: [{ type: "text", text: describeFailure(error, effect) }],
    isError: true,
    _meta: { "faceless/error": errorMeta(error) },
  };
}

/** The machine-readable half of a failure. */
export function errorMeta({ facts }: BridgeError): Record<string, unknown> {
  const { code, status, outcome, retryable, retryAfterSeconds } = facts;
  return {
    code,
    ...(status !== undefined && { status }),
    outcome,
    retryable,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}
