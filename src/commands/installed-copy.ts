// Keeps the copy of this server that entries start. They name app/bin.cjs, which loads the folder of one
// version. Every copy is written whole into a folder of its own before bin.cjs names it, so that nothing that
// runs or starts meanwhile misses a file.

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import type { Clock } from "../clock.ts";
import { defaultStateDir } from "../config.ts";
import { describeFolderError } from "../jobs/save-video.ts";
import { VERSION } from "../version.ts";

export interface CopyOptions {
  readonly homeDir: string;
  /** The folder of this server's files. */
  readonly files: string;
  readonly clock: Clock;
}

/** No server runs that long after its version was replaced. */
const KEEP_REPLACED_MS = 90 * 24 * 60 * 60_000;
const LOADER = "bin.cjs";

/** Returns the path of app/bin.cjs, which is the same for every version, or why there is no copy. */
export async function installCopy({
  homeDir,
  files,
  clock,
}: CopyOptions): Promise<{ readonly script: string } | { readonly problem: string }> {
  const app = copyFolder(homeDir);
  const failed = (reason: string) => ({ problem: `no copy can be kept in ${app}: ${reason}` });
  if (!existsSync(join(files, "cli.cjs"))) return failed("this server isn't built. Run npm run build first");
  try {
    await mkdir(app, { recursive: true, mode: 0o700 });
    const current = await loadedFolder(app);
    if (current === undefined || (await hashOf(join(app, current))) !== (await hashOf(files)))
      await replace(app, current, files, clock.now());
    return { script: join(app, LOADER) };
  } catch (error) {
    return failed(describeFolderError(error));
  }
}

/** Always in the home folder: FACELESS_STATE_DIR may name a folder that a project can write to. */
export function copyFolder(homeDir: string): string {
  return join(defaultStateDir(homeDir), "app");
}

async function loadedFolder(app: string): Promise<string | undefined> {
  const text = await readFile(join(app, LOADER), "utf8").catch(() => "");
  return /"\.\/([\w.+-]+)\/bin\.cjs"/.exec(text)?.[1];
}

async function replace(app: string, current: string | undefined, files: string, nowMs: number) {
  const fresh = await mkdtemp(join(app, `${VERSION}-`));
  await cp(files, fresh, { recursive: true });
  const loader = join(fresh, "loader.cjs");
  await writeFile(loader, `"use strict";\nrequire("./${basename(fresh)}/bin.cjs");\n`, { mode: 0o600 });
  await rename(loader, join(app, LOADER));
  const now = new Date(nowMs);
  // Its age counts from its replacement on.
  if (current !== undefined) await utimes(join(app, current), now, now).catch(() => {});
  const others = (await readdir(app)).filter((name) => ![LOADER, basename(fresh)].includes(name));
  await Promise.all(
    others.map(async (name) => {
      const { mtimeMs } = await stat(join(app, name));
      if (nowMs - mtimeMs > KEEP_REPLACED_MS) await rm(join(app, name), { recursive: true, force: true });
    }),
  );
}

/** A hash of all files of a folder; of a missing folder, that of none. */
async function hashOf(folder: string): Promise<string> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const paths = found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const hash = createHash("sha256");
  for (const path of paths.sort()) {
    // eslint-disable-next-line no-await-in-loop -- in the order of the paths
    const bytes = await readFile(path);
    hash.update(`${relative(folder, path)}\n${bytes.length}\n`).update(bytes);
  }
  return hash.digest("hex");
}
