// Starts what an entry names, as its client does, and asks for its version and its tools.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { ClientName } from "../../command-line.ts";
import type { Environment } from "../../config.ts";
import { errnoOf } from "../../errors.ts";
import { quote } from "../../text.ts";
import { VERSION } from "../../version.ts";
import { FORMATS } from "../client-formats.ts";
import type { Host } from "../host.ts";
import { type Check, fail, pass, READ_ONLY, skip, warn } from "./check.ts";
import { type ClientEntry, isPlaceholder } from "./client-entry.ts";

const NAME = "start";
/** npx may have to download the package. */
const START_MS = 30_000;
/** The variables that clients pass on in any case. */
const PASSED_ON =
  /^(?:HOME|LOGNAME|PATH|SHELL|TERM|USER|APPDATA|COMSPEC|HOMEDRIVE|HOMEPATH|LOCALAPPDATA|PATHEXT|PROGRAM\w*|SYSTEM\w*|TEMP|TMP|USERNAME|USERPROFILE|WINDIR)$/i;

/** Says if the entry starts this server. `print`: the command that prints another entry. */
export async function checkStart(
  client: ClientName,
  { words, cwd = "", env }: ClientEntry,
  { env: terminal, homeDir, platform, clock }: Host,
  print: string,
): Promise<readonly Check[]> {
  const { title, inherits, isDesktopApp } = FORMATS[client];
  const replace = `Run ${quote(print)}, and replace the entry with what it prints`;
  if (words.some(isPlaceholder)) {
    const placeholders = `the entry has placeholders that only ${title} fills in`;
    return [skip(NAME, placeholders, `Look in ${title} whether the server runs`)];
  }
  if (isAbsolute(cwd) && !existsSync(cwd))
    return [fail(NAME, `the entry starts it in ${quote(cwd)}, which doesn't exist`, replace)];
  const path = pathOf(terminal);
  const variables = Object.entries(terminal);
  const passedOn = variables.filter(([variable]) => inherits === true || PASSED_ON.test(variable));
  const startedMs = clock.monotonicMs();
  const started = await startEntry(words, {
    cwd: isAbsolute(cwd) ? cwd : homeDir,
    // npm tries for more than a minute before it says that it can't reach its registry.
    env: {
      ...Object.fromEntries(passedOn),
      PATH: path,
      HOME: homeDir,
      npm_config_fetch_retries: "0",
      ...env,
    },
    limitMs: START_MS,
  });
  const seconds = ((clock.monotonicMs() - startedMs) / 1_000).toFixed(1);
  if ("problem" in started) return [fail(NAME, started.problem, replace)];
  const { name, version, tools, strayLine, endsByItself } = started;
  if (name !== "faceless-video-mcp")
    return [fail(NAME, `the program that answers is ${quote(name)}`, replace)];
  const isOlder = version.localeCompare(VERSION, "en", { numeric: true }) < 0;
  const found = isDesktopApp === true && platform !== "win32" ? findInPath(words[0] ?? "", path) : undefined;
  const doubts = [
    isOlder && `it is version ${version}, and this is version ${VERSION}`,
    strayLine !== undefined &&
      `it prints ${quote(strayLine, 100)} to stdout, which some clients take for a broken server`,
    !endsByItself && "it went on running when its input had ended, and was ended",
    found?.startsWith(homeDir) === true &&
      `this terminal has ${words[0]} in ${found}, where ${title} may not look`,
  ];
  return [
    pass(NAME, `version ${version}, ${tools.length} tools, in ${seconds} s`),
    ...doubts.filter((doubt) => doubt !== false).map((doubt) => warn(NAME, doubt, replace)),
    ...(tools.includes("generate_video") ? [] : [pass(READ_ONLY, "no video can be made or posted")]),
  ];
}

/** Without folders of a project: npm puts node_modules/.bin into the PATH of what it starts. */
function pathOf({ PATH = "" }: Environment): string {
  const isProjects = (folder: string) => !isAbsolute(folder) || /[\\/]node_modules[\\/]/.test(folder);
  return PATH.split(delimiter)
    .filter((folder) => !isProjects(folder))
    .join(delimiter);
}

