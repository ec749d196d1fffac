// list_videos: the account's videos, newest first.

import * as z from "zod";
import { defineTool, guidance } from "./tool.ts";

export const listVideos = defineTool({
  name: "list_videos",
  title: "List videos",
  description:
    "The account's videos, newest first, with the final video's link where there is one. Give nextCursor back as cursor for the next page. Costs nothing.",
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  effect: "reads",
  input: () =>
    z.strictObject({
      limit: z.int().min(1).max(10_000).describe("Most videos on the page").optional(),
      cursor: z.string().min(1).describe("nextCursor of the page before").optional(),
    }),
  output: () =>
    z.looseObject({
      ...guidance(),
      videos: z.array(
        z.looseObject({ jobId: z.string(), status: z.string(), finalVideoUrl: z.string().optional() }),
      ),
      nextCursor: z.string().optional(),
    }),
  async run(query, { service, jobs, signal }) {
    const page = await service.listVideos(query, { signal });
    jobs.list(page.videos, query.cursor === undefined);
    const { length } = page.videos;
    const found = length === 0 ? "No videos" : length === 1 ? "One video" : `${length} videos`;
    const more = page.nextCursor === undefined ? "" : "; older ones follow with nextCursor as cursor";
    return { summary: `${found} on this page, newest first${more}.`, result: page };
  },
});
