// The prompt plan_series: topics on one theme. The user's yes to some of them is the most that is generated.

import { quote } from "../text.ts";
import * as args from "./arguments.ts";
import * as parts from "./prompt-parts.ts";
import { definePrompt } from "./prompt.ts";

const DEFAULT_COUNT = 5;

export const planSeries = definePrompt({
  name: "plan_series",
  title: "Plan a series of videos",
  description:
    "Turns a theme into a series: a table of titles, first lines and ideas, and a topic for each video. You see everything first, and say how many videos are made.",
  arguments: {
    theme: { ...args.subject, description: "What the series is about, in your own words" },
    count: args.count,
    ...args.target,
  },
  write: ({ theme, count = DEFAULT_COUNT, ...target }, on) => ({
    description: `Series of ${count} videos, ${parts.lengthOf(target)} each in ${parts.languageOf(target)}: ${quote(theme, 80)}`,
    text: `Plan a series of ${count} faceless short videos and show me the plan. Nothing is made before I agree, and never more videos than I agreed to.

- Theme: ${quote(theme, args.MAX_TEXT)}
${parts.targetLines(target)}

## The series
- All keep one promise to the viewer, and have the same style, length, pacing, music and voice, and one look: the same words for light, lens and colours in the brackets of each.
- Each stands alone, since people see them in any order: no “part 2”, unless I ask for part numbers, which are then spoken within a line. No two share an idea, an example or a way to open. The strongest comes first.
- If the theme has fewer than ${count} good ideas, plan fewer and say so.

## Write each
${parts.writingRules(target)}

## Then
1. Show me a table with number, working title, first line and idea; below it each topic with its count, the settings, and what I should check. Say that each video ${parts.whatItCosts(on)}${on.sandbox ? "" : `, so that ${count} videos cost ${count} times what one costs`}. Ask which to make: all, some, or only the first to see how it looks. Wait for my answer; without a clear yes make none.
2. For each video that I agreed to, and no other, call \`generate_video\` exactly once, one after the other, without \`voice\` unless I name one${on.asksUser ? ". I am asked before the first one starts, and can agree to all of them there" : ""}:
${parts.generateCall(target, { topic: "<the topic of this video>" })}
   Stop at the first call that fails or whose outcome is unknown, and tell me what was started. A failed render, or a video that I don't like, isn't a yes to another: ask me again.
3. For each job: ${parts.followTheJob(on)}
4. Give me a table with number, working title and link, or that it failed${on.sandbox ? "" : " and its credits are refunded"}. I decide about each video on its own.${parts.publishIfAsked(on)}`,
  }),
});
