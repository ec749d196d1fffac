// The MCP Inspector's CLI with the built server, as a developer would check it. It is no devDependency, since
// npm would warn whoever installs it on the lowest Node that we promise.

import { beforeAll, expect, test } from "vitest";
import { BUILT_FILE } from "../fixtures/clients.ts";
import { TOOLS } from "../fixtures/constants.ts";
import { npmProgram } from "../fixtures/npm-tools.ts";
import { run } from "../fixtures/run.ts";

/** The first run on a computer downloads it. */
const INSTALLATION_MS = 300_000;

let bin: string;
beforeAll(async () => {
  bin = await npmProgram("@modelcontextprotocol/inspector", "mcp-inspector");
}, INSTALLATION_MS);

const inspect = (args: string, env: readonly string[] = []) => {
  const server = ["env", ...env, "node", BUILT_FILE, "--sandbox"];
  return run(bin, ["--cli", ...server, "--", "--format", "json", ...args.split(" ")]);
};

test("the Inspector accepts every tool schema in strict mode", async () => {
  const { code, stdout, stderr } = await inspect("--method tools/list --strict");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({ result: { tools: TOOLS.map((name) => ({ name })) } });
});

test("the Inspector reports a failed call by its exit code", async () => {
  const { code } = await inspect("--method tools/call --tool-name get_video_status --tool-arg jobId=1");
  expect(code).toBe(5);
});

test("one call of generate_video lasts for a whole render and returns the finished video", async () => {
  const settings = ["FACELESS_STATE_DIR=off", "FACELESS_SANDBOX_SECONDS=1", "FACELESS_POLL_SECONDS=0.2"];
  const { code, stdout, stderr } = await inspect(
    "--protocol-era modern --method tools/call --tool-name generate_video --tool-arg topic=Tides",
    settings,
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({
    result: { structuredContent: { status: "completed", done: true, finalVideoUrl: expect.any(String) } },
  });
});
