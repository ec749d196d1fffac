// npm run conformance: the official suite with both protocol versions. Fails on a result that differs
// from the baselines beside it, for better or worse. `npm run conformance -- caching` runs one scenario.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { BUILT_FILE } from "../../fixtures/clients.ts";
import { makeFolder, removeFolder } from "../../fixtures/folder.ts";
import { npmProgram } from "../../fixtures/npm-tools.ts";
import { startBridge } from "./bridge.ts";

const VERSIONS = ["2025-11-25", "2026-07-28"];

const scenarios = process.argv.slice(2);
// The sandbox gives calls something to work with.
const bridge = await startBridge({
  command: process.execPath,
  args: [BUILT_FILE, "--sandbox"],
  env: { FACELESS_STATE_DIR: "off" },
});
const folder = makeFolder();
try {
  // The suite needs a newer Node than package.json's engines.
  const node = await npmProgram("node", "node");
  const suite = await npmProgram("@modelcontextprotocol/conformance", "conformance");
  for (const version of VERSIONS) {
    const baseline = fileURLToPath(new URL(`${version}.yml`, import.meta.url));
    process.stdout.write(`\n${version}\n`);
    const which =
      scenarios.length > 0 ? scenarios.flatMap((name) => ["--scenario", name]) : ["--suite", "all"];
    const args = ["server", "--url", bridge.url, ...which, "--spec-version", version];
    const child = spawn(node, [suite, ...args, "--expected-failures", baseline, "-o", folder], {
      stdio: ["ignore", "inherit", "inherit"],
    });
    const [code]: unknown[] = await once(child, "close");
    if (code !== 0) process.exitCode = 1;
  }
} finally {
  await bridge.close();
  removeFolder(folder);
}
