// Turns the results of tools, and what calls and reads throw, into results and errors of the protocol.

import { type CallToolResult, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { describeFailure, describeOutcome, type Effect, errorMeta, toBridgeError } from "../errors.ts";
import { type Audience, inSentences, type Text, textFor } from "../sentences.ts";
import { inWordsOfForm } from "../settings/form.ts";
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
const MAX_FAILURE_CHARS = 5_000;

type Surroundings = Pick<Application, "clock" | "log"> & { config: Pick<Application["config"], "isBundle"> };

/** Logs a failure and says it to the model, and in `meta` to programs and to the person who sees the card. */
function explain(error: unknown, effect: Effect, { config, clock, log }: Surroundings) {
  const failure = toBridgeError(error, effect === "reads" ? "rejected" : "unknown");
  log.info(failure.message, failure.cause);
  const words = (audience: Audience, text: Text) =>
    config.isBundle ? inWordsOfForm(textFor(audience, text)) : textFor(audience, text);
  return {
    failure,
    text: cutText(words("model", describeFailure(failure, effect, clock.now())), MAX_FAILURE_CHARS),
    meta: {
      "faceless/error": errorMeta(failure),
      "faceless/person": words("person", describeOutcome(failure, effect)),
    },
  };
}

/** `addition`: further sentences for the model. */
export function failureResult(
  error: unknown,
  effect: Effect,
  application: Surroundings,
  addition?: string,
): CallToolResult {
  const { text, meta } = explain(error, effect, application);
  return { content: [{ type: "text", text: inSentences(text, addition) }], isError: true, _meta: meta };
}

/** A failed read as a JSON-RPC error: `unknown` if the service has no such job. */
export function readError(
  error: unknown,
  unknown: ProtocolError,
  application: Surroundings,
  data: Record<string, unknown> = {},
): ProtocolError {
  const { failure, text, meta } = explain(error, "reads", application);
  if (failure.facts.code === "not_found" && !failure.facts.retryable) return unknown;
  return new ProtocolError(ProtocolErrorCode.InternalError, text, { ...data, ...meta });
}

export function invalidParams(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
