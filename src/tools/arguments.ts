// Argument schemas, readers and the user's consent, which more than one tool takes.

import * as z from "zod";
import { BridgeError } from "../errors.ts";
import { JOB_ID, readJobId } from "../service/job.ts";
import { readSeconds } from "../text.ts";
import type { Question } from "./question.ts";
import type { ToolContext } from "./tool.ts";

export const jobIdArgument = () =>
  z
    .string()
    .regex(JOB_ID, "must be the UUID of a job, as list_videos shows it")
    .describe("UUID of the video's job");

/** A code rather than a flag, so that a caller can only repeat what it was told about. */
export const confirmArgument = () =>
  z.string().trim().meta({ description: "Code from an earlier result" }).optional();

/** Asks the user if the client can. Throws unless they agree, or can't be asked and need not be. */
export async function confirmByUser(
  question: () => Question,
  { mustAsk, done }: { readonly mustAsk: boolean; readonly done: "ordered" | "posted" },
  { askUser, clock }: Pick<ToolContext, "askUser" | "clock">,
): Promise<{ readonly isAgreed: boolean; readonly userMs: number }> {
  const askedMs = clock.monotonicMs();
  const isAgreed = await askUser(async () => question());
  if (isAgreed || !mustAsk) return { isAgreed, userMs: clock.monotonicMs() - askedMs };
  throw new BridgeError({
    code: "declined",
    message: `Here nothing is ${done} without the user's yes, and this client can't ask for it.`,
    nextStep:
      "Use a client that can ask, or the service's website. Only you can change this, in this server's settings.",
    isForUser: true,
    outcome: "not_sent",
    retryable: false,
    failsAgain: true,
  });
}

// Readers turn other forms of a value into the schema's. What they can't read passes on for it to refuse.

/** Reads "30", "30s", "30 seconds" and "0.5 min" as 30. */
export function asSeconds(value: unknown): unknown {
  return typeof value === "string" ? (readSeconds(value) ?? value) : value;
}

/** Reads "30" as 30. */
export function asNumber(value: unknown): unknown {
  return typeof value === "string" && /^\s*-?\d{1,9}(\.\d{1,9})?\s*$/.test(value) ? Number(value) : value;
}

/** Reads "Documentary" as "documentary". */
export function asOneOf(values: readonly string[]): (value: unknown) => unknown {
  return (value) => {
    const wanted = typeof value === "string" ? value.trim().toLowerCase() : undefined;
    return values.find((candidate) => candidate === wanted) ?? value;
  };
}

/** Reads "tiktok", "tiktok, youtube" and the text of a JSON array as lists. */
export function asList(value: unknown): unknown {
  if (typeof value !== "string") return value;
  return value
    .replace(/[[\]"]/g, "")
    .split(",")
    .filter((item) => item.trim() !== "");
}

/** Reads a resource URI or a link as the id of its job. */
export function asJobId(value: unknown): unknown {
  return typeof value === "string" ? (readJobId(value) ?? value) : value;
}
