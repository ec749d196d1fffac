// The public surface, a reviewed file per tool, prompt and template. `npx vitest run test/pure -u` writes these files.
// test/e2e/contract.test.ts compares the built file with the source.

import { expect, test } from "vitest";
import { TOOLS } from "../../src/tools/catalog.ts";
import { connectLegacy, connectModern } from "../fixtures/clients.ts";
import { EXAMPLES } from "../fixtures/prompt.ts";
import { CALLS } from "../fixtures/tools.ts";

/** A client that can ask the user. */
const ASKING = { user: async () => ({ action: "cancel" as const }) };
const pretty = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

test("each tool is as in its snapshot", async () => {
  const { raw } = await connectModern();
  const { tools } = await raw.listTools();
  expect(tools.map(({ name }) => name)).toEqual(TOOLS.map(({ name }) => name));
  for (const tool of tools)
    await expect(pretty(tool)).toMatchFileSnapshot(`../contract/tool-${tool.name}.json`);
});

const READS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true };
const CHANGES = { readOnlyHint: false, destructiveHint: true, idempotentHint: false };

test.each(TOOLS.map((tool) => [tool.name, tool] as const))(
  "%s has the annotations of its effect, and an example that its schema takes",
  (name, tool) => {
    const { openWorldHint: _, ...annotations } = tool.annotations;
    expect(annotations).toEqual(tool.effect === "reads" ? READS : CHANGES);

    const example = CALLS.find(([called]) => called === name)?.[1];
    expect(tool.input().safeParse(example)).toMatchObject({ success: true });
  },
);

test("generate_video alone spends and starts a job, and publish_video alone publishes", () => {
  const effects = TOOLS.flatMap(({ name, effect, startsJob = false }) =>
    effect === "reads" && !startsJob ? [] : [[name, effect, startsJob]],
  );
  expect(effects).toEqual([
    ["generate_video", "spends", true],
    ["publish_video", "publishes", false],
  ]);
});

test("for a client that can ask, only generate_video's description differs", async () => {
  const listed = await Promise.all(
    [{}, ASKING].map(async (start) => (await (await connectModern(start)).raw.listTools()).tools),
  );
  const [plain = [], asking = []] = listed;

  const [{ description = "" } = {}] = asking;
  expect(asking).toEqual(
    plain.map((tool) => (tool.name === "generate_video" ? { ...tool, description } : tool)),
  );
  await expect(`${description}\n`).toMatchFileSnapshot("../contract/generate_video-if-asked.txt");
});

test("the prompts, the template and the resource are as their snapshots say", async () => {
  const { raw } = await connectModern();
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
