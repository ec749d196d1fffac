// What an entry holds. Fills in its variables as the client would, as far as they are settings of this
// server: a cloned project's entry must not get at others. Shows no value. Pure.

import * as z from "zod";
import type { ClientName } from "../../command-line.ts";
import type { Environment } from "../../config.ts";
import { FORMATS } from "../client-formats.ts";
import { type Check, fail, skip, warn } from "./check.ts";

// Coercing an object would run its toString, and a list may hold itself in YAML.
const wordSchema = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const variablesSchema = z.record(z.string(), wordSchema).default({});
export const entrySchema = z.looseObject({
  command: z.union([z.string(), z.array(z.string())]).optional(),
  cmd: z.string().optional(),
  args: z.array(wordSchema).default([]),
  env: variablesSchema,
  environment: variablesSchema,
  envs: variablesSchema,
  /** A file with further variables, which doctor does not read. */
  envFile: z.unknown().optional(),
  env_vars: z.array(z.unknown()).default([]),
  env_keys: z.array(z.unknown()).default([]),
  /** The folder in which some clients start the server. */
  cwd: z.unknown().optional(),
  enabled: z.boolean().default(true),
  disabled: z.boolean().default(false),
});
export type Entry = z.infer<typeof entrySchema>;

const KEY = "FACELESS_API_KEY";
/** What only the client can fill in, such as ${input:key} or ${workspaceFolder}. */
const CLIENTS_OWN = /\$\{(?!env:)[a-z]\w*[:}]/;

/** The only variables that doctor reads, in an entry and in this terminal. */
export function isSetting(name: string): boolean {
  return /^(?:FACELESS_\w+|(?:https?|all|no)_proxy|NODE_EXTRA_CA_CERTS|NODE_USE_SYSTEM_CA|SSL_CERT_(?:FILE|DIR))$/i.test(
    name,
  );
}

/** The variables as the client passes them on, and a check by its name for each that has no value. */
export function fillIn(client: ClientName, entry: Entry, env: Environment) {
  const { title, envField = "env", placeholder, hasSecrets } = FORMATS[client];
  const terminal = settingsOf(env);
  const written = settingsOf(entry[envField]);
  const values: Record<string, string> = {};
  const checks: Check[] = [];
  const takeFromTerminal = (name: string, variable: string, otherwise: Check) => {
    const value = terminal[variable];
    if (value === undefined) checks.push(otherwise);
    else values[name] = value;
  };
  const hide = (name: string) =>
    takeFromTerminal(
      name,
      name,
      warn(
        name,
        `only ${title} knows its value`,
        "To have it checked too, set it in this terminal and run doctor again",
      ),
    );
  const take = (name: string, variable: string) =>
    takeFromTerminal(
      name,
      variable,
      fail(
        name,
        `the entry takes it from the variable ${variable}, which is not set in this terminal`,
        `Write the value itself into the entry, or set ${variable} where ${title} starts`,
      ),
    );
  const inEnvFile = entry.envFile === undefined ? [] : [KEY, "FACELESS_BASE_URL"];
  for (const name of inEnvFile) if (written[name] === undefined) hide(name);
  for (const name of [...entry.env_vars, ...entry.env_keys]) {
    if (typeof name !== "string" || !isSetting(name)) continue;
    if (hasSecrets === true) hide(name);
    else if (name.startsWith("FACELESS_") || terminal[name] !== undefined) take(name, name);
  }
  for (const [name, text] of Object.entries(written)) {
    const [whole, variable = "", fallback] = placeholder?.exec(text) ?? [];
    if (whole === undefined) {
      if (CLIENTS_OWN.test(text)) hide(name);
      else values[name] = text;
    } else if (whole !== text || !isSetting(variable) || (variable === KEY && name !== KEY)) {
      const rule =
        "doctor fills in only FACELESS_, proxy and certificate variables, each as a whole value, and the key in no other variable";
      checks.push(
        skip(
          name,
          `it holds a placeholder for ${variable}, and ${rule}`,
          "To have it checked, write the value itself into the entry, or take it from the variable of this name",
        ),
      );
    } else if (hasSecrets === true) hide(name);
    else if (fallback !== undefined && terminal[variable] === undefined) values[name] = fallback;
    else take(name, variable);
  }
  return { values, checks };
}

export function settingsOf(variables: Environment): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(variables).filter(
      (variable): variable is [string, string] => isSetting(variable[0]) && variable[1] !== undefined,
    ),
  );
}
