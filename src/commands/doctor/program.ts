// Checks what an entry starts: that the program and the script are there, that a desktop application finds
// them, and that the server accepts the arguments.

import { access, constants } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { type ClientName, parseCommandLine } from "../../command-line.ts";
import type { Flags } from "../../config.ts";
import { quote } from "../../text.ts";
import { FORMATS } from "../client-formats.ts";
import { type Check, fail, type HostInfo, warn } from "./check.ts";

const NAME = "entry";

/** `words`: the program and its arguments. */
export async function checkProgram(
  client: ClientName,
  words: readonly string[],
  host: HostInfo,
): Promise<readonly Check[]> {
  const { title, findsNpx, hasOwnPath } = FORMATS[client];
  const onWindows = host.platform === "win32";
  // Opening a file on another computer would show it who this computer's user is.
  if (onWindows && words.some((word) => /^[\\/](?:[\\/]|\?\?)/.test(word))) return [];
  const throughCmd = onWindows && /^cmd(\.exe)?$/i.test(words[0] ?? "") && /^\/c$/i.test(words[1] ?? "");
  const [command, ...args] = throughCmd ? words.slice(2) : words;
  const printed = `Run "npx -y faceless-video-mcp config ${client}" and replace the entry with what it prints`;
  if (command === undefined) return [fail(NAME, "the entry names no program to start", printed)];
  const path = await findProgram(command, host);
  const script = args.find((word) => isAbsolute(word) && /\.[cm]?js$/.test(word));
  const isMissing = script !== undefined && !(await exists(script, constants.R_OK));
  if (path === undefined || isMissing)
    return [
      fail(
        NAME,
        `the entry starts ${quote(isMissing ? script : command)}, which does not exist`,
        `${printed}. npx comes with Node.js, from https://nodejs.org`,
      ),
    ];
  if (onWindows && !throughCmd && command === "npx" && findsNpx !== true)
    return [
      warn(
        NAME,
        `on Windows npx is a script, npx.cmd, which ${title} may not find: "spawn npx ENOENT"`,
        printed,
      ),
    ];
  // Windows has one list of folders for all.
  const mayLookElsewhere = hasOwnPath === true && !onWindows;
  const installed = `Run "faceless-video-mcp config ${client} --installed" and replace the entry with what it prints`;
  return mayLookElsewhere && !isAbsolute(command) && path.startsWith(host.homeDir)
    ? [warn(NAME, `this terminal has ${command} in ${path}, where ${title} may not look`, installed)]
    : [];
}

async function findProgram(command: string, { env, platform }: HostInfo): Promise<string | undefined> {
  const folders = isAbsolute(command) ? [""] : (env["PATH"] ?? "").split(delimiter);
  const endings = platform === "win32" ? ["", ".exe", ".cmd"] : [""];
  const paths = folders.flatMap((folder) => endings.map((ending) => join(folder, command) + ending));
  const found = await Promise.all(paths.map((path) => exists(path, constants.X_OK)));
  return paths.find((_, index) => found[index]);
}

function exists(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}

/** The server's flags, or what is wrong with them. The words of a program before the server are skipped. */
export function readFlags(words: readonly string[]): Flags | { readonly problem: string } {
  const start = words.findLastIndex((word) => /faceless-video-mcp(?:@[\w.-]+)?$|\.[cm]?js$/.test(word));
  const commandLine = parseCommandLine(start === -1 ? [] : words.slice(start + 1));
  if ("usageError" in commandLine) return { problem: commandLine.usageError };
  if (commandLine.command.name === "serve") return commandLine.command.flags;
  return { problem: `the command ${commandLine.command.name} does not start the server` };
}
