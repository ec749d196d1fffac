// list_videos: the account's videos, newest first.

import * as z from "zod";
import { savedToField, withSavedTo } from "./saved-to.ts";
import { defineTool, guidanceFields } from "./tool.ts";

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
      ...guidanceFields(),
      videos: z.array(
        z.looseObject({
          jobId: z.string(),
          status: z.string(),
          finalVideoUrl: z.string().optional(),
          ...savedToField(),
        }),
      ),
      nextCursor: z.string().optional(),
    }),
  async run(query, { service, jobs, savedVideos, signal }) {
    const page = await service.listVideos(query, { signal });
    jobs.list(page.videos, query.cursor === undefined);
    await savedVideos.refresh();
    const videos = page.videos.map((video) => withSavedTo(video, savedVideos.stateOf(video.jobId)));
    const { length } = videos;
    const isFirst = query.cursor === undefined;
    return {
      summary:
        length === 0
          ? isFirst
            ? "No videos yet."
            : "No more videos."
          : `${length} ${length === 1 ? "video" : "videos"}${isFirst ? ", newest first" : ""}.`,
      ...(page.nextCursor !== undefined && {
        nextStep: "Older videos follow: call again with nextCursor as cursor.",
      }),
      result: { ...page, videos },
    };
  },
});
