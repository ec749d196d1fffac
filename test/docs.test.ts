// The documents say what the code says.

import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { llmsTxt, README_PARTS, withPart } from "../.config/docs-parts.ts";
import { cursorInstallLink, vscodeInstallLink } from "../src/commands/install-links.ts";
import { ERROR_CODES } from "../src/errors.ts";

/** Without the blanks and dashes with which a formatter widens a table. */
const plain = (text: string) => text.replaceAll(/-{3,}/g, "---").replaceAll(/\s+/g, " ");
const read = (name: string) => readFile(new URL(`../${name}`, import.meta.url), "utf8");

/** The first cells of a table's rows, without their code marks. */
const firstCells = (text: string, heading: string): string[] =>
  text
    .slice(text.indexOf(heading))
    .split("\n")
    .slice(1)
    .filter((line) => line.startsWith("| `"))
    .map((line) => (line.split("|")[1] ?? "").replaceAll("`", "").trim());

test("docs/ERRORS.md explains each error code, in the order of the code", async () => {
  expect(firstCells(await read("docs/ERRORS.md"), "| code")).toEqual([...ERROR_CODES]);
});

test.each(Object.entries(README_PARTS))(
  "the README's table of %s is what `npm run docs` makes of the code",
  async (name, part) => {
    const readme = await read("README.md");
    expect(plain(readme)).toBe(plain(withPart(readme, name, part)));
  },
);

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
