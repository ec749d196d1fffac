// The prompt write_video_topic: a wish becomes a topic worth paying for, shown before credits are spent.

import { quote } from "../text.ts";
import * as args from "./arguments.ts";
import * as parts from "./prompt-parts.ts";
import { definePrompt } from "./prompt.ts";

export const writeVideoTopic = definePrompt({
  name: "write_video_topic",
  title: "Write a video topic",
  description:
    "Turns a subject into a topic for a faceless short video: a first line that holds, pictures, words that fill the seconds, an ending. You see it first; the video is made only if you agree.",
  arguments: {
    subject: { ...args.subject, description: "What the video is about, in your own words" },
    ...args.target,
  },
  write: ({ subject, ...target }, on) => ({
    description: `Topic for a faceless ${target.style ?? "short"} video, ${parts.lengthOf(target)} in ${parts.languageOf(target)}: ${quote(subject, 80)}`,
    text: `Write the topic of one faceless short video, all that is spoken and seen, and show me. It is made only if I agree.

- My wish: ${quote(subject, args.MAX_TEXT)}
${parts.targetLines(target)}

## Write
${parts.writingRules(target)}

## Then
1. Show me the topic, its count, settings (as below unless my wish differs) and what I should check. Say that the video ${parts.whatItCosts(on)}.${parts.consent(on).ask}
2. ${parts.consent(on).order} \`generate_video\`, exactly once, without \`voice\` unless I name one:
${parts.generateCall(target)}
3. ${parts.followTheJob(on)}
4. Give me the link.${parts.publishIfAsked(on)}`,
  }),
});
