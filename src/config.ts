// The environment becomes the Config. Pure. Never throws for a wrong setting, because the server has to start and say so at each
// call, and never shows a value.

import { isAbsolute, join } from "node:path";
import { isLoopback } from "./loopback.ts";

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";
const LOG_LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error", "silent"];

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Proxies {
  readonly https?: string;
  readonly http?: string;
  /** Comma-separated hosts that are reached directly. */
  readonly none?: string;
}

/** A setting that can't be used. Never holds its value. */
export interface ConfigProblem {
  readonly variable: string;
  /** As a predicate: "is not set". */
  readonly problem: string;
  /** What to do, without a full stop. */
  readonly fix: string;
}

/** The service to talk to. `baseUrl` and `apiKey` together identify the account. */
export interface ServiceConfig {
  readonly apiKey: string;
  /**
   * Normalized, so that two spellings of one address are equal: host in lower case and without a trailing dot, no default port,
   * no trailing slashes. A path prefix is kept.
   */
  readonly baseUrl: URL;
  readonly proxies: Proxies;
}

/** What the command line says about the server. */
export interface Flags {
  readonly sandbox: boolean;
  readonly readOnly: boolean;
  readonly noPublish: boolean;
}

export interface Config extends Flags {
  /** Absent if there are problems, and in sandbox mode, where the sandbox has its own. */
  readonly service?: ServiceConfig;
  /** Settings that are needed, or that guard money, privacy or publicity: every tool call fails with them. */
  readonly problems: readonly ConfigProblem[];
  /** Settings whose default is used instead. */
  readonly warnings: readonly ConfigProblem[];
  readonly sandboxSeconds: number;
  readonly pollSeconds?: number;
  readonly maxGenerations?: number;
  readonly confirmPublish: boolean;
  /** An absolute path: where finished videos are saved. */
  readonly saveDir?: string;
  /** An absolute path. `undefined`: the platform's state folder; `false`: keep no journal. */
  readonly stateDir?: string | false;
  /** Loopback port on which webhook deliveries are taken. */
  readonly webhookPort?: number;
  readonly logLevel: LogLevel;
}

/** What each variable means, in the order of --help and the README. */
export const VARIABLES = [
  {
    name: "FACELESS_API_KEY",
    meaning: "The account's key, begins with fl_. Environment only: never an argument",
    default: "none",
  },
  {
    name: "FACELESS_BASE_URL",
    meaning: "The service's base URL; a trailing slash or a path prefix is fine",
    default: "none",
  },
  {
    name: "FACELESS_SAVE_DIR",
    meaning: "Folder in which finished videos are saved, absolute or beginning with ~",
    default: "unset: nothing is saved",
  },
  {
    name: "FACELESS_POLL_SECONDS",
    meaning: "Fixed seconds between polls of a job, instead of the schedule",
    default: "unset",
  },
  {
    name: "FACELESS_MAX_GENERATIONS",
    meaning: "Maximum number of videos that this process may start",
    default: "unset",
  },
  {
    name: "FACELESS_CONFIRM_PUBLISH",
    meaning: "off: don't ask the user before publishing, even where the client can ask",
    default: "on",
  },
  {
    name: "FACELESS_STATE_DIR",
    meaning: "Folder of the journal, absolute or beginning with ~; off keeps none",
    default: "the platform's state folder",
  },
  {
    name: "FACELESS_WEBHOOK_PORT",
    meaning: "Loopback port that takes webhooks as hints, see docs/WEBHOOKS.md",
    default: "unset: no port is opened",
  },
  {
    name: "FACELESS_LOG_LEVEL",
    meaning: "debug, info, warn, error or silent; logs go to stderr",
    default: "warn",
  },
  {
    name: "FACELESS_SANDBOX_SECONDS",
    meaning: "How long a sandbox render takes",
    default: "20",
  },
  {
    name: "HTTPS_PROXY, HTTP_PROXY, NO_PROXY",
    meaning: "Honoured, except for loopback",
    default: "unset",
  },
] as const;

const NEW_KEY = "Create a key in the account settings of the service, section API";
const EXAMPLE_ADDRESS = "such as https://videos.example.com";
const SWAPPED = "If the values of FACELESS_API_KEY and FACELESS_BASE_URL were swapped, swap them back";

const LOG_LEVEL_DEFAULT = "warn";
const SANDBOX_SECONDS_DEFAULT = 20;
const MAX_SECONDS = 3600;
/** Characters. Redaction searches every text for the key's spellings. */
const MAX_KEY_LENGTH = 512;

