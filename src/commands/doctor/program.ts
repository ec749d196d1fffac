// Checks what an entry starts: that the program and the script are there, that a desktop application finds
// them, that no project can exchange them, that they are not outdated, and that the server accepts the arguments.

import { access, constants } from "node:fs/promises";
import { delimiter, isAbsolute, join, win32 } from "node:path";
import { type ClientName, parseCommandLine } from "../../command-line.ts";
import type { Flags } from "../../config.ts";
import { quote } from "../../text.ts";
import { VERSION } from "../../version.ts";
import { FORMATS } from "../client-formats.ts";
import { copiedVersion, copyFolder } from "../installed-copy.ts";
import { npxOutsideProjects } from "../server-entry.ts";
import { type Check, fail, type HostInfo, warn } from "./check.ts";

const NAME = "entry";
/** They obey the folder in which they start, and the files of a project there. */
const PACKAGE_RUNNER = /^(?:npx|npm|pnpm|pnpx|yarn|bunx|bun)(?:\.cmd|\.exe|-cli\.js)?$/i;
/** They start a program that their arguments name; those of a shell are a command line. */
const STARTER = /^(?:env|node|tsx)(?:\.exe)?$/i;
const SHELL = /^(?:(?:ba|z|da|k|fi)?sh|cmd|powershell|pwsh)(?:\.exe)?$/i;

/** A sentence without its end. In a project's folder, npx could run a program of the project. */
export function printEntry(client: ClientName): string {
  return `In your home folder, run "npx -y faceless-video-mcp config ${client} --installed"`;
}

/** `words`: the program and its arguments. `cwd`: the folder that the entry names, if it does. */
export async function checkProgram(
  client: ClientName,
  words: readonly string[],
  cwd: unknown,
  host: HostInfo,
): Promise<readonly Check[]> {
  const { title, isDesktopApp, obeysCwd } = FORMATS[client];
  const onWindows = host.platform === "win32";
  // Opening a file on another computer would show it who this computer's user is.
  if (onWindows && words.some((word) => /^[\\/](?:[\\/]|\?\?)/.test(word))) return [];
  const throughCmd = onWindows && /^cmd(\.exe)?$/i.test(words[0] ?? "") && /^\/c$/i.test(words[1] ?? "");
  const outsideProjects = npxOutsideProjects(words);
  const [command, ...args] = outsideProjects ?? (throughCmd ? words.slice(2) : words);
  const replace = `${printEntry(client)}, and replace the entry with what it prints`;
  if (command === undefined) return [fail(NAME, "the entry names no program to start", replace)];
  const path = await findProgram(command, host);
  const script = args.find((word) => isAbsolute(word) && /\.[cm]?js$/.test(word));
  const isMissing = script !== undefined && !(await exists(script, constants.R_OK));
  if (path === undefined || isMissing)
    return [
      fail(
        NAME,
        `the entry starts ${quote(isMissing ? script : command)}, which does not exist`,
        command === "npx" ? `${replace}. npx comes with Node.js, from https://nodejs.org` : replace,
      ),
    ];
  const isOutside = outsideProjects !== undefined || (obeysCwd === true && isOutsideProjects(cwd));
  const taken = isOutside || isDesktopApp === true ? undefined : whatProjectsChange(command, args);
  if (taken !== undefined)
    return [
      warn(
        NAME,
        `${title} may start it in a project's folder, where ${taken}, so that a cloned project could run another program with your key`,
        replace,
      ),
    ];
  if (onWindows && !throughCmd && command === "npx" && !isOutside)
    return [
      warn(
        NAME,
        `on Windows npx is a script, npx.cmd, which ${title} may not find: "spawn npx ENOENT"`,
        replace,
      ),
    ];
  const version = await startedVersion(args, script, host);
  if (version !== undefined && isOlder(version, VERSION))
    return [warn(NAME, `it starts version ${version}, and this is version ${VERSION}`, replace)];
  // Windows has one list of folders for all.
  const mayLookElsewhere = isDesktopApp === true && !onWindows;
  return mayLookElsewhere && !isAbsolute(command) && path.startsWith(host.homeDir)
    ? [warn(NAME, `this terminal has ${command} in ${path}, where ${title} may not look`, replace)]
    : [];
}

/** What the files of a project could change about a start in its folder, as a clause. */
function whatProjectsChange(command: string, args: readonly string[]): string | undefined {
  const program = win32.basename(command);
  const commandLine = SHELL.test(program) ? args.flatMap((word) => word.split(/[\s;&|"'()]+/)) : [];
  if (commandLine.includes("cd")) return undefined;
  const words = STARTER.test(program) ? args : commandLine;
  const runner = [command, ...words]
    .map((word) => win32.basename(word))
    .find((name) => PACKAGE_RUNNER.test(name));
  if (runner !== undefined) return `${runner} obeys the project's files`;
  const script = words.find((word) => /^(?![~$%{]).*\.[cm]?js$/s.test(word) && !win32.isAbsolute(word));
  return script && `${quote(script)} is a file of the project`;
}

function isOutsideProjects(cwd: unknown): boolean {
  return typeof cwd === "string" && /^(?:~|\$\{userHome\}|\/|[A-Za-z]:)/.test(cwd);
}

/** The version that npx or the installed copy starts; undefined if neither is named. */
async function startedVersion(
  args: readonly string[],
  script: string | undefined,
  host: HostInfo,
): Promise<string | undefined> {
  const folder = copyFolder(host.homeDir);
  if (script === join(folder, "bin.cjs")) return copiedVersion(folder);
  return args.map((word) => /^faceless-video-mcp@(\d+\.\d+\.\d+)/.exec(word)?.[1]).find(Boolean);
}

/** Compares versions of three numbers. */
function isOlder(version: string, than: string): boolean {
  return version.localeCompare(than, "en", { numeric: true }) < 0;
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
