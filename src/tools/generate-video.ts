// generate_video: starts a render and says how to follow it.

import * as z from "zod";
import type { AlreadyStarted } from "../once/send-once.ts";
import { CATALOG_VOICES, DEFAULTS, DURATION, MUSIC, PACINGS, STYLES } from "../service/options.ts";
import { describeAge } from "../text.ts";
import { confirmDuplicateArgument, isLanguageTag } from "./arguments.ts";
import { defineTool, guidanceFields } from "./tool.ts";

const OUT_OF_BOUNDS = `must be from ${DURATION.min} to ${DURATION.max} seconds`;
const FOLLOW =
  "Follow it with get_video_status and waitSeconds 45 until it is done, and don't call generate_video for it again.";

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
        .describe("What the video tells, as free text: hook, beats, ending"),
      language: z
        .string()
        .refine(isLanguageTag, "must be a BCP-47 language code such as en, fr, es or pt-BR")
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
        .refine(isVoice, "must be a catalog id, a native voice's id, or clone: followed by an id")
        .meta({
          default: DEFAULTS.voice,
          description: `${CATALOG_VOICES.join(", ")}, a native voice of the language, or clone:ID`,
        })
        .optional(),
      music: z.enum(MUSIC).meta({ default: DEFAULTS.music }).optional(),
      pacing: z.enum(PACINGS).meta({ default: DEFAULTS.pacing }).optional(),
      confirmDuplicate: confirmDuplicateArgument(),
    }),
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
          resourceUri: jobs.uri(jobId),
          alreadyStarted: true,
        },
      };
    }
    const { generation } = started;
    jobs.start(generation.jobId, request.topic);
    return {
      summary: "The video was started. Renders take 2 to 4 minutes.",
      nextStep: FOLLOW,
      result: { ...generation, resourceUri: jobs.uri(generation.jobId) },
    };
  },
});

function describeEarlier({ job, ageMs, code }: AlreadyStarted, given: string | undefined) {
  const state =
    job === undefined
      ? "how far it is could not be looked up"
      : job.done
        ? "it is ready"
        : "it is still rendering";
  const stale = given === undefined ? "" : " The code in confirmDuplicate does not fit what is known now.";
  const again = `Only if the user wants a second video like it, call generate_video again with confirmDuplicate: "${code}".`;
  return {
    summary: `This same video was started ${describeAge(ageMs)} and ${state}, so nothing was started or charged now.${stale}`,
    nextStep: job?.done === true ? `Get it with get_video_status. ${again}` : `${FOLLOW} ${again}`,
  };
}

/** The ids of native voices are not documented, so any id passes; a cloned voice needs one after its prefix. */
function isVoice(voice: string): boolean {
  return /^\S+$/.test(voice) && voice !== "clone:";
}
