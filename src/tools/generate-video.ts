// generate_video: starts a render and says how to follow it.

import * as z from "zod";
import { jobUri } from "../jobs/job.ts";
import type { AlreadyStarted } from "../once/send-once.ts";
import { CATALOG_VOICES, DEFAULTS, DURATION, MUSIC, PACINGS, STYLES } from "../service/options.ts";
import { describeAge } from "../text.ts";
import { languageCode } from "../service/languages.ts";
import { asNumber, asOneOf, confirmDuplicateArgument } from "./arguments.ts";
import { defineTool, guidanceFields } from "./tool.ts";

const OUT_OF_BOUNDS = `must be from ${DURATION.min} to ${DURATION.max} seconds`;
const FOLLOW = "Follow it with get_video_status and waitSeconds 50, and don't generate it again.";

export const generateVideo = defineTool({
  name: "generate_video",
  title: "Generate a video",
  description:
    "Starts one faceless short video and spends the account's credits; returns a jobId at once. Rendering takes 2 to 4 minutes: follow it with get_video_status, and never call this again for the same video. Ask the user before starting, and show them the topic. A failed render refunds its credits.",
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  effect: "spends",
  input: () =>
    z.strictObject({
      topic: z
        .string()
        .trim()
        .min(1, "must not be empty")
        .describe(
          "What is said and shown, as free text: one idea, a hook of about five words, two to four beats, an ending; about 2.5 English words per second. After each line, in brackets, what is seen. No invented facts, and no labels such as Hook:, which might be spoken",
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
        .meta({ default: DEFAULTS.duration, description: "Seconds" })
        .optional(),
      style: z.enum(STYLES).meta({ default: DEFAULTS.style }).optional(),
      voice: z
        .string()
        .refine(
          isVoice,
          `must be one of ${CATALOG_VOICES.join(", ")}, the id of a native voice of the language, or clone:ID, and not a description`,
        )
        .meta({
          default: DEFAULTS.voice,
          description: `${CATALOG_VOICES.join(", ")}, a native voice of the language, or clone:ID`,
        })
        .optional(),
      music: z.enum(MUSIC).meta({ default: DEFAULTS.music }).optional(),
      pacing: z.enum(PACINGS).meta({ default: DEFAULTS.pacing }).optional(),
      confirmDuplicate: confirmDuplicateArgument(),
    }),
  readers: {
    language: (value) => (typeof value === "string" ? (languageCode(value) ?? value) : value),
    duration: asNumber,
    style: asOneOf(STYLES),
    voice: asOneOf(CATALOG_VOICES),
    music: asOneOf(MUSIC),
    pacing: asOneOf(PACINGS),
  },
  output: () =>
    z.looseObject({
      ...guidanceFields(),
      jobId: z.string(),
      status: z.string(),
      resourceUri: z.string().describe("Subscribable status of the job"),
      alreadyStarted: z.boolean().optional(),
    }),
  async run({ confirmDuplicate, ...request }, { once, jobs, signal }) {
    const started = await once.generate(request, { confirmDuplicate, signal });
    if (started.alreadyStarted) {
      const { jobId, job } = started;
      return {
        ...describeEarlier(started, confirmDuplicate),
        result: {
          jobId,
          status: job?.status ?? "unknown",
          resourceUri: jobUri(jobId),
          alreadyStarted: true,
        },
      };
    }
    const { generation } = started;
    jobs.addStarted(generation.jobId, request.topic);
    return {
      summary: "The video was started. Renders take 2 to 4 minutes.",
      nextStep: FOLLOW,
      result: { ...generation, resourceUri: jobUri(generation.jobId) },
    };
  },
});

function describeEarlier({ job, ageMs, code }: AlreadyStarted, given: string | undefined) {
  const state =
    job === undefined
      ? "its status could not be read just now"
      : job.done
        ? "it is ready"
        : "it is still rendering";
  const stale = given === undefined ? "" : " This confirmDuplicate code is out of date.";
  const again = `Only if the user wants a second video like it, call generate_video again with confirmDuplicate: "${code}".`;
  return {
    summary: `This same video was started ${describeAge(ageMs)} and ${state}, so nothing was started or charged now.${stale}`,
    nextStep: job?.done === true ? `Get it with get_video_status. ${again}` : `${FOLLOW} ${again}`,
  };
}

const DESCRIPTION =
  /^(an?|the|and|very|(?:fe)?male|man|woman|boy|girl|deep|low|high|calm|soft|warm|gentle|soothing|energetic|cheerful|happy|sad|serious|dramatic|narrator|narration|natural|neutral|professional|friendly|young|old|mature|british|american|australian|english|accent|voice|default|any|auto|random)$/i;

/** The ids of native voices are not documented, so any id passes; a cloned voice needs one after its prefix. */
function isVoice(voice: string): boolean {
  if (!/^\S{1,200}$/.test(voice) || voice === "clone:") return false;
  return !voice.split(/[-_,]/).every((word) => DESCRIPTION.test(word));
}
