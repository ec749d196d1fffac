// The demo: starts this server with --sandbox as a child process and drives it over stdio as a client would.
// Knows the server only through the protocol.

import { Client } from "@modelcontextprotocol/client";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import * as z from "zod";
import { stateOf } from "../job.ts";
import { VERSION } from "../version.ts";
import { type Streams, TerminalUi } from "./terminal-ui.ts";

export interface DemoOptions extends Streams {
  /** How to start this server; its flags follow. */
  readonly server: { readonly command: string; readonly args: readonly string[] };
  readonly renderSeconds: number;
  /** The system's, which it clears by itself. The video is saved in a new folder there. */
  readonly temporaryFolder: string;
  /** Whether somebody is there to press Enter. */
  readonly isAttended: boolean;
}

const SUBJECT = "why the sea is salty";
const STYLE = "documentary";
/** Written by hand, as the prompt write_video_topic asks for it. Its facts were looked up. */
const TOPIC = [
  "Every river is secretly salty. [clear mountain river over pale stones, first light]",
  "Rain washes salt from rock, too little to taste. [rain in threads down a dark cliff, close]",
  "The water leaves as cloud; the salt stays. [cloud lifting off a calm sea]",
  "So in 1899 John Joly divided that salt by one year's delivery [brass balance, white grains filling one pan]",
  "and dated the ocean: about ninety million years. [the full pan touching the table]",
  "It is probably fifty times older. [night sea breaking on folded, ancient rock]",
  "The missing salt lies buried, [white seam through a dark mine wall]",
  "over a kilometre thick beneath the Mediterranean. [sinking through blue water into the dark]",
  "He hadn't timed the sea, only the salt passing through. [one grain dissolving in a drop, very close]",
].join("\n");
/** Saving a video takes a moment after it is ready. */
const SAVE_LOOKS = { max: 100, everyMs: 100 } as const;

const text = z.string().default("");
const postSchema = z.looseObject({
  platform: z.string(),
  ok: z.boolean().optional(),
  url: text,
  error: text,
});
const videoSchema = z.looseObject({ jobId: text, status: text, topic: text, finalVideoUrl: text });
/** What the demo shows of any tool's answer, and of a job. */
const answerSchema = videoSchema.extend({
  resourceUri: text,
  done: z.boolean().default(false),
  savedTo: text,
  videoUrls: z.array(z.string()).default([]),
  progress: z.looseObject({ total: z.number(), completed: z.number() }).optional(),
  platforms: z.array(postSchema).default([]),
  results: z.array(postSchema).default([]),
  videos: z.array(videoSchema).default([]),
});
type Answer = z.output<typeof answerSchema>;

/** Runs the demo. Returns the exit code: 0 if the video was finished and published. */
export async function runDemo({
  server,
  renderSeconds,
  temporaryFolder,
  isAttended,
  ...streams
}: DemoOptions): Promise<number> {
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
          FACELESS_SAVE_DIR: await mkdtemp(join(temporaryFolder, "faceless-demo-")),
        },
      }),
    );
    const published = await drive(client, ui, (renderSeconds * 2 + 60) * 1000);
    const file = "The file stays until your system clears its temporary folder.";
    if (isAttended && streams.input.isTTY === true)
      await ui.pause(`The links work until you press Enter. ${file}`);
    else ui.step(`The links end with this demo. ${file}`);
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
    music: "cinematic",
  });
  ui.step("You agree, and generate_video starts the render (this is what spends credits)", [`Job ${jobId}`]);

  const { status } = await watch(client, ui, resourceUri, timeoutMs);
  if (stateOf(status) !== "ready") {
    ui.step(`The job ended as ${status}`);
    return false;
  }
  const { finalVideoUrl, savedTo } = await readSaved(client, jobId);
  ui.step("Your video is ready (a sample here), and saved in the folder that FACELESS_SAVE_DIR names", [
    finalVideoUrl,
    savedTo === "" ? "It is still being saved." : savedTo,
  ]);

  const { platforms } = await call(client, "list_connected_platforms", {});
  const names = platforms.map(({ platform }) => platform);
  ui.step("list_connected_platforms shows your accounts", [names.join(", ")]);

  const { results } = await call(client, "publish_video", { jobId, platforms: names });
  ui.step(
    "You say where, and publish_video posts it, with one result per platform",
    results.map(({ platform, ok, url, error }) =>
      ok === true
        ? `${platform}: posted ${url}`
        : `${platform}: not posted. ${error} (The sandbox fails here on purpose, to show you a failed post.)`,
    ),
  );

  const { videos } = await call(client, "list_videos", { limit: 5 });
  ui.step(
    "list_videos shows it from now on",
    videos.flatMap(({ status, topic, finalVideoUrl: link }) => [`${status}: ${topic}`, link]),
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

/** The finished video, saved unless that takes unusually long. */
async function readSaved(client: Client, jobId: string): Promise<Answer> {
  for (let looks = 1; ; looks++) {
    const video = await call(client, "get_video_status", { jobId });
    if (video.savedTo !== "" || looks === SAVE_LOOKS.max) return video;
    await pause(SAVE_LOOKS.everyMs);
  }
}

async function call(client: Client, name: string, args: Record<string, unknown>): Promise<Answer> {
  const result = await client.callTool({ name, arguments: args });
  if (result.isError === true) {
    const [block] = result.content;
    throw new Error(`${name}: ${block?.type === "text" ? block.text : "failed"}`);
  }
  return answerSchema.parse(result.structuredContent);
}
