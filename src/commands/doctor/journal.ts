// Checks whether the journal can be kept where the settings say, without making its folder. Leaves nothing behind.

import { randomUUID } from "node:crypto";
import { access, constants, open, rm, stat } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import type { Config } from "../../config.ts";
import { stateFolder } from "../state-folder.ts";
import { type Check, codeOf, pass, warn, within } from "./check.ts";

const DEADLINE_MS = 2_000;

export async function checkJournal({ stateDir }: Config): Promise<Check> {
  if (stateDir === false)
    return pass("journal", "switched off: nothing guards against paying twice after a crash");
  const folder = stateDir ?? stateFolder();
  const named = stateDir === undefined ? "" : " (FACELESS_STATE_DIR)";
  if (!isAbsolute(folder))
    return warn(
      "journal",
      `the folder ${folder}${named} is relative to wherever the client starts this server`,
      "Set FACELESS_STATE_DIR to a full path",
    );
  const found = await within(DEADLINE_MS, tryToWrite(folder), "no answer within 2 s");
  if (found === "written" || found === "possible")
    return pass(
      "journal",
      `${folder}${named} ${found === "written" ? "can be written" : "can be made when it is needed"}`,
    );
  return warn(
    "journal",
    `${folder}${named} can't be written (${found}): after a crash nothing guards against paying twice`,
    stateDir === undefined
      ? "Give your user the right to write there, or set FACELESS_STATE_DIR to a folder that you can write to"
      : "Set FACELESS_STATE_DIR to a folder that you can write to, or remove it",
  );
}

/** `written`, `possible` where the folder is yet to be made, else why not. */
async function tryToWrite(folder: string): Promise<string> {
  try {
    if (!(await isFolder(folder))) {
      await access(await nearestFolder(folder), constants.W_OK | constants.X_OK);
      return "possible";
    }
    // What may be written can't be told on every system without writing.
    const path = join(folder, `doctor-${randomUUID()}`);
    await (await open(path, "wx", 0o600)).close();
    await rm(path);
    const journal = join(folder, "journal.jsonl");
    if ((await statOf(journal)) !== undefined) await access(journal, constants.R_OK | constants.W_OK);
    return "written";
  } catch (error) {
    return codeOf(error) ?? "unknown reason";
  }
}

async function nearestFolder(folder: string): Promise<string> {
  let nearest = dirname(folder);
  while (!(await isFolder(nearest)) && dirname(nearest) !== nearest) nearest = dirname(nearest);
  return nearest;
}

/** Throws ENOTDIR where something else stands in its place. */
async function isFolder(path: string): Promise<boolean> {
  const found = await statOf(path);
  if (found !== undefined && !found.isDirectory())
    throw Object.assign(new Error("Not a folder"), { code: "ENOTDIR" });
  return found !== undefined;
}

async function statOf(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
