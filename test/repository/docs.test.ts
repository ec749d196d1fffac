// The documents are true. `npm run docs -- check` checks the same from a terminal.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DOCUMENTS, findFaults, readDocument } from "../../scripts/docs-check.ts";
import { withLaunch } from "../../scripts/docs-launch.ts";
import { PARTS, withPart } from "../../scripts/docs-parts.ts";
import manifest from "../../package.json" with { type: "json" };
import packages from "../fixtures/client-versions.json" with { type: "json" };
import { COMMANDS } from "../../src/command-line.ts";
import { VERSIONS } from "../fixtures/npm-tools.ts";
import { TOOLS } from "../fixtures/tools.ts";

/** A document without generated parts, at the root like the paths below. */
const PLAIN = "AGENTS.md";

test.each(DOCUMENTS)("%s is up to date, and all that it names and links to exists", (name) => {
  expect(findFaults(name)).toEqual([]);
});

test.each([
  ["a page that does not exist", "[x](docs/NO.md)", "there is no such link: docs/NO.md"],
  ["a heading that does not exist", "[x](docs/SETTINGS.md#no)", "there is no such link: docs/SETTINGS.md#no"],
  ["an address without https", "[x](http://example.com)", "there is no such link: http://example.com"],
  ["a setting that does not exist", "Set `FACELESS_NO`.", "there is no such setting: FACELESS_NO"],
  ["a file that does not exist", "See `service/no.ts`.", "there is no such file: service/no.ts"],
  ["a script that does not exist", "Run `npm run no`.", "there is no such script: no"],
  [
    "another Node.js than the package",
    "[Node.js](https://nodejs.org) 18.0.0 or newer",
    "Node.js 18.0.0 is not what package.json needs",
  ],
  [
    "an option that the command lacks",
    "```sh\nnpx -y faceless-video-mcp doctor --no\n```",
    "has no option --no",
  ],
  ["another version", "`npx -y faceless-video-mcp@0.0.9 demo`", "it names version 0.0.9: npm run docs"],
  ["a command that does not exist", "`faceless-video-mcp no`", "unknown command no"],
  ["a client that does not exist", "`config no`", "unknown client no"],
])("a document with %s is refused", (_, text, fault) => {
  expect(findFaults(PLAIN, text)).toEqual([expect.stringContaining(fault)]);
});

test("a document with a generated part that was changed by hand is refused", () => {
  const changed = withPart(readDocument("README.md"), "tools", `${PARTS["README.md"].tools}!`);
  expect(findFaults("README.md", changed)).toEqual(["its part tools is out of date: npm run docs"]);
});

test("a release flips every command for users, and back", () => {
  const inClone = "In a clone, `node dist/bin.cjs config cursor`.";
  const released = "In a clone, `cd ~; npx -y faceless-video-mcp config cursor`.";
  expect([withLaunch(inClone, true), withLaunch(released, false)]).toEqual([released, inClone]);
  expect(findFaults("README.md", withLaunch(readDocument("README.md"), !manifest.isOnNpm))).toContain(
    "its commands start the program in another way than isOnNpm says: npm run docs",
  );
});

test("every document with a command for users says whether npm has the package", () => {
  const documents = Object.entries<Readonly<Record<string, string>>>(PARTS).flatMap(([name, parts]) =>
    "npm" in parts ? [[name, parts["npm"]]] : [],
  );
  expect(documents.length).toBeGreaterThan(7);
  expect(
    documents.filter(([, said]) => said?.startsWith("**Not on npm yet.**") === manifest.isOnNpm),
  ).toEqual([]);
  expect(withPart("<!-- npm -->\n\nNot yet.\n\n<!-- /npm -->\n", "npm", "")).toBe(
    "<!-- npm -->\n\n<!-- /npm -->\n",
  );
});

test("each test that test/README.md names for an attack exists", () => {
  const rows = readDocument("test/README.md").match(/(?<=^\| [A-Z].* \| ).+?(?= *\|$)/gm) ?? [];
  const names = rows.map((row) => row.split(" | ").at(-1)?.trim() ?? "");
  const tests = readdirSync("test", { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.includes("node_modules"))
    .map((path) => readFileSync(join("test", path), "utf8"))
    .join("");
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !tests.includes(name))).toEqual([]);
});

test("every command of the documents that starts npx does so outside of projects", () => {
  const commands = [...DOCUMENTS, ".github/ISSUE_TEMPLATE/bug.yml"].flatMap((name) =>
    [...withLaunch(readDocument(name), true).matchAll(/`{3}sh\n[^]*?`{3}|(?<!`)`[^`\n]+`/g)].map(
      ([text]) => text,
    ),
  );
  // A container has no project.
  const starts = commands.filter((text) => /\bnpx -y /.test(text) && !text.includes("docker run"));
  expect(starts.length).toBeGreaterThan(8);
  expect(starts.filter((text) => !/^`+(?:sh\n *)?cd ~(?:;| &&) |^`npx -y`$/.test(text))).toEqual([]);
});

test("each tool and command is documented where users look for it", () => {
  const [first = ""] = readDocument("CHANGELOG.md").split(/^### (?!Added)/m);
  const unknown = (names: readonly string[], ...documents: readonly string[]) =>
    documents.flatMap((text) => names.filter((name) => !new RegExp(`\\b${name}\\b`).test(text)));
  const commands = Object.keys(COMMANDS).filter((name) => name !== "");

  expect(unknown(TOOLS, first, readDocument("docs/TOOLS.md"))).toEqual([]);
  expect(readDocument("docs/demo.txt")).toContain(`\n  ${TOOLS.join(", ")}\n`);
  expect(unknown(commands, first, readDocument("README.md") + readDocument("docs/SCRIPTS.md"))).toEqual([]);
});

test("npm run inspect starts the Inspector that the tests run", () => {
  const version = VERSIONS["@modelcontextprotocol/inspector"];
  expect(manifest.scripts.inspect).toContain(` @modelcontextprotocol/inspector@${version} `);
});

test("docs/ERRORS.md explains each error code, and finds it by the first words of its text", () => {
  const codes = readFileSync("src/errors.ts", "utf8").match(/(?<=^ {2}\| ")\w+/gm) ?? [];
  const [, ...sections] = readDocument("docs/ERRORS.md").split(/^### /m);
  expect(sections.join("").match(/(?<=^- `)\w+/gm)).toEqual(codes);
  const found = PARTS["docs/ERRORS.md"].words.match(/(?<=`)\w+(?=`)/g);
  expect(new Set(found)).toEqual(new Set(codes));
});

test("the clients' document names the versions that the tests run", () => {
  const document = readDocument("docs/CLIENTS.md");
  const { devDependencies } = manifest;
  const minor = (version: string) => version.replace(/\.\d+$/, "");
  expect(document.match(/(?:SDK|Inspector) \d[\d.]*\d/g)).toEqual([
    `SDK ${minor(devDependencies["@modelcontextprotocol/sdk"])}`,
    `SDK ${minor(devDependencies["@modelcontextprotocol/client"])}`,
    `Inspector ${minor(VERSIONS["@modelcontextprotocol/inspector"])}`,
  ]);
  const { node: _, ...applications } = packages;
  expect(Object.values(applications).filter((version) => !document.includes(` ${version} `))).toEqual([]);
});
