// Rights of the workflows, and a release that is exactly what was tested.

import { createHash } from "node:crypto";
import { chmod, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parse } from "yaml";
import * as z from "zod";
import manifest from "../../package.json" with { type: "json" };
import { temporaryFolder } from "../fixtures/folder.ts";
import { run } from "../fixtures/run.ts";

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

const folder = new URL("../../.github/workflows/", import.meta.url);
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

test("every action is GitHub's own and pinned by a commit, with its version in a comment", () => {
  const uses = workflows.flatMap(({ text }) => text.match(/\buses:.*/g) ?? []);
  const actions = uses.filter((use) => use !== "uses: ./.github/workflows/pack.yml");
  expect(actions.length).toBeGreaterThan(0);
  const pinned = /^uses: actions\/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;
  expect(actions.filter((use) => !pinned.test(use))).toEqual([]);
});

test("only the jobs that publish may write, and they run no code of the repository", () => {
  const writing = jobs.filter(({ permissions }) => Object.values(permissions).includes("write"));
  expect(writing.map(({ id, permissions, environment }) => [id, permissions, environment])).toEqual([
    ["preview.yml bundle", { contents: "write" }, undefined],
    ["release.yml npm", { "id-token": "write" }, "release"],
    ["release.yml attest", { attestations: "write", "id-token": "write" }, "release"],
    ["release.yml assets", { contents: "write" }, undefined],
    ["release.yml registry", { "id-token": "write" }, "release"],
  ]);
  const commands = writing.flatMap((job) => job.steps.map(({ run }) => run));
  expect(commands.filter((run) => /npm (ci|i|install|run|test|exec)|npx|tsx/.test(run))).toEqual([]);
});

test("workflows offer no way to steal secrets or inject script", () => {
  for (const { text, on } of workflows) {
    expect(text).not.toMatch(/secrets\b/);
    expect(Object.keys(on)).not.toContain("pull_request_target");
    expect(Object.keys(on)).not.toContain("workflow_run");
  }
  expect(steps.filter(({ run }) => run.includes("${{"))).toEqual([]);
});

test("a push runs the README's test command, and with it the checks, exactly once", async () => {
  const read = (name: string) => readFile(new URL(`../../${name}`, import.meta.url), "utf8");
  expect(await read("README.md")).toContain("\n```sh\nnpm test\n```\n");
  expect((await read(".ci/run")).trimEnd().split("\n").slice(-2)).toEqual([
    "npm ci --ignore-scripts",
    "npm test",
  ]);
  expect(jobOf("ci.yml pack")?.uses).toBe("./.github/workflows/pack.yml");
  const commands = jobs.filter(({ id }) => /^(ci|pack)\.yml /.test(id)).flatMap(({ id }) => commandsOf(id));
  expect(commands.filter((command) => /\.ci\/run|npm (test|run check)$/.test(command ?? ""))).toEqual([
    ".ci/run",
  ]);
});

test("a release is checked, tested, attested and downloadable before the registry names it", () => {
  expect(commandsOf("release.yml check")).toEqual([
    expect.stringContaining('"$GITHUB_REF_NAME" = "v$(jq'),
    expect.stringContaining("status=success"),
    "npm ci --ignore-scripts",
    "npm run release:check",
  ]);
  expect(commandsOf("pack.yml pack")).toEqual([
    expect.stringMatching(/server\.schema\.json[^]*SERVER_SCHEMA=/),
    ".ci/run",
    "npm run release:pack",
  ]);
  expect(manifest.scripts["release:pack"]).not.toContain("build");
  const order = ["pack", "npm", "attest", "assets", "registry"].map((id) => jobOf(`release.yml ${id}`));
  expect(order.map((job) => job?.needs)).toEqual(["check", "pack", "pack", ["npm", "attest"], "assets"]);
  expect(order.map((job) => job?.steps[0]?.with?.["name"])).toEqual([undefined, ...Array(4).fill("packed")]);
  expect(order[2]?.steps[1]?.with).toEqual({ "subject-path": "*.tgz\n*.mcpb\n*.tar.gz\n" });
  expect(order[3]?.steps[1]?.with?.["name"]).toBe(order[2]?.steps.at(-1)?.with?.["name"]);
});

