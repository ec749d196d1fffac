// generate_video: starts a render and says how to follow it.

import * as z from "zod";
import { jobUri } from "../jobs/job.ts";
import { BridgeError } from "../errors.ts";
import type { AlreadyStarted, NewlyStarted } from "../idempotency/generate-once.ts";
import {
  CATALOG_VOICES,
  CHOICES,
  DEFAULTS,
  DURATION,
  meaningOf,
  MUSIC,
  PACINGS,
  STYLES,
} from "../service/options.ts";
import type { GenerationRequest } from "../service/answers.ts";
import { describeAge, quote } from "../text.ts";
import { languageCode } from "../service/languages.ts";
import { asOneOf, asSeconds, confirmDuplicateArgument } from "./arguments.ts";
import { defineTool, type Guidance, guidanceFields } from "./tool.ts";

const OUT_OF_BOUNDS = `must be from ${DURATION.min} to ${DURATION.max} seconds`;
const FOLLOW = "Follow it with get_video_status and waitSeconds 50, and don't generate it again.";

export const generateVideo = defineTool({
  name: "generate_video",
  title: "Generate a video",
  description:
    "Starts one faceless short video and spends the account's credits; returns a jobId at once. Rendering takes 2 to 4 minutes: follow it with get_video_status, and never call this again for the same video. Ask the user before starting, and show them the topic. A failed render refunds its credits.",
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  effect: "spends",
  startsJob: true,
  input: () =>
    z.strictObject({
      topic: z
        .string()
        .trim()
        .min(1, "must not be empty")
        .describe(
          "What is said and shown, as free text in the language of `language`: one idea, a hook of about five words, two to four beats, an ending; about 2.5 English words per second. After each line, in brackets, what is seen. No invented facts, and no labels such as Hook:, which might be spoken",
        ),
      language: z
        .string()
        .refine(
          (text) => languageCode(text) !== undefined,
          "must be a language code such as en, fr, es, de or pt-BR, or the name of a common language such as French",
        )
        .meta({ default: DEFAULTS.language, description: "BCP-47 code" })
        .optional(),
      duration: z
        .number()
        .min(DURATION.min, OUT_OF_BOUNDS)
        .max(DURATION.max, OUT_OF_BOUNDS)
        .meta({ default: DEFAULTS.duration, description: "Seconds; over 90: several videos, each paid" })
        .optional(),
      style: z
        .enum(STYLES)
        .meta({
          default: DEFAULTS.style,
          description: "asmr: one slow action; brainrot: absurd; ugc: a friend's tip",
        })
        .optional(),
      voice: z
        .string()
        .refine(
          isVoice,
          `must be one of ${CATALOG_VOICES.join(", ")}, the id of a native voice of the language, or clone:ID, and not a description`,
        )
        .meta({
          default: DEFAULTS.voice,
          description: `Only if the user chooses; sex and accent undocumented. ${CATALOG_VOICES.join(", ")}, a native voice, or clone:ID`,
        })
        .optional(),
      music: z
        .enum(MUSIC)
        .meta({ default: DEFAULTS.music, description: "story: dramatic; documentary: cinematic" })
        .optional(),
      pacing: z.enum(PACINGS).meta({ default: DEFAULTS.pacing }).optional(),
      confirmDuplicate: confirmDuplicateArgument(),
    }),
  readers: {
    language: (value) => (typeof value === "string" ? (languageCode(value) ?? value) : value),
    duration: asSeconds,
    voice: asOneOf(CATALOG_VOICES),
    ...Object.fromEntries(Object.entries(CHOICES).map(([field, values]) => [field, asOneOf(values)])),
  },
  output: () =>
    z.looseObject({
      ...guidanceFields(),
      jobId: z.string(),
      status: z.string(),
      resourceUri: z.string(),
      alreadyStarted: z.boolean().optional(),
    }),
  async run({ confirmDuplicate, ...request }, { generateOnce, isSandbox, signal }) {
    const started = await generateOnce
      .run(request, { confirmDuplicate: confirmDuplicate || undefined, signal })
      .catch((error: unknown) => {
        throw isSandbox ? withSandboxCredits(error) : error;
      });
    if (!started.alreadyStarted) {
      const { generation } = started;
      return {
        ...describeStarted(started, request),
        result: { ...generation, resourceUri: jobUri(generation.jobId) },
      };
    }
    const { jobId, job } = started;
    const seen = typeof job === "object" ? job : undefined;
    return {
      ...describeEarlier(started, confirmDuplicate),
      result: {
        jobId,
        status: seen?.status ?? "unknown",
        resourceUri: jobUri(jobId),
        alreadyStarted: true,
        ...(seen?.finalVideoUrl !== undefined && { finalVideoUrl: seen.finalVideoUrl }),
      },
    };
  },
});

