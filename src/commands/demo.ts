// The demo: what a client does with the tools, in this process and against the sandbox.

import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { NO_FLAGS, readConfig } from "../config.ts";
import { stateOf } from "../service/job.ts";
import { inSentences } from "../sentences.ts";
import { TOOLS } from "../tools/catalog.ts";
import { generateVideo } from "../tools/generate-video.ts";
import { listConnectedPlatforms } from "../tools/list-connected-platforms.ts";
import { listVideos } from "../tools/list-videos.ts";
import { publishVideo } from "../tools/publish-video.ts";
import type { ToolResult } from "../tools/tool.ts";
import { IS_ON_NPM } from "../version.ts";
import { asText } from "./call-text.ts";
import type { Host } from "./host.ts";
import { type LocalTools, openTools } from "./local-tools.ts";
import { TerminalUi } from "./terminal-ui.ts";

const SUBJECT = "why the sea is salty";
const STYLE = "documentary";
/** Written by hand, as the prompt write_video_topic asks for it. Its facts were looked up. */
export const TOPIC = [
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

/** Returns the exit code: 0 if the video was finished and published. It is saved in a temporary folder. */
export async function runDemo(host: Host): Promise<number> {
  const { env, temporaryDir, input, output } = host;
  const ui = new TerminalUi(host);
  ui.print(
    inSentences(
      "faceless-video-mcp: a topic becomes a published video.",
      "A sandbox stands in for the service, so nothing is paid or posted.",
    ),
  );
  try {
    const settings = {
      // The usual schedule is for renders of minutes.
      FACELESS_POLL_SECONDS: "0.5",
      FACELESS_SANDBOX_SECONDS: env["FACELESS_SANDBOX_SECONDS"],
      FACELESS_SAVE_DIR: await mkdtemp(join(temporaryDir, "faceless-demo-")),
    };
    const config = readConfig(settings, { ...NO_FLAGS, sandbox: true }, temporaryDir);
    const tools = openTools("demo", config, host, ui, {
      askUser: async (describe) => {
        const { message, yes } = await describe();
        ui.step("Your client asks you before anything is paid or posted", [message, `You choose: ${yes}`]);
        return "agreed";
      },
    });
    const isPublished = await drive(tools, ui, (config.sandboxSeconds * 2 + 60) * 1000);
    const file = "The file stays until your system clears its temporary folder.";
    const isAttended = input.isTTY === true && output.isTTY === true && !env["CI"];
    if (isAttended) await ui.pause(`The links work until you press Enter. ${file}`);
    else ui.step(`The links end with this demo. ${file}`);
    const start = IS_ON_NPM ? "cd ~; npx -y faceless-video-mcp" : "node dist/bin.cjs";
    ui.step(`Now with your account: ${start} config CLIENT prints the entry for your client.`);
    return isPublished ? 0 : 1;
  } catch (error) {
    ui.step(`Failed: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
}

/** Returns true if the video was posted. */
async function drive({ run, follow }: LocalTools, ui: TerminalUi, timeoutMs: number): Promise<boolean> {
  /** Shows an answer without its next step, which the demo takes by itself. */
  const show = (title: string, { fields, summary }: ToolResult) =>
    ui.step(title, asText({ fields, summary }).split("\n"));
  const names = TOOLS.map(({ name }) => name);
  ui.step("Your AI client starts the server and finds its tools", [names.join(", ")]);
  ui.step(`The prompt write_video_topic tells it how to make a good topic of "${SUBJECT}"`, [
    "It writes one and shows it to you:",
    "",
    ...TOPIC.split("\n"),
  ]);

  const order = await run(generateVideo, { topic: TOPIC, style: STYLE, duration: 30, music: "cinematic" });
  show("You agree, and generate_video starts the render (this is what spends credits)", order);
  const { jobId } = order.fields;

  ui.step("It follows the job: the real service takes 2 to 4 minutes, the sandbox some seconds");
  const ended = await follow(jobId, timeoutMs);
  show("The video is saved in the folder that FACELESS_SAVE_DIR names (a sample here)", ended);
  if (stateOf(ended.fields.status) !== "ready") return false;

  const connected = await run(listConnectedPlatforms, {});
  show("list_connected_platforms shows your accounts", connected);

  const platforms = connected.fields.platforms.map(({ platform }) => platform);
  const posted = await run(publishVideo, { jobId, platforms });
  show(
    "publish_video posts it (for Instagram, the sandbox fails on purpose, to show you a failed post)",
    posted,
  );

  show("list_videos shows it from now on", await run(listVideos, { limit: 5 }));
  return posted.fields.results.some(({ ok }) => ok);
}
