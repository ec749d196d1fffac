// Turns what a tool returned or threw into a protocol result. Text and structure say the same, since some clients show the model only the
// one and some only the other. The facts of a failure are in _meta.

import type { CallToolResult } from "@modelcontextprotocol/server";
import { type BridgeError, describeFailure, type Effect } from "../errors.ts";

export function successResult(structuredContent: Readonly<Record<string, unknown>>): CallToolResult {
  const { summary, nextStep, ...rest } = structuredContent;
  const guidance = [summary, nextStep].filter((part) => typeof part === "string").join(" ");
  return {
    content: [{ type: "text", text: `${guidance}\n${JSON.stringify(rest)}` }],
    structuredContent,
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
