// npm run test:matrix -- 22 24: runs the end-to-end tests with the built file on other Nodes, each from the npm package `node`. `this` is
// the Node that runs the script. A Node that is too old must be refused in one line, so the first file must parse on it.

import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { fetchNode } from "../fixtures/fetch-node.ts";
import { run } from "../fixtures/run.ts";

/** The lowest of package.json's engines, the even releases since, and three that are too old. */
const NODES = ["20.18.1", "20", "22", "24", "26", "18", "12", "6"];
/** The test files that start the built file, if SERVER_NODE is set. The tests themselves run on the Node that runs this script. */
const SUITES = [
  "e2e/stdio",
  "e2e/stdio-fuzz",
  "e2e/demo",
  "e2e/bin",
  "mcp/server",
  "mcp/foreign-service",
  "mcp/subscriptions",
  "mcp/waiting",
];

interface Row {
  readonly node: string;
  readonly ok: boolean;
  readonly report: string;
}

const reportSchema = z.object({
  numTotalTests: z.number(),
  numPassedTests: z.number(),
  numPendingTests: z.number(),
  testResults: z.array(
    z.object({ assertionResults: z.array(z.object({ status: z.string(), fullName: z.string() })) }),
  ),
});

const root = fileURLToPath(new URL("../..", import.meta.url));

const asked = process.argv.slice(2);
const rows: Row[] = [];
for (const node of asked.length > 0 ? asked : NODES) {
  // eslint-disable-next-line no-await-in-loop -- one after the other: each uses both cores
  rows.push(await testOn(node));
}
process.stdout.write("| Node | built file | |\n|---|---|---|\n");
for (const { node, ok, report } of rows)
  process.stdout.write(`| ${node} | ${ok ? "ok" : "FAILED"} | ${report} |\n`);
if (rows.some(({ ok }) => !ok)) process.exitCode = 1;

async function testOn(wanted: string): Promise<Row> {
  const path = wanted === "this" ? process.execPath : await fetchNode(wanted);
  const { stdout } = await run(path, ["-p", "process.versions.node"]);
  const node = stdout.trim();
  return Number(node.split(".")[0]) < 20 ? refusal(node, path) : suites(node, path);
}

/** Starts the first file of the package and that of the .mcpb bundle, which loads it. */
async function refusal(node: string, path: string): Promise<Row> {
  const folder = await mkdtemp(join(tmpdir(), "faceless-matrix-"));
  try {
    await cp(join(root, "src/bin.cjs"), join(folder, "dist/bin.cjs"));
    await cp(join(root, ".config/mcpb/server"), join(folder, "server"), { recursive: true });
    for (const file of ["dist/bin.cjs", "server/index.cjs"]) {
      // eslint-disable-next-line no-await-in-loop -- the first failure is the report
      const { code, stdout, stderr } = await run(path, [join(folder, file), "--version"]);
      const refused = code === 1 && stdout === "" && /^faceless-video-mcp needs Node\.js .+\n$/.test(stderr);
      if (!refused)
        return {
          node,
          ok: false,
          report: `${file}: exit ${code}: ${stderr.slice(0, 300).replaceAll(/\s+/g, " ")}`,
        };
    }
    return { node, ok: true, report: "refused in one line" };
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function suites(node: string, path: string): Promise<Row> {
  const folder = await mkdtemp(join(tmpdir(), "faceless-matrix-"));
  try {
    return await runSuites(node, path, join(folder, "report.json"));
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function runSuites(node: string, path: string, reportFile: string): Promise<Row> {
  const startMs = performance.now();
  const { stdout, stderr } = await run(
    process.execPath,
    [
      join(root, "node_modules/vitest/vitest.mjs"),
      "run",
      "--config=.config/vitest.config.ts",
      "--reporter=json",
      `--outputFile=${reportFile}`,
      ...SUITES.map((name) => `test/${name}.test.ts`),
    ],
    { cwd: root, env: { SERVER_NODE: path } },
  );
  const seconds = Math.round((performance.now() - startMs) / 1000);
  const text = await readFile(reportFile, "utf8").catch(() => {
    throw new Error(`The tests did not run on Node ${node}: ${stdout}${stderr}`);
  });
  const { numTotalTests, numPassedTests, numPendingTests, testResults } = reportSchema.parse(
    JSON.parse(text),
  );
  const failed = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === "failed");
  for (const { fullName } of failed) process.stderr.write(`Node ${node}: ${fullName}\n`);
  return {
    node,
    ok: numPassedTests + numPendingTests === numTotalTests && numPassedTests > 0,
    report: `${numPassedTests} of ${numTotalTests} tests in ${seconds} s`,
  };
}
