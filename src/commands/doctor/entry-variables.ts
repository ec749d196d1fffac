// Reads the variables of an entry and fills in its placeholders as the client would, as far as they are
// settings of this server: a cloned project's entry must not get at others. Shows no value.

import { readFile, realpath, stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { parseEnv } from "node:util";
import type { ClientName } from "../../command-line.ts";
import type { Environment } from "../../config.ts";
import { FORMATS } from "../client-formats.ts";
import { type Check, fail, warn } from "./check.ts";
import { CLIENT_FILES, type ClientFiles, type Machine, pathsOf } from "./client-files.ts";

/** The fields of an entry that hold variables, or their names. */
type Variables = Readonly<Record<ClientFiles["envField"], Readonly<Record<string, string>>>> & {
  readonly env_vars: readonly unknown[];
  readonly env_keys: readonly unknown[];
};

/** An environment variable as some client writes it. Only the client can fill others, like ${input:key}. */
const OTHER_PLACEHOLDER =
  /\$\{\{[^}]*\}\}|\$\{(?:env:)?[A-Z][A-Z\d_]*(?::-[^}]*)?\}|\{env:\w+\}|^\$[A-Z]\w*$/;

/** The only variables that doctor reads, in an entry, its files and this terminal. */
export function isSetting(name: string): boolean {
  return /^(?:FACELESS_\w+|(?:https?|all|no)_proxy|NODE_EXTRA_CA_CERTS|NODE_USE_SYSTEM_CA|SSL_CERT_(?:FILE|DIR))$/i.test(
    name,
  );
}

/**
 * The variables as the client passes them on, a check by its name for each that has no value, and the files
 * of the working folder that values may come from.
 */
export async function fillIn(client: ClientName, entry: Variables, filed: Environment, machine: Machine) {
  const { envField, envFiles = [], placeholder, hasSecrets } = CLIENT_FILES[client];
  const { title, key = "" } = FORMATS[client];
  const projectFiles: string[] = [];
  const known: Record<string, string | undefined> = {};
  for (const path of pathsOf(envFiles, machine)) {
    // eslint-disable-next-line no-await-in-loop -- the last file wins
    const found = (await readVariables(path)) ?? {};
    // eslint-disable-next-line no-await-in-loop
    if (Object.keys(found).length > 0 && !(await isUsersOwn(path, envFiles, machine)))
      projectFiles.push(path);
    Object.assign(known, found);
  }
  Object.assign(known, settingsOf(machine.env));
  const checks: Check[] = [];
  const values: Record<string, string | undefined> = { ...filed };
  const addHidden = (name: string, reason = `${title} keeps it, so doctor can't see it`) => {
    const fix = "To have it checked too, set it in this terminal and run doctor again";
    if (known[name] !== undefined) values[name] = known[name];
    else checks.push(warn(name, reason, fix));
  };
  const take = (name: string, variable: string, fallback?: string) => {
    const detail = `the entry takes it from the variable ${variable}, which is not set in this terminal`;
    const fix = `Write the value itself into the entry, or set ${variable} where ${title} starts`;
    values[name] = known[variable] ?? fallback;
    if (values[name] === undefined) checks.push(fail(name, detail, fix));
  };
  const listed = [...entry.env_vars, ...entry.env_keys].filter((word) => typeof word === "string");
  for (const variable of listed.filter(isSetting)) {
    const isNeeded = variable.startsWith("FACELESS_");
    if (isNeeded && hasSecrets === true) addHidden(variable);
    else if (isNeeded || known[variable] !== undefined) take(variable, variable);
  }
  for (const [name, written] of Object.entries(settingsOf(entry[envField]))) {
    const [whole, variable = "", fallback] = placeholder?.exec(written) ?? [];
    const foreign = OTHER_PLACEHOLDER.exec(written)?.[0];
    if (whole !== undefined && (whole !== written || !isSetting(variable)))
      addHidden(
        name,
        `it holds a placeholder for ${variable}, and doctor fills in only FACELESS_, proxy and certificate variables, each as a whole value`,
      );
    else if (whole !== undefined) take(name, variable, fallback);
    else if (foreign !== undefined) {
      const isOwn = key.includes("FACELESS_API_KEY");
      const own = isOwn ? key.replace("FACELESS_API_KEY", name) : "the value itself";
      checks.push(fail(name, `${title} does not fill in ${foreign}`, `Write ${own} instead`));
    } else {
      const value = written.replace(/^\$\{userHome\}/, machine.homeDir);
      if (/\$\{[a-z]\w*\}|\{\w+:/.test(value)) addHidden(name);
      else values[name] = value;
    }
  }
  return { values, checks, projectFiles };
}

export function settingsOf(variables: Environment): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(variables).filter(
      (variable): variable is [string, string] => isSetting(variable[0]) && variable[1] !== undefined,
    ),
  );
}

/** Whether it is, by whatever path, one of these places outside the working folder. */
export async function isUsersOwn(
  file: string,
  places: readonly string[],
  machine: Machine,
): Promise<boolean> {
  const elsewhere = places.filter((place) => !place.startsWith("./"));
  const own = pathsOf(elsewhere, machine).filter((path) => isAbsolute(path));
  const real = await realpath(file);
  return (await Promise.all(own.map((path) => realpath(path).catch(() => "")))).includes(real);
}

/** undefined if the file can't be read. */
export function readVariables(file: string): Promise<Environment | undefined> {
  return readText(file).then(
    (text) => settingsOf(parseEnv(text)),
    () => undefined,
  );
}

/** Throws unless it is a regular file: a link in a cloned project may lead to one without an end. */
export async function readText(file: string): Promise<string> {
  if (!(await stat(file)).isFile()) throw new Error("Not a regular file");
  return readFile(file, "utf8");
}