test("a release offers the package, the bundle, Gemini CLI's archives and the attestation for download", async () => {
  const step = jobOf("release.yml assets")?.steps.at(-1);
  const cwd = temporaryFolder();
  const files = ["a.mcpb", "a.tgz", "linux.tar.gz", "a.intoto.jsonl"];
  await Promise.all(files.map((file) => writeFile(join(cwd, file), "")));
  await writeFile(join(cwd, "npm-tag"), "latest");
  const env = await fakeProgram("gh", 'echo "$*" >&2');

  const { stderr } = await run("bash", ["-e", "-c", step?.run ?? ""], {
    cwd,
    env: { ...env, GITHUB_REF_NAME: "v1.2.3" },
  });

  expect(stderr).toBe(
    "release create v1.2.3 --verify-tag --prerelease=false --notes-file notes.md ./a.mcpb ./a.tgz ./linux.tar.gz ./a.intoto.jsonl\n",
  );
});

test.each([
  ["the first", 1],
  ["a later", 0],
])("%s preview is a pre-release of main with the bundle and nothing else", async (_, deleted) => {
  const step = jobOf("preview.yml bundle")?.steps.at(-1);
  const cwd = temporaryFolder();
  for (const file of ["a.mcpb", "a.tgz"])
    // eslint-disable-next-line no-await-in-loop -- there are two
    await writeFile(join(cwd, file), "");
  const env = await fakeProgram("gh", `echo "$*" >&2; [ "$2" = create ] || exit ${deleted}`);

  const { code, stderr } = await run("bash", ["-e", "-c", step?.run ?? ""], {
    cwd,
    env: { ...env, GITHUB_SHA: "c0ffee" },
  });

  expect([code, stderr.split("\n").slice(0, 2)]).toEqual([
    0,
    [
      "release delete preview --yes --cleanup-tag",
      expect.stringMatching(/^release create preview --prerelease --target c0ffee --title .+ \.\/a\.mcpb$/),
    ],
  ]);
});

test("the container for directories runs what package.json names, on a Node.js that it supports", async () => {
  const read = (name: string) => readFile(new URL(`../../${name}`, import.meta.url), "utf8");
  const dockerfile = await read("Dockerfile");

  expect(dockerfile).toContain(`ENTRYPOINT ["node", "/app/${manifest.bin["faceless-video-mcp"]}"]`);
  const scripts = dockerfile.match(/(?<=npm run )[\w:-]+/g) ?? [];
  expect(scripts.filter((name) => !Object.hasOwn(manifest.scripts, name))).toEqual([]);
  expect(dockerfile.match(/^FROM .*/gm)).toEqual(["FROM node:22-slim AS build", "FROM node:22-slim"]);
});

test.each([
  ["a commit that CI has passed", "1", 0],
  ["a commit that CI has not passed", "0", 1],
  ["an answer that isn't a number", '{"message":"Not Found"}', 2],
])("a release is stopped unless CI has passed its commit: %s", async (_, total, code) => {
  const step = jobOf("release.yml check")?.steps.find(({ name }) => name?.startsWith("CI passed"));
  const env = await fakeProgram("gh", `echo '${total}'; echo "$*" >&2`);

  const ran = await run("bash", ["-e", "-c", step?.run ?? ""], {
    env: { ...env, GITHUB_REPOSITORY: "a/b", GITHUB_SHA: "c0ffee" },
  });

  expect(ran.code).toBe(code);
  expect(ran.stderr).toContain("ci.yml/runs?head_sha=c0ffee&branch=main&event=push&status=success");
});

