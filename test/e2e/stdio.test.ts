// The built file over stdio, driven by real clients of both protocols against the sandbox.

import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { BUILT_FILE, factsOf, type Question, TEST_CLIENTS, type UsersAnswer } from "../fixtures/clients.ts";
import { connectRaw, startRaw } from "../fixtures/raw-server.ts";
import { until } from "../fixtures/until.ts";

const FAST_SANDBOX = {
  file: BUILT_FILE,
  args: ["--sandbox"],
  env: { FACELESS_SANDBOX_SECONDS: "0.3", FACELESS_POLL_SECONDS: "0.1" },
};
/** Agrees to each question: the first choice is the no. */
async function agree({ form }: Question): Promise<UsersAnswer> {
  const { decision } = z.object({ decision: z.object({ enum: z.array(z.string()) }) }).parse(form.properties);
  return { action: "accept", content: { decision: decision.enum[1] ?? "" } };
}

describe.each(TEST_CLIENTS)("With %s", (_, connect) => {
  test("a client makes, follows, publishes and lists a sandbox video", async () => {
    const client = await connect({ ...FAST_SANDBOX, user: agree });

    const started = await client.call("generate_video", { topic: "Why the sea is salty", duration: 10 });
    const jobId = String(started.structuredContent?.["jobId"]);
    expect(factsOf(started.structuredContent)).toEqual({
      jobId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      status: "processing",
      resourceUri: `faceless://jobs/${jobId}`,
    });

    await client.subscribe(`faceless://jobs/${jobId}`);
    const ended = await client.call("get_video_status", { jobId, waitSeconds: 50 });
    expect(ended.structuredContent).toMatchObject({
      done: true,
      nextStep: "Show the user the link.",
    });
    await expect.poll(() => client.updates).toContain(`faceless://jobs/${jobId}`);
    const finished = await client.call("get_video_status", { jobId });
    expect(finished.structuredContent).toEqual({
      summary: expect.stringMatching(/^Your sample video is ready: http\S+\.mp4$/),
      nextStep: "Show the user the link.",
      jobId,
      status: "completed",
      done: true,
      videoUrls: [expect.stringMatching(/\/1\.mp4$/), expect.stringMatching(/\/2\.mp4$/)],
      audioUrl: expect.stringMatching(/\.wav$/),
      finalVideoUrl: expect.stringMatching(/\/final\/.*\.mp4$/),
      progress: { total: 2, completed: 2, failed: 0 },
      arguments: { topic: "Why the sea is salty", duration: 10 },
    });

    const published = await client.call("publish_video", {
      jobId,
      platforms: ["TikTok", "instagram", "tiktok"],
    });
    expect(factsOf(published.structuredContent)).toEqual({
      results: [
        { platform: "tiktok", ok: true, url: expect.any(String) },
        { platform: "instagram", ok: false, error: expect.any(String) },
      ],
    });

    const publishedTo = [{ platform: "tiktok", url: expect.any(String), at: expect.any(String) }];
    const listed = await client.call("list_videos", {});
    expect(listed.structuredContent).toMatchObject({ videos: [{ jobId, status: "completed", publishedTo }] });

    const platforms = await client.call("list_connected_platforms", { dummy: true });
    expect(platforms.structuredContent).toMatchObject({
      platforms: [{ platform: "tiktok" }, { platform: "youtube" }, { platform: "instagram" }],
    });
  });
});

test("the server answers a client that writes a byte order mark first, and before later lines", async () => {
  const server = startRaw({ env: { FACELESS_API_KEY: "", FACELESS_BASE_URL: "" } });
  onTestFinished(() => void server.child.kill("SIGKILL"));
  server.stdin.write("\uFEFF");
  await server.open("legacy");
  server.stdin.write("\uFEFF");

  expect((await server.ask("tools/list")).result).toMatchObject({ tools: expect.any(Array) });
});

/** Writes the loaded files of this project to stderr when the tools are written to stdout. */
const SHOW_LOADED = `data:text/javascript,
  import { createRequire } from "node:module";
  const { cache } = createRequire("/");
  const { stdout } = process;
  const { write } = stdout;
  stdout.write = (text, ...rest) => {
    if (text.includes('"tools":[')) console.error(Object.keys(cache).map((file) => "loaded: " + file).join("\\n"));
    return write.call(stdout, text, ...rest);
  };`;

test("tools/list is answered before the code of the calls is loaded", async () => {
  const server = startRaw({ nodeArgs: ["--import", SHOW_LOADED] });
  onTestFinished(() => void server.child.kill("SIGKILL"));
  await server.open("legacy");
  await server.ask("tools/list");

  await until(() => server.stderr().includes("loaded: "));
  const loaded = server.stderr().matchAll(/^loaded: .*\/([^/]+?)(?:-[\w-]{8})?\.cjs$/gm);
  expect(new Set(Array.from(loaded, ([, name]) => name))).toEqual(
    new Set(["bin", "cli", "rolldown-runtime", "serve", "start"]),
  );
});

test.each(["legacy", "modern"] as const)(
  "a call that comes before anything else is answered: %s",
  async (protocol) => {
    const server = startRaw({ options: ["--sandbox"] });
    onTestFinished(() => void server.child.kill("SIGKILL"));

    const { ask } = connectRaw(server, protocol);
    expect(await ask("tools/call", { name: "list_videos", arguments: {} })).toMatchObject({
      result: { structuredContent: { videos: [] } },
    });
  },
);
