// The plugins' files agree with the code. `npm run test:plugins` has the clients judge them.

import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { parse } from "yaml";
import * as z from "zod";
import { PLUGIN_FILES } from "../.config/plugin-files.ts";

const read = (name: string) => readFile(new URL(`../${name}`, import.meta.url), "utf8");

test.each(Object.keys(PLUGIN_FILES))("%s is up to date", async (name) => {
  expect(JSON.parse(await read(name))).toEqual(JSON.parse(PLUGIN_FILES[name] ?? ""));
});

test("Cursor's manifest has only fields of its published schema", async () => {
  const schema = z.strictObject({
    name: z.string().regex(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/),
    displayName: z.string(),
    description: z.string(),
    version: z.string(),
    author: z.strictObject({ name: z.string() }),
    homepage: z.url(),
    repository: z.url(),
    license: z.string(),
    keywords: z.array(z.string()),
    skills: z.string(),
    mcpServers: z.record(z.string(), z.looseObject({ command: z.string() })),
  });
  expect(schema.safeParse(JSON.parse(await read("docs/plugin/.cursor-plugin/plugin.json"))).error).toBe(
    undefined,
  );
});

test.each(["SKILL.md", "references/styles.md"])(
  "the skill's %s speaks to the model of the user, never as the user",
  async (name) => {
    const text = await read(`docs/plugin/skills/make-faceless-video/${name}`);
    expect(text.match(/.{0,20}\b(I|me|my|mine)\b.{0,20}/g)).toBeNull();
  },
);

test("the skill has the name of its folder and stays within the limits of the format", async () => {
  const text = await read("docs/plugin/skills/make-faceless-video/SKILL.md");
  const [, frontmatter = ""] = /^---\n(.*?)\n---\n/s.exec(text) ?? [];
  const { name, description } = z
    .object({ name: z.string(), description: z.string() })
    .parse(parse(frontmatter));
  expect(name).toBe("make-faceless-video");
  expect(description.length).toBeLessThanOrEqual(1_024);
  expect(text.split("\n").length).toBeLessThan(500);
});
