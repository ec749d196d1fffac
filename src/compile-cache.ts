// Chooses the folder in which Node keeps the server's compiled code between starts. Whoever can write there runs
// code that sees the API key: it always lies in the user's home folder, and isn't used if others can change it.

import { join } from "node:path";
import { folderOpenToOthers, makePrivateFolder } from "./folder-access.ts";

/** Makes the folder if it is missing. `stateDir`: the default one; `uid`: undefined on Windows. */
export function compileCacheFolder(
  homeDir: string,
  stateDir: string,
  uid: number | undefined,
): string | undefined {
  const folder = join(stateDir, "compiled");
  const isPrivate = (path: string) => uid === undefined || folderOpenToOthers(path, uid) === undefined;
  try {
    // Looks before anything is made: root's folder, made with sudo -E, would lock the user out.
    if (!isPrivate(homeDir)) return undefined;
    makePrivateFolder(stateDir);
    makePrivateFolder(folder);
    return isPrivate(folder) ? folder : undefined;
  } catch {
    return undefined;
  }
}
