// Checks the environment before anything is sent. Shows no value but the service's address. Pure.

import { type Config, type Environment, NO_FLAGS, readConfig, type ServiceConfig } from "../../config.ts";
import { inWords } from "../../text.ts";
import { EXAMPLE_KEY, EXAMPLE_URL } from "../server-entry.ts";
import { type Check, fail, pass, warn } from "./check.ts";

export const KEY = "FACELESS_API_KEY";
const BASE_URL = "FACELESS_BASE_URL";

/**
 * One check per setting that is wrong, or one for all of them. `isEntry`: a client's entry sets them.
 * `hidden`: variables that are checked elsewhere, or whose values only the client knows.
 */
export function checkConfig(
  env: Environment,
  config: Config,
  { isEntry, hidden }: { readonly isEntry: boolean; readonly hidden: readonly string[] },
): readonly Check[] {
  const { warnings, sandbox } = config;
  const problems = config.problems.filter(({ variable }) => !hidden.includes(variable));
  const unset = isEntry ? [] : problems.filter(({ isUnset }) => isUnset);
  const unsetNames = inWords(unset.map(({ variable }) => variable));
  const checks = [
    unset.length > 0 &&
      fail(
        "settings",
        `this terminal does not set ${unsetNames}, and without --client doctor sees nothing else`,
        "Add --client and the name of your client, such as --client cursor, to check its entry; or set what is missing in this terminal",
      ),
    // Values that were swapped have one fix.
    ...problems
      .filter((problem, index) => !unset.includes(problem) && problem.fix !== problems[index - 1]?.fix)
      .map(({ variable, problem, fix }) => fail(variable, `it ${problem}`, fix)),
    ...warnings.map(({ variable, problem, fix }) => warn(variable, `it ${problem}`, fix)),
    config.maxGenerations === 0 &&
      fail("FACELESS_MAX_GENERATIONS", "it is 0, which allows no video", "Set it to 1 or more, or remove it"),
    env[KEY]?.trim() === EXAMPLE_KEY &&
      fail(
        KEY,
        "it is the example key",
        "Replace it with your own: account settings of the service, section API",
      ),
    config.service?.baseUrl.origin === EXAMPLE_URL &&
      fail(BASE_URL, "it is the example address", "Replace it with your service's address"),
  ].filter((check) => check !== false);
  if (checks.length > 0 || hidden.length > 0) return checks;
  if (sandbox) return [pass("settings", "the sandbox: nothing is rendered, charged or posted")];
  const where = isEntry
    ? "in the entry"
    : "in this terminal; to check your client's entry, add --client and its name";
  return [pass("settings", `key and address are set ${where}`)];
}

/**
 * The service to check, as far as the environment names it. Address and key are read separately, so that one
 * can be checked while the other is wrong: without a key the service is asked with the example's.
 */
export function readTarget(env: Environment, homeDir: string): ServiceConfig | undefined {
  const network = Object.fromEntries(
    Object.entries(env).filter(([name]) => name === BASE_URL || /^(https?|no)_proxy$/i.test(name)),
  );
  const read = (apiKey: string | undefined) =>
    readConfig({ ...network, [KEY]: apiKey }, NO_FLAGS, homeDir).service;
  const service = read(env[KEY]) ?? read(EXAMPLE_KEY);
  return service?.baseUrl.origin === EXAMPLE_URL ? undefined : service;
}

/** The variables that the server reads. */
export function settingsOf(env: Environment): Environment {
  const isSetting = (name: string) => /^(?:FACELESS_\w+|(?:https?|no)_proxy)$/i.test(name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => isSetting(name)));
}
