// The job of each client: from a topic to a published video. Goes by what the model is offered and shown.

import type { Reply, Turn } from "./scripted-model.ts";
import { TOOLS } from "../../fixtures/tools.ts";

export const PROMPT =
  "Make a 15-second video about why the sea is salty, and publish it on my first connected account.";
const TOPIC = "Why the sea is salty: rain, rock and four billion years";

/** How the model's last words begin. */
export const JOB_IS_OVER = "The job is over";
/** The model's last words, however it ended. */
export const ENDS = /The job is over|The video was not started|I have no tool/;
/** A video that takes longer than this many calls is not waited for. */
const MAX_STATUS_CALLS = 10;

/** This server's own name of a tool. Clients put the server's name before it. */
export function ownName(tool: string): string | undefined {
  return TOOLS.find((name) => tool === name || new RegExp(`[^a-z]${name}$`).test(tool));
}

export function fromTopicToPublished(turn: Turn): Reply {
  const call = (name: string, args: object): Reply => {
    const tool = turn.tools.find((offered) => ownName(offered) === name);
    return tool === undefined ? { say: `I have no tool ${name}.` } : { call: tool, args };
  };
  const made = turn.calls.flatMap(({ tool, shown }) => {
    const name = ownName(tool);
    return name === undefined ? [] : [{ name, shown }];
  });
  const shownBy = (name: string) => made.findLast((one) => one.name === name)?.shown;

  const started = turn.lateResults.at(-1) ?? shownBy("generate_video");
  if (started === undefined) return call("generate_video", { topic: TOPIC, duration: 15 });
  const jobId = fields(started, "jobId")[0];
  if (jobId === undefined && /in the background|to the background/.test(started))
    return { say: "I go on when the video is ready." };
  if (jobId === undefined) return { say: `The video was not started: ${started}` };

  const statusCalls = made.filter(({ name }) => name === "get_video_status").length;
  const status = shownBy("get_video_status") ?? started;
  if (!/"done\\*":\s*true/.test(status) && statusCalls < MAX_STATUS_CALLS)
    return call("get_video_status", {
      jobId,
      waitSeconds: Number(/waitSeconds (\d+)/.exec(status)?.[1] ?? 50),
    });

  const accounts = shownBy("list_connected_platforms");
  if (accounts === undefined) return call("list_connected_platforms", {});
  const platforms = fields(accounts, "platform").slice(0, 1);

  const published = shownBy("publish_video");
  if (published === undefined) return call("publish_video", { jobId, platforms });
  return { say: `${JOB_IS_OVER}: ${published}` };
}

/** The values of a text field, whether it is shown as JSON or as JSON within JSON. */
function fields(shown: string, name: string): string[] {
  return [...shown.matchAll(new RegExp(`"${name}\\\\*":\\s*\\\\*"([\\w-]+)`, "g"))].flatMap(
    ([, value]) => value ?? [],
  );
}
