// Checks what the environment says, before anything is sent. Never shows a value but the service's address. Pure.

import manifest from "../../../package.json" with { type: "json" };
import {
  type Config,
  type ConfigProblem,
  type Environment,
  readConfig,
  type ServiceConfig,
} from "../../config.ts";
import { EXAMPLE_KEY, EXAMPLE_URL } from "../server-entry.ts";
import { type Check, fail, pass, warn } from "./check.ts";

const KEY = "FACELESS_API_KEY";
const BASE_URL = "FACELESS_BASE_URL";
const ONLY_THIS_TERMINAL = "doctor sees this terminal's environment only, not the entry in your client";

/** `version` as in process.versions.node. */
export function checkNode(version: string): Check {
  const needed = manifest.engines.node.replace(/^>=/, "");
  return isAtLeast(version, needed)
    ? pass("Node.js", version)
    : fail(
        "Node.js",
        `version ${version} is too old`,
        `Install Node.js ${needed} or newer, or set the full path of a newer one as the command of your client's entry`,
      );
}

function isAtLeast(version: string, needed: string): boolean {
  const own = version.split(".").map(Number);
  for (const [index, part] of needed.split(".").map(Number).entries())
    if (own[index] !== part) return (own[index] ?? 0) > part;
  return true;
}

/** One check per setting that is wrong, or one for all of them. */
export function checkConfig(env: Environment, config: Config): readonly Check[] {
  const { problems, warnings, maxGenerations } = config;
  const unset = problems.filter(({ problem }) => problem === "is not set");
  if (unset.length === 2)
    return [
      fail(
        "settings",
        `neither is set here; ${ONLY_THIS_TERMINAL}`,
        `Set ${KEY} and ${BASE_URL} in this terminal, as they are in your client's entry, and run doctor again`,
      ),
    ];
  const checks = [
    ...problems.map(problemCheck),
    ...warnings.map(({ variable, problem, fix }) => warn(variable, `it ${problem}`, fix)),
    ...(env[KEY]?.trim() === EXAMPLE_KEY
      ? [
          fail(
            KEY,
            "it is the key of the example",
            "Replace it with your own key: account settings of the service, section API",
          ),
        ]
      : []),
    ...(config.service?.baseUrl.origin === EXAMPLE_URL
      ? [fail(BASE_URL, "it is the address of the example", "Replace it with the address of your service")]
      : []),
    ...(maxGenerations === 0
      ? [fail("FACELESS_MAX_GENERATIONS", "it allows no video at all", "Raise it, or remove it")]
      : []),
  ];
  return checks.length > 0 ? checks : [pass("settings", `${KEY} and ${BASE_URL} are set`)];
}

function problemCheck({ variable, problem, fix }: ConfigProblem): Check {
  if (problem !== "is not set") return fail(variable, `it ${problem}`, fix);
  return fail(
    variable,
    `it is not set here; ${ONLY_THIS_TERMINAL}`,
    "Set it in this terminal too, as it is in your client's entry",
  );
}

/** The service to check, as far as the environment names it. */
export interface Target {
  readonly service: ServiceConfig;
  /** Without a key of the user's, the service is asked with the example's. */
  readonly hasKey: boolean;
}

/** Address and key apart from each other, so that one can be checked while the other is wrong. */
export function readTarget(env: Environment, homeDir: string): Target | undefined {
  const network = Object.fromEntries(
    Object.entries(env).filter(([name]) => name === BASE_URL || /^(https?|no)_proxy$/i.test(name)),
  );
  const flags = { sandbox: false, readOnly: false, noPublish: false };
  const read = (apiKey: string | undefined) =>
    readConfig({ ...network, [KEY]: apiKey }, flags, homeDir).service;
  const own = read(env[KEY]);
  const service = own ?? read(EXAMPLE_KEY);
  if (service === undefined || service.baseUrl.origin === EXAMPLE_URL) return undefined;
  return { service, hasKey: own !== undefined && own.apiKey !== EXAMPLE_KEY };
}
