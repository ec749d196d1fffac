// Keeps the copy of this server that entries start. They name app/bin.cjs, which loads the folder of one
// version. Every copy is written whole into a folder of its own before bin.cjs names it, so that nothing that
// runs or starts meanwhile misses a file.

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, lstat, mkdtemp, readdir, readFile, rename, rm, utimes, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import type { Clock } from "../clock.ts";
import { defaultStateDir } from "../config.ts";
import { folderOpenToOthers, makePrivateFolder } from "../folder-access.ts";
import { describeFolderError } from "../jobs/save-video.ts";
import { VERSION } from "../version.ts";

export interface CopyOptions {
  readonly homeDir: string;
  /** The folder of this server's files. */
  readonly files: string;
  /** The user who runs this; undefined on Windows. */
  readonly uid: number | undefined;
  readonly clock: Clock;
}

/** No server runs that long after its version was replaced. */
const KEEP_REPLACED_MS = 90 * 24 * 60 * 60_000;
const LOADER = "bin.cjs";

/** Returns the path of app/bin.cjs, which is the same for every version, or why there is no copy. */
export async function installCopy(
  options: CopyOptions,
): Promise<{ readonly script: string } | { readonly problem: string }> {
  const app = copyFolder(options.homeDir);
  try {
    const obstacle = findObstacle(app, options);
    if (obstacle !== undefined) return { problem: `no copy can be kept in ${app}: ${obstacle}` };
    makePrivateFolder(dirname(app));
    makePrivateFolder(app);
    await switchTo(app, options);
    return { script: join(app, LOADER) };
  } catch (error) {
    return { problem: `no copy can be kept in ${app}: ${describeFolderError(error)}` };
  }
}

/** Always in the home folder: FACELESS_STATE_DIR may name a folder that a project can write to. */
export function copyFolder(homeDir: string): string {
  return join(defaultStateDir(homeDir), "app");
}

function findObstacle(app: string, { files, uid }: CopyOptions): string | undefined {
  if (!existsSync(join(files, "cli.cjs"))) return "this server isn't built. Run npm run build first";
  if (uid === undefined) return undefined;
  // Looks before anything is made: root's folder, made with sudo -E, would lock the user out.
  const open = folderOpenToOthers(nearestFolder(app), uid);
  if (open === undefined) return undefined;
  return `another user owns ${open}, or may write to it. Run this without sudo; if the folder is yours, run chmod go-w on it`;
}

function nearestFolder(path: string): string {
  return existsSync(path) ? path : nearestFolder(dirname(path));
}

async function loadedFolder(app: string): Promise<string | undefined> {
  const text = await readFile(join(app, LOADER), "utf8").catch(() => "");
  return /"\.\/([\w.+-]+)\/bin\.cjs"/.exec(text)?.[1];
}

async function switchTo(app: string, { files, clock }: CopyOptions): Promise<void> {
  const current = await loadedFolder(app);
  const isWhole = current !== undefined && (await hashOf(join(app, current))) === (await hashOf(files));
  if (isWhole) return;
  const fresh = await mkdtemp(join(app, `${VERSION}-`));
  await cp(files, fresh, { recursive: true });
  const loader = `${fresh}.cjs`;
  await writeFile(loader, `"use strict";\nrequire("./${basename(fresh)}/bin.cjs");\n`, { mode: 0o600 });
  await rename(loader, join(app, LOADER));
  const now = new Date(clock.now());
  // Its age counts from its replacement on.
  if (current !== undefined) await utimes(join(app, current), now, now).catch(() => {});
  await removeOld(app, now.getTime());
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

async function removeOld(app: string, nowMs: number): Promise<void> {
  const current = await loadedFolder(app);
  const names = (await readdir(app)).filter((name) => name !== current && name !== LOADER);
  await Promise.all(
    names.map(async (name) => {
      // Another process may have renamed its loader meanwhile.
      const mtimeMs = await lstat(join(app, name)).then(
        (stats) => stats.mtimeMs,
        () => nowMs,
      );
      if (nowMs - mtimeMs > KEEP_REPLACED_MS) await rm(join(app, name), { recursive: true, force: true });
    }),
  );
}
