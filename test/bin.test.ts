// The first file that runs: it refuses an old Node in one line. test/matrix.ts runs it on real old ones.

import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { connectOld, SERVER_NODE } from "./fixtures/clients.ts";
import { run } from "./fixtures/run.ts";

const BIN = fileURLToPath(new URL("../dist/bin.cjs", import.meta.url));
const PRELOAD = fileURLToPath(new URL("fixtures/node-version.cjs", import.meta.url));
const NEEDED = manifest.engines.node.replace(/^>=/, "");

const runAs = (version: string, ...args: string[]) =>
  run(SERVER_NODE, ["-r", PRELOAD, BIN, ...args], { env: { FAKE_NODE: version } });

test.each(["0.10.48", "4.9.1", "12.22.12", "18.20.8", "19.99.99", "20.9.0", "20.18.0"])(
  "Node %s is refused with one line on stderr and exit 1",
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

test("it passes on arguments and exit codes", async () => {
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
