// The public surface, a reviewed file per tool, prompt and template. `npx vitest run test/e2e/contract.test.ts -u`
// updates these files.

import { expect, test } from "vitest";
import { BUILT_FILE, connectLegacy, connectModern, textOf } from "../fixtures/clients.ts";
import { JOB_ID } from "../fixtures/constants.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { until } from "../fixtures/until.ts";
import { TOOLS } from "../fixtures/tools.ts";

/** The build works the schemas out, so what the built file says is compared. */
const BUILT = { file: BUILT_FILE };
const EXAMPLES: Record<string, Record<string, string>> = {
  write_video_topic: { subject: "why the sea is salty", style: "education", duration: "30" },
  plan_series: { theme: "kitchen chemistry", count: "4" },
  localize_video: { video: JOB_ID, language: "Japanese" },
  review_video: { jobId: JOB_ID },
};
const pretty = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

test("the tools have a fixed order, each is as in its snapshot, and legacy clients see the same", async () => {
  const [legacy, modern] = await Promise.all([connectLegacy(BUILT), connectModern(BUILT)]);
  const { tools } = await modern.raw.listTools();
  expect(tools.map(({ name }) => name)).toEqual(TOOLS);
  for (const tool of tools)
    await expect(pretty(tool)).toMatchFileSnapshot(`../contract/tool-${tool.name}.json`);
  expect((await legacy.raw.listTools()).tools).toEqual(tools);
});

/** A client that can ask the user. */
const ASKING = { user: async () => ({ action: "cancel" as const }) };

test("tools/list stays under 1,680 bytes a tool, and each description under 1,024 characters", async () => {
  for (const start of [{}, ASKING]) {
    const { raw } = await connectLegacy(start);
    const { tools } = await raw.listTools();
    expect(Buffer.byteLength(JSON.stringify({ tools }))).toBeLessThan(tools.length * 1_680);
    for (const tool of tools) expect(tool.description?.length).toBeLessThan(1_024);
  }
});

test("to a client that can ask, one description differs: who asks the user before an order", async () => {
  const listed = await Promise.all(
    [BUILT, { ...BUILT, ...ASKING }].map(
      async (start) => (await (await connectModern(start)).raw.listTools()).tools,
    ),
  );
  const [plain = [], asking = []] = listed;

  const [{ description = "" } = {}] = asking;
  expect(asking).toEqual(
    plain.map((tool) => (tool.name === "generate_video" ? { ...tool, description } : tool)),
  );
  await expect(`${description}\n`).toMatchFileSnapshot("../contract/generate_video-if-asked.txt");
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

test("the prompts, the template and the resource are as their snapshots say", async () => {
  const { raw } = await connectModern(BUILT);
  const { prompts } = await raw.listPrompts();
  const { resourceTemplates } = await raw.listResourceTemplates();
  const { resources } = await raw.listResources();
  await expect(pretty(prompts)).toMatchFileSnapshot("../contract/prompts.json");
  await expect(pretty(resourceTemplates)).toMatchFileSnapshot("../contract/resource-templates.json");
  await expect(pretty(resources)).toMatchFileSnapshot("../contract/resources.json");
  expect(prompts.map(({ name }) => name)).toEqual(Object.keys(EXAMPLES));
  for (const [name, args] of Object.entries(EXAMPLES)) {
    const { messages } = await raw.getPrompt({ name, arguments: args });
    await expect(pretty(messages)).toMatchFileSnapshot(`../contract/prompt-${name}.json`);
  }
});

test.each([
  ["can't ask the user", {}, "instructions"],
  ["can ask the user", ASKING, "instructions-if-asked"],
])(
  "the first paragraph of the instructions for a client that %s fits 512 characters",
  async (_, start, file) => {
    const { raw } = await connectLegacy(start);
    const instructions = raw.getInstructions() ?? "";
    const [first] = instructions.split("\n\n");
    expect(first?.length).toBeLessThanOrEqual(512);
    await expect(instructions).toMatchFileSnapshot(`../contract/${file}.txt`);
  },
);

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
