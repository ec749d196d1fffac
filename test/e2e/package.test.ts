// The package as npm would publish it: its files and their size, the licences of what it bundles, and the package
// installed in an empty folder and started with npx.

import { statSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { connectLegacy } from "../fixtures/clients.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { run } from "../fixtures/run.ts";

/** Bytes, unpacked. */
const MAX_BYTES = 1_800_000;
/** The files of the tarball, without the hashes of chunks. */
const FILES = [
  "CHANGELOG.md",
  "LICENSE",
  "README.md",
  "dist/THIRD_PARTY_NOTICES",
  "dist/bin.cjs",
  "dist/chunks/*.cjs",
  "dist/chunks/languages.json.br",
  "dist/cli.cjs",
  "package.json",
];

const packSchema = z.tuple([
  z.looseObject({
    filename: z.string(),
    unpackedSize: z.number(),
    files: z.array(z.looseObject({ path: z.string() })),
  }),
]);
const manifestSchema = z.looseObject({ scripts: z.record(z.string(), z.string()) });

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = temporaryFolder(afterAll);
let tarball: z.infer<typeof packSchema>[0];

beforeAll(async () => {
  // dist was built before the tests, and other tests are running it now.
  const packed = await run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], {
    cwd: root,
  });
  if (packed.code !== 0) throw new Error(packed.stderr);
  [tarball] = packSchema.parse(JSON.parse(packed.stdout));
});

test("the code for the first answer has at most 325 kB: what answers calls is loaded later", async () => {
  const chunks = await readdir(join(root, "dist/chunks"));
  const loaded = chunks
    .filter((name) => /^(start|serve)-.*\.cjs$/.test(name))
    .map((name) => `dist/chunks/${name}`);
  const sizes = ["dist/bin.cjs", "dist/cli.cjs", ...loaded].map((path) => statSync(join(root, path)).size);

  expect(loaded).toHaveLength(2);
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(325_000);
});

test("no built file loads Node's assert, which reads the whole file for the message of a failed check", async () => {
  const names = (await readdir(join(root, "dist"), { recursive: true })).filter((name) =>
    name.endsWith(".cjs"),
  );
  const texts = await Promise.all(names.map((name) => readFile(join(root, "dist", name), "utf8")));

  expect(names.filter((_, index) => /require\(.(?:node:)?assert\b/.test(texts[index] ?? ""))).toEqual([]);
});

test("the tarball has these files and the sandbox's clips, and at most 1.8 MB unpacked", async () => {
  const media = await readdir(join(root, "src/sandbox/media"));
  const clips = media.filter((name) => /\.(mp4|wav)$/.test(name)).map((name) => `dist/chunks/media/${name}`);
  const paths = tarball.files.map(({ path }) => path.replace(/[a-z.-]+-[\w-]{8}\.cjs$/, "*.cjs"));
  expect([...new Set(paths)].sort()).toEqual([...FILES, ...clips].sort());
  expect(tarball.unpackedSize).toBeLessThanOrEqual(MAX_BYTES);
});

test("the package starts in an empty folder with npx and needs nothing else", async () => {
  await writeFile(join(folder, "package.json"), "{}");
  const installed = await run(
    "npm",
    ["install", "--offline", "--no-audit", "--no-fund", join(folder, tarball.filename)],
    { cwd: folder },
  );
  expect(installed.code, installed.stderr).toBe(0);
  expect((await readdir(join(folder, "node_modules"))).filter((name) => !name.startsWith("."))).toEqual([
    "faceless-video-mcp",
  ]);
  const manifest = manifestSchema.parse(
    JSON.parse(await readFile(join(folder, "node_modules/faceless-video-mcp/package.json"), "utf8")),
  );
  expect(Object.keys(manifest).filter((key) => /^(?!dev).*dependencies$/i.test(key))).toEqual([]);
  expect(Object.keys(manifest.scripts).filter((name) => /^(pre|post)?install$|^prepare$/.test(name))).toEqual(
    [],
  );

  const client = await connectLegacy({
    command: "npx",
    file: "faceless-video-mcp",
    args: ["--sandbox"],
    cwd: folder,
  });
  const { structuredContent } = await client.call("generate_video", { topic: "The tide" });
  expect(structuredContent).toMatchObject({ status: "processing" });
});

test("the notices name the bundled packages, each with its licence", async () => {
  const notices = await readFile(join(root, "dist/THIRD_PARTY_NOTICES"), "utf8");
  const sections = notices.split(/^---\n+(?=Name: )/m);
  const names = Array.from(notices.matchAll(/^Name: (.+)$/gm), ([, name]) => name);
  // The languages' scores are eld's. The last packages are inside the files of the SDK and of undici.
  expect(names).toEqual(
    expect.arrayContaining([
      "@modelcontextprotocol/server",
      "eld",
      "undici",
      "zod",
      "content-type",
      "llhttp",
    ]),
  );
  // The build replaces them by nothing.
  expect(names.filter((name) => name === "pgpass" || name === "pg-cloudflare")).toEqual([]);
  // Every licence names the copyright holder or asks to be included.
  expect(sections.filter((section) => !/License Text:[^]*(copyright|permission)/i.test(section))).toEqual([]);
});
