// What the workflows may do, and that their downloads are those that were reviewed.

import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { parse } from "yaml";
import * as z from "zod";

const workflowSchema = z.object({
  on: z.record(z.string(), z.unknown()),
  permissions: z.strictObject({}),
  jobs: z.record(
    z.string(),
    z.object({
      permissions: z.record(z.string(), z.enum(["read", "write"])),
      environment: z.string().optional(),
      needs: z.union([z.string(), z.array(z.string())]).optional(),
      strategy: z.object({ matrix: z.record(z.string(), z.array(z.unknown())) }).optional(),
      steps: z.array(
        z.object({
          uses: z.string().optional(),
          run: z.string().default(""),
          with: z.looseObject({}).optional(),
        }),
      ),
    }),
  ),
});

const folder = new URL("../.github/workflows/", import.meta.url);
const workflows = await Promise.all(
  (await readdir(folder)).map(async (name) => {
    const text = await readFile(new URL(name, folder), "utf8");
    return { name, text, ...workflowSchema.parse(parse(text)) };
  }),
);
const jobs = workflows.flatMap(({ name, jobs: its }) =>
  Object.entries(its).map(([job, rest]) => ({ id: `${name} ${job}`, ...rest })),
);
const steps = jobs.flatMap((job) => job.steps);

test("every action is GitHub's own and pinned by a commit, with its version beside it", () => {
  const uses = workflows.flatMap(({ text }) => text.match(/\buses:.*/g) ?? []);
  expect(uses.length).toBeGreaterThan(0);
  expect(uses.filter((use) => !/^uses: actions\/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(use))).toEqual(
    [],
  );
});

test("only the jobs that publish may do more than read the source, and they run in the release environment", () => {
  const more = jobs.filter(({ permissions }) => JSON.stringify(permissions) !== '{"contents":"read"}');
  expect(more.map(({ id, permissions, environment }) => ({ id, permissions, environment }))).toEqual([
    { id: "release.yml npm", permissions: { "id-token": "write" }, environment: "release" },
    {
      id: "release.yml attest",
      permissions: { attestations: "write", "id-token": "write" },
      environment: "release",
    },
    { id: "release.yml assets", permissions: { contents: "write" } },
    { id: "release.yml registry", permissions: { "id-token": "write" }, environment: "release" },
  ]);
});

test("a job that may write installs, builds and runs nothing of the repository", () => {
  const writing = jobs.filter(({ permissions }) => Object.values(permissions).includes("write"));
  const commands = writing.flatMap((job) => job.steps.map(({ run }) => run));
  expect(commands.filter((run) => /npm (ci|i|install|run|test|exec)|npx|tsx/.test(run))).toEqual([]);
});

test("no workflow uses a secret, runs with rights on a stranger's pull request, or pastes an expression into a script", () => {
  for (const { text, on } of workflows) {
    expect(text).not.toMatch(/secrets\b/);
    expect(Object.keys(on)).not.toContain("pull_request_target");
    expect(Object.keys(on)).not.toContain("workflow_run");
  }
  expect(steps.filter(({ run }) => run.includes("${{"))).toEqual([]);
});

test("all tests run on the lowest Node that their tools support and on the even releases since", () => {
  const full = jobs.find(({ id }) => id === "ci.yml full");
  expect(full?.strategy?.matrix["node"]).toEqual(["20.19", "22", "24", "26"]);
  expect(full?.steps.map(({ run }) => run)).toContain("npm test");
});

test("a release has the changelog's notes, an attested bundle, and the registry's entry made with its hash", () => {
  const released = new Map(jobs.map(({ id, ...job }) => [id, job]));
  const runs = (id: string) =>
    released
      .get(id)
      ?.steps.map(({ run }) => run)
      .join("\n");

  expect(runs("release.yml build")).toMatch(/npm run bundle\n.*tsx \.config\/release-files\.ts dist-bundle /);
  expect(runs("release.yml assets")).toContain("--notes-file notes.md ./*.mcpb");
  expect(released.get("release.yml attest")?.steps.at(-1)).toMatchObject({
    uses: expect.stringMatching(/^actions\/attest-build-provenance@/),
    with: { "subject-path": "*.mcpb" },
  });
  // The registry downloads the bundle that it lists.
  expect(released.get("release.yml registry")?.needs).toBe("assets");
  expect(released.get("release.yml registry")?.steps[0]?.with).toEqual({ name: "packed" });
});

test("no checkout leaves credentials behind, and no install runs a script", () => {
  const checkouts = steps.filter(({ uses }) => uses?.startsWith("actions/checkout@"));
  expect(checkouts.filter((step) => step.with?.["persist-credentials"] !== false)).toEqual([]);
  const installs = steps.flatMap(({ run }) => run.match(/npm (?:ci|i|install)\b.*/g) ?? []);
  expect(new Set(installs)).toEqual(new Set(["npm ci --ignore-scripts"]));
});

test("a download is checked against its hash before it is unpacked", () => {
  const downloads = steps.filter(({ run }) => run.includes("curl"));
  expect(downloads).toHaveLength(1);
  expect(downloads[0]?.run).toMatch(/curl [^]*sha256sum --check --strict[^]*tar /);
});
