// Checks whether the journal can be written, without making its folder. Leaves nothing behind.

import { randomUUID } from "node:crypto";
import { access, constants, open, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../../config.ts";
import { stateFolder } from "../state-folder.ts";
import { type Check, pass, warn } from "./check.ts";

const DEADLINE_MS = 2_000;

export async function checkJournal({ stateDir }: Config): Promise<Check> {
  if (stateDir === false)
    return pass("journal", "switched off: after a restart nothing protects against paying or posting twice");
  const folder = stateDir ?? stateFolder();
  const late = sleep(DEADLINE_MS, "no answer within 2 s", { ref: false });
  const problem = await Promise.race([findProblem(folder), late]);
  if (problem === undefined) return pass("journal", folder);
  return warn(
    "journal",
    `${folder} can't be written (${problem}): after a restart nothing protects against paying or posting twice`,
    "Set FACELESS_STATE_DIR to a folder that you can write to",
  );
}

/** Why the folder, or the nearest one above it that exists, can't be written. */
async function findProblem(folder: string): Promise<string | undefined> {
  try {
    const nearest = await nearestFolder(folder);
    await access(nearest, constants.W_OK | constants.X_OK);
    if (nearest !== folder) return undefined;
    // Not every system tells the right to write without writing.
    const path = join(folder, `doctor-${randomUUID()}`);
    await (await open(path, "wx", 0o600)).close();
    await rm(path);
    return undefined;
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
  }
}

async function nearestFolder(path: string): Promise<string> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" && dirname(path) !== path) return undefined;
    throw error;
  });
  if (found === undefined) return nearestFolder(dirname(path));
  if (!found.isDirectory()) throw Object.assign(new Error("Not a folder"), { code: "ENOTDIR" });
  return path;
}
