// Measures an installation of the published package.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { run } from "../../fixtures/run.ts";

const packSchema = z.tuple([
  z.looseObject({
    filename: z.string(),
    unpackedSize: z.number(),
    files: z.array(z.looseObject({ path: z.string(), size: z.number() })),
  }),
]);
const lockSchema = z.looseObject({ packages: z.record(z.string(), z.unknown()) });

/** The unpacked size of the tarball and of the sandbox's clips in it, in bytes, and how many packages npm installs. */
export async function benchPackage(): Promise<{ bytes: number; clipBytes: number; packages: number }> {
  const folder = await mkdtemp(join(tmpdir(), "faceless-bench-"));
  try {
    const root = fileURLToPath(new URL("../../..", import.meta.url));
    const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
    const [{ filename, unpackedSize, files }] = packSchema.parse(
      JSON.parse((await run("npm", args, { cwd: root })).stdout),
    );
    await writeFile(join(folder, "package.json"), "{}");
    await run("npm", ["install", "--offline", "--no-audit", join(folder, filename)], { cwd: folder });
    const lock = await readFile(join(folder, "node_modules/.package-lock.json"), "utf8");
    return {
      bytes: unpackedSize,
      clipBytes: files.reduce((sum, { path, size }) => (path.includes("/media/") ? sum + size : sum), 0),
      packages: Object.keys(lockSchema.parse(JSON.parse(lock)).packages).length,
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}
