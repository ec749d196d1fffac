// generate_video: starts a render and says how to follow it.

import * as z from "zod";
import { CATALOG_VOICES, DEFAULTS, DURATION, MUSIC, PACINGS, STYLES } from "../service/options.ts";
import type { Job } from "../service/schemas.ts";
import { cleanServiceText } from "../text.ts";
import { isLanguageTag } from "./arguments.ts";
import { withCandidates } from "./candidates.ts";
import { defineTool, type ToolContext } from "./tool.ts";

// A call has 45 s in all: the request may need 38 of them, and another look after it 5.
const LOOK_DEADLINE_MS = 1_500;
const OUT_OF_BOUNDS = `must be from ${DURATION.min} to ${DURATION.max} seconds`;

export const generateVideo = defineTool({
  name: "generate_video",
  title: "Generate a video",
  description:
    "Starts one faceless short video and spends the account's credits; returns a jobId at once. Rendering takes 2 to 4 minutes: follow it with get_video_status, and never call this again for the same video. Ask the person before starting, and show them the topic. A failed render refunds its credits.",
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
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
      confirmDuplicate: z
        .boolean()
        .meta({ default: false, description: "The person wants the same video a second time" })
        .optional(),
    }),
  output: () =>
    z.looseObject({
      jobId: z.string(),
      status: z.string(),
      resourceUri: z.string().describe("Subscribable status of the job"),
    }),
  async run({ confirmDuplicate, ...request }, context) {
    const { service, jobs, paid, generationLimit, signal } = context;
    const ended = new Set<string>();
    const generate = () =>
      paid.generate.once({
        args: { ...DEFAULTS, ...request },
        label: request.topic,
        confirmed: confirmDuplicate === true,
        ended,
        send: () =>
          generationLimit.count(() => withCandidates(context, () => service.generate(request, { signal }))),
      });
    let outcome = await generate();
    if (outcome.kind === "earlier") {
      const job = await lookAt(context, outcome.jobId);
      if (job?.done !== true) return describeEarlier(outcome, job?.status, jobs.uri(outcome.jobId));
      ended.add(outcome.jobId);
      outcome = await generate();
      // Somebody else has started it anew meanwhile.
      if (outcome.kind === "earlier")
        return describeEarlier(outcome, jobs.get(outcome.jobId)?.status, jobs.uri(outcome.jobId));
    }
    const { result } = outcome;
    if (outcome.kind === "sent") jobs.start(result.jobId, request.topic);
    return {
      sentence: `The video was started as job ${cleanServiceText(result.jobId, 100)}: follow it with get_video_status for the 2 to 4 minutes that it takes, and don't call generate_video for it again.`,
      result: { ...result, resourceUri: jobs.uri(result.jobId) },
    };
  },
});

async function lookAt({ service, jobs, signal }: ToolContext, jobId: string): Promise<Job | undefined> {
  try {
    return jobs.put(await service.getJob(jobId, { signal, deadlineMs: LOOK_DEADLINE_MS }));
  } catch {
    // Not knowing how it stands, it may well be running.
    return undefined;
  }
}

function describeEarlier(
  { jobId, ageMs }: { readonly jobId: string; readonly ageMs: number },
  status = "processing",
  resourceUri: string,
) {
  const minutes = Math.max(1, Math.round(ageMs / 60_000));
  return {
    sentence: `This same video was started about ${minutes} min ago as job ${jobId}, which is still rendering, so nothing new was started or spent: follow that job, and use confirmDuplicate only if the person wants a second one.`,
    result: { jobId, status, resourceUri, alreadyRunning: true },
  };
}

/** The ids of native voices are not documented, so any id passes; a cloned voice needs one after its prefix. */
function isVoice(voice: string): boolean {
  return /^\S+$/.test(voice) && voice !== "clone:";
}
