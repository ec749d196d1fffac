// The folder in which Node keeps the server's compiled code between starts. Whoever can write there runs code
// that sees the API key, so it is used only if no other user can.

import { lstatSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { folderOpenToOthers } from "./folder-access.ts";

export interface CompileCacheOptions {
  /** The journal's folder, an absolute path. */
  readonly stateDir: string;
  /** Made if missing. A folder that the user has named is not: it may be a disk that is not mounted. */
  readonly isDefault: boolean;
  /** Who runs this process. Undefined on Windows. */
  readonly uid: number | undefined;
}

/** Makes the folder if it is missing. Undefined if there can be none, or another user could change it. */
export function compileCacheFolder({ stateDir, isDefault, uid }: CompileCacheOptions): string | undefined {
  const folder = join(stateDir, "compiled");
  // Windows does not tell owners here. Its home folders are private, other folders often are not.
  const isPrivate = (path: string) =>
    uid === undefined ? isDefault : folderOpenToOthers(path, uid) === undefined;
  try {
    if (isDefault) makeFolder(stateDir);
    if (!isPrivate(stateDir)) return undefined;
    makeFolder(folder);
    return lstatSync(folder).isDirectory() && isPrivate(folder) ? folder : undefined;
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
