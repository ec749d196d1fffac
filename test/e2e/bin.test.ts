// The first file refuses an old Node in one line, and otherwise starts the server. `npm run test:matrix`
// runs it on real old Nodes.

import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { BUILT_FILE, SERVER_NODE } from "../fixtures/clients.ts";
import { run } from "../fixtures/run.ts";

const PRELOAD = fileURLToPath(new URL("../fixtures/node-version.cjs", import.meta.url));
const NEEDED = manifest.engines.node.replace(/^>=/, "");

const runAs = (version: string, ...args: string[]) =>
  run(SERVER_NODE, ["-r", PRELOAD, BUILT_FILE, ...args], { env: { FAKE_NODE: version } });

test.each(["0.10.48", "18.20.8", "20.9.0", "20.18.0"])(
  "Node %s is refused with exit code 1 and one line that names the required version",
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

test.each([NEEDED, "20.18.10", "100.0.0", "26.0.0-nightly20260101"])(
  "Node %s runs the command line",
  async (version) => {
    expect(await runAs(version, "--version")).toEqual({
      code: 0,
      stdout: `${manifest.version}\n`,
      stderr: "",
    });
  },
);

test("arguments and exit codes pass through the first file", async () => {
  expect(await run(SERVER_NODE, [BUILT_FILE, "--nonsense"])).toEqual({
    code: 2,
    stdout: "",
    stderr: "faceless-video-mcp: unknown option --nonsense; see faceless-video-mcp --help\n",
  });
});
