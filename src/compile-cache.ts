// The folder in which Node keeps the server's compiled code between starts. Whoever can write there runs code
// that sees the API key, so it is used only if no other user can.

import { lstatSync, mkdirSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

export interface CompileCacheOptions {
  /** The journal's folder, an absolute path. */
  readonly stateDir: string;
  /** Made if missing. A folder that the user has named is not: it may be a disk that is not mounted. */
  readonly isDefault: boolean;
  /** Who runs this process. Undefined on Windows. */
  readonly uid: number | undefined;
}

const WRITABLE_BY_OTHERS = 0o022;
/** In such a folder, each user can move and remove only what is their own. */
const STICKY = 0o1000;

/** Makes the folder if it is missing. Undefined if there can be none, or another user could change it. */
export function compileCacheFolder({ stateDir, isDefault, uid }: CompileCacheOptions): string | undefined {
  const folder = join(stateDir, "compiled");
  try {
    if (isDefault) makeFolder(stateDir);
    // Windows does not tell owners here. Its home folders are private, other folders often are not.
    const isPrivate = uid === undefined ? isDefault : isOwn(stateDir, uid) && isSafeBelow(stateDir, uid);
    if (!isPrivate) return undefined;
    makeFolder(folder);
    return isOwn(folder, uid) ? folder : undefined;
  } catch {
    return undefined;
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch {
    // It is there, or looking at it fails too.
  }
}

/** A folder, and no link to one, that only this user can write to. */
function isOwn(path: string, uid: number | undefined): boolean {
  const stats = lstatSync(path);
  if (uid === undefined) return stats.isDirectory();
  return stats.isDirectory() && stats.uid === uid && (stats.mode & WRITABLE_BY_OTHERS) === 0;
}

/** Whether no other user but root can put another folder in the place of this one. */
function isSafeBelow(path: string, uid: number): boolean {
  const parents = [realpathSync(dirname(path))];
  for (const parent of parents) if (dirname(parent) !== parent) parents.push(dirname(parent));
  return parents.every((parent) => {
    const { uid: owner, mode } = lstatSync(parent);
    return [0, uid].includes(owner) && ((mode & WRITABLE_BY_OTHERS) === 0 || (mode & STICKY) !== 0);
  });
}
