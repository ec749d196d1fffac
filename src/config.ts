// The environment becomes the Config, by one table of settings that the documents are made from too. Pure.
// Never throws, because the server has to start and report a wrong setting at each call. Never shows a value.

import { join } from "node:path";
import { DATABASE_EXAMPLE, parseDatabaseAddress } from "./settings/database-address.ts";
import { isLoopback } from "./settings/loopback.ts";
import {
  EXAMPLE_URL,
  IN_QUOTES,
  isMistake,
  isQuoted,
  type Mistake,
  NEW_KEY,
  oneOf,
  parseBaseUrl,
  parseFolder,
  parseKey,
  parseNoProxy,
  parseNumber,
  parseProxy,
  parseWhole,
  SANDBOX_KEY,
} from "./settings/values.ts";

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Proxies {
  readonly https?: string | undefined;
  readonly http?: string | undefined;
  /** Comma-separated hosts that are reached directly. */
  readonly none?: string | undefined;
}

/** A setting whose value can't be used. */
export interface ConfigProblem extends Mistake {
  readonly variable: string;
  readonly isUnset?: true;
  /** True if calls that record nothing still work. */
  readonly allowsReading?: true;
}

/** The service to talk to. `baseUrl` and `apiKey` together identify the account. */
export interface ServiceConfig {
  readonly apiKey: string;
  /** Normalized, so that two spellings are equal: no trailing dots or slashes. May have a path. */
  readonly baseUrl: URL;
  readonly proxies: Proxies;
  /** True for a sandbox, whether this process or the user has started it. */
  readonly isSandbox?: true;
}

/** The server's options on the command line. */
export interface Flags {
  /** `auto`: while neither the key nor the address is set, as plugins start the server. */
  readonly sandbox: boolean | "auto";
  readonly readOnly: boolean;
  readonly noPublish: boolean;
}

export const NO_FLAGS: Flags = { sandbox: false, readOnly: false, noPublish: false };

export type Config = Readonly<ReturnType<typeof readConfig>>;

/** One variable. No text ends in a full stop. */
export interface Setting<Value> {
  readonly name: string;
  readonly meaning: string;
  /** The form of its value. Completes "Set it to …". */
  readonly values: string;
  /** The value that is used while it is not set. */
  readonly default: string;
  /** Returns the value or the mistake in the text; undefined if `values` already explains it. */
  readonly parse: (text: string, homeDir: string, env: Environment) => Value | Mistake | undefined;
  /** The fix while it is not set. Absent if it is not needed. */
  readonly whenUnset?: string;
  /** True if a wrong value is replaced by the default, with a warning. For other settings it is a problem. */
  readonly isHarmless?: true;
  /** True if it guards money or publicity: an unfilled placeholder must not lift the guard. */
  readonly isGuard?: true;
}

const UNFILLED = "holds a ${…} placeholder that your client did not fill in";
const FILL = "Set it where your client takes the placeholder from, or write the value itself into the entry";
/** Keeps no journal. */
const OFF = "off";
const NO_JOURNAL_IN_DATABASE: ConfigProblem = {
  variable: "FACELESS_JOURNAL_URL",
  problem: "names a database for the journal, while FACELESS_STATE_DIR=off says to keep none",
  fix: "Remove one of the two",
};
const NO_HOME_FOLDER: ConfigProblem = {
  variable: "FACELESS_STATE_DIR",
  problem: "is not set, and this user has no home folder that could keep the journal",
  fix: "Set it to the absolute path of an existing folder, or set HOME to a folder that this user can write to",
  allowsReading: true,
};
const SANDBOX_KEY_ELSEWHERE: ConfigProblem = {
  variable: "FACELESS_API_KEY",
  problem: "is the sandbox's key, while FACELESS_BASE_URL leads away from this computer",
  fix: `${NEW_KEY}, or set FACELESS_BASE_URL to the address of your sandbox, such as http://127.0.0.1:8080`,
};
const LOG_LEVEL_DEFAULT = "warn";
const SANDBOX_SECONDS_DEFAULT = 20;

