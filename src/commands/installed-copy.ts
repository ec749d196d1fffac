// Keeps the copy of this server that entries start. They name app/bin.cjs, which loads the folder of one
// version. Every copy is written whole into a folder of its own before bin.cjs names it, so that no server
// that runs or starts meanwhile lacks a file.

import { existsSync } from "node:fs";
import { cp, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { defaultStateDir } from "../config.ts";
import { describeDiskError, diskReason, fixForDisk, makeFolder } from "../disk.ts";
import { capitalized } from "../text.ts";
import { VERSION } from "../version.ts";
import type { Host } from "./host.ts";

/** No server still runs this long after its version was replaced. */
const KEEP_REPLACED_MS = 90 * 24 * 60 * 60_000;
const LOADER = "bin.cjs";

/** Always in the home folder: FACELESS_STATE_DIR may name a folder that a project can write to. */
export function copyFolder(homeDir: string): string {
  return join(defaultStateDir(homeDir), "app");
}

/** Returns the path of app/bin.cjs, which is the same for every version, or why there is no copy. */
export async function installCopy({ homeDir, files, clock }: Host) {
  const app = copyFolder(homeDir);
  const script = join(app, LOADER);
  const failed = (reason: string) => ({ problem: `no copy can be kept in ${app}: ${reason}` });
  if (!existsSync(join(files, "cli.cjs"))) return failed("this server isn't built. Run npm run build first");
  try {
    await makeFolder(app, 0o700);
    const loader = await readFile(script, "utf8").catch(() => "");
    const current = /"\.\/([\w.+-]+)\/bin\.cjs"/.exec(loader)?.[1];
    if (current !== undefined) {
      if (await isSameBuild(join(app, current), files)) return { script };
      // A replaced version is kept for a time from now on.
      const now = new Date(clock.now());
      await utimes(join(app, current), now, now).catch(() => {});
    }
    const fresh = await mkdtemp(join(app, `${VERSION}-`));
    await cp(files, fresh, { recursive: true });
    const newLoader = join(fresh, "loader.cjs");
    await writeFile(newLoader, `"use strict";\nrequire("./${basename(fresh)}/bin.cjs");\n`, { mode: 0o600 });
    await rename(newLoader, script);
    const replaced = (await readdir(app)).filter((name) => name !== LOADER && name !== basename(fresh));
    for (const path of replaced.map((name) => join(app, name)))
      // eslint-disable-next-line no-await-in-loop -- there are a few
      if ((await stat(path)).mtimeMs < clock.now() - KEEP_REPLACED_MS)
        await rm(path, { recursive: true, force: true });
    return { script };
  } catch (error) {
    const fix = fixForDisk("written", diskReason(error), app);
    return failed(`${describeDiskError(error)}. ${capitalized(fix)}`);
  }
}

/** True if the entry file is the same, and the names of all others, which contain hashes of their content. */
async function isSameBuild(copy: string, files: string): Promise<boolean> {
  const describe = async (folder: string) => {
    const names = await readdir(folder, { recursive: true });
    return [...names.sort(), await readFile(join(folder, "cli.cjs"), "utf8")].join("\n");
  };
  return (await describe(copy).catch(() => "")) === (await describe(files));
}
