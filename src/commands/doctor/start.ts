// Starts what an entry names, as its client does, and asks for its version and its tools.

import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { isAbsolute, posix, win32 } from "node:path";
import { unescape } from "node:querystring";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { Environment } from "../../config.ts";
import { errnoOf } from "../../errors.ts";
import { createRedact, type Redact } from "../../redact.ts";
import { objectOf } from "../../service/openapi.ts";
import { quote } from "../../text.ts";
import { parseJson, valueAt } from "../../value-at.ts";
import { VERSION } from "../../version.ts";
import { FORMATS } from "../client-formats.ts";
import type { Host } from "../host.ts";
import { type Check, fail, pass, READ_ONLY, skip, warn } from "./check.ts";
import { type ClientEntry, printEntry, REPLACE_ENTRY } from "./client-entry.ts";
import { settingsOf } from "./environment.ts";

const NAME = "start";
/** npx may have to download the package. */
const START_MS = 30_000;
/** The variables that clients pass on in any case. */
const PASSED_ON =
  /^(?:HOME|LOGNAME|PATH|SHELL|TERM|USER|APPDATA|COMSPEC|HOMEDRIVE|HOMEPATH|LOCALAPPDATA|PATHEXT|PROGRAM\w*|SYSTEM\w*|TEMP|TMP|USERNAME|USERPROFILE|WINDIR)$/i;

/** Checks that the entry starts this server. */
export async function checkStart(
  { client, suffix, words, cwd = "", env }: ClientEntry,
  host: Host,
): Promise<readonly Check[]> {
  const { env: terminal, homeDir, platform, clock, interrupted } = host;
  const { title, inherits, isDesktopApp } = FORMATS[client];
  const print = printEntry(client, host);
  const name = `${NAME}${suffix}`;
  const failed = (problem: string) => [fail(name, problem, REPLACE_ENTRY, print)];
  const left = words.find(({ state }) => state === "left")?.text;
  if (left !== undefined)
    return failed(`it starts with the placeholder ${quote(left, 60)}, which ${title} doesn't fill in`);
  if (words.some(({ state }) => state !== "known")) {
    const placeholders = `the entry has placeholders that only ${title} fills in`;
    return [skip(name, placeholders, `Look in ${title} whether the server runs`)];
  }
  if (isAbsolute(cwd) && !existsSync(cwd))
    return failed(`the entry starts it in ${quote(cwd)}, which doesn't exist`);
  const path = pathOf(terminal["PATH"], platform);
  const variables = Object.entries(terminal);
  const passedOn = variables.filter(([variable]) => inherits === true || PASSED_ON.test(variable));
  const texts = words.map(({ text }) => text);
  const redact = redactorOf({ ...settingsOf(terminal), ...env }, texts);
  const startedMs = clock.monotonicMs();
  const started = await startEntry(texts, {
    platform,
    cwd: isAbsolute(cwd) ? cwd : homeDir,
    // npm tries for more than a minute before it says that it can't reach its registry.
    env: {
      // Windows calls it Path.
      ...Object.fromEntries(passedOn.filter(([variable]) => variable.toUpperCase() !== "PATH")),
      PATH: path,
      HOME: homeDir,
      npm_config_fetch_retries: "0",
      ...env,
    },
    limitMs: START_MS,
    interrupted,
    redact,
  });
  const seconds = ((clock.monotonicMs() - startedMs) / 1_000).toFixed(1);
  if ("problem" in started) return failed(started.problem);
  const { name: server = "", version = "", tools, strayLine } = started;
  if (server !== "faceless-video-mcp") return failed(`the program that answers is ${quote(server)}`);
  const isOlder = version.localeCompare(VERSION, "en", { numeric: true }) < 0;
  const computer = { platform, env: { PATH: path }, exists: existsSync };
  const found =
    isDesktopApp === true && platform !== "win32" ? findInPath(texts[0] ?? "", computer) : undefined;
  const line = quote(strayLine ?? "", 100);
  const doubts = [
    isOlder && `it is version ${version}, and this is version ${VERSION}`,
    strayLine !== undefined && `it prints ${line} to stdout, which some clients take for a broken server`,
    found?.startsWith(homeDir) === true &&
      `this terminal has ${texts[0]} in ${found}, where ${title} may not look`,
  ];
  return [
    pass(name, `version ${version}, ${tools.length} tools, in ${seconds} s`),
    ...doubts.filter((doubt) => doubt !== false).map((doubt) => warn(name, doubt, REPLACE_ENTRY, print)),
    ...(tools.includes("generate_video") ? [] : [pass(READ_ONLY, "no video can be made or posted")]),
  ];
}

/** Variables whose values are secrets. */
const SECRET = /key|token|secret|pass|pwd|auth|credential/i;
const IN_ADDRESS = /\/\/(?:[^\s:/@]*:)?(\S{1,500})@|\bpassword=([^\s&]+)/gi;

/**
 * Removes an entry's secrets from a text: the values of variables with such names, and what stands before
 * the @ of addresses or behind `password=`.
 */
function redactorOf(env: Environment, words: readonly string[]): Redact {
  const assigned = words.map((word) => /^(\w+)=(.*)$/s.exec(word)?.slice(1) ?? ["", word]);
  const secrets = [...Object.entries(env), ...assigned].flatMap(([name = "", value = ""]) => [
    SECRET.test(name) ? value.trim() : "",
    ...Array.from(value.matchAll(IN_ADDRESS), ([, one, other = ""]) => one ?? other).flatMap((password) => [
      password,
      unescape(password),
    ]),
  ]);
  secrets.sort((one, other) => other.length - one.length);
  const redactors = secrets.map(createRedact);
  return (text) => redactors.reduce((rest, redact) => redact(rest), text);
}

