// What the built file declares, and its size in bytes and tokens. test/pure/declarations.test.ts holds the snapshots.

import { expect, test } from "vitest";
import { BUILT_FILE, type ClientStart, connectLegacy, connectModern, textOf } from "../fixtures/clients.ts";
import { JOB_ID } from "../fixtures/constants.ts";
import { EXAMPLES } from "../fixtures/prompt.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { until } from "../fixtures/until.ts";
import { TOOLS } from "../fixtures/tools.ts";

const BUILT = { file: BUILT_FILE };
/** A client that can ask the user. */
const ASKING = { user: async () => ({ action: "cancel" as const }) };

/** All that a client can list and read without an account. */
async function declarationsOf(connect: typeof connectLegacy, start: ClientStart) {
  const { raw } = await connect(start);
  return {
    ...(await raw.listTools()),
    ...(await raw.listPrompts()),
    ...(await raw.listResourceTemplates()),
    ...(await raw.listResources()),
    instructions: raw.getInstructions(),
  };
}

test.each<[string, ClientStart]>([
  ["can't ask the user", {}],
  ["can ask the user", ASKING],
])("the built file declares the same as the source, also to a legacy client: %s", async (_, start) => {
  const source = await declarationsOf(connectLegacy, start);

  expect(source.tools.map(({ name }) => name)).toEqual(TOOLS);
  // The build computes the schemas.
  expect(await declarationsOf(connectLegacy, { ...BUILT, ...start })).toEqual(source);
  const { raw } = await connectModern({ ...BUILT, ...start });
  expect((await raw.listTools()).tools).toEqual(source.tools);
});

test("tools/list stays under 1,800 bytes a tool, and each description under 1,024 characters", async () => {
  for (const start of [{}, ASKING]) {
    const { raw } = await connectLegacy(start);
    const { tools } = await raw.listTools();
    expect(Buffer.byteLength(JSON.stringify({ tools }))).toBeLessThan(tools.length * 1_800);
    for (const tool of tools) expect(tool.description?.length).toBeLessThan(1_024);
  }
});

/** An ordinary topic of 30 seconds, with pictures: 669 characters. */
const TOPIC = "Nine socks go missing, one a night. [a red sock on a washing line] ".repeat(10).trim();

test("seven calls take at most 1,400 tokens, a finished and saved video 450 of them", async () => {
  const folder = temporaryFolder();
  const env = { FACELESS_SANDBOX_SECONDS: "1", FACELESS_POLL_SECONDS: "0.1", FACELESS_SAVE_DIR: folder };
  const { raw, call } = await connectLegacy({ args: ["--sandbox"], env });
  const started = await call("generate_video", { topic: TOPIC });
  const jobId = started.structuredContent?.["jobId"];
  const slow = await call("generate_video", { topic: `${TOPIC} [slow]` });
  const rendering = await call("get_video_status", { jobId: slow.structuredContent?.["jobId"] });
  let ready = rendering;
  await until(async () => {
    ready = await call("get_video_status", { jobId, waitSeconds: 50 });
    return textOf(ready).includes("It is saved as");
  });
  const published = await call("publish_video", { jobId, platforms: ["tiktok"] });

  // The folders of tests have long paths.
  const tokensOf = (...texts: unknown[]) => texts.join("").replaceAll(folder, "/home/anna/Videos").length / 4;
  const looks = [rendering, rendering, rendering, rendering, ready].map(textOf);
  expect(looks[0]).toContain("Still rendering");
  expect(tokensOf(textOf(ready))).toBeLessThanOrEqual(450);
  expect(tokensOf(raw.getInstructions(), textOf(started), ...looks, textOf(published))).toBeLessThanOrEqual(
    1_400,
  );
});

test("a list of 20 finished videos takes at most 2,000 tokens", async () => {
  const env = { FACELESS_SANDBOX_SECONDS: "0.1", FACELESS_POLL_SECONDS: "0.1" };
  const { call } = await connectLegacy({ args: ["--sandbox"], env });
  for (let number = 1; number <= 20; number++) {
    // eslint-disable-next-line no-await-in-loop -- the list has an order
    const { structuredContent } = await call("generate_video", { topic: `${number} ${TOPIC}` });
    const jobId = structuredContent?.["jobId"];
    // eslint-disable-next-line no-await-in-loop -- as above
    if (number === 20) await call("get_video_status", { jobId, waitSeconds: 50 });
  }
  const list = textOf(await call("list_videos", { limit: 20 }));

  expect(list.match(/"finalVideoUrl"/g)).toHaveLength(20);
  expect(list.length / 4).toBeLessThanOrEqual(2_000);
});

test("no tool schema uses $ref, and output schemas are objects that allow extra fields", async () => {
  const { raw } = await connectLegacy();
  const { tools } = await raw.listTools();
  expect(JSON.stringify(tools)).not.toMatch(/\$ref|\$defs|\$schema/);
  for (const { outputSchema } of tools) {
    expect(outputSchema?.type).toBe("object");
    expect(JSON.stringify(outputSchema)).not.toContain('"additionalProperties":false');
  }
});

test("the server has a title, a website and an icon", async () => {
  const { raw } = await connectLegacy();
  expect(raw.getServerVersion()).toMatchObject({
    name: "faceless-video-mcp",
    title: "Faceless Video",
    websiteUrl: expect.stringMatching(/^https:/),
    icons: [{ mimeType: "image/svg+xml", src: expect.stringMatching(/^data:image\/svg\+xml;base64,/) }],
  });
});

test.each([
  ["--no-publish", /generate_video.+, show the link\. /, /publish_video|publishes/],
  ["--read-only", /only reads/, /generate_video|publish_video|publishes|spends/],
])("a server with %s refuses what it hides, and names it nowhere", async (flag, said, hidden) => {
  const { raw, call } = await connectLegacy({ args: ["--sandbox", flag] });
  const { prompts } = flag === "--read-only" ? { prompts: [] } : await raw.listPrompts();
  const named = [
    raw.getInstructions(),
    raw.getServerVersion(),
    prompts,
    ...(await Promise.all([
      raw.listTools(),
      raw.listResources(),
      raw.listResourceTemplates(),
      raw.readResource({ uri: "faceless://catalog" }),
      call("list_videos"),
      ...["7", JOB_ID].map((jobId) => call("get_video_status", { jobId })),
      ...prompts.map(({ name }) => raw.getPrompt({ name, arguments: EXAMPLES[name] })),
    ])),
  ];

  expect(raw.getServerCapabilities()?.prompts === undefined).toBe(flag === "--read-only");
  const hiddenTool = flag === "--read-only" ? "generate_video" : "publish_video";
  await expect(call(hiddenTool, { topic: "Tides" })).rejects.toMatchObject({ code: -32602 });
  expect(JSON.stringify(named)).toMatch(said);
  expect(JSON.stringify(named)).not.toMatch(hidden);
});

test("the instructions of a sandbox say that it is one, in the first paragraph", async () => {
  const { raw } = await connectLegacy({ args: ["--sandbox"] });
  const [first = ""] = (raw.getInstructions() ?? "").split("\n\n");

  expect(first).toContain("A sandbox: nothing is rendered, charged or posted.");
  expect(first.length).toBeLessThanOrEqual(512);
});
