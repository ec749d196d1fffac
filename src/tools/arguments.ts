// Argument schemas, coercions and the user's consent, which more than one tool takes.

import * as z from "zod";
import { notSent } from "../errors.ts";
import { JOB_ID, readJobId } from "../service/job.ts";
import { CATALOG_VOICES, CHOICES } from "../service/options.ts";
import { say } from "../sentences.ts";
import { isNullWord, readSeconds } from "../text.ts";
import type { Consent, Question } from "./question.ts";
import type { ToolContext } from "./tool.ts";

const NOT_A_JOB = "must be the UUID of a job, as the list of videos shows it";

export const jobIdArgument = () =>
  z.string(NOT_A_JOB).regex(JOB_ID, NOT_A_JOB).describe("UUID of the video's job");

/** A code rather than a flag, so that a caller can only confirm what it has read. */
export const confirmArgument = () =>
  z.string().trim().meta({ description: "Code from an earlier result" }).optional();

/** Asks the user if the client can. Throws unless they agree, or can't be asked and needn't be. */
export async function askForConsent(
  question: () => Question,
  { mustAsk, done }: { readonly mustAsk: boolean; readonly done: "ordered" | "posted" },
  { askUser, clock, config }: Pick<ToolContext, "askUser" | "clock" | "config">,
): Promise<{ readonly consent: Consent; readonly userMs: number }> {
  // A server that is not set up asks nothing: the request says what is missing.
  if (config.problems.length > 0) return { consent: "not asked", userMs: 0 };
  const askedMs = clock.monotonicMs();
  const consent = await askUser(async () => question());
  if (consent !== "not asked" || !mustAsk) return { consent, userMs: clock.monotonicMs() - askedMs };
  throw notSent(
    "declined",
    say`Here nothing is ${done} without [the user's|your] yes, and this client can't ask for it.`,
    "Use a client that can ask, or the service's website. Only you can change this, in this server's settings.",
    { isForUser: true, failsAgain: true },
  );
}

// Coercions turn other forms of a value into the schema's, and pass on what they can't read.

type Coercion = (value: unknown) => unknown;

export const fromText =
  (read: (text: string) => unknown): Coercion =>
  (value) =>
    typeof value === "string" ? (read(value) ?? value) : value;

/** Reads "30", "30s", "30 seconds" and "0.5 min" as 30. */
export const asSeconds = fromText(readSeconds);

/** Reads a resource URI or a link as the id of its job. */
export const asJobId = fromText(readJobId);

/** Reads "30" as 30. */
export const asNumber = fromText((text) =>
  /^\s*-?\d{1,9}(\.\d{1,9})?\s*$/.test(text) ? Number(text) : undefined,
);

/** Reads 482913 as "482913": a code or cursor may have digits only. */
export const asText: Coercion = (value) => (Number.isSafeInteger(value) ? String(value) : value);

/** Reads "Documentary" as "documentary". */
export const asOneOf = (values: readonly string[]) =>
  fromText((text) => values.find((value) => value === text.trim().toLowerCase()));

/** Reads "Charlotte" as "charlotte", and "Clone: 7f" as "clone:7f". */
export const asVoice = fromText((text) =>
  asOneOf(CATALOG_VOICES)(text.replace(/^\s*clone\s*:\s*/i, "clone:")),
);

/** Reads false, "no music" and "off" as "none". */
export const asMusic: Coercion = (value) =>
  value === false || (typeof value === "string" && /^\s*(?:no|off|(?:no|without) music)\s*$/i.test(value))
    ? "none"
    : asOneOf(CHOICES.music)(value);

/** Reads "null" as no value in arguments for which "none" is a value. */
export const unlessNull =
  (read: Coercion): Coercion =>
  (value) =>
    isNullWord(value) && !/none/i.test(String(value)) ? undefined : read(value);

/** Reads "tiktok, youtube", `{"platform": "tiktok"}`, and lists and JSON of these, as a list of texts. */
export function asPlatforms(value: unknown): unknown {
  return [typeof value === "string" ? listIn(value) : value].flat(2).map(platformOf);
}

function listIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const items = text.replace(/[[\]"']/g, "").split(",");
    return items.filter((item) => item.trim() !== "");
  }
}

/** An object with more than a platform names an account. As one text, it is answered by what is possible. */
function platformOf(entry: unknown): unknown {
  if (typeof entry !== "object" || entry === null) return entry;
  const { platform, ...more } = { platform: undefined, ...entry };
  const fields = [platform, ...Object.values<unknown>(more)].filter(
    (field) => field !== undefined && field !== null && typeof field !== "boolean",
  );
  if (fields.length === 0) return entry;
  return fields.map((field) => (typeof field === "string" ? field : JSON.stringify(field))).join(" ");
}