/** Reads every setting. `homeDir` stands for `~`. Sandbox mode needs neither key nor URL. */
export function readConfig(env: Environment, flags: Flags, homeDir: string): Config {
  const problems: ConfigProblem[] = [];
  const warnings: ConfigProblem[] = [];
  const read = (name: string) => readVariable(env, name);
  /** The parsed value. One that can't be parsed is reported, and counts as unset. */
  const parse = <T>(variable: string, { expected, parse }: Format<T>, fallback?: string): T | undefined => {
    const text = read(variable);
    if (text === undefined) return undefined;
    const value = parse(text);
    if (value !== undefined) return value;
    const fix = `Set it to ${expected}, or remove it`;
    if (fallback === undefined) problems.push({ variable, problem: `is not ${expected}`, fix });
    else warnings.push({ variable, problem: `is not ${expected}, so ${fallback} is used`, fix });
    return undefined;
  };

  const service = flags.sandbox ? undefined : readService(env, problems);
  const saveDir = readFolder("FACELESS_SAVE_DIR", read("FACELESS_SAVE_DIR"), homeDir, problems);
  const pollSeconds = parse("FACELESS_POLL_SECONDS", secondsFrom(0.1), "the usual schedule");
  const maxGenerations = parse("FACELESS_MAX_GENERATIONS", WHOLE_NUMBER);
  const sandboxSeconds = parse("FACELESS_SANDBOX_SECONDS", secondsFrom(0), `${SANDBOX_SECONDS_DEFAULT}`);
  const confirmPublish = parse("FACELESS_CONFIRM_PUBLISH", oneOf(["on", "off"]));
  const webhookPort = parse("FACELESS_WEBHOOK_PORT", PORT, "polling alone");
  const logLevel = parse("FACELESS_LOG_LEVEL", oneOf(LOG_LEVELS), LOG_LEVEL_DEFAULT);
  const stateDir = readFolder("FACELESS_STATE_DIR", read("FACELESS_STATE_DIR"), homeDir, problems);
  return {
    ...(service !== undefined && problems.length === 0 && { service }),
    problems,
    warnings,
    ...flags,
    sandboxSeconds: sandboxSeconds ?? SANDBOX_SECONDS_DEFAULT,
    ...(pollSeconds !== undefined && { pollSeconds }),
    ...(maxGenerations !== undefined && { maxGenerations }),
    confirmPublish: confirmPublish !== "off",
    ...(typeof saveDir === "string" && { saveDir }),
    ...(stateDir !== undefined && { stateDir }),
    ...(webhookPort !== undefined && { webhookPort }),
    logLevel: logLevel ?? LOG_LEVEL_DEFAULT,
  };
}

/** An empty value and a placeholder that the client left unexpanded count as unset. */
function readVariable(env: Environment, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === undefined || value === "" || holdsPlaceholder(value) ? undefined : value;
}

function holdsPlaceholder(value: string): boolean {
  const start = value.indexOf("${");
  return start >= 0 && value.includes("}", start);
}

/** Why a variable that is needed counts as unset. */
function unsetProblem(env: Environment, variable: string, fix: string): ConfigProblem {
  if (!holdsPlaceholder(env[variable] ?? "")) return { variable, problem: "is not set", fix };
  return {
    variable,
    problem: "is not set: your client did not fill in the ${…} placeholder that it holds",
    fix: `Set ${variable} where your client takes the placeholder from, or write the value itself into the entry`,
  };
}

function readService(env: Environment, problems: ConfigProblem[]): ServiceConfig | undefined {
  const apiKey = readKey(env, problems);
  const baseUrl = readBaseUrl(env, problems);
  if (apiKey === undefined || baseUrl === undefined) return undefined;
  return { apiKey, baseUrl, proxies: isLoopback(baseUrl.hostname) ? {} : readProxies(env, problems) };
}

function readKey(env: Environment, problems: ConfigProblem[]): string | undefined {
  const variable = "FACELESS_API_KEY";
  const key = readVariable(env, variable);
  if (key === undefined) {
    const fix = `${NEW_KEY}, and put it in the env of this server's entry in your client`;
    problems.push(unsetProblem(env, variable, fix));
    return undefined;
  }
  const found = keyProblem(key);
  if (found === undefined) return key;
  problems.push({ variable, ...found });
  return undefined;
}

const IN_QUOTES = { problem: "is in quotes", fix: "Remove the quotes around it" };

