// The documents say what the code says.

import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { entryFor, llmsTxt, PARTS, withPart } from "../.config/docs-parts.ts";
import manifest from "../package.json" with { type: "json" };
import { cursorInstallLink, vscodeInstallLink } from "../src/commands/install-links.ts";

const read = (name: string) => readFile(new URL(`../${name}`, import.meta.url), "utf8");

test.each(
  Object.entries(PARTS).flatMap(([file, parts]) =>
    Object.entries(parts).map(([name, part]) => [file, name, part] as const),
  ),
)(
  "the part of %s between the marks of %s is what `npm run docs` makes of the code",
  async (file, name, part) => {
    const document = await read(file);
    expect(document).toBe(withPart(document, name, part));
  },
);

test("the README's one entry for Claude Desktop and Cursor differs from Cursor's own in the key that it names alone", () => {
  expect(PARTS["README.md"].entry.replace("fl_example", "${env:FACELESS_API_KEY}")).toBe(
    `\`\`\`json\n${entryFor("cursor")}\`\`\``,
  );
});

test("the README names the versions of the clients that the tests run", async () => {
  const readme = await read("README.md");
  const section = readme.slice(
    readme.indexOf("## Which clients were run"),
    readme.indexOf("## What it costs"),
  );
  const { devDependencies } = manifest;
  const minor = (version: string) => version.replace(/\.\d+$/, "");
  expect(section.match(/(?:SDK|Inspector) \d[\d.]*/g)).toEqual([
    `SDK ${minor(devDependencies["@modelcontextprotocol/sdk"])}`,
    `SDK ${minor(devDependencies["@modelcontextprotocol/client"])}`,
    `Inspector ${minor(devDependencies["@modelcontextprotocol/inspector"])}`,
  ]);
  const run = await read("test/clients.ts");
  expect(section.match(/(?:Claude Code|CLI|Codex) \d[\d.]*/g)?.map((name) => name.split(" ").at(-1))).toEqual(
    [...run.matchAll(/npmPackage: "@[^"]+@([\d.]+)"/g)].map(([, version]) => version),
  );
});

test("llms.txt is what `npm run docs` makes of the code, and what it points to is there", async () => {
  const text = await read("llms.txt");
  expect(text).toBe(llmsTxt());
  for (const [, path] of text.matchAll(/^- \[[^\]]+\]\(([^)]+)\)/gm))
    expect(await read(path ?? "")).not.toBe("");
});

test("the README's install links are those that the code makes", async () => {
  const readme = await read("README.md");
  const form = { windows: false, sandbox: false };
  expect(readme).toContain(`](${cursorInstallLink(form)})`);
  expect(readme).toContain(`](${vscodeInstallLink(form)})`);
});
