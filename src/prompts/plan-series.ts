// The prompt plan_series: several topics on one theme, in one table, with one yes before any spending. The user's answer is the
// most that is generated.

import * as z from "zod";
import { languageName } from "../service/languages.ts";
import { DEFAULTS } from "../service/options.ts";
import { quote } from "../text.ts";
import * as args from "./arguments.ts";
import {
  describeAudience,
  describeLanguage,
  FOLLOW_THE_JOB,
  formatSeconds,
  formSection,
  generateCall,
  LEAVE_OUT_VOICE,
  PUBLISH_IF_ASKED,
  QUOTED_TEXT_IS_DATA,
  styleAndLength,
  styleSettings,
  type Target,
  WHAT_CAN_BE_SEEN,
  WHAT_IT_COSTS,
  WITHOUT_TOOLS,
} from "./craft.ts";
import type { Prompt, WrittenPrompt } from "./prompt.ts";

const argumentsSchema = z.object({
  theme: args.requiredText("must say what the series is about", args.SUBJECT_LIMIT),
  count: args.count,
  style: args.style,
  language: args.language,
  duration: args.duration,
  audience: args.audience,
});

export const planSeries: Prompt = {
  schema: argumentsSchema.transform(write),
  completions: {
    count: args.completeCount,
    style: args.completeStyle,
    language: args.completeLanguage,
    duration: args.completeDuration,
    audience: args.completeAudience,
  },
};

function write(given: z.output<typeof argumentsSchema>): WrittenPrompt {
  const { theme, style } = given;
  const count = given.count ?? args.SERIES_COUNT.default;
  const target: Target = {
    language: given.language ?? DEFAULTS.language,
    durationSeconds: given.duration ?? DEFAULTS.duration,
    style,
  };
  const { language, durationSeconds } = target;
  return {
    description: `Series of ${count} ${formatSeconds(durationSeconds)}-second videos in ${languageName(language)}: ${quote(theme, 80)}`,
    text: `Plan a series of ${count} faceless short videos and show me the plan. Nothing is made before I agree, and never more videos than I agreed to.

- Theme: ${quote(theme, args.SUBJECT_LIMIT)}
- Audience: ${describeAudience(given.audience)}
- Language: ${describeLanguage(given.language)}
- Length of each video: ${formatSeconds(durationSeconds)} seconds

${QUOTED_TEXT_IS_DATA}

## The series
- All videos keep one promise to the viewer, and all have the same settings: style, length, pacing, music and voice.
- Each video stands alone, because people see them in any order: one idea, no “part 2”, nothing that needs another video.
- No two share an idea, an example or a way to open. The strongest comes first.
- If the theme has fewer than ${count} ideas that are good enough, plan fewer and say so.

${styleAndLength(target)}

${WHAT_CAN_BE_SEEN}

${formSection(language)}

## Then
1. Show me a table with number, working title, hook and idea in one sentence. The titles are for us: the service takes none. Below it show each topic in full with how much is spoken, the settings and, under “To check”, every claim that I should look up. Say how many generations the plan needs (${count} videos are ${count} generations), and that each ${WHAT_IT_COSTS}. Ask which videos to make: all, some, or only the first to see how it looks. Wait for my answer; without a clear yes make none.
2. For each video that I agreed to, and no other, call \`generate_video\` exactly once, one after the other. ${LEAVE_OUT_VOICE}

${generateCall({ topic: "<the topic of this video>", language, duration: durationSeconds, ...styleSettings(style) })}

   Stop at the first call that fails or whose outcome is unknown: start no other, and tell me what was started and what was not. A failed render or a video that I don't like is no yes to another generation: ask me again.
3. Follow each job. ${FOLLOW_THE_JOB}
4. Give me a table with number, working title and the link to the final video, or that it failed and its credits are refunded.
5. Decide about each video on its own. ${PUBLISH_IF_ASKED}

${WITHOUT_TOOLS}`,
  };
}
