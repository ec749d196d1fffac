// The built file on other Nodes, each from the npm package `node`: `npm run test:matrix -- 22 24`. `this` is the Node that
// runs the script. On one that is too old the file has to say so.

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { run } from "./fixtures/run.ts";

/** Lowest of package.json's engines, the even lines since, and three that are refused. */
const NODES = ["20.18.1", "20", "22", "24", "26", "18", "12", "6"];
/** What starts the built file over stdio. The tests themselves stay on the Node that runs this. */
const SUITES = ["stdio", "foreign-service", "subscriptions", "waiting", "demo", "bin"];

interface Row {
  readonly node: string;
  readonly ok: boolean;
  readonly told: string;
}

const reportSchema = z.object({
  numTotalTests: z.number(),
  numPassedTests: z.number(),
  numPendingTests: z.number(),
  testResults: z.array(
    z.object({ assertionResults: z.array(z.object({ status: z.string(), fullName: z.string() })) }),
  ),
});

const root = fileURLToPath(new URL("..", import.meta.url));

const asked = process.argv.slice(2);
const rows: Row[] = [];
for (const node of asked.length > 0 ? asked : NODES) {
  // eslint-disable-next-line no-await-in-loop -- one after the other: the suites measure time
  rows.push(await testOn(node));
}
process.stdout.write("| Node | built file | |\n|---|---|---|\n");
for (const { node, ok, told } of rows)
  process.stdout.write(`| ${node} | ${ok ? "ok" : "FAILED"} | ${told} |\n`);
if (rows.some(({ ok }) => !ok)) process.exitCode = 1;

async function testOn(wanted: string): Promise<Row> {
  const path = wanted === "this" ? process.execPath : await fetchNode(wanted);
  const { stdout } = await run(path, ["-p", "process.versions.node"]);
  const node = stdout.trim();
  return Number(node.split(".")[0]) < 20 ? refusal(node, path) : suites(node, path);
}

/** Its executable, kept in npm's cache. */
async function fetchNode(version: string): Promise<string> {
  const args = ["--yes", "--package", `node@${version}`, "--", "node", "-p", "process.execPath"];
  const { code, stdout, stderr } = await run("npx", args);
  if (code !== 0) throw new Error(`There is no Node ${version} to be had: ${stderr}`);
  return stdout.trim();
}

async function refusal(node: string, path: string): Promise<Row> {
  const { code, stdout, stderr } = await run(path, [join(root, "dist/bin.cjs"), "--version"]);
  const ok = code === 1 && stdout === "" && /^faceless-video-mcp needs Node\.js .+\n$/.test(stderr);
  return { node, ok, told: ok ? "refused in one line" : `exit ${code}: ${stderr.slice(0, 300)}` };
}

async function suites(node: string, path: string): Promise<Row> {
  const folder = await mkdtemp(join(tmpdir(), "faceless-matrix-"));
  const report = join(folder, "report.json");
  const started = performance.now();
  const { stdout, stderr } = await run(
    process.execPath,
    [
      join(root, "node_modules/vitest/vitest.mjs"),
      "run",
      "--config=.config/vitest.config.ts",
      "--reporter=json",
      `--outputFile=${report}`,
      ...SUITES.map((name) => `test/${name}.test.ts`),
    ],
    { cwd: root, env: { SERVER_NODE: path } },
  );
  const seconds = Math.round((performance.now() - started) / 1000);
  const text = await readFile(report, "utf8").catch(() => {
    throw new Error(`The tests did not run on Node ${node}: ${stdout}${stderr}`);
  });
  await rm(folder, { recursive: true });
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
    told: `${numPassedTests} of ${numTotalTests} tests in ${seconds} s`,
  };
}