/** The path of a program that is looked for in PATH. */
function findInPath(command: string, path: string): string | undefined {
  if (isAbsolute(command)) return undefined;
  const paths = path.split(delimiter).map((folder) => join(folder, command));
  return paths.find((candidate) => existsSync(candidate));
}

/** Bytes of stderr that are kept for the reason. */
const MAX_STDERR = 4_000;
const END_MS = 2_000;

const messageSchema = z.looseObject({
  jsonrpc: z.literal("2.0"),
  result: z
    .looseObject({
      serverInfo: z.looseObject({ name: z.string(), version: z.string() }).optional(),
      tools: z.array(z.looseObject({ name: z.string() })).optional(),
    })
    .optional(),
});

const request = (id: number, method: string, params = {}) => ({ jsonrpc: "2.0", id, method, params });
const INITIALIZE = request(1, "initialize", {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "faceless-video-mcp-doctor", version: "1" },
});

interface StartOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How long it may take until the tools are listed. */
  readonly limitMs: number;
}

/** The server's answers, or the reason for none as a clause. */
export async function startEntry(
  [command = "", ...args]: readonly string[],
  { cwd, env, limitMs }: StartOptions,
) {
  const child = spawn(command, args, { cwd, env, stdio: "pipe", windowsHide: true });
  let stderr = "";
  child.stderr
    .setEncoding("utf8")
    .on("data", (text: string) => (stderr = (stderr + text).slice(-MAX_STDERR)));
  child.stdin.on("error", () => {});
  const send = (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`);
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(errnoOf(error) ?? error.message));
    child.once("close", (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  const talk = async () => {
    let server: { readonly name: string; readonly version: string } | undefined;
    let strayLine: string | undefined; // the first on stdout that is not MCP
    send(INITIALIZE);
    for await (const line of createInterface({ input: child.stdout })) {
      const message = parseMessage(line);
      if (message === undefined) strayLine ??= line;
      const { serverInfo, tools } = message?.result ?? {};
      if (serverInfo !== undefined) {
        server = serverInfo;
        send({ jsonrpc: "2.0", method: "notifications/initialized" });
        send(request(2, "tools/list"));
      }
      if (tools !== undefined && server !== undefined)
        return { ...server, tools: tools.map((tool) => tool.name), strayLine };
    }
    return ended;
  };
  const limit = new AbortController();
  const outcome = await Promise.race([
    talk(),
    sleep(limitMs, `no answer within ${limitMs / 1_000} s`, { signal: limit.signal }),
  ]);
  child.stdin.end();
  const endsByItself = await Promise.race([
    ended.then(() => true),
    sleep(END_MS, false, { signal: limit.signal }),
  ]);
  limit.abort();
  if (!endsByItself) child.kill("SIGKILL");
  if (typeof outcome !== "string") return { ...outcome, endsByItself };
  return { problem: explain(command, outcome, stderr) };
}

function parseMessage(line: string): z.infer<typeof messageSchema> | undefined {
  try {
    return messageSchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

/** Why there was no answer. npm's own codes say more than its exit code. */
function explain(command: string, outcome: string, stderr: string): string {
  if (outcome === "ENOENT") return `there is no program ${quote(command)}`;
  const missing = /Cannot find module '([^']+)'/.exec(stderr)?.[1];
  if (missing !== undefined) return `there is no file ${quote(missing)}`;
  const npm = /npm (?:error|ERR!) code (\w+)/.exec(stderr)?.[1];
  if (npm === "E404" || npm === "ETARGET") return `npm has no such package or version (${npm})`;
  if (npm !== undefined && /^(?:E(?:NOT|AI|CONN|TIME|NET|HOST)|ERR_SOCKET)/.test(npm))
    return `npm can't reach its registry (${npm}): this computer may be offline or behind a proxy`;
  const last = stderr.trim().split("\n").at(-1) ?? "";
  return last === "" ? outcome : `${outcome}; it printed ${quote(last, 300)}`;
}
