// Checks the environment before anything is sent. Shows no value but the service's address. Pure.

import {
  type Config,
  type Environment,
  type Flags,
  NO_FLAGS,
  readConfig,
  type ServiceConfig,
} from "../../config.ts";
import { NO_KEY } from "../../settings/values.ts";
import { inWords } from "../../text.ts";
import { type Check, fail, pass, warn } from "./check.ts";

export const KEY = "FACELESS_API_KEY";
const BASE_URL = "FACELESS_BASE_URL";

/** What the server gets from a terminal or a client. */
export interface Settings {
  readonly env: Environment;
  readonly flags: Flags;
  /** The variables whose values aren't known here. */
  readonly hidden: readonly string[];
}

/** One check per setting that is wrong, or one for all of them. `isEntry`: a client's entry sets them. */
export function checkConfig(
  config: Config,
  { isEntry, hidden }: Pick<Settings, "hidden"> & { readonly isEntry: boolean },
): readonly Check[] {
  const { warnings, sandbox, startsSandbox } = config;
  const problems = config.problems.filter(({ variable }) => !hidden.includes(variable));
  const unset = isEntry ? [] : problems.filter(({ isUnset }) => isUnset);
  const unsetNames = inWords(unset.map(({ variable }) => variable));
  const checks = [
    unset.length > 0 &&
      fail(
        "settings",
        `this terminal does not set ${unsetNames}, and without --client doctor sees nothing else`,
        "Add --client and the name of your client, such as --client cursor, to check its entry; or set them here",
      ),
    // Values that were swapped have one fix.
    ...problems
      .filter((problem, index) => !unset.includes(problem) && problem.fix !== problems[index - 1]?.fix)
      .map(({ variable, problem, fix }) => fail(variable, `it ${problem}`, fix)),
    ...warnings.map(({ variable, problem, fix }) => warn(variable, `it ${problem}`, fix)),
    config.maxGenerations === 0 &&
      fail("FACELESS_MAX_GENERATIONS", "it is 0, which allows no video", "Set it to 1 or more, or remove it"),
  ].filter((check) => check !== false);
  if (checks.length > 0 || hidden.length > 0) return checks;
  if (startsSandbox) return [pass("settings", "the sandbox: nothing is rendered, charged or posted")];
  const where = isEntry
    ? "in the entry"
    : "in this terminal; to check your client's entry, add --client and its name";
  const practice = sandbox ? "; the key is the sandbox's: nothing is rendered, charged or posted" : "";
  return [pass("settings", `key and address are set ${where}${practice}`)];
}

/**
 * Reads which service to check, as far as the environment names it. Reads address and key separately, so that
 * one can be checked while the other is wrong.
 */
export function readServiceConfig(env: Environment, homeDir: string): ServiceConfig | undefined {
  const network = Object.fromEntries(
    Object.entries(env).filter(([name]) => name === BASE_URL || /^(https?|no)_proxy$/i.test(name)),
  );
  const read = (apiKey: string | undefined) =>
    readConfig({ ...network, FACELESS_STATE_DIR: "off", [KEY]: apiKey }, NO_FLAGS, homeDir).service;
  return read(env[KEY]) ?? read(NO_KEY);
}

/** The variables that the server reads. */
export function settingsOf(env: Environment): Environment {
  const isSetting = (name: string) => /^(?:FACELESS_\w+|PGPASSWORD|(?:https?|no)_proxy)$/i.test(name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => isSetting(name)));
}
