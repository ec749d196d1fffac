// What npm would publish: its files and their size, the licences of bundled packages, and the package
// installed in an empty folder and started with npx.

import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "zod";
import build from "../../.config/rolldown.config.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { run } from "../fixtures/run.ts";

/** Bytes, unpacked. */
const MAX_BYTES = 1_800_000;
/** The files of the tarball; patterns where names contain a hash. */
const FILES = [
  /^CHANGELOG\.md$/,
  /^LICENSE$/,
  /^README\.md$/,
  /^package\.json$/,
  /^dist\/THIRD_PARTY_NOTICES$/,
  /^dist\/bin\.cjs$/,
  /^dist\/cli\.cjs$/,
  /^dist\/chunks\/[a-z-]+-[\w-]{8}\.cjs$/,
  /^dist\/chunks\/media\/[a-z]+\.mp4$/,
  /^dist\/chunks\/media\/[a-z]+\.wav$/,
];

const packSchema = z.tuple([
  z.looseObject({
    filename: z.string(),
    unpackedSize: z.number(),
    files: z.array(z.looseObject({ path: z.string() })),
  }),
]);
const manifestSchema = z.looseObject({ scripts: z.record(z.string(), z.string()) });

const buildSchema = z.looseObject({
  output: z.looseObject({}),
  plugins: z.array(z.looseObject({ name: z.string() })),
});
/** Plugins of the build that write files. */
const WRITERS = /^dist$|license|notices/;

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

test("the tarball contains these files and no others", () => {
  const paths = tarball.files.map(({ path }) => path);
  expect(paths.filter((path) => !FILES.some((file) => file.test(path)))).toEqual([]);
  expect(FILES.filter((file) => !paths.some((path) => file.test(path)))).toEqual([]);
});

test("the tarball is at most 1.8 MB unpacked", () => {
  expect(tarball.unpackedSize).toBeLessThanOrEqual(MAX_BYTES);
});

test("the tarball contains the sandbox's clips", async () => {
  const clips = (await readdir(join(root, "src/sandbox/media"))).filter((name) => /\.(mp4|wav)$/.test(name));
  const packed = tarball.files.flatMap(({ path }) => /^dist\/chunks\/media\/(.+)$/.exec(path)?.[1] ?? []);
  expect(packed.sort()).toEqual(clips.sort());
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

  const client = new Client({ name: "npx-test-client", version: "1.0.0" });
  await client.connect(
    new StdioClientTransport({ command: "npx", args: ["faceless-video-mcp", "--sandbox"], cwd: folder }),
  );
  const result = await client.callTool({ name: "generate_video", arguments: { topic: "The tide" } });
  expect(result["structuredContent"]).toMatchObject({ status: "processing" });
  await client.close();
});

test("the notices name every bundled package with its licence", async () => {
  const notices = await readFile(join(root, "dist/THIRD_PARTY_NOTICES"), "utf8");
  const named = new Map(
    notices.split(/^(?=Name: )/m).map((notice) => [/^Name: (.+)$/m.exec(notice)?.[1], notice] as const),
  );
  const bundled = await bundledPackages();
  expect(bundled).toEqual(expect.arrayContaining(["@modelcontextprotocol/server", "undici", "zod"]));
  expect(bundled.filter((name) => !named.has(name))).toEqual([]);
  // Any licence names the copyright holder or asks to be passed on.
  const unlicensed = bundled.filter(
    (name) => !/License Text:[^]*(copyright|permission)/i.test(named.get(name) ?? ""),
  );
  expect(unlicensed).toEqual([]);
});

/** Builds once more without writing, and returns the packages whose code is in the output. */
async function bundledPackages(): Promise<string[]> {
  const { output: options, plugins, ...input } = buildSchema.parse(build);
  const bundle = await rolldown({ ...input, plugins: plugins.filter(({ name }) => !WRITERS.test(name)) });
  const { output } = await bundle.generate(options);
  const names = new Set<string>();
  for (const chunk of output) {
    if (chunk.type !== "chunk") continue;
    for (const [id, { renderedLength }] of Object.entries(chunk.modules)) {
      if (renderedLength === 0 || !id.includes("node_modules")) continue;
      // A package that is itself a bundle names its parts: `//#region ../../node_modules/ajv/lib/core.js`.
      const origins = [id, ...((await readFile(id, "utf8")).match(/^\/\/#region .*node_modules.*$/gm) ?? [])];
      for (const origin of origins) {
        const [, name] = /^.*node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(origin) ?? [];
        if (name !== undefined) names.add(name.replace("\\", "/"));
      }
    }
  }
  return [...names].sort();
}
