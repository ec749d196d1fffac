// The plugins' files agree with the code. `npm run test:plugins` has the clients judge them.

import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { PLUGIN_FILES } from "../.config/plugin-files.ts";

const read = (name: string) => readFile(new URL(`../${name}`, import.meta.url), "utf8");

test.each(Object.keys(PLUGIN_FILES))("%s is up to date", async (name) => {
  expect(JSON.parse(await read(name))).toEqual(JSON.parse(PLUGIN_FILES[name] ?? ""));
});

test.each(["SKILL.md", "references/styles.md"])(
  "the skill's %s speaks to the model of the user, never as the user",
  async (name) => {
    const text = await read(`docs/plugin/skills/make-faceless-video/${name}`);
    expect(text.match(/.{0,20}\b(I|me|my|mine)\b.{0,20}/g)).toBeNull();
  },
);

test("the skill has the name of its folder and a description within the format's limit", async () => {
  const text = await read("docs/plugin/skills/make-faceless-video/SKILL.md");
  const skill: unknown = parse(/^---\n(.*?)\n---\n/s.exec(text)?.[1] ?? "");
  expect(skill).toMatchObject({
    name: "make-faceless-video",
    description: expect.stringMatching(/^.{1,1024}$/),
  });
});
