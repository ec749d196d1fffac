// The documents agree with the code and with each other.

import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { entryFor, llmsTxt, PARTS, withPart } from "../.config/docs-parts.ts";
import manifest from "../package.json" with { type: "json" };
import { CLIENTS } from "../src/command-line.ts";
import packages from "./checks/clients/packages.json" with { type: "json" };
import { cursorInstallLink, vscodeInstallLink } from "../src/commands/install-links.ts";
import { launch } from "../src/commands/server-entry.ts";

const root = new URL("../", import.meta.url);
const read = (name: string) => readFile(new URL(name, root), "utf8");
const markdownIn = async (folder: string) =>
  (await readdir(new URL(folder, root))).flatMap((name) =>
    name.endsWith(".md") ? [`${folder}${name}`] : [],
  );
const DOCUMENTS = [
  ...(await markdownIn("./")),
  ...(await markdownIn("docs/")),
  ...(await markdownIn(".github/")),
];

test.each(
  Object.entries(PARTS).flatMap(([file, parts]) =>
    Object.entries(parts).map(([name, part]) => [file, name, part] as const),
  ),
)("%s has its generated part %s up to date", async (file, name, part) => {
  const document = await read(file);
  expect(document).toBe(withPart(document, name, part));
});

test("llms.txt is up to date", async () => {
  expect(await read("llms.txt")).toBe(llmsTxt());
});

test.each([...DOCUMENTS, "llms.txt"])("every file that %s links to exists", async (name) => {
  const links = [...(await read(name)).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path = ""]) => path);
  expect(links.filter((path) => !existsSync(new URL(path, new URL(name, root))))).toEqual([]);
});

test("every source file that the architecture names exists", async () => {
  const named = [...(await read("docs/ARCHITECTURE.md")).matchAll(/`(?:src\/)?((?:[\w-]+\/)+[\w-]+\.ts)`/g)];
  const paths = named.map(([, path = ""]) => path);
  expect(paths.length).toBeGreaterThan(50);
  expect(paths.filter((path) => !existsSync(new URL(`src/${path}`, root)))).toEqual([]);
});

test("Cursor's entry is the one that the README shows, with the key from the environment", () => {
  expect(PARTS["README.md"].entry.replace("fl_example", "${env:FACELESS_API_KEY}")).toBe(
    `\`\`\`json\n${entryFor("cursor")}\`\`\``,
  );
});

test("the README names every client that `config` knows", async () => {
  const readme = await read("README.md");
  expect(CLIENTS.filter((client) => !readme.includes(`\`${client}\``))).toEqual([]);
});

test("the README's install links are those that the code makes", async () => {
  const readme = await read("README.md");
  const start = { ...launch({ windows: false, sandbox: false }), sandbox: false };
  expect(readme).toContain(`](${cursorInstallLink(start)})`);
  expect(readme).toContain(`](${vscodeInstallLink(start)})`);
});

test("the clients' document names the versions that the tests run", async () => {
  const document = await read("docs/CLIENTS.md");
  const { devDependencies } = manifest;
  const minor = (version: string) => version.replace(/\.\d+$/, "");
  expect(document.match(/(?:SDK|Inspector) \d[\d.]*/g)).toEqual([
    `SDK ${minor(devDependencies["@modelcontextprotocol/sdk"])}`,
    `SDK ${minor(devDependencies["@modelcontextprotocol/client"])}`,
    `Inspector ${minor(devDependencies["@modelcontextprotocol/inspector"])}`,
  ]);
  const { node: _, ...applications } = packages;
  expect(Object.values(applications).filter((version) => !document.includes(` ${version} `))).toEqual([]);
});
