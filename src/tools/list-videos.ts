// list_videos: the account's videos, newest first.

import * as z from "zod";
import type { JobHistory } from "../idempotency/history.ts";
import type { Video } from "../service/answers.ts";
import { asNumber } from "./arguments.ts";
import { publishedToField, savedToField, savedToOf } from "./describe-job.ts";
import { defineTool, guidanceFields } from "./tool.ts";

const MAX_LIMIT = 100;
const OUT_OF_BOUNDS = `must be a whole number from 1 to ${MAX_LIMIT}`;
const MAX_TEXT_CHARACTERS = 80;

export const listVideos = defineTool({
  name: "list_videos",
  title: "List videos",
  description:
    "The account's videos, newest first, with the final video's link where there is one. Give nextCursor back as cursor for the next page. Costs nothing.",
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  effect: "reads",
  input: () =>
    z.strictObject({
      limit: z
        .int(OUT_OF_BOUNDS)
        .min(1, OUT_OF_BOUNDS)
        .max(MAX_LIMIT, OUT_OF_BOUNDS)
        .describe("Maximum videos per page")
        .optional(),
      cursor: z.string().min(1).describe("nextCursor of the page before").optional(),
    }),
  readers: { limit: asNumber },
  output: () =>
    z.looseObject({
      ...guidanceFields(),
      videos: z.array(
        z.looseObject({
          jobId: z.string(),
          status: z.string(),
          finalVideoUrl: z.string().optional(),
          ...savedToField(),
          // The service's own, which are not documented, may be anything.
          topic: z.unknown().optional(),
          createdAt: z.unknown().optional(),
          publishedTo: publishedToField(),
        }),
      ),
      nextCursor: z.string().optional(),
    }),
  async run(query, { service, jobs, history, savedVideos, signal }) {
    const { leftOut, ...page } = await service.listVideos(query, { signal });
    jobs.updateFromPage(page.videos, { isFirstPage: query.cursor === undefined });
    const videos = page.videos.slice(0, query.limit);
    const known = await history();
    await savedVideos.refresh();
    const { length } = videos;
    const hidden = page.videos.length - length;
    const isFirst = query.cursor === undefined;
    const sentences = [
      length > 0 && `${length} ${length === 1 ? "video" : "videos"}${isFirst ? ", newest first" : ""}.`,
      length === 0 && (isFirst ? "No videos yet." : "No more videos."),
      leftOut !== undefined &&
        `${leftOut} more can't be shown, as the service's answer about them is unusable.`,
      hidden > 0 && `The service sent ${hidden} more than limit asked for: a larger limit shows them.`,
    ];
    return {
      summary: sentences.filter(Boolean).join(" "),
      ...(page.nextCursor !== undefined && {
        nextStep: "Older videos follow: call again with nextCursor as cursor.",
      }),
      result: {
        ...page,
        videos: videos.map((video) => ({
          ...describeVideo(video, known.get(video.jobId.toLowerCase())),
          ...savedToOf(savedVideos.stateOf(video.jobId)),
        })),
      },
    };
  },
});

/** A video with what this computer knows of it, in few words. The service's own topic and time win. */
function describeVideo(
  video: Video,
  { arguments: { topic } = {}, createdAtMs, publishedTo = [] }: Partial<JobHistory> = {},
): Video {
  const { jobId, status, ...rest } = video;
  return {
    jobId,
    status,
    ...(typeof topic === "string" && { topic: cutText(topic) }),
    ...(createdAtMs !== undefined && { createdAt: new Date(createdAtMs).toISOString() }),
    ...shortened(rest),
    ...(publishedTo.length > 0 && { publishedTo: [...publishedTo] }),
  };
}

/** Deeper than this nothing is cut: hostile nesting must not exhaust the stack. */
const MAX_DEPTH = 5;

/** Cuts the texts of the service's fields: whole topics would fill the model's context. Links stay whole. */
function shortened(fields: object, depth = 0): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, shorten(value, depth)]));
}

function shorten(value: unknown, depth: number): unknown {
  if (typeof value === "string") return /^https?:\S*$/i.test(value) ? value : cutText(value);
  if (typeof value !== "object" || value === null || depth === MAX_DEPTH) return value;
  return Array.isArray(value) ? value.map((item) => shorten(item, depth + 1)) : shortened(value, depth + 1);
}

function cutText(text: string): string {
  // No more of it is looked at than may be shown: a character has two units at most.
  const characters = Array.from(text.slice(0, 2 * MAX_TEXT_CHARACTERS + 2));
  return characters.length <= MAX_TEXT_CHARACTERS
    ? text
    : `${characters.slice(0, MAX_TEXT_CHARACTERS - 1).join("")}…`;
}
