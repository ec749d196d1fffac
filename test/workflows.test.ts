// What the workflows may do, that their downloads were reviewed, and that a release is what was tested.

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import * as z from "zod";
import lockfile from "../package-lock.json" with { type: "json" };
import manifest from "../package.json" with { type: "json" };
import { TESTS } from "./checks/stress/tests.ts";
import { temporaryFolder } from "./fixtures/folder.ts";
import { run } from "./fixtures/run.ts";

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
      /** A workflow of this repository, instead of steps. */
      uses: z.string().optional(),
      steps: z
        .array(
          z.object({
            name: z.string().optional(),
            uses: z.string().optional(),
            run: z.string().default(""),
            with: z.looseObject({}).optional(),
          }),
        )
        .default([]),
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
const jobOf = (id: string) => jobs.find((job) => job.id === id);
const commandsOf = (id: string) => jobOf(id)?.steps.flatMap((step) => (step.run === "" ? [] : [step.run]));

test("every action is GitHub's own and pinned by a commit, with its version beside it", () => {
  const uses = workflows.flatMap(({ text }) => text.match(/\buses:.*/g) ?? []);
  const actions = uses.filter((use) => use !== "uses: ./.github/workflows/pack.yml");
  expect(actions.length).toBeGreaterThan(0);
  const pinned = /^uses: actions\/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;
  expect(actions.filter((use) => !pinned.test(use))).toEqual([]);
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
  expect(jobOf("ci.yml full")?.strategy?.matrix["node"]).toEqual(["20.19", "22", "24", "26"]);
  expect(commandsOf("ci.yml full")).toContain("npm test");
});

test("what a release publishes is built once, tested, and packed as with every push", () => {
  expect(jobOf("ci.yml pack")?.uses).toBe("./.github/workflows/pack.yml");
  expect(jobOf("release.yml pack")?.uses).toBe("./.github/workflows/pack.yml");
  expect(jobOf("release.yml pack")?.needs).toBe("check");
  const commands = commandsOf("pack.yml pack") ?? [];
  expect(commands.slice(commands.indexOf("npm test"))).toEqual([
    "npm test",
    "npm run bundle",
    "npm pack --ignore-scripts --pack-destination dist-bundle",
    "npx --no -- tsx .config/release-files.ts dist-bundle dist-bundle/faceless-video-mcp.mcpb",
    "npm publish ./dist-bundle/*.tgz --dry-run --force --ignore-scripts --access public",
  ]);
  expect(manifest.scripts.bundle).not.toContain("build");
  for (const id of ["npm", "attest", "assets", "registry"])
    expect(jobOf(`release.yml ${id}`)?.steps[0]?.with, id).toEqual({ name: "packed" });
});

test("npm's file and the bundle are attested, and stand beside the changelog's notes before the registry names the bundle", () => {
  expect(jobOf("release.yml attest")?.steps.at(-1)).toMatchObject({
    uses: expect.stringMatching(/^actions\/attest-build-provenance@/),
    with: { "subject-path": "*.tgz\n*.mcpb\n" },
  });
  expect(jobOf("release.yml assets")?.needs).toEqual(["npm", "attest"]);
  expect(commandsOf("release.yml assets")).toEqual([
    expect.stringContaining("--notes-file notes.md ./*.mcpb ./*.tgz"),
  ]);
  expect(jobOf("release.yml registry")?.needs).toBe("assets");
});

test("a release is of a commit of main, under the tag of its version", () => {
  expect(jobOf("release.yml npm")?.needs).toBe("pack");
  expect(commandsOf("release.yml check")).toEqual([
    expect.stringContaining('"$GITHUB_REF_NAME" = "v$(jq'),
    "git merge-base --is-ancestor HEAD origin/main",
    expect.stringContaining("integrity"),
  ]);
});

const TARBALL = "the tarball";
const TARBALL_INTEGRITY = `sha512-${createHash("sha512").update(TARBALL).digest("base64")}`;

test.each([
  ["a release publishes a version that npm does not have", "", { code: 0, published: true }],
  [
    "a release goes on where npm has this very file already",
    TARBALL_INTEGRITY,
    { code: 0, published: false },
  ],
  [
    "a release fails where npm has another file under its version",
    "sha512-another",
    { code: 1, published: false },
  ],
])("%s", async (_, integrity, expected) => {
  const step = jobOf("release.yml npm")?.steps.at(-1);
  const folder = temporaryFolder();
  await writeFile(join(folder, "faceless-video-mcp-1.2.3.tgz"), TARBALL);
  // As npm does for a version that it has, and for one that it has not.
  await writeFile(
    join(folder, "npm"),
    `#!/bin/sh\necho "npm $*" >&2\n[ "$1" = publish ] || { echo "${integrity}"; test -n "${integrity}"; }\n`,
  );
  await chmod(join(folder, "npm"), 0o755);
  const env = { PATH: `${folder}:${process.env["PATH"]}`, GITHUB_REF_NAME: "v1.2.3" };

  const { code, stderr } = await run("bash", ["-e", "-c", step?.run ?? ""], { cwd: folder, env });

  expect(stderr).toContain("npm view faceless-video-mcp@1.2.3 dist.integrity\n");
  expect({
    code,
    published: /^npm publish \.\/\S+\.tgz --ignore-scripts --provenance/m.test(stderr),
  }).toEqual(expected);
});

test("every package that is installed here is checked against an integrity of the lockfile", () => {
  const installed = Object.entries(lockfile.packages).filter(([path]) => path !== "" && existsSync(path));
  expect(installed.length).toBeGreaterThan(100);
  const unchecked = installed.filter(([, entry]) => !("integrity" in entry)).map(([path]) => path);
  expect(unchecked, "npm run lockfile fills them in").toEqual([]);
});

test("each stress test has a job of its own", () => {
  expect(jobOf("stress.yml stress")?.strategy?.matrix["test"]).toEqual(Object.keys(TESTS));
});

test("no checkout leaves credentials behind, and no install runs a script", () => {
  const checkouts = steps.filter(({ uses }) => uses?.startsWith("actions/checkout@"));
  expect(checkouts.filter((step) => step.with?.["persist-credentials"] !== false)).toEqual([]);
  const installs = steps.flatMap(({ run }) => run.match(/npm (?:ci|i|install)\b.*/g) ?? []);
  expect(new Set(installs)).toEqual(new Set(["npm ci --ignore-scripts"]));
});

test("a download is checked against its hash before it is unpacked", () => {
  const downloads = steps.filter((step) => /curl [^]*tar /.test(step.run));
  expect(downloads).toHaveLength(1);
  expect(downloads[0]?.run).toMatch(/curl [^]*sha256sum --check --strict[^]*tar /);
});
