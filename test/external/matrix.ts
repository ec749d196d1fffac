// npm run matrix -- 22 24: tests the built file on other Nodes, each from the npm package `node`; `this`
// is the running one. A Node that is too old must be refused in one line, so the first file must parse on it.

import { spawnSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeFolder, removeFolder } from "../fixtures/folder.ts";
import { nodeProgram } from "./fixtures/npm-versions.ts";
import { run } from "../fixtures/run.ts";

/** The lowest of package.json's engines, the even releases since, and three that are too old. */
const NODES = ["20.18.1", "20", "22", "24", "26", "18", "12", "6"];
/** The test files that start the built file, on the Node of SERVER_NODE. Tests stay on the running Node. */
const SUITES = [
  "e2e/stdio",
  "e2e/demo",
  "e2e/bin",
  "e2e/never-twice",
  "features/generate",
  "features/protocol",
  "features/foreign-service",
  "features/follow",
  "features/waiting",
];

const root = fileURLToPath(new URL("../..", import.meta.url));

const asked = process.argv.slice(2);
for (const wanted of asked.length > 0 ? asked : NODES) {
  const path = wanted === "this" ? process.execPath : await nodeProgram(wanted);
  const node = (await run(path, ["-p", "process.versions.node"])).stdout.trim();
  const isKept = Number.parseInt(node, 10) < 20 ? await isRefused(path) : passSuites(path);
  process.stdout.write(`Node ${node}: ${isKept ? "ok" : "FAILED"}\n`);
  if (!isKept) process.exitCode = 1;
}

/** True if this Node is refused by the first file of the package, and of the bundle, which loads it. */
async function isRefused(node: string): Promise<boolean> {
  const folder = makeFolder();
  try {
    cpSync(join(root, "src/bin.cjs"), join(folder, "dist/bin.cjs"));
    cpSync(join(root, "scripts/mcpb/server"), join(folder, "server"), { recursive: true });
    const files = ["dist/bin.cjs", "server/index.cjs"].map((file) => join(folder, file));
    const ran = await Promise.all(files.map((file) => run(node, [file, "--version"])));
    for (const { stderr } of ran) process.stdout.write(stderr.slice(0, 300));
    return ran.every(
      ({ code, stdout, stderr }) =>
        code === 1 && stdout === "" && /^faceless-video-mcp needs Node\.js .+\n$/.test(stderr),
    );
  } finally {
    removeFolder(folder);
  }
}

function passSuites(node: string): boolean {
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const files = SUITES.map((name) => `test/${name}.test.ts`);
  const { status } = spawnSync(process.execPath, [vitest, "run", ...files], {
    cwd: root,
    env: { ...process.env, SERVER_NODE: node },
    stdio: "inherit",
  });
  return status === 0;
}
