// The tools, in the order in which every client sees them.

import type { Config } from "../config.ts";
import { generateVideo } from "./generate-video.ts";
import { getVideoStatus } from "./get-video-status.ts";
import { listConnectedPlatforms } from "./list-connected-platforms.ts";
import { listVideos } from "./list-videos.ts";
import { offered } from "./listing.ts";
import { publishVideo } from "./publish-video.ts";
import type { Tool } from "./tool.ts";

/** Leaves out the tools that the operator has hidden. */
export function toolsFor(config: Pick<Config, "readOnly" | "noPublish">): readonly Tool[] {
  return offered<Tool>(
    [generateVideo, getVideoStatus, publishVideo, listVideos, listConnectedPlatforms],
    config,
  );
}
