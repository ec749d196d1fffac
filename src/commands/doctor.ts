// Checks whether a video could be made with the settings of this terminal or of a client's entry, and says
// how to fix what is wrong. Spends nothing and leaves nothing behind.

import { existsSync } from "node:fs";
import { delimiter, isAbsolute } from "node:path";
import type { Clock } from "../clock.ts";
import type { ClientName } from "../command-line.ts";
import { type Environment, type Flags, NO_FLAGS, readConfig } from "../config.ts";
import { quote } from "../text.ts";
import { VERSION } from "../version.ts";
import { FORMATS } from "./client-formats.ts";
import {
  type Check,
  cleanCheck,
  fail,
  formatReport,
  type HostInfo,
  pass,
  READ_ONLY,
  redactReport,
  skip,
  warn,
} from "./doctor/check.ts";
import { type ClientEntry, findInPath, isPlaceholder, readClientEntry } from "./doctor/client-entry.ts";
import { checkConfig, readTarget, settingsOf } from "./doctor/environment.ts";
import { checkJournal, checkSavedVideos } from "./doctor/folders.ts";
import { checkService } from "./doctor/service.ts";
import { startEntry } from "./doctor/start-entry.ts";
import { ownCommand } from "./server-entry.ts";

export interface DoctorOptions extends HostInfo {
  /** The client whose entry is checked; absent for this terminal's settings. */
  readonly client?: ClientName | undefined;
  readonly nodeVersion: string;
  /** The file that runs this. */
  readonly file: string;
  readonly isOnNpm: boolean;
  readonly json: boolean;
  readonly isTerminal: boolean;
  /** Gets whole lines, without their line break. */
  readonly print: (line: string) => unknown;
  readonly clock: Clock;
}

/** Every report has these checks, or says that they were skipped. */
const CHECK_NAMES = ["Node.js", "settings", "service", "key", "rate limit", "journal"];
const SANDBOX_CHECK_NAMES = ["Node.js", "settings", "journal"];
/** npx may have to download the package. */
const START_MS = 30_000;
/** The variables that clients pass on in any case. */
const PASSED_ON =
  /^(?:HOME|LOGNAME|PATH|SHELL|TERM|USER|APPDATA|COMSPEC|HOMEDRIVE|HOMEPATH|LOCALAPPDATA|PATHEXT|PROGRAM\w*|SYSTEM\w*|TEMP|TMP|USERNAME|USERPROFILE|WINDIR)$/i;

/** Prints the report. Returns the exit code: 1 if no video could be made. */
export async function runDoctor(options: DoctorOptions): Promise<number> {
  const { client, env, nodeVersion, json, isTerminal, print } = options;
  const { checks, settings }: Found =
    client === undefined
      ? { checks: [], settings: { env, flags: NO_FLAGS, hidden: [] } }
      : await ofEntry(client, options);
  const ofSettings = settings && (await checkSettings(settings, options));
  const all = [pass("Node.js", nodeVersion), ...checks, ...(ofSettings?.checks ?? [])].map(cleanCheck);
  const names = new Set(all.map(({ name }) => (name.startsWith("FACELESS_") ? "settings" : name)));
  const ok = all.every(({ status }) => status !== "fail");
  const expected = ofSettings?.sandbox === true ? SANDBOX_CHECK_NAMES : CHECK_NAMES;
  const report = { ok, checks: all, skipped: expected.filter((name) => !names.has(name)) };
  const colours = isTerminal && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
  const text = json
    ? JSON.stringify(report, undefined, 2)
    : formatReport(report, client && FORMATS[client].title, colours);
  print(redactReport(text, [env, settings?.env ?? {}]));
  return ok ? 0 : 1;
}

/** The settings to check, and the variables whose values doctor doesn't know. */
interface Settings {
  readonly env: Environment;
  readonly flags: Flags;
  readonly hidden: readonly string[];
}

interface Found {
  readonly checks: readonly Check[];
  /** Absent if there is no entry. */
  readonly settings?: Settings;
}

