// Finds the program of an entry as clients do: on Windows, a name stands for a file with one of the endings
// of PATHEXT, and cmd.exe runs batch files such as npx.cmd. Pure, except that it checks if a file exists.

import { posix, win32 } from "node:path";
import type { Environment } from "../../config.ts";

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  /** True if the arguments are quoted already. */
  readonly isVerbatim: boolean;
}

interface Computer {
  readonly platform: NodeJS.Platform;
  /** Names PATH as `PATH`, whatever Windows calls it. */
  readonly env: Environment;
  readonly exists: (path: string) => boolean;
}

/** The path at which PATH has a program; undefined if it has none, or if the program is named by a path. */
export function findInPath(command: string, { platform, env, exists }: Computer): string | undefined {
  const onWindows = platform === "win32";
  const { isAbsolute, join, delimiter } = onWindows ? win32 : posix;
  if (isAbsolute(command)) return undefined;
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const paths = folders.map((folder) => join(folder, command));
  return (onWindows ? paths.flatMap((path) => withEndings(path, env)) : paths).find(exists);
}

/** The command line that starts this program. */
export function programOf([command = "", ...args]: readonly string[], computer: Computer): Program {
  const plain = { command, args, isVerbatim: false };
  const { platform, env, exists } = computer;
  if (platform !== "win32") return plain;
  const found = win32.isAbsolute(command)
    ? withEndings(command, env).find(exists)
    : findInPath(command, computer);
  if (found === undefined || !/\.(?:cmd|bat)$/i.test(found)) return { ...plain, command: found ?? command };
  const words = [found, ...args].map(quoteWord).join(" ");
  // With /s, cmd.exe takes what stands between the outermost quotation marks.
  return { command: env["COMSPEC"] ?? "cmd.exe", args: ["/d", "/s", "/c", `"${words}"`], isVerbatim: true };
}

function withEndings(path: string, env: Environment): readonly string[] {
  const endings = (env["PATHEXT"] ?? ".COM;.EXE;.BAT;.CMD").split(";").filter((ending) => ending !== "");
  const hasEnding = endings.some((ending) => path.toLowerCase().endsWith(ending.toLowerCase()));
  return hasEnding ? [path] : endings.map((ending) => `${path}${ending.toLowerCase()}`);
}

/** Quotes a text: between quotation marks, cmd.exe obeys only %. */
function quoteWord(word: string): string {
  return `"${word.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\*)$/, "$1$1")}"`;
}
