// The copy of this server that `config CLIENT --installed` keeps beside the journal. Entries name app/bin.cjs,
// which loads the folder of one version. Another version is written beside it, and only then is bin.cjs
// exchanged: servers that run keep their files.

import { createHash, randomUUID } from "node:crypto";
import {
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { Clock } from "../clock.ts";
import { defaultStateDir, NO_FLAGS, readConfig } from "../config.ts";
import { errnoOf } from "../errors.ts";
import { folderOpenToOthers } from "../folder-access.ts";
import { describeFolderError } from "../saved-videos/video-folder.ts";
import { VERSION } from "../version.ts";
import type { HostInfo } from "./doctor/check.ts";

export interface CopyOptions extends Pick<HostInfo, "env" | "homeDir" | "platform"> {
  readonly clock: Clock;
  /** The folder of this server's files. */
  readonly files: string;
}

/** No server runs that long after its version was replaced. */
const KEEP_REPLACED_MS = 90 * 24 * 60 * 60_000;
const LOADER = "bin.cjs";

class UnsafeFolder extends Error {}

/** The path of app/bin.cjs, which is the same for every version, or why there is no copy. */
export async function keepCopy(
  options: CopyOptions,
): Promise<{ readonly script: string } | { readonly problem: string }> {
  const name = "FACELESS_STATE_DIR";
  const config = readConfig({ [name]: options.env[name] }, NO_FLAGS, options.homeDir);
  const mistake = config.problems.find(({ variable }) => variable === name);
  if (mistake !== undefined) return { problem: `${name} ${mistake.problem}. ${mistake.fix}.` };
  const app = copyFolder(options);
  try {
    // A folder that was set may be one that is not mounted yet.
    const recursive = config.makesStateDir || config.stateDir === undefined;
    await mkdir(app, { recursive, mode: 0o700 }).catch((error: unknown) => {
      if (errnoOf(error) !== "EEXIST") throw error;
    });
    await switchTo(app, options);
    return { script: join(app, LOADER) };
  } catch (error) {
    const reason = error instanceof UnsafeFolder ? error.message : describeFolderError(error);
    return { problem: `no copy could be kept in ${app}: ${reason}` };
  }
}

/** Beside the journal, or where that would lie if one were kept. */
export function copyFolder({ env, homeDir }: Pick<HostInfo, "env" | "homeDir">): string {
  const { stateDir } = readConfig({ FACELESS_STATE_DIR: env["FACELESS_STATE_DIR"] }, NO_FLAGS, homeDir);
  return join(stateDir ?? defaultStateDir(homeDir), "app");
}

/** The version that the loader starts; undefined if it can't be read. */
export async function copiedVersion(app: string): Promise<string | undefined> {
  return /^(.+)-\w+$/.exec((await loadedFolder(app)) ?? "")?.[1];
}

async function loadedFolder(app: string): Promise<string | undefined> {
  const text = await readFile(join(app, LOADER), "utf8").catch(() => "");
  return /"\.\/([\w.+-]+)\/bin\.cjs"/.exec(text)?.[1];
}

async function switchTo(app: string, { files, platform, clock }: CopyOptions): Promise<void> {
  if (!(await lstat(app)).isDirectory()) throw new UnsafeFolder("it is a link or a file");
  const fresh = await mkdtemp(join(app, ".new-"));
  try {
    if (platform !== "win32") await refuseOthers(app, fresh);
    const tree = await readTree(files);
    if (!tree.has("cli.cjs")) throw new UnsafeFolder("this is no built package. Run npm run build first");
    const hash = hashOf(tree);
    const folder = `${VERSION}-${hash}`;
    const holdsIt = () =>
      readTree(join(app, folder)).then(
        (found) => hashOf(found) === hash,
        () => false,
      );
    if (!(await holdsIt())) {
      await rm(join(app, folder), { recursive: true, force: true });
      await Promise.all([...tree].map(([path, bytes]) => writeNew(join(fresh, path), bytes)));
      await rename(fresh, join(app, folder)).catch(async (error: unknown) => {
        // Another process may have been faster.
        if (!(await holdsIt())) throw error;
      });
    }
    const replaced = await loadedFolder(app);
    const loader = join(app, `.new-${randomUUID()}`);
    await writeNew(loader, `"use strict";\nrequire("./${folder}/bin.cjs");\n`);
    await rename(loader, join(app, LOADER));
    const now = new Date(clock.now());
    // From now on its age counts.
    if (replaced !== undefined && replaced !== folder)
      await utimes(join(app, replaced), now, now).catch(() => {});
    await removeOld(app, folder, now.getTime());
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

/** The copy is run with the user's key, so that nobody else may be able to exchange it. */
async function refuseOthers(app: string, own: string): Promise<void> {
  const folder = folderOpenToOthers(app, (await stat(own)).uid);
  if (folder !== undefined)
    throw new UnsafeFolder(
      `another user owns ${folder}, or may write to it. If it is yours, run chmod go-w on it`,
    );
}

/** The contents of all files below a folder, by path. */
async function readTree(folder: string): Promise<ReadonlyMap<string, Buffer>> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = found
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
    .sort();
  return new Map(
    await Promise.all(paths.map(async (path) => [path, await readFile(join(folder, path))] as const)),
  );
}

function hashOf(tree: ReadonlyMap<string, Buffer>): string {
  const hash = createHash("sha256");
  for (const [path, bytes] of tree) hash.update(`${path}\n${bytes.length}\n`).update(bytes);
  return hash.digest("hex").slice(0, 12);
}

/** Follows no link: what has this name already is an error. */
async function writeNew(path: string, content: Buffer | string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(path, content, { flag: "wx", mode: 0o600 });
}

async function removeOld(app: string, current: string, nowMs: number): Promise<void> {
  const names = (await readdir(app)).filter((name) => name !== current && name !== LOADER);
  await Promise.all(
    names.map(async (name) => {
      const { mtimeMs } = await lstat(join(app, name));
      if (nowMs - mtimeMs > KEEP_REPLACED_MS) await rm(join(app, name), { recursive: true, force: true });
    }),
  );
}
