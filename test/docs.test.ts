// The documents say what the code says.

import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { cursorInstallLink, vscodeInstallLink } from "../src/commands/install-links.ts";
import { ERROR_CODES } from "../src/errors.ts";
import { VARIABLES } from "../src/settings.ts";
import { toolsFor } from "../src/tools/catalog.ts";

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

test("the README's tables name each tool and each variable", async () => {
  const readme = await read("README.md");
  const tools = toolsFor({ readOnly: false, noPublish: false }).map(({ name }) => name);
  const cells = [
    ...firstCells(readme, "## Tools").slice(0, tools.length),
    ...firstCells(readme, "## Environment"),
  ];
  expect(cells).toEqual([...tools, ...VARIABLES.map(({ name }) => name)]);
});

test("the README's table of variables gives their meanings and defaults as --help does", async () => {
  const plain = (await read("README.md")).replaceAll("`", "").replaceAll(/ +/g, " ");
  for (const { name, meaning, default: value } of VARIABLES)
    expect(plain).toContain(`| ${name} | ${meaning} | ${value} |`);
});

test("the README's install links are those that the code makes", async () => {
  const readme = await read("README.md");
  const form = { windows: false, sandbox: false };
  expect(readme).toContain(`](${cursorInstallLink(form)})`);
  expect(readme).toContain(`](${vscodeInstallLink(form)})`);
});
