// The first file that runs: on an old Node it says so, on a good one it is not noticed.

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { connectOld, SERVER_NODE } from "./fixtures/clients.ts";
import { laterThanEs5 } from "./fixtures/es5.ts";
import { run } from "./fixtures/run.ts";

const BIN = fileURLToPath(new URL("../dist/bin.cjs", import.meta.url));
const PRELOAD = fileURLToPath(new URL("fixtures/node-version.cjs", import.meta.url));
const NEEDED = manifest.engines.node.replace(/^>=/, "");

const runAs = (version: string, ...args: string[]) =>
  run(SERVER_NODE, ["-r", PRELOAD, BIN, ...args], { env: { FAKE_NODE: version } });

test.each(["0.10.48", "4.9.1", "12.22.12", "18.20.8", "19.99.99", "20.9.0", "20.18.0"])(
  "Node %s is told in one line on stderr which one is needed, exit 1",
  async (version) => {
    expect(await runAs(version)).toEqual({
      code: 1,
      stdout: "",
      stderr:
        `faceless-video-mcp needs Node.js ${NEEDED} or newer, and was started by ${version} (${SERVER_NODE}). ` +
        "Install a newer one from https://nodejs.org, or name it by its full path in your client's settings.\n",
    });
  },
);

test.each([NEEDED, "20.18.10", "20.19.0", "21.0.0", "100.0.0", "26.0.0-nightly20260101"])(
  "Node %s runs the server's command line",
  async (version) => {
    expect(await runAs(version, "--version")).toEqual({
      code: 0,
      stdout: `${manifest.version}\n`,
      stderr: "",
    });
  },
);

test("arguments and exit codes pass through it", async () => {
  expect(await run(SERVER_NODE, [BIN, "--nonsense"])).toEqual({
    code: 2,
    stdout: "",
    stderr: "faceless-video-mcp: unknown option --nonsense; see faceless-video-mcp --help\n",
  });
});

test("a client that starts it talks to the server", async () => {
  const client = await connectOld({ file: BIN, args: ["--sandbox"] });
  const { structuredContent } = await client.call("generate_video", { topic: "The tide" });
  expect(structuredContent).toMatchObject({ status: "processing" });
});

test("package.json names it, so that npx starts it", () => {
  expect(manifest.bin).toEqual({ "faceless-video-mcp": "dist/bin.cjs" });
});

test.each(["../src/bin.cjs", "../dist/bin.cjs", "../.config/mcpb/server/index.cjs"])(
  "%s holds nothing that an engine of 2009 could not read",
  async (file) => {
    expect(laterThanEs5(await readFile(new URL(file, import.meta.url), "utf8"))).toEqual([]);
  },
);

test.each([
  ["const a = 1;", "VariableDeclaration const"],
  ["var f = (a) => a;", "ArrowFunctionExpression"],
  ["import('x');", "ImportExpression"],
  ["f(a, );", "comma after the last argument"],
  ["var o = { a };", "Property shorthand"],
  ["var s = `a`;", "TemplateLiteral"],
  ["a?.b;", "ChainExpression"],
  ["try { a(); } catch { b(); }", "CatchClause without a name"],
  ["class A {}", "ClassDeclaration"],
  ["f(...a);", "SpreadElement"],
  ["function f(a = 1) {}", "AssignmentPattern"],
  ["/a/u.test(b);", "Literal /u"],
])("that check would find %s", (source, found) => {
  expect(laterThanEs5(source)).toContain(found);
});
