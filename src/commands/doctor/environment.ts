// Checks what the environment says before anything is sent: the version of Node.js and each setting, whose value is never
// shown. Pure.

import manifest from "../../../package.json" with { type: "json" };
import {
  type Environment,
  readConfig,
  type ServiceConfig,
  type ConfigProblem,
  type Config,
  VARIABLES,
} from "../../config.ts";
import { EXAMPLE_KEY, EXAMPLE_URL } from "../server-entry.ts";
import { type Check, fail, pass, warn } from "./check.ts";

const KEY = "FACELESS_API_KEY";
const BASE_URL = "FACELESS_BASE_URL";
const NO_FLAGS = { sandbox: false, readOnly: false, noPublish: false } as const;

/** What the network checks go by, as far as the environment says it. */
export interface Target {
  /** Absent where none is set that could be a key. */
  readonly apiKey?: string;
  readonly place?: Pick<ServiceConfig, "baseUrl" | "proxies">;
  readonly proxyProblem?: ConfigProblem;
}

/** Key and place apart from each other, so that one can be checked while the other is wrong. */
export function readTarget(env: Environment): Target {
  const read = (others: Environment) =>
    readConfig({ [KEY]: EXAMPLE_KEY, [BASE_URL]: env[BASE_URL], ...others }, NO_FLAGS);
  const proxies = Object.fromEntries(
    Object.entries(env).filter(([name]) => /^(https?|no)_proxy$/i.test(name)),
  );
  const apiKey = read({ [KEY]: env[KEY], [BASE_URL]: "https://127.0.0.1" }).service?.apiKey;
  const { service: place, problems } = read(proxies);
  const proxyProblem = problems.find(({ variable }) => variable !== BASE_URL);
  return {
    ...(apiKey !== undefined && apiKey !== EXAMPLE_KEY && { apiKey }),
    ...(place !== undefined && !isExample(place.baseUrl) && { place }),
    ...(proxyProblem !== undefined && { proxyProblem }),
  };
}

/** `version` as process.versions.node has it. */
export function checkNode(version: string): Check {
  const needed = manifest.engines.node.replace(/^>=/, "");
  return isAtLeast(version, needed)
    ? pass("node", `Node.js ${version}; ${needed} or newer is needed`)
    : fail(
        "node",
        `Node.js ${version} is too old`,
        `Install Node.js ${needed} or newer, or give the client the full path of a newer one as command`,
      );
}

function isAtLeast(version: string, needed: string): boolean {
  const own = version.split(".").map(Number);
  for (const [index, part] of needed.split(".").map(Number).entries())
    if (own[index] !== part) return (own[index] ?? 0) > part;
  return true;
}

/** One check for each variable but the proxies, which have a check of their own. */
export function checkSettings(env: Environment, config: Config): Check[] {
  return VARIABLES.filter(({ name }) => name.startsWith("FACELESS_")).map((variable) => {
    const { name } = variable;
    const value = env[name]?.trim() ?? "";
    const isRequired = name === KEY || name === BASE_URL;
    if (/\$\{.*\}/s.test(value)) return checkPlaceholder(name, isRequired);
    const problem = config.problems.find((candidate) => candidate.variable === name);
    if (problem !== undefined) return fail(name, problem.problem, problem.fix);
    if (value === "")
      return pass(
        name,
        variable.default === "unset" ? "not set, as it may be" : `not set; default: ${variable.default}`,
      );
    return checkMeaning(name, value) ?? pass(name, "set, and of the right shape");
  });
}

function checkPlaceholder(name: string, isRequired: boolean): Check {
  const detail = "holds a ${…} placeholder that the client did not fill in, which counts as not set";
  const fix = `Set ${name} where the client takes the placeholder from, or write the value itself into the env of this server's entry`;
  return (isRequired ? fail : warn)(name, detail, fix);
}

/** What is well formed and still can't be meant. */
function checkMeaning(name: string, value: string): Check | undefined {
  if (name === KEY)
    return value === EXAMPLE_KEY
      ? fail(
          name,
          "is the key of the example",
          "Put your own key in its place: account settings of the service, section API",
        )
      : pass(name, "set, and begins with fl_");
  if (name === BASE_URL) return checkBaseUrl(new URL(value));
  if (name === "FACELESS_MAX_GENERATIONS" && Number(value) === 0)
    return fail(name, "allows no video at all", "Raise it, or remove it");
  return undefined;
}

function checkBaseUrl(url: URL): Check {
  const shown = `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
  if (isExample(url))
    return fail(BASE_URL, "is the address of the example", "Put the address of your service in its place");
  return namesApiPath(url)
    ? warn(
        BASE_URL,
        `${shown} ends in the path of the API, which is added to it once more`,
        `Remove ${apiPathOf(url)} from its end`,
      )
    : pass(BASE_URL, shown);
}

function isExample(url: URL): boolean {
  return url.origin === EXAMPLE_URL;
}

export function namesApiPath(url: URL): boolean {
  return apiPathOf(url) !== undefined;
}

function apiPathOf({ pathname }: URL): string | undefined {
  return /\/api(\/(v\d+|mcp)(\/.*)?)?\/?$/.exec(pathname)?.[0];
}
