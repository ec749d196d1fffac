// Who can change what lies in a folder. Whoever can exchange a program that this user starts gets the API key.

import { lstatSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { errnoOf } from "./errors.ts";

const WRITABLE_BY_OTHERS = 0o022;
/** In such a folder, each user can move and remove only what is their own. */
const STICKY = 0o1000;

/**
 * The first of this folder, those above it and the links on the way that a user other than `uid` and root can
 * change; undefined if there is none. Throws where it is missing.
 */
export function folderOpenToOthers(path: string, uid: number): string | undefined {
  const real = realpathSync(path);
  return [...withParents(path), ...withParents(real)].find((folder) => {
    const stats = lstatSync(folder);
    if (stats.uid !== uid && (stats.uid !== 0 || folder === real)) return true;
    if (stats.isSymbolicLink() || (stats.mode & WRITABLE_BY_OTHERS) === 0) return false;
    return folder === real || (stats.mode & STICKY) === 0;
  });
}

/** Makes a folder for this user alone. Not recursively: Node.js then never returns from a folder of /proc. */
export function makePrivateFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (errnoOf(error) !== "EEXIST" || !statSync(path).isDirectory()) throw error;
  }
}

function withParents(path: string): readonly string[] {
  return dirname(path) === path ? [path] : [path, ...withParents(dirname(path))];
}
