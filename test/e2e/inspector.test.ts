// The MCP Inspector's CLI with the built server, as a developer would check it. It isn't a devDependency, since
// npm would warn everybody who installs on the lowest Node that we support.

import { beforeAll, expect, test } from "vitest";
import { BUILT_FILE } from "../fixtures/clients.ts";
import { npmProgram } from "../fixtures/npm-tools.ts";
import { run } from "../fixtures/run.ts";
import { TOOLS } from "../fixtures/tools.ts";

let bin: string;
// The first run on a computer downloads it.
beforeAll(async () => {
  bin = await npmProgram("@modelcontextprotocol/inspector", "mcp-inspector");
});

test("the Inspector accepts every tool schema in strict mode", async () => {
  const args = ["--cli", "node", BUILT_FILE, "--sandbox", "--", "--format", "json"];
  const { code, stdout, stderr } = await run(bin, [...args, "--method", "tools/list", "--strict"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({ result: { tools: TOOLS.map((name) => ({ name })) } });
});
