// Turns what a tool returned or threw into a protocol result. Text and structure say the same, since some
// clients show the model only the one and some only the other. The facts of a failure are in _meta.

import { type CallToolResult, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
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

/** A failed read, as a JSON-RPC error. */
export function protocolError(error: BridgeError, data: Record<string, unknown> = {}): ProtocolError {
  const details = { ...data, "faceless/error": errorMeta(error) };
  return new ProtocolError(ProtocolErrorCode.InternalError, describeFailure(error, "reads"), details);
}

/** The machine-readable half of a failure. */
function errorMeta({ facts }: BridgeError): Record<string, unknown> {
  const { code, status, outcome, retryable, retryAfterSeconds } = facts;
  return {
    code,
    ...(status !== undefined && { status }),
    outcome,
    retryable,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}