/** The PATH without folders of a project: npm puts node_modules/.bin into the PATH of what it starts. */
function pathOf(path = "", platform: NodeJS.Platform): string {
  const { isAbsolute: isWhole, delimiter } = platform === "win32" ? win32 : posix;
  const isProjects = (folder: string) => !isWhole(folder) || /[\\/]node_modules[\\/]/.test(folder);
  return path
    .split(delimiter)
    .filter((folder) => !isProjects(folder))
    .join(delimiter);
}

/** A program by its path: a project's folder may hold a program of this name. */
const TASKKILL = "C:\\Windows\\System32\\taskkill.exe";
/** The number of lines of stderr that are kept for the reason. */
const MAX_LINES = 100;
/** A server has this long to end after its input. */
const END_MS = 2_000;

const INITIALIZE = {
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "faceless-video-mcp-doctor", version: "1" },
  },
};

interface StartOptions extends Pick<Host, "platform" | "interrupted" | "env"> {
  readonly cwd: string;
  /** The time limit for starting and listing the tools. */
  readonly limitMs: number;
  /** Removes the entry's secrets from what the program says. */
  readonly redact: Redact;
}

/** Returns the server's answers, or as a clause the reason for none. Leaves no process behind. */
export async function startEntry(words: readonly string[], options: StartOptions) {
  const { platform, cwd, env, limitMs, interrupted, redact } = options;
  const command = redact(words[0] ?? "");
  const program = programOf(words, { platform, env, exists: existsSync });
  let child: ChildProcessWithoutNullStreams;
  try {
    child = spawn(program.command, program.args, {
      cwd,
      env,
      stdio: "pipe",
      windowsHide: true,
      windowsVerbatimArguments: program.isVerbatim,
      // A group of its own, so that all of it can be ended. Windows' groups would open a window.
      detached: platform !== "win32",
    });
  } catch (error) {
    // spawn throws some errors instead of emitting them, such as E2BIG and ENOTDIR.
    return { problem: explain(command, errnoOf(error) ?? String(error), []) };
  }
  const end = () => endGroup(child, platform);
  interrupted.addEventListener("abort", end);
  const printed: string[] = [];
  createInterface({ input: child.stderr }).on("line", (line) => {
    printed.push(redact(line));
    if (printed.length > MAX_LINES) printed.shift();
  });
  child.stdin.on("error", () => {});
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(errnoOf(error) ?? error.message));
    child.once("close", (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  const talk = async () => {
    let server: unknown;
    let strayLine: string | undefined; // the first line on stdout that is not MCP
    send(INITIALIZE);
    for await (const line of createInterface({ input: child.stdout })) {
      const message = parseJson(line);
      if (valueAt(message, "jsonrpc") !== "2.0") strayLine ??= redact(line);
      const { serverInfo, tools } = objectOf(valueAt(message, "result"));
      if (serverInfo !== undefined) {
        server = serverInfo;
        send({ method: "notifications/initialized" });
        send({ id: 2, method: "tools/list" });
      }
      if (!Array.isArray(tools)) continue;
      const [name, version] = ["name", "version"].map((field) => redact(String(valueAt(server, field))));
      return { name, version, tools: tools.map((tool) => valueAt(tool, "name")), strayLine };
    }
    return ended;
  };
  const outcome = await Promise.race([
    talk(),
    sleep(limitMs, `no answer within ${limitMs / 1_000} s`, { ref: false }),
  ]);
  child.stdin.end();
  // A container ends with its input, but not with the program that started it.
  await Promise.race([ended, sleep(END_MS, undefined, { ref: false })]);
  // Its own child processes may go on without it.
  end();
  interrupted.removeEventListener("abort", end);
  return typeof outcome === "string" ? { problem: explain(command, outcome, printed) } : outcome;
}

/** Ends the program and all that it has started. */
function endGroup({ pid, exitCode, signalCode }: ChildProcess, platform: NodeJS.Platform): void {
  if (pid === undefined) return;
  if (platform !== "win32") {
    try {
      // eslint-disable-next-line no-restricted-globals -- a child process can't end its group
      process.kill(-pid, "SIGKILL");
    } catch {
      // None of it is left.
    }
  } else if (exitCode === null && signalCode === null)
    spawnSync(TASKKILL, ["/pid", String(pid), "/t", "/f"], { stdio: "ignore", windowsHide: true });
}

/** Says why there was no answer. npm's own codes say more than its exit code. */
function explain(command: string, outcome: string, printed: readonly string[]): string {
  if (outcome === "ENOENT") return `there is no program ${quote(command)}`;
  const stderr = printed.join("\n");
  const missing = /Cannot find module '([^']+)'/.exec(stderr)?.[1];
  if (missing !== undefined) return `there is no file ${quote(missing)}`;
  const npm = /npm (?:error|ERR!) code (\w+)/.exec(stderr)?.[1];
  if (npm === "E404" || npm === "ETARGET") return `npm has no such package or version (${npm})`;
  if (npm !== undefined && /^(?:E(?:NOT|AI|CONN|TIME|NET|HOST)|ERR_SOCKET)/.test(npm))
    return `npm can't reach its registry (${npm}): this computer may be offline or behind a proxy`;
  const last = printed.findLast((line) => line.trim() !== "");
  return last === undefined ? outcome : `${outcome}; it printed ${quote(last, 300)}`;
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

/** The command line that starts this program. `isVerbatim`: the arguments are quoted already. */
export function programOf([command = "", ...args]: readonly string[], computer: Computer) {
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