/** PATH with a program that is this shell script in front. */
async function fakeProgram(name: string, script: string) {
  const folder = temporaryFolder();
  await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
  await chmod(join(folder, name), 0o755);
  return { PATH: `${folder}:${process.env["PATH"]}` };
}

const TARBALL = "the tarball";
const SAME_FILE = `sha512-${createHash("sha512").update(TARBALL).digest("base64")}`;
const PUBLISHED = /^npm publish \.\/\S+\.tgz --ignore-scripts --provenance --access public --tag next$/m;

test.each([
  ["is published if npm does not have it", "", { code: 0, published: true }],
  ["is left alone if npm has this very file", SAME_FILE, { code: 0, published: false }],
  ["fails if npm has another file under it", "sha512-another", { code: 1, published: false }],
])("a released version %s", async (_, integrity, expected) => {
  const step = jobOf("release.yml npm")?.steps.at(-1);
  const cwd = temporaryFolder();
  await writeFile(join(cwd, "faceless-video-mcp-1.2.3.tgz"), TARBALL);
  await writeFile(join(cwd, "npm-tag"), "next");
  // npm does this for a version that it has, and for one that it lacks.
  const view = `{ echo "${integrity}"; test -n "${integrity}"; }`;
  const env = await fakeProgram("npm", `echo "npm $*" >&2\n[ "$1" = publish ] || ${view}`);

  const { code, stderr } = await run("bash", ["-e", "-c", step?.run ?? ""], {
    cwd,
    env: { ...env, GITHUB_REF_NAME: "v1.2.3" },
  });

  expect(stderr).toContain("npm view faceless-video-mcp@1.2.3 dist.integrity\n");
  expect({ code, published: PUBLISHED.test(stderr) }).toEqual(expected);
});

const LINUX = { version: "1.0.0", integrity: "sha512-l" };
const MACOS = { version: "1.0.0", optional: true };
const FILLED = { ...MACOS, integrity: "sha512-m" };
const TOOL = { version: "1.0.0", integrity: "sha512-t", optionalDependencies: { linux: "1", macos: "1" } };
const lockfileOf = (packages: object) => JSON.stringify({ packages: { "": {}, ...packages } });

interface Release {
  readonly packages: object;
  readonly isOnNpm: boolean;
  readonly heading: string;
}
const READY: Release = {
  packages: { "node_modules/tool": TOOL, "node_modules/linux": LINUX, "node_modules/macos": FILLED },
  isOnNpm: true,
  heading: "[1.1.0] - 2027-01-31",
};
const UNFINISHED = {
  packages: { "node_modules/tool": TOOL, "node_modules/macos": MACOS },
  isOnNpm: false,
  heading: "[Unreleased]",
};

/** Runs a script in a folder with the lockfile, package.json and changelog of this release of 1.1.0. */
async function runScript(script: string, release: Partial<Release>, args = [""], env = {}) {
  const { packages, isOnNpm, heading } = { ...READY, ...release };
  const cwd = temporaryFolder();
  const file = join(cwd, "package-lock.json");
  await writeFile(file, lockfileOf(packages));
  await writeFile(join(cwd, "package.json"), JSON.stringify({ version: "1.1.0", isOnNpm }));
  const changelog = `# Changelog\n\n## ${heading}\n\n- New.\n\n## [1.0.0] - 2026-12-31\n\n- Old.\n`;
  await writeFile(join(cwd, "CHANGELOG.md"), changelog);
  const path = fileURLToPath(new URL(`../../scripts/${script}.ts`, import.meta.url));
  const ran = await run(process.execPath, ["--import", import.meta.resolve("tsx"), path, ...args], {
    cwd,
    env,
  });
  return { ...ran, lockfile: await readFile(file, "utf8") };
}