const PROXY = { values: "the URL of an HTTP proxy", default: "no proxy", parse: parseProxy };

/** All settings, in --help's order. The documents, server.json and the bundle's form are made from it too. */
export const SETTINGS = {
  apiKey: {
    name: "FACELESS_API_KEY",
    meaning:
      "The account's key, from the account settings of the service, section API; the sandbox needs none",
    values: "a key, which begins with fl_",
    default: "none",
    parse: parseKey,
    whenUnset: NEW_KEY,
  },
  baseUrl: {
    name: "FACELESS_BASE_URL",
    meaning: "The service's address, with or without a path; the sandbox needs none",
    values: "an https URL; http is for loopback hosts",
    default: "none",
    parse: parseBaseUrl,
    whenUnset: `Set it to the service's address, such as ${EXAMPLE_URL}`,
  },
  saveDir: {
    name: "FACELESS_SAVE_DIR",
    meaning: "Folder in which finished videos are saved; created if missing",
    values: "an absolute path, or one that begins with ~",
    default: "nothing is saved",
    parse: parseFolder,
  },
  pollSeconds: {
    name: "FACELESS_POLL_SECONDS",
    meaning: "Fixed time between polls of a followed job, instead of the schedule",
    values: "a number of seconds from 0.1 to 3600",
    default: "the usual schedule",
    parse: (text) => parseNumber(text, 0.1, 3600),
    isHarmless: true,
  },
  maxGenerations: {
    name: "FACELESS_MAX_GENERATIONS",
    meaning:
      "Maximum number of videos that may be started in any 24 hours, by all clients that share the journal (without a journal: by this process). Orders that are known to have failed don't count",
    values: "a whole number, 0 or more",
    default: "no limit",
    parse: (text) => parseWhole(text, 0, Number.MAX_SAFE_INTEGER),
    isGuard: true,
  },
  confirmGenerate: {
    name: "FACELESS_CONFIRM_GENERATE",
    meaning:
      "Asks you before a video is paid for, if your client can ask. always orders nothing if it can't. With off you are asked only before a repeat, and before an order that looks like a mistake",
    ...oneOf("on", "off", "always"),
    default: "on",
    isGuard: true,
  },
  confirmPublish: {
    name: "FACELESS_CONFIRM_PUBLISH",
    meaning:
      "Asks you before a video is posted, if your client can ask. always posts nothing if it can't. You are asked before a repeat in any case",
    ...oneOf("on", "off", "always"),
    default: "on",
    isGuard: true,
  },
  stateDir: {
    name: "FACELESS_STATE_DIR",
    meaning:
      "Folder for the record of orders and posts (the journal); one that you set must exist. off keeps no record: after a restart, the same video can be paid for again",
    values: "the absolute path of an existing folder, one that begins with ~, or off to keep none",
    default: "~/.faceless-video-mcp, which all clients of this home folder share",
    parse: (text, homeDir) => (text.toLowerCase() === "off" ? OFF : parseFolder(text, homeDir)),
    isGuard: true,
  },
  journalUrl: {
    name: "FACELESS_JOURNAL_URL",
    meaning:
      "Postgres database that holds the journal, so that several computers share one. Its password is kept as secret as the key",
    values: `an address such as ${DATABASE_EXAMPLE}`,
    default: "the journal folder",
    parse: (text, homeDir, env) => parseDatabaseAddress(text, homeDir, env["PGPASSWORD"]),
    isGuard: true,
  },
  webhookPort: {
    name: "FACELESS_WEBHOOK_PORT",
    meaning: "Port on 127.0.0.1 where webhooks arrive. Each only triggers an earlier check",
    values: "a port number from 1 to 65535",
    default: "polling without webhooks",
    parse: (text) => parseWhole(text, 1, 65_535),
    isHarmless: true,
  },
  logLevel: {
    name: "FACELESS_LOG_LEVEL",
    meaning: "Which log lines go to stderr",
    ...oneOf("debug", "info", "warn", "error", "silent"),
    default: LOG_LEVEL_DEFAULT,
    isHarmless: true,
  },
  sandboxSeconds: {
    name: "FACELESS_SANDBOX_SECONDS",
    meaning: "How long a render of the sandbox takes",
    values: "a number of seconds from 0 to 3600",
    default: `${SANDBOX_SECONDS_DEFAULT}`,
    parse: (text) => parseNumber(text, 0, 3600),
    isHarmless: true,
  },
  httpsProxy: { name: "HTTPS_PROXY", meaning: "Proxy to https addresses, except loopback", ...PROXY },
  httpProxy: { name: "HTTP_PROXY", meaning: "Proxy to http addresses, except loopback", ...PROXY },
  noProxy: {
    name: "NO_PROXY",
    meaning: "Hosts that are reached without a proxy",
    values: "hosts, with commas between them",
    default: "none",
    parse: parseNoProxy,
  },
} satisfies Record<string, Setting<unknown>>;