function isQuoted(text: string): boolean {
  return /^["'`“”‘’].*["'`“”‘’]$/s.test(text);
}

function keyProblem(key: string): Omit<ConfigProblem, "variable"> | undefined {
  const fix = `Check that the whole key was copied, and nothing else. ${NEW_KEY}`;
  if (/^https?:/i.test(key)) return { problem: "holds a URL, not a key", fix: SWAPPED };
  if (isQuoted(key)) return IN_QUOTES;
  if (!key.startsWith("fl_")) return { problem: "does not begin with fl_", fix };
  if (key === "fl_") return { problem: "is fl_ alone", fix };
  if (!/^[\x21-\x7E]+$/.test(key)) return { problem: "holds white space or characters that no key has", fix };
  if (/["'`\\]/.test(key)) return { problem: "holds quotes or a backslash, which no key has", fix };
  return key.length > MAX_KEY_LENGTH ? { problem: "is too long to be a key", fix } : undefined;
}

function readBaseUrl(env: Environment, problems: ConfigProblem[]): URL | undefined {
  const variable = "FACELESS_BASE_URL";
  const text = readVariable(env, variable);
  if (text === undefined) {
    problems.push(unsetProblem(env, variable, `Set it to the service's address, ${EXAMPLE_ADDRESS}`));
    return undefined;
  }
  const found = baseUrlProblem(text);
  if (found !== undefined) {
    problems.push({ variable, ...found });
    return undefined;
  }
  // The URL parser has made the host lower case and dropped a default port.
  const url = new URL(text);
  url.hostname = url.hostname.replace(/\.$/, "");
  url.pathname = url.pathname.replace(/\/+$/, "");
  return url;
}

function baseUrlProblem(text: string): Omit<ConfigProblem, "variable"> | undefined {
  if (text.startsWith("fl_")) return { problem: "holds an API key, not a URL", fix: SWAPPED };
  if (isQuoted(text)) return IN_QUOTES;
  if (!URL.canParse(text))
    return { problem: "is not a URL", fix: `Set it to the service's whole address, ${EXAMPLE_ADDRESS}` };
  const { protocol, hostname, username, password, search, hash } = new URL(text);
  if (protocol !== "https:" && protocol !== "http:")
    return { problem: "is not an http(s) URL", fix: `Set it to the service's address, ${EXAMPLE_ADDRESS}` };
  if (protocol === "http:" && !isLoopback(hostname))
    return {
      problem: "does not use https, so the key would be sent unencrypted",
      fix: "Begin it with https://",
    };
  if (username !== "" || password !== "")
    return { problem: "holds a user name or a password", fix: "Remove them, and the @ after them" };
  if (search !== "" || hash !== "" || /[?#]/.test(text))
    return { problem: "has a query or a fragment", fix: "Remove everything from ? or # on" };
  return undefined;
}

function readProxies(env: Environment, problems: ConfigProblem[]): Proxies {
  const readEither = (variable: string) =>
    readVariable(env, variable) ?? readVariable(env, variable.toLowerCase());
  const readProxy = (variable: string) => {
    const text = readEither(variable);
    if (text === undefined) return undefined;
    // Many tools accept a bare host:port.
    const address = text.includes("://") ? text : `http://${text}`;
    if (/^https?:/i.test(address) && URL.canParse(address)) return new URL(address).href;
    problems.push({
      variable,
      problem: "is not the URL of an HTTP proxy",
      fix: "Set it to a URL such as http://proxy.example:8080, or remove it",
    });
    return undefined;
  };
  const https = readProxy("HTTPS_PROXY");
  const http = readProxy("HTTP_PROXY");
  const none = readEither("NO_PROXY");
  return {
    ...(https !== undefined && { https }),
    ...(http !== undefined && { http }),
    ...(none !== undefined && { none }),
  };
}

/** An absolute path, or `false` for `off`. A relative one would lie in whatever folder the client starts the server from. */
function readFolder(
  variable: string,
  text: string | undefined,
  homeDir: string,
  problems: ConfigProblem[],
): string | false | undefined {
  if (text === undefined) return undefined;
  if (text.toLowerCase() === "off") return false;
  const path = /^~(?=$|[/\\])/.test(text) ? join(homeDir, text.slice(1)) : text;
  if (isAbsolute(path)) return path;
  problems.push({
    variable,
    problem: "is a relative path, which depends on where your client starts this server",
    fix: "Set it to an absolute path, to one that begins with ~/, or to off",
  });
  return undefined;
}

/** How a value is written. */
interface Format<T> {
  /** Completes "Set it to …". */
  readonly expected: string;
  /** `undefined` if the text is not a value. */
  readonly parse: (text: string) => T | undefined;
}

const NUMBER = /^(\d+\.?\d*|\.\d+)$/;

function secondsFrom(min: number): Format<number> {
  return {
    expected: `a number of seconds from ${min} to ${MAX_SECONDS}`,
    parse: (text) =>
      NUMBER.test(text) && Number(text) >= min && Number(text) <= MAX_SECONDS ? Number(text) : undefined,
  };
}

const WHOLE_NUMBER: Format<number> = {
  expected: "a whole number, 0 or more",
  parse: (text) => (NUMBER.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined),
};

const PORT: Format<number> = {
  expected: "a port number from 1 to 65535",
  parse: (text) =>
    /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535 ? Number(text) : undefined,
};

function oneOf<T extends string>(values: readonly T[]): Format<T> {
  return {
    expected: `one of ${values.join(", ")}`,
    parse: (text) => values.find((value) => value === text.toLowerCase()),
  };
}
