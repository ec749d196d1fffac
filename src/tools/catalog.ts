// The tools, in the order in which every client sees them.

import type { Config } from "../config.ts";
import { generateVideo } from "./generate-video.ts";
import { getVideoStatus } from "./get-video-status.ts";
import { listConnectedPlatforms } from "./list-connected-platforms.ts";
import { listVideos } from "./list-videos.ts";
import { publishVideo } from "./publish-video.ts";
import type { Tool } from "./tool.ts";

/** Wishes that no tool fulfils. The instructions name them, so that no model promises them. */
export const UNSUPPORTED = {
  facts: "prices, credits, voices or views",
  videos: "cancels, edits, deletes or formats videos; adds subtitles, images or other music",
  posts: "picks an account; schedules, hides, captions or deletes posts",
};

/** Leaves out the tools that the operator has hidden. */
export function toolsFor({ readOnly, noPublish }: Pick<Config, "readOnly" | "noPublish">): readonly Tool[] {
  const tools: readonly Tool[] = [
    generateVideo,
    getVideoStatus,
    publishVideo,
    listVideos,
    listConnectedPlatforms,
  ];
  return tools.filter(
    ({ effect }) => effect === "reads" || (!readOnly && !(noPublish && effect === "publishes")),
  );
}