/** The settings that say where the journal lies. */
export const JOURNAL_SETTINGS: readonly string[] = [SETTINGS.stateDir.name, SETTINGS.journalUrl.name];

/** One text for --help, the documents and the forms. */
export function describeSetting({ meaning, values, default: value }: Setting<unknown>): string {
  return `${meaning}. Value: ${values}. Default: ${value}.`;
}

/** Reads every setting. `homeDir` stands for `~`; empty if there is none. */
export function readConfig(env: Environment, flags: Flags, homeDir: string) {
  const problems: ConfigProblem[] = [];
  const warnings: ConfigProblem[] = [];
  const read = <Value>(setting: Setting<Value>): Value | undefined => {
    const { name: variable, values, whenUnset, isHarmless, isGuard } = setting;
    const text = readVariable(env, setting);
    if (text === undefined) {
      if (whenUnset === undefined) return undefined;
      const isUnfilled = PLACEHOLDER.test(env[variable] ?? "");
      problems.push({
        variable,
        problem: isUnfilled ? `is not set: it ${UNFILLED}` : "is not set",
        fix: isUnfilled ? FILL : whenUnset,
        ...(!isUnfilled && { isUnset: true }),
      });
      return undefined;
    }
    // The model reads this, too, and must not learn how to loosen a guard.
    const fix = `Set it to ${values}${isGuard === true ? "" : ", or remove it"}`;
    const isUnfilled = isGuard === true && PLACEHOLDER.test(text);
    const mistake = isUnfilled ? { problem: UNFILLED, fix } : isQuoted(text) ? IN_QUOTES : undefined;
    const value = mistake ?? setting.parse(text, homeDir, env) ?? { problem: `is not ${values}`, fix };
    if (!isMistake(value)) return value;
    if (isHarmless !== true) problems.push({ variable, ...value });
    else warnings.push({ variable, ...value, problem: `${value.problem}, so ${setting.default} is used` });
    return undefined;
  };

  const isSet = (setting: Setting<unknown>) => readVariable(env, setting) !== undefined;
  const startsSandbox =
    flags.sandbox === "auto" ? !isSet(SETTINGS.apiKey) && !isSet(SETTINGS.baseUrl) : flags.sandbox;
  const sandbox = startsSandbox || readVariable(env, SETTINGS.apiKey) === SANDBOX_KEY;
  const apiKey = startsSandbox ? undefined : read(SETTINGS.apiKey);
  const baseUrl = startsSandbox ? undefined : read(SETTINGS.baseUrl);
  const isProxied = baseUrl !== undefined && !isLoopback(baseUrl.hostname);
  if (isProxied && apiKey === SANDBOX_KEY) problems.push(SANDBOX_KEY_ELSEWHERE);
  const proxies = isProxied
    ? { https: read(SETTINGS.httpsProxy), http: read(SETTINGS.httpProxy), none: read(SETTINGS.noProxy) }
    : {};
  const stateDir = read(SETTINGS.stateDir);
  const journalUrl = read(SETTINGS.journalUrl);
  if (stateDir === OFF && journalUrl !== undefined) problems.push(NO_JOURNAL_IN_DATABASE);
  const ownStateDir = homeDir === "" ? undefined : defaultStateDir(homeDir);
  const needsHome = !startsSandbox && !isSet(SETTINGS.stateDir) && !isSet(SETTINGS.journalUrl);
  if (needsHome && ownStateDir === undefined) problems.push(NO_HOME_FOLDER);
  const settings = {
    /** An absolute path, like `stateDir`. */
    saveDir: read(SETTINGS.saveDir),
    pollSeconds: read(SETTINGS.pollSeconds),
    maxGenerations: read(SETTINGS.maxGenerations),
    confirmGenerate: read(SETTINGS.confirmGenerate) ?? "on",
    confirmPublish: read(SETTINGS.confirmPublish) ?? "on",
    /** Undefined if no journal is kept on disk, as for a sandbox that ends with its process. */
    stateDir: startsSandbox || stateDir === OFF ? undefined : (stateDir ?? ownStateDir),
    /** True if a missing folder is made. One that the user has set may lie on an unmounted disk. */
    makesStateDir: !startsSandbox && stateDir === undefined,
    /** The journal's database, in addition to the files in `stateDir`. Its password must not be shown. */
    journalUrl: startsSandbox ? undefined : journalUrl,
    webhookPort: read(SETTINGS.webhookPort),
    logLevel: read(SETTINGS.logLevel) ?? LOG_LEVEL_DEFAULT,
    sandboxSeconds: read(SETTINGS.sandboxSeconds) ?? SANDBOX_SECONDS_DEFAULT,
  };
  const isUsable = apiKey !== undefined && baseUrl !== undefined && !problems.some(stopsAll);
  const service: ServiceConfig | undefined = isUsable
    ? { apiKey, baseUrl, proxies, ...(sandbox && { isSandbox: true }) }
    : undefined;
  return {
    ...flags,
    ...settings,
    /** True for the sandbox's texts and journal entries: nothing is rendered, charged or posted. */
    sandbox,
    /** True if this process starts the sandbox itself. Any other is reached as the service is. */
    startsSandbox,
    /** Absent if there are problems, and if this process starts a sandbox, which has its own. */
    service,
    /** True if the user knows the settings by the titles of the bundle's form. Its start file says so. */
    isBundle: env["FACELESS_BUNDLE"] === "true",
    /** Settings that are needed, or guard money, privacy or publicity: tool calls fail with them. */
    problems,
    /** Invalid settings that fell back to their defaults. */
    warnings,
  };
}

export function stopsAll({ allowsReading }: ConfigProblem): boolean {
  return allowsReading !== true;
}

export function defaultStateDir(homeDir: string): string {
  return join(homeDir, ".faceless-video-mcp");
}

/** A `${…}` that the client did not fill in. */
const PLACEHOLDER = /\$\{[^]*\}/;
/** The text that the bundle's manifest has for a field that the user left empty. */
const BUNDLE_PLACEHOLDER = /^\$\{user_config\.\w+\}$/;

/** Counts empty values and unexpanded placeholders as unset. Proxies are usual in lower case too. */
function readVariable(env: Environment, { name, isGuard }: Setting<unknown>): string | undefined {
  const written = name.endsWith("_PROXY") ? [env[name], env[name.toLowerCase()]] : [env[name]];
  const unset = isGuard === true ? BUNDLE_PLACEHOLDER : PLACEHOLDER;
  return written.map((text = "") => text.trim()).find((text) => text !== "" && !unset.test(text));
}
