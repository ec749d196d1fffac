// What npm would publish: packed, installed in an empty folder, started with npx.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { expect, test } from "vitest";
import * as z from "zod";
import { run } from "./fixtures/run.ts";

const packSchema = z.tuple([
  z.looseObject({ filename: z.string(), files: z.array(z.looseObject({ path: z.string() })) }),
]);
const manifestSchema = z.looseObject({ scripts: z.record(z.string(), z.string()) });

const root = fileURLToPath(new URL("..", import.meta.url));

test("a packed tarball, installed in an empty folder, starts with npx and needs nothing else", async () => {
  const folder = await mkdtemp(join(tmpdir(), "faceless-pack-"));
  // dist was built before the tests: packing it again beside them would pull it from under their feet.
  const packed = await run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], {
    cwd: root,
  });
  expect(packed.code).toBe(0);
  const [tarball] = packSchema.parse(JSON.parse(packed.stdout));
  const paths = tarball.files.map(({ path }) => path);
  expect(paths).toEqual(
    expect.arrayContaining(["LICENSE", "README.md", "dist/cli.js", "dist/THIRD_PARTY_NOTICES"]),
  );
  expect(
    paths.filter((path) => !/^(dist\/|LICENSE$|README\.md$|CHANGELOG\.md$|package\.json$)/.test(path)),
  ).toEqual([]);

  await writeFile(join(folder, "package.json"), "{}");
  const installed = await run(
    "npm",
    ["install", "--offline", "--no-audit", "--no-fund", join(folder, tarball.filename)],
    { cwd: folder },
  );
  expect(installed.code, installed.stderr).toBe(0);
  const manifest = manifestSchema.parse(
    JSON.parse(await readFile(join(folder, "node_modules/faceless-video-mcp/package.json"), "utf8")),
  );
  expect(manifest).not.toHaveProperty("dependencies");
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
  await rm(folder, { recursive: true });
}, 60_000);
