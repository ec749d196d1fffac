// What the person set in the environment. Pure: never throws for a wrong setting (the server must start and say so
// at each call) and never shows a value of the key.

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

/** A setting that can't be used: which one, what is wrong with it, how to mend it. Never its value. */
export interface ConfigProblem {
  readonly variable: string;
  readonly problem: string;
  readonly fix: string;
}

/** The service to talk to. */
export interface ServiceConfig {
  readonly apiKey: string;
  /** Without a trailing slash; a path prefix is kept. */
  readonly baseUrl: URL;
  readonly proxies: Proxies;
}

/** What the command line says of the server. */
export interface Flags {
  readonly sandbox: boolean;
  readonly readOnly: boolean;
  readonly noPublish: boolean;
}

export interface Config extends Flags {
  /** Absent while `problems` names why, and in sandbox mode, where the sandbox names its own. */
  readonly service?: ServiceConfig;
  readonly problems: readonly ConfigProblem[];
  readonly sandboxSeconds: number;
  readonly pollSeconds?: number;
  readonly maxGenerations?: number;
  readonly confirmPublish: boolean;
  /** `undefined`: the platform's state folder; `false`: keep no journal. */
  readonly stateDir?: string | false;
  readonly logLevel: LogLevel;
}

/** What each variable means, in the order in which help and the README list them. */
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
    name: "FACELESS_POLL_SECONDS",
    meaning: "Fixed seconds between polls of a job, instead of the schedule",
    default: "unset",
  },
  {
    name: "FACELESS_MAX_GENERATIONS",
    meaning: "Most generations that this process may start",
    default: "unset",
  },
  {
    name: "FACELESS_CONFIRM_PUBLISH",
    meaning: "off: don't ask the person before publishing, even where the client can ask",
    default: "on",
  },
  {
    name: "FACELESS_STATE_DIR",
    meaning: "Where the journal lives; off keeps none",
    default: "the platform's state folder",
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

const KEY_ORIGIN = "Create a key in the account settings of the service, section API";
const LONGEST_SECONDS = 3600;
/** Characters. Redaction makes a pattern of the key, which can't be of any size. */
const LONGEST_KEY = 512;

/** The variable's value; an empty one and a placeholder that the client left unexpanded count as unset. */
function readVariable(env: Environment, name: string): string | undefined {
  const value = env[name]?.trim();
  if (value === undefined || value === "") return undefined;
  const placeholder = value.indexOf("${");
  return placeholder >= 0 && value.includes("}", placeholder) ? undefined : value;
}

/** Every setting, with a problem for each that is missing or unusable. Sandbox mode needs neither key nor URL. */
export function readConfig(env: Environment, flags: Flags): Config {
  const problems: ConfigProblem[] = [];
  const read = (name: string) => readVariable(env, name);
  const number = (name: string, rule: NumberRule) => {
    const text = read(name);
    if (text === undefined) return undefined;
    const value = parseNumber(text, rule);
    if (value === undefined)
      problems.push({
        variable: name,
        problem: `is not ${rule.words}`,
        fix: `Set it to ${rule.words}, or remove it`,
      });
    return value;
  };
  const oneOf = <T extends string>(name: string, values: readonly T[]): T | undefined => {
    const text = read(name)?.toLowerCase();
    if (text === undefined) return undefined;
    const value = values.find((candidate) => candidate === text);
    if (value === undefined)
      problems.push({
        variable: name,
        problem: `is not one of ${values.join(", ")}`,
        fix: `Set it to one of them, or remove it`,
      });
    return value;
  };

  const service = flags.sandbox ? undefined : readService(read, problems);
  const pollSeconds = number("FACELESS_POLL_SECONDS", POLL_SECONDS);
  const maxGenerations = number("FACELESS_MAX_GENERATIONS", WHOLE_NUMBER);
  const sandboxSeconds = number("FACELESS_SANDBOX_SECONDS", SANDBOX_SECONDS) ?? 20;
  const confirmPublish = oneOf("FACELESS_CONFIRM_PUBLISH", ["on", "off"]) ?? "on";
  const stateDir = read("FACELESS_STATE_DIR");
  const logLevel = oneOf("FACELESS_LOG_LEVEL", LOG_LEVELS) ?? "warn";
  return {
    ...(service !== undefined && problems.length === 0 && { service }),
    problems,
    ...flags,
    sandboxSeconds,
    ...(pollSeconds !== undefined && { pollSeconds }),
    ...(maxGenerations !== undefined && { maxGenerations }),
    confirmPublish: confirmPublish === "on",
    ...(stateDir !== undefined && { stateDir: stateDir.toLowerCase() === "off" ? false : stateDir }),
    logLevel,
  };
}

function readService(
  read: (name: string) => string | undefined,
  problems: ConfigProblem[],
): ServiceConfig | undefined {
  const apiKey = readKey(read("FACELESS_API_KEY"), problems);
  const baseUrl = readBaseUrl(read("FACELESS_BASE_URL"), problems);
  if (apiKey === undefined || baseUrl === undefined) return undefined;
  return { apiKey, baseUrl, proxies: isLoopback(baseUrl.hostname) ? {} : readProxies(read, problems) };
}

function readProxies(read: (name: string) => string | undefined, problems: ConfigProblem[]): Proxies {
  const proxy = (variable: string) => {
    const text = read(variable) ?? read(variable.toLowerCase());
    if (text === undefined) return undefined;
    // A bare host:port is what many tools accept.
    const url = parseUrl(text.includes("://") ? text : `http://${text}`);
    if (url !== undefined && /^https?:$/.test(url.protocol)) return url.href;
    problems.push({
      variable,
      problem: "is not the URL of an HTTP proxy",
      fix: "Set it to a URL such as http://proxy.example:8080, or remove it",
    });
    return undefined;
  };
  const https = proxy("HTTPS_PROXY");
  const http = proxy("HTTP_PROXY");
  const none = read("NO_PROXY") ?? read("no_proxy");
  return {
    ...(https !== undefined && { https }),
    ...(http !== undefined && { http }),
    ...(none !== undefined && { none }),
  };
}

function readKey(key: string | undefined, problems: ConfigProblem[]): string | undefined {
  const variable = "FACELESS_API_KEY";
  if (key === undefined) {
    problems.push({
      variable,
      problem: "is not set",
      fix: `${KEY_ORIGIN}, and put it in the env of this server's entry in your client`,
    });
    return undefined;
  }
  const problem = keyProblem(key);
  if (problem !== undefined) {
    problems.push({
      variable,
      problem,
      fix: `Check that the whole key was copied, and nothing else. ${KEY_ORIGIN}`,
    });
    return undefined;
  }
  return key;
}

function keyProblem(key: string): string | undefined {
  if (!key.startsWith("fl_")) return "does not begin with fl_";
  if (key === "fl_") return "is fl_ alone";
  if (!/^[\x21-\x7E]+$/.test(key)) return "holds white space or characters that no key has";
  return key.length > LONGEST_KEY ? "is too long to be a key" : undefined;
}

function readBaseUrl(text: string | undefined, problems: ConfigProblem[]): URL | undefined {
  const variable = "FACELESS_BASE_URL";
  const refuse = (problem: string, fix: string) => {
    problems.push({ variable, problem, fix });
    return undefined;
  };
  const example = "such as https://videos.example.com";
  if (text === undefined) return refuse("is not set", `Set it to the service's address, ${example}`);
  const url = parseUrl(text);
  if (url === undefined) return refuse("is not a URL", `Set it to the service's whole address, ${example}`);
  if (url.protocol !== "https:" && url.protocol !== "http:")
    return refuse("is not an http(s) URL", `Set it to the service's address, ${example}`);
  if (url.protocol === "http:" && !isLoopback(url.hostname))
    return refuse("does not use https, so the key would travel in the clear", "Begin it with https://");
  if (url.username !== "" || url.password !== "")
    return refuse("holds a user name or a password", "Remove them, and the @ after them");
  if (url.search !== "" || url.hash !== "" || /[?#]/.test(text))
    return refuse("has a query or a fragment", "Remove everything from ? or # on");
  url.pathname = url.pathname.replace(/\/+$/, "");
  return url;
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

interface NumberRule {
  readonly words: string;
  readonly whole: boolean;
  readonly min: number;
  readonly max: number;
}

const POLL_SECONDS: NumberRule = {
  words: `a number of seconds from 0.1 to ${LONGEST_SECONDS}`,
  whole: false,
  min: 0.1,
  max: LONGEST_SECONDS,
};
const SANDBOX_SECONDS: NumberRule = {
  words: `a number of seconds from 0 to ${LONGEST_SECONDS}`,
  whole: false,
  min: 0,
  max: LONGEST_SECONDS,
};
const WHOLE_NUMBER: NumberRule = {
  words: "a whole number, 0 or more",
  whole: true,
  min: 0,
  max: Number.MAX_SAFE_INTEGER,
};

function parseNumber(text: string, rule: NumberRule): number | undefined {
  if (!/^(\d+\.?\d*|\.\d+)$/.test(text)) return undefined;
  const value = Number(text);
  const fits = value >= rule.min && value <= rule.max && (!rule.whole || Number.isSafeInteger(value));
  return fits ? value : undefined;
}
