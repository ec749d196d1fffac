// generate_video: starts a render and says how to follow it.

import * as z from "zod";
import { CATALOG_VOICES, DEFAULTS, DURATION, MUSIC, PACINGS, STYLES } from "../service/options.ts";
import { cleanServiceText } from "../text.ts";
import { isLanguageTag } from "./arguments.ts";
import { defineTool } from "./tool.ts";

const OUT_OF_BOUNDS = `must be from ${DURATION.min} to ${DURATION.max} seconds`;

export const generateVideo = defineTool({
  name: "generate_video",
  title: "Generate a video",
  description:
    "Starts one faceless short video and spends the account's credits; returns a jobId at once. Rendering takes 2 to 4 minutes: follow it with get_video_status, and never call this again for the same video. Ask the person before starting, and show them the topic. A failed render refunds its credits.",
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  effect: "spends",
  input: z.strictObject({
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
  }),
  output: z.looseObject({
    jobId: z.string(),
    status: z.string(),
    resourceUri: z.string().describe("Subscribable status of the job"),
  }),
  async run(request, { service, jobs, generationLimit, signal }) {
    const generation = await generationLimit.count(() => service.generate(request, { signal }));
    jobs.start(generation.jobId, request.topic);
    return {
      sentence: `The video was started as job ${cleanServiceText(generation.jobId, 100)}: follow it with get_video_status for the 2 to 4 minutes that it takes, and don't call generate_video for it again.`,
      result: { ...generation, resourceUri: jobs.uri(generation.jobId) },
    };
  },
});

/** The ids of native voices are not documented, so any id passes; a cloned voice needs one after its prefix. */
function isVoice(voice: string): boolean {
  return /^\S+$/.test(voice) && voice !== "clone:";
}
