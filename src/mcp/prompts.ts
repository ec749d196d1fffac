// The prompt, with completion of its arguments.

import { completable, type McpServer } from "@modelcontextprotocol/server";
import { WRITE_VIDEO_TOPIC, writeVideoTopic } from "../prompts/write-video-topic.ts";
import {
  WRITE_VIDEO_TOPIC_COMPLETIONS,
  writeVideoTopicArguments,
} from "../prompts/write-video-topic-arguments.ts";

// Once for the process: the SDK marks the schema itself, and only the one inside an optional is looked at.
const { style, language, duration, audience } = writeVideoTopicArguments.shape;
completable(style.unwrap(), WRITE_VIDEO_TOPIC_COMPLETIONS.style);
completable(language.unwrap(), WRITE_VIDEO_TOPIC_COMPLETIONS.language);
completable(duration.unwrap(), WRITE_VIDEO_TOPIC_COMPLETIONS.duration);
completable(audience.unwrap(), WRITE_VIDEO_TOPIC_COMPLETIONS.audience);

export function registerPrompts(server: McpServer): void {
  const { name, title, description } = WRITE_VIDEO_TOPIC;
  server.registerPrompt(name, { title, description, argsSchema: writeVideoTopicArguments }, (args) => {
    const prompt = writeVideoTopic(args);
    return {
      description: prompt.description,
      messages: [{ role: "user", content: { type: "text", text: prompt.text } }],
    };
  });
}
