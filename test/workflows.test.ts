// The workflows that test and publish this: what they run is fixed, and what they may do is little.

import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { parse } from "yaml";
import * as z from "zod";
import manifest from "../package.json" with { type: "json" };

const jobSchema = z.looseObject({
  "runs-on": z.string(),
  "timeout-minutes": z.number(),
  permissions: z.record(z.string(), z.enum(["read", "write"])),
  needs: z.string().optional(),
  environment: z.string().optional(),
  strategy: z.looseObject({ matrix: z.record(z.string(), z.array(z.unknown())) }).optional(),
  steps: z.array(
    z.looseObject({
      uses: z.string().optional(),
      run: z.string().optional(),
      with: z.record(z.string(), z.unknown()).optional(),
    }),
  ),
});
const workflowSchema = z.looseObject({
  on: z.record(z.string(), z.unknown()),
  permissions: z.strictObject({}),
  concurrency: z.looseObject({ group: z.string() }),
  jobs: z.record(z.string(), jobSchema),
});

const folder = new URL("../.github/workflows/", import.meta.url);
const files = await Promise.all(
  (await readdir(folder)).map(async (name) => {
    const text = await readFile(new URL(name, folder), "utf8");
    return { name, text, workflow: workflowSchema.parse(parse(text)) };
  }),
);
const jobs = files.flatMap(({ name, workflow }) =>
  Object.entries(workflow.jobs).map(([job, rest]) => ({ id: `${name} ${job}`, ...rest })),
);
const steps = jobs.flatMap(({ id, steps: its }) => its.map((step) => ({ id, ...step })));

test("the workflows are these", () => {
  expect(files.map(({ name }) => name).sort()).toEqual(["ci.yml", "prove.yml", "release.yml"]);
});

test("every action is one of GitHub's own, pinned by a commit whose version stands beside it, the same everywhere", () => {
  const pins = new Map<string, string>();
  for (const { text } of files) {
    for (const [line, what] of text.matchAll(/^.*\buses:\s*(.*)$/gm)) {
      const [, action = line, pin = ""] =
        /^(actions\/[a-z-]+)@([0-9a-f]{40} # v\d+\.\d+\.\d+)$/.exec(what ?? "") ?? [];
      expect(pin, line).not.toBe("");
      expect(pins.get(action) ?? pin).toBe(pin);
      pins.set(action, pin);
    }
  }
  expect([...pins.keys()].sort()).toEqual([
    "actions/checkout",
    "actions/download-artifact",
    "actions/setup-node",
    "actions/upload-artifact",
  ]);
});

test("a job may read the source; more than that, these jobs of the release alone", () => {
  const more = jobs.filter(({ permissions }) => JSON.stringify(permissions) !== '{"contents":"read"}');
  expect(Object.fromEntries(more.map(({ id, permissions }) => [id, permissions]))).toEqual({
    "release.yml npm": { "id-token": "write" },
    "release.yml assets": { contents: "write" },
    "release.yml registry": { contents: "read", "id-token": "write" },
  });
});

test("no job that may publish installs, builds or runs anything of the repository", () => {
  const publishing = jobs.filter(({ permissions }) => Object.values(permissions).includes("write"));
  const commands = publishing.flatMap(({ steps: its }) => its.flatMap(({ run = "" }) => run));
  expect(commands.filter((command) => /npm (ci|i|install|run|test|exec)|npx|tsx/.test(command))).toEqual([]);
  for (const { needs } of publishing) expect(["build", "npm"]).toContain(needs);
});

test("no secret is used: npm and the registry know the workflow, GitHub's own token makes the release", () => {
  for (const { text } of files) expect(text).not.toMatch(/secrets\b/);
  const withToken = jobs.filter((job) => JSON.stringify(job).includes("github.token"));
  expect(withToken.map(({ id }) => id)).toEqual(["release.yml assets"]);
});

test("what is identified to npm and the registry runs in the environment that guards a release", () => {
  const identified = jobs.filter(({ permissions }) => permissions["id-token"] === "write");
  expect(identified.map(({ environment }) => environment)).toEqual(["release", "release"]);
});

test("no workflow runs with rights on what a stranger sent", () => {
  const triggers = files.map(({ name, workflow }) => [name, Object.keys(workflow.on)]);
  expect(Object.fromEntries(triggers)).toEqual({
    "ci.yml": ["push", "pull_request"],
    "prove.yml": ["schedule", "workflow_dispatch"],
    "release.yml": ["push"],
  });
  // An expression in a script would be pasted into it as code.
  expect(steps.filter(({ run = "" }) => run.includes("${{"))).toEqual([]);
});

test("no checkout leaves credentials behind, and no install runs a script", () => {
  const checkouts = steps.filter(({ uses = "" }) => uses.startsWith("actions/checkout@"));
  expect(checkouts.length).toBeGreaterThan(0);
  for (const { id, with: options } of checkouts) expect(options?.["persist-credentials"], id).toBe(false);
  const installs = steps.flatMap(({ run = "" }) => run.match(/npm (?:ci|i|install)\b.*/g) ?? []);
  expect(new Set(installs)).toEqual(new Set(["npm ci --ignore-scripts"]));
});

test("what is downloaded to publish is checked before it is unpacked", () => {
  const script = steps.find(({ run = "" }) => run.includes("curl"))?.run ?? "";
  expect(script.indexOf("sha256sum --check --strict")).toBeGreaterThan(script.indexOf("curl"));
  expect(script.indexOf("tar ")).toBeGreaterThan(script.indexOf("sha256sum"));
  const { env } = z
    .looseObject({ env: z.record(z.string(), z.string()) })
    .parse(jobs.find(({ id }) => id === "release.yml registry"));
  expect(env).toEqual({
    PUBLISHER: expect.stringMatching(/\/releases\/download\/v\d+\.\d+\.\d+\//),
    PUBLISHER_SHA256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});

test("the built file is tested on three systems and four Nodes, the lowest that is promised among the rest", () => {
  const matrix = jobs.find(({ id }) => id === "ci.yml built")?.strategy?.matrix;
  expect(matrix).toEqual({
    os: ["ubuntu-latest", "macos-latest", "windows-latest"],
    node: [20, 22, 24, 26],
  });
  const lowest = jobs.find(({ id }) => id === "ci.yml lowest")?.steps.at(-1)?.run;
  expect(lowest).toContain(` ${manifest.engines.node.replace(/^>=/, "")} `);
});

test("every npm script that a workflow runs is there", () => {
  const named = steps.flatMap(({ run = "" }) => [...run.matchAll(/npm run (\S+)/g)].map(([, name]) => name));
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((name) => name === undefined || !(name in manifest.scripts))).toEqual([]);
});
