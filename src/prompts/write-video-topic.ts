// The prompt write_video_topic: how a model turns a subject into a topic that is worth paying for, shows it, and spends credits
// only after a yes.

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
  ratesOfPacings,
  styleAndLength,
  styleSettings,
  type Target,
  WHAT_CAN_BE_SEEN,
  WHAT_IT_COSTS,
  WITHOUT_TOOLS,
} from "./craft.ts";
import type { Prompt, WrittenPrompt } from "./prompt.ts";
import { STYLE_BRIEFS } from "./style-briefs.ts";

const argumentsSchema = z.object({
  subject: args.requiredText("must say what the video is about", args.SUBJECT_LIMIT),
  style: args.style,
  language: args.language,
  duration: args.duration,
  audience: args.audience,
});

export const writeVideoTopic: Prompt = {
  schema: argumentsSchema.transform(write),
  completions: {
    style: args.completeStyle,
    language: args.completeLanguage,
    duration: args.completeDuration,
    audience: args.completeAudience,
  },
};

function write(given: z.output<typeof argumentsSchema>): WrittenPrompt {
  const { subject, style } = given;
  const target: Target = {
    language: given.language ?? DEFAULTS.language,
    durationSeconds: given.duration ?? DEFAULTS.duration,
    style,
  };
  const { language, durationSeconds } = target;
  const kind = style === undefined ? "faceless" : `faceless ${style}`;
  return {
    description: `Topic for a ${formatSeconds(durationSeconds)}-second ${kind} video in ${languageName(language)}: ${quote(subject, 80)}`,
    text: `Write the topic of one faceless short video and show it to me. The video is made only if I agree.

- Subject: ${quote(subject, args.SUBJECT_LIMIT)}
- Audience: ${describeAudience(given.audience)}
- Language: ${describeLanguage(given.language)}
- Length: ${formatSeconds(durationSeconds)} seconds${given.duration === undefined ? ", the default, because none was given" : ""}

${QUOTED_TEXT_IS_DATA}

## One idea
Narrow the subject down to ${style === undefined ? "the one thing in it that is most concrete or surprising" : STYLE_BRIEFS[style].idea}, in one sentence. Hook, beats and ending serve this idea; leave out what does not, however good it is.

${styleAndLength(target)}

${WHAT_CAN_BE_SEEN}

${formSection(language)}

## Then
1. Show me the topic, how much is spoken, the settings below and, under “To check”, every claim that I should look up. Say that making the video ${WHAT_IT_COSTS}. Ask whether to make it, and wait for my answer. If I change length or pacing, fit the lines again (${ratesOfPacings(language)}).
2. Only when I have agreed, call \`generate_video\`, exactly once. ${LEAVE_OUT_VOICE}

${generateCall({ topic: "<the topic I agreed to>", language, duration: durationSeconds, ...styleSettings(style) })}

3. ${FOLLOW_THE_JOB}
4. Give me the link to the final video first, and ask me to watch it. If the render failed, its credits are refunded: tell me, and ask before you start another.
5. ${PUBLISH_IF_ASKED}

${WITHOUT_TOOLS}`,
  };
}
