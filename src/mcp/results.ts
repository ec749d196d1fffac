// Turns the results of tools, and what calls and reads throw, into results and errors of the protocol.

import { type CallToolResult, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import {
  type BridgeError,
  describeFailure,
  describeOutcome,
  type Effect,
  errorMeta,
  toBridgeError,
} from "../errors.ts";
import { inSentences, textFor } from "../sentences.ts";
import { cutText } from "../text.ts";
import type { Application } from "./application.ts";

/** Text and structure say the same, since some clients show the model only one of them. */
export function successResult(structuredContent: Readonly<Record<string, unknown>>): CallToolResult {
  const { summary, nextStep, ...rest } = structuredContent;
  const guidance = [summary, nextStep].filter((part) => typeof part === "string").join(" ");
  return {
    content: [{ type: "text", text: `${guidance}\n${JSON.stringify(rest)}` }],
    structuredContent,
  };
}

/** The maximum number of characters of a failure, whatever it quotes. */
const MAX_FAILURE = 5_000;

/** `addition`: further sentences for the model. */
export function failureResult(
  error: BridgeError,
  effect: Effect,
  { clock, nameSettings }: Pick<Application, "clock" | "nameSettings">,
  addition?: string,
): CallToolResult {
  const text = nameSettings(textFor("model", describeFailure(error, effect, clock.now())));
  return {
    content: [{ type: "text", text: inSentences(cutText(text, MAX_FAILURE), addition) }],
    isError: true,
    _meta: failureMeta(error, effect, nameSettings),
  };
}

/** The facts for programs, and what happened in words for the person who sees the card. */
function failureMeta(error: BridgeError, effect: Effect, nameSettings: Application["nameSettings"]) {
  return {
    "faceless/error": errorMeta(error),
    "faceless/person": nameSettings(textFor("person", describeOutcome(error, effect))),
  };
}

/** A failed read as a JSON-RPC error: `unknown` if the service has no such job. */
export function readError(
  error: unknown,
  unknown: ProtocolError,
  { log, clock, nameSettings }: Pick<Application, "log" | "clock" | "nameSettings">,
  data: Record<string, unknown> = {},
): ProtocolError {
  const failure = toBridgeError(error, "rejected");
  if (failure.facts.code === "not_found" && !failure.facts.retryable) return unknown;
  log.info(failure.message, failure.cause);
  const details = { ...data, ...failureMeta(failure, "reads", nameSettings) };
  const text = nameSettings(textFor("model", describeFailure(failure, "reads", clock.now())));
  return new ProtocolError(ProtocolErrorCode.InternalError, text, details);
}

export function invalidParams(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
