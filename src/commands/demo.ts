// The demo: starts this server with --sandbox as a child process and drives it over stdio as a client would.
// Knows the server only through the protocol.

import { Client } from "@modelcontextprotocol/client";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import * as z from "zod";
import { stateOf } from "../job.ts";
import { VERSION } from "../version.ts";
import { type Streams, TerminalUi } from "./terminal-ui.ts";

export interface DemoOptions extends Streams {
  /** How to start this server; its flags follow. */
  readonly server: { readonly command: string; readonly args: readonly string[] };
  readonly renderSeconds: number;
}

const SUBJECT = "why an octopus has three hearts";
const STYLE = "documentary";
/** Written by hand, in the form that the prompt write_video_topic asks for. */
const TOPIC = [
  "Three hearts beat in this animal. [octopus drifting over a reef, blue light]",
  "Two of them only push blood through the gills. [gills opening and closing, close-up]",
  "The third sends it round the body, and stops whenever the octopus swims. [octopus jetting away]",
  "That is why it would rather crawl. [arms walking over sand]",
  "Three hearts, and still it saves its strength. [octopus settling into a crevice]",
].join("\n");

const text = z.string().default("");
const postSchema = z.looseObject({
  platform: z.string(),
  ok: z.boolean().optional(),
  url: text,
  error: text,
});
const videoSchema = z.looseObject({ jobId: text, status: text, finalVideoUrl: text });
/** What the demo shows of any tool's answer, and of a job. */
const answerSchema = videoSchema.extend({
  resourceUri: text,
  done: z.boolean().default(false),
  videoUrls: z.array(z.string()).default([]),
  audioUrl: text,
  progress: z.looseObject({ total: z.number(), completed: z.number() }).optional(),
  platforms: z.array(postSchema).default([]),
  results: z.array(postSchema).default([]),
  videos: z.array(videoSchema).default([]),
});
type Answer = z.output<typeof answerSchema>;

/** Runs the demo. Returns the exit code: 0 if the video was finished and published. */
export async function runDemo({ server, renderSeconds, ...streams }: DemoOptions): Promise<number> {
  const ui = new TerminalUi(streams);
  const client = new Client({ name: "faceless-video-mcp-demo", version: VERSION });
  try {
    ui.print(
      "faceless-video-mcp: a topic becomes a published video. A sandbox stands in for the service, so nothing is paid or posted.",
    );
    await client.connect(
      new StdioClientTransport({
        command: server.command,
        args: [...server.args, "--sandbox"],
        env: {
          ...getDefaultEnvironment(),
          // The usual schedule is for renders of minutes.
          FACELESS_POLL_SECONDS: "0.5",
          FACELESS_SANDBOX_SECONDS: String(renderSeconds),
        },
      }),
    );
    const published = await drive(client, ui, (renderSeconds * 2 + 60) * 1000);
    await ui.pause("The links work until this demo ends: press Enter.");
    ui.step(
      "Now with your account: the README has the entry for your client (Claude Desktop, Cursor, VS Code).",
    );
    return published ? 0 : 1;
  } catch (error) {
    ui.step(`Failed: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  } finally {
    await client.close();
  }
}

async function drive(client: Client, ui: TerminalUi, timeoutMs: number): Promise<boolean> {
  const { tools } = await client.listTools();
  ui.step("Your AI client starts the server and finds its tools", [tools.map(({ name }) => name).join(", ")]);

  const prompt = await client.getPrompt({
    name: "write_video_topic",
    arguments: { subject: SUBJECT, style: STYLE, duration: "30" },
  });
  ui.step(`The prompt write_video_topic tells it how to make a good topic of "${SUBJECT}"`, [
    ...(prompt.description === undefined ? [] : [prompt.description]),
    "It writes one and shows it to you:",
    "",
    ...TOPIC.split("\n"),
  ]);

  const { jobId, resourceUri } = await call(client, "generate_video", {
    topic: TOPIC,
    style: STYLE,
    duration: 30,
    pacing: "slow",
    music: "cinematic",
  });
  ui.step("You agree, and generate_video starts the render (this is what spends credits)", [`Job ${jobId}`]);

  const job = await watch(client, ui, resourceUri, timeoutMs);
  ui.step(
    stateOf(job.status) === "ready"
      ? "The clips and the voiceover are ready"
      : `The job ended as ${job.status}`,
    [...job.videoUrls, job.audioUrl].filter((link) => link !== ""),
  );
  if (stateOf(job.status) !== "ready") return false;

  const { platforms } = await call(client, "list_connected_platforms", {});
  const names = platforms.map(({ platform }) => platform);
  ui.step("list_connected_platforms shows your accounts", [names.join(", ")]);

  const { results } = await call(client, "publish_video", { jobId, platforms: names });
  ui.step(
    "You say where, and publish_video posts it, with one result per platform",
    results.map(({ platform, ok, url, error }) =>
      ok === true ? `${platform}: posted ${url}` : `${platform}: not posted, ${error}`,
    ),
  );

  const { videos } = await call(client, "list_videos", { limit: 5 });
  ui.step(
    "list_videos shows it from now on",
    videos.map(({ jobId: id, status, finalVideoUrl }) => `${id}  ${status}  ${finalVideoUrl}`),
  );
  return results.some(({ ok }) => ok === true);
}

/** Follows the job through a subscription until it ends, with a progress bar of its clips. */
async function watch(client: Client, ui: TerminalUi, uri: string, timeoutMs: number): Promise<Answer> {
  ui.step("A subscription follows the job: the real service takes 2 to 4 minutes, the sandbox some seconds", [
    uri,
  ]);
  const read = async (): Promise<Answer> => {
    const [content] = (await client.readResource({ uri })).contents;
    if (content === undefined || !("text" in content)) throw new Error(`${uri} has no text`);
    return answerSchema.parse(JSON.parse(content.text));
  };
  const show = ({ done, status, videoUrls, progress }: Answer) => {
    if (progress !== undefined)
      ui.progress(progress.completed, progress.total, `${progress.completed} of ${progress.total} clips`);
    if (done) ui.print(`  ${status}: ${videoUrls.length} clips`);
  };
  return new Promise<Answer>((resolve, reject) => {
    setTimeout(() => reject(new Error(`${uri} has not ended in time`)), timeoutMs).unref();
    const look = () =>
      read().then((job) => {
        show(job);
        if (job.done) resolve(job);
      }, reject);
    client.setNotificationHandler("notifications/resources/updated", look);
    client.subscribeResource({ uri }).then(look, reject);
  });
}

async function call(client: Client, name: string, args: Record<string, unknown>): Promise<Answer> {
  const result = await client.callTool({ name, arguments: args });
  if (result.isError === true) {
    const [block] = result.content;
    throw new Error(`${name}: ${block?.type === "text" ? block.text : "failed"}`);
  }
  return answerSchema.parse(result.structuredContent);
}