function describeStarted({ generation }: NewlyStarted, request: GenerationRequest): Guidance {
  const { status } = generation;
  const order = describeOrder(request);
  const started = (state: string) => ({
    summary: `The video was started: ${order}. ${state}`,
    nextStep: FOLLOW,
  });
  switch (meaningOf(status)) {
    case "refunded":
      return {
        summary: `The service took the order (${order}) and says that its render failed. It refunds the credits by itself.`,
        nextStep: "Tell the user. The same video may be generated again if they still want it.",
      };
    case "rendering":
      return started("Renders take 2 to 4 minutes.");
    case "ready":
    case "unclear":
      return started(`The service gives its status as ${quote(status, 60)}.`);
  }
}

/** The order, for the user to check: "30 s, English, story, voice charlotte, no music, normal pacing". */
function describeOrder(request: GenerationRequest): string {
  const given = Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined));
  const { duration, language, style, voice, music, pacing } = { ...DEFAULTS, ...given };
  const spoken = new Intl.DisplayNames("en", { type: "language" }).of(language) ?? language;
  return `${duration} s, ${spoken}, ${style}, voice ${voice}, ${music === "none" ? "no" : music} music, ${pacing} pacing`;
}

function describeEarlier({ job, ageMs, code }: AlreadyStarted, given: string | undefined): Guidance {
  const stale = given ? " The confirmDuplicate code of this call is not valid." : "";
  const again = `Only if the user wants a second video like it, call generate_video again with confirmDuplicate: "${code}".`;
  const nothing = `so nothing was started or charged now.${stale}`;
  const started = `This same video was started ${describeAge(ageMs)}`;
  if (typeof job === "object" && meaningOf(job.status) === "ready")
    return job.finalVideoUrl === undefined
      ? {
          summary: `${started} and is ready, ${nothing}`,
          nextStep: `Get its link with get_video_status. ${again}`,
        }
      : {
          summary: `This same video is ready: ${job.finalVideoUrl} It was started ${describeAge(ageMs)}, ${nothing}`,
          nextStep: `Show the user the link. ${again}`,
        };
  return { summary: `${started} and ${describeSeen(job)}, ${nothing}`, nextStep: `${FOLLOW} ${again}` };
}

function describeSeen(job: AlreadyStarted["job"]): string {
  if (job === undefined) return "its status could not be read just now";
  if (job === "not found") return "the service doesn't list it yet";
  switch (meaningOf(job.status)) {
    case "rendering":
      return "it is still rendering";
    case "ready":
    case "refunded":
    case "unclear":
      return `the service gives its status as ${quote(job.status, 60)}`;
  }
}

/** Credits can't be added in the sandbox. */
function withSandboxCredits(error: unknown): unknown {
  if (!(error instanceof BridgeError) || error.facts.code !== "out_of_credits") return error;
  const nextStep = "Tell the user to restart this server: each sandbox begins with new credits.";
  return new BridgeError({ ...error.facts, nextStep }, error);
}

const DESCRIPTION =
  /^(an?|the|and|very|(?:fe)?male|man|woman|boy|girl|deep|low|high|calm|soft|warm|gentle|soothing|energetic|cheerful|happy|sad|serious|dramatic|narrator|narration|natural|neutral|professional|friendly|young|old|mature|british|american|australian|english|accent|native|voice|default|any|auto|random)$/i;

/** Native voices' ids are not documented: any word passes but a description, and `clone:` without an id. */
function isVoice(voice: string): boolean {
  if (!/^[^\s\p{C}\p{DI}]{1,200}$/u.test(voice) || /^clone:(<?id>?)?$/i.test(voice)) return false;
  return !voice.split(/[-_,]/).every((word) => DESCRIPTION.test(word));
}
