// The prompts, in the order in which every client sees them.

import { localizeVideo } from "./localize-video.ts";
import { planSeries } from "./plan-series.ts";
import type { Prompt } from "./prompt.ts";
import { reviewVideo } from "./review-video.ts";
import { writeVideoTopic } from "./write-video-topic.ts";

export const PROMPTS: readonly Prompt[] = [writeVideoTopic, planSeries, localizeVideo, reviewVideo];
