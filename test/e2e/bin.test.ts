// The first file refuses an old Node in one line, and otherwise starts the server. `npm run matrix`
// runs it on real old Nodes.

import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { BUILT_FILE, SERVER_NODE } from "../fixtures/clients.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { type RawServer, startRaw } from "../fixtures/raw-server.ts";
import { run } from "../fixtures/run.ts";
import { scriptedService } from "../fixtures/scripted-service.ts";
import { until } from "../fixtures/until.ts";

const PRELOAD = fileURLToPath(new URL("../fixtures/node-version.cjs", import.meta.url));
const NEEDED = manifest.engines.node.replace(/^>=/, "");

const runAs = (version: string, ...args: string[]) =>
  run(SERVER_NODE, ["-r", PRELOAD, BUILT_FILE, ...args], { env: { FAKE_NODE: version } });

test.each(["0.10.48", "20.9.0", "20.18.0"])(
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

test.each([NEEDED, "100.0.0", "26.0.0-nightly20260101"])("Node %s runs the command line", async (version) => {
  expect(await runAs(version, "--version")).toEqual({
    code: 0,
    stdout: `${manifest.version}\n`,
    stderr: "",
  });
});

test("arguments and exit codes pass through the first file", async () => {
  expect(await run(SERVER_NODE, [BUILT_FILE, "--nonsense"])).toEqual({
    code: 2,
    stdout: "",
    stderr: `faceless-video-mcp: the server has no option --nonsense; see node ${BUILT_FILE} --help\n`,
  });
});

test("a Node.js without WebAssembly is reported as a setting of this computer, never as the network", async () => {
  const { url } = await scriptedService();
  const env = { FACELESS_API_KEY: "fl_example_key", FACELESS_BASE_URL: url, FACELESS_STATE_DIR: "off" };
  const { stderr } = await run(SERVER_NODE, ["--jitless", BUILT_FILE, "call", "list_videos"], { env });

  expect(stderr).toContain(
    "could not be sent to list the videos: Node.js has no WebAssembly on this computer",
  );
  expect(stderr).toContain("NODE_OPTIONS=--disable-wasm-trap-handler");
  expect(stderr).not.toMatch(/network|FACELESS_BASE_URL/);
});

const SETTINGS = { FACELESS_API_KEY: "fl_example_key", FACELESS_BASE_URL: "https://videos.test" };
const canCache =
  (await run(SERVER_NODE, ["-p", "typeof require('module').flushCompileCache"])).stdout === "function\n";

/** A server that has listed its tools, with a home folder of its own. */
async function listTools(home: string, env: Readonly<Record<string, string>>): Promise<RawServer> {
  const server = startRaw({ env: { HOME: home, FACELESS_STATE_DIR: "", ...env } });
  onTestFinished(() => void server.child.kill("SIGKILL"));
  await server.open("legacy");
  await server.ask("tools/list");
  return server;
}

async function endsCleanly(server: RawServer): Promise<void> {
  server.stdin.end();
  expect(await server.ended).toMatchObject({ code: 0, signal: null });
}

test.runIf(canCache)(
  "even a killed server keeps its compiled code beside the journal, and the next start uses it",
  async () => {
    const home = temporaryFolder();
    const folder = join(home, ".faceless-video-mcp/compiled");
    const first = await listTools(home, SETTINGS);
    await until(() => readdirSync(folder, { recursive: true }).length > 1);
    first.child.kill("SIGKILL");
    await first.ended;

    const second = await listTools(home, { ...SETTINGS, NODE_DEBUG_NATIVE: "COMPILE_CACHE" });

    expect(second.stderr()).toMatch(/serve-\S+ was accepted/);
    expect(lstatSync(join(home, ".faceless-video-mcp")).mode & 0o777).toBe(0o700);
    await endsCleanly(second);
  },
);

test.each([
  ["no journal is kept", { ...SETTINGS, FACELESS_STATE_DIR: "off" }],
  ["settings are missing", {}],
  ["the home folder can't be written to", { ...SETTINGS, HOME: "/proc" }],
  // That folder may lie in a project, whose files must not be run.
  ["the journal lies in a folder that was set", { ...SETTINGS, FACELESS_STATE_DIR: "~" }],
])("if %s, a server runs without keeping compiled code", async (_, env) => {
  const home = temporaryFolder();

  await endsCleanly(await listTools(home, env));

  expect(readdirSync(home)).toEqual([]);
});
