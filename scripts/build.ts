// npm run build: like rolldown's command, but prints no list of files, which would precede others' output.
// Fails if the built server does not start or a file is not JavaScript, since the configuration removes parts of the
// SDK and of undici and rewrites all letters beyond ASCII.

import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { compileFunction } from "node:vm";
import { build } from "rolldown";
import config from "./rolldown.config.ts";

await build(config);
for (const name of readdirSync("dist", { recursive: true, encoding: "utf8" }))
  if (name.endsWith(".cjs")) compileFunction(readFileSync(`dist/${name}`, "utf8"), [], { filename: name });

const clientInfo = { name: "build", version: "1.0.0" };
const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
const { stdout, stderr } = spawnSync(process.execPath, ["dist/bin.cjs", "--sandbox"], {
  input: `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`,
  encoding: "utf8",
});
if (!stdout.includes('"serverInfo"')) throw new Error(`The built server does not start: ${stdout}${stderr}`);