async function ofEntry(client: ClientName, options: DoctorOptions): Promise<Found> {
  const { file, isOnNpm, env: terminal } = options;
  const { inherits } = FORMATS[client];
  const print = ownCommand(`config ${client}`, file, isOnNpm);
  const { checks, entry } = await readClientEntry(client, options, print);
  if (entry === undefined) return { checks };
  const { words, hidden } = entry;
  const isHidden = ([name]: readonly [string, unknown]) => hidden.includes(name);
  const env = { ...(inherits === true && settingsOf(terminal)), ...entry.env };
  const sandbox = words.includes("--sandbox=auto")
    ? "auto"
    : words.some((word) => /^--sandbox(?:=true)?$/.test(word));
  return {
    checks: [...checks, ...(await checkStart(client, entry, print, options))],
    settings: {
      env: Object.fromEntries(Object.entries(env).filter((variable) => !isHidden(variable))),
      flags: { ...NO_FLAGS, sandbox },
      hidden,
    },
  };
}

/** True if the entry starts this server. */
async function checkStart(
  client: ClientName,
  { words, cwd = "", env }: ClientEntry,
  print: string,
  { env: terminal, homeDir, platform, clock }: DoctorOptions,
): Promise<readonly Check[]> {
  const { title, inherits, isDesktopApp } = FORMATS[client];
  const name = "start";
  const replace = `Run ${quote(print)}, and replace the entry with what it prints`;
  if (words.some(isPlaceholder))
    return [
      skip(
        name,
        `the entry has placeholders that only ${title} fills in`,
        `Look in ${title} whether the server runs`,
      ),
    ];
  const passedOn = Object.entries(terminal).filter(
    ([variable]) => inherits === true || PASSED_ON.test(variable),
  );
  if (isAbsolute(cwd) && !existsSync(cwd))
    return [fail(name, `the entry starts it in ${quote(cwd)}, which doesn't exist`, replace)];
  const startedMs = clock.monotonicMs();
  const started = await startEntry(words, {
    cwd: isAbsolute(cwd) ? cwd : homeDir,
    // npm tries for more than a minute before it says that it can't reach its registry.
    env: {
      ...Object.fromEntries(passedOn),
      PATH: pathOf(terminal),
      HOME: homeDir,
      npm_config_fetch_retries: "0",
      ...env,
    },
    limitMs: START_MS,
  });
  const seconds = ((clock.monotonicMs() - startedMs) / 1_000).toFixed(1);
  if ("problem" in started) return [fail(name, started.problem, replace)];
  const { version, tools, strayLine, endsByItself } = started;
  if (started.name !== "faceless-video-mcp")
    return [fail(name, `the program that answers is ${quote(started.name)}`, replace)];
  const path =
    isDesktopApp === true && platform !== "win32" ? findInPath(words[0] ?? "", pathOf(terminal)) : undefined;
  const doubts = [
    isOlder(version, VERSION) && `it is version ${version}, and this is version ${VERSION}`,
    strayLine !== undefined &&
      `it prints ${quote(strayLine, 100)} to stdout, which some clients take for a broken server`,
    !endsByItself && "it went on running when its input had ended, and was ended",
    path?.startsWith(homeDir) === true &&
      `this terminal has ${words[0]} in ${path}, where ${title} may not look`,
  ];
  return [
    pass(name, `version ${version}, ${tools.length} tools, in ${seconds} s`),
    ...doubts.filter((doubt) => doubt !== false).map((doubt) => warn(name, doubt, replace)),
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

/** Compares versions of three numbers. */
function isOlder(version: string, than: string): boolean {
  return version.localeCompare(than, "en", { numeric: true }) < 0;
}

async function checkSettings({ env, flags, hidden }: Settings, options: DoctorOptions) {
  const config = readConfig(env, flags, options.homeDir);
  const { sandbox } = config;
  const target = sandbox ? undefined : readTarget(env, options.homeDir);
  const checks = [
    ...checkConfig(env, config, { isEntry: options.client !== undefined, hidden }),
    ...(await checkService(target, options.clock)),
    await checkJournal(config, options.clock),
    ...(await checkSavedVideos(config)),
  ];
  return { checks, sandbox };
}