const UNDATED = 'CHANGELOG.md: the first heading is not "## [1.1.0] - " with the day of the release.';
const FAULTS = [
  expect.stringMatching(/^package-lock.json: 1 packages .* 1 no entry, such as node_modules\/macos\./),
  expect.stringMatching(/^package\.json: .*isOnNpm/),
  UNDATED,
];

test.each([
  ["nothing is left to do", {}, ["Nothing in the repository stops the release."]],
  ["the changelog has no day", { heading: "[1.1.0] - unreleased" }, [UNDATED]],
  ["the changelog begins with a pre-release", { heading: "[1.1.0-rc.1] - 2027-01-31" }, [UNDATED]],
])("the release's check says, with a line for each fault, that %s", async (_, release, lines) => {
  const { code, stdout } = await runScript("release-check", release);
  expect({ code, lines: stdout.split("\n") }).toEqual({
    code: Object.keys(release).length === 0 ? 0 : 1,
    lines: [...lines, ""],
  });
});

test("a dry run ends with the steps of RELEASING.md, in their order, and does not fail", async () => {
  const { code, stdout } = await runScript("release-check", UNFINISHED, ["dry"]);

  const releasing = await readFile(new URL("../../.github/RELEASING.md", import.meta.url), "utf8");
  const headings = [...releasing.matchAll(/(?<=^## ).*/gm)].map(String);
  const steps = releasing.match(/^\d+\. \*\*.+?\*\*/gm)?.map((step) => `  ${step.replaceAll("**", "")}`);
  const lines = stdout.split("\n");
  expect({ code, faults: lines.slice(0, 3) }).toEqual({ code: 0, faults: FAULTS });
  expect(lines.filter((line) => headings.includes(line))).toEqual(headings);
  expect(lines.filter((line) => /^ {2}\d/.test(line))).toEqual(steps);
  expect(steps?.length).toBeGreaterThan(10);
});

test("npm run lockfile keeps the file if a package would disappear, and fills it in otherwise", async () => {
  const packages = { "node_modules/linux": LINUX, "node_modules/macos": MACOS };
  const filled = { ...packages, "node_modules/macos": FILLED };
  const fill = async (result: object) => {
    const npm = await fakeProgram("npm", `echo '${lockfileOf(result)}' > package-lock.json`);
    return runScript("fill-lockfile", { packages }, [], npm);
  };

  const lacking = await fill({ "node_modules/linux": LINUX });
  expect(lacking).toMatchObject({ code: 1, lockfile: lockfileOf(packages) });
  expect(lacking.stderr).toMatch(
    /^package-lock\.json is unchanged: 1 packages .*node_modules\/macos\. .*\n$/,
  );
  expect(await fill(filled)).toMatchObject({ code: 0, stderr: "", lockfile: `${lockfileOf(filled)}\n` });
});

test("every checkout, install and download in the workflows is hardened", () => {
  const checkouts = steps.filter(({ uses }) => uses?.startsWith("actions/checkout@"));
  expect(checkouts.filter((step) => step.with?.["persist-credentials"] !== false)).toEqual([]);
  const installs = steps.flatMap(({ run }) => run.match(/npm (?:ci|i|install)\b.*/g) ?? []);
  expect(new Set(installs)).toEqual(new Set(["npm ci --ignore-scripts"]));
  const downloads = steps.filter((step) => /curl [^]*tar /.test(step.run)).map(({ run }) => run);
  expect(downloads).toEqual([expect.stringMatching(/curl [^]*sha256sum --check --strict[^]*tar /)]);
});

test("each dependency that Dependabot leaves out has a row that says what it waits for", async () => {
  const read = (name: string) => readFile(new URL(`../../.github/${name}`, import.meta.url), "utf8");
  const ignored = (await read("dependabot.yml")).match(/(?<=dependency-name: "?)[\w@/-]+/g);
  const rows = (await read("DEPENDENCIES.md")).match(/(?<=^\| `)[\w@/-]+/gm);
  expect(new Set(rows)).toEqual(new Set(ignored));
});
