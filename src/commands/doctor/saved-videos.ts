// Checks whether finished videos can be saved, and whether the user will find them.

import { readFile } from "node:fs/promises";
import type { Config } from "../../config.ts";
import { type Check, pass, warn } from "./check.ts";
import { findFolderProblem } from "./folder.ts";

const NAME = "saved videos";

/** The content of a file; undefined where it can't be read. */
export type ReadText = (path: string) => Promise<string | undefined>;

/** Nothing where no folder is set. */
export async function checkSavedVideos(
  { saveDir }: Config,
  readText: ReadText = (path) => readFile(path, "utf8").catch(() => undefined),
): Promise<readonly Check[]> {
  if (saveDir === undefined) return [];
  const problem = await findFolderProblem(saveDir);
  if (problem !== undefined)
    return [
      warn(
        NAME,
        `${saveDir} can't be written: ${problem}. Finished videos are not saved`,
        "Set FACELESS_SAVE_DIR to a folder that you can write to",
      ),
    ];
  if (!(await isInContainer(readText))) return [pass(NAME, saveDir)];
  if (isMounted(saveDir, (await readText("/proc/self/mountinfo")) ?? ""))
    return [pass(NAME, `${saveDir} in this container, mounted from outside: savedTo names the path in here`)];
  return [
    warn(
      NAME,
      `${saveDir} is in this container and not on your computer: the videos are gone with the container`,
      `Mount a folder of your computer there, such as with docker run -v "$HOME/Videos:${saveDir}"`,
    ),
  ];
}

async function isInContainer(readText: ReadText): Promise<boolean> {
  // Docker makes the one, Podman the other.
  const found = await Promise.all(["/.dockerenv", "/run/.containerenv"].map(readText));
  return found.some((text) => text !== undefined);
}

/** Whether the folder, or one above it, is a mount of its own that outlives the container. */
function isMounted(folder: string, mountInfo: string): boolean {
  const mounts = mountInfo.split("\n").flatMap((line) => {
    const [left = "", right = ""] = line.split(" - ");
    // proc(5): blanks in a path are octal.
    const path = left.split(" ")[4]?.replace(/\\(\d{3})/g, (_, octal: string) => fromOctal(octal));
    return path === undefined ? [] : [{ path, isInMemory: right.startsWith("tmpfs ") }];
  });
  const nearest = mounts
    .filter(({ path }) => path === folder || folder.startsWith(path.endsWith("/") ? path : `${path}/`))
    .sort((a, b) => b.path.length - a.path.length)[0];
  return nearest !== undefined && nearest.path !== "/" && !nearest.isInMemory;
}

function fromOctal(digits: string): string {
  return String.fromCharCode(Number.parseInt(digits, 8));
}
