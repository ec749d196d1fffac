// The tools, in the order in which every client sees them.

import { generateVideo } from "./generate-video.ts";
import { getVideoStatus } from "./get-video-status.ts";
import { listConnectedPlatforms } from "./list-connected-platforms.ts";
import { listVideos } from "./list-videos.ts";
import { publishVideo } from "./publish-video.ts";
import type { Tool } from "./tool.ts";

export const TOOLS: readonly Tool[] = [
  generateVideo,
  getVideoStatus,
  publishVideo,
  listVideos,
  listConnectedPlatforms,
];
