// Reads this server's entry from a client's own files and fills it in as the client would. Shows no value.

import { readFile } from "node:fs/promises";
import { resolve, win32 } from "node:path";
import { parseEnv } from "node:util";
import * as z from "zod";
import type { ClientName } from "../../command-line.ts";
import type { Environment, Flags } from "../../config.ts";
import { FORMATS } from "../client-formats.ts";
import { SERVER } from "../server-entry.ts";
import { type Check, fail, pass, warn } from "./check.ts";
import { CLIENT_FILES, type Machine, pathsOf } from "./client-files.ts";
import { parseFile, UnreadableFile } from "./parse-file.ts";
import { checkProgram, readFlags } from "./program.ts";

/** How the client starts the server, as far as it can. */
export interface ClientStart {
  readonly flags: Flags;
  readonly env: Environment;
  /** Variables whose values only the client knows. */
  readonly hidden: readonly string[];
}

export interface ClientEntry {
  /** About the entry itself. */
  readonly checks: readonly Check[];
  /** Absent if the server would not start. */
  readonly start?: ClientStart;
}

const variablesSchema = z.record(z.string(), z.coerce.string()).default({});
const entrySchema = z.looseObject({
  command: z.union([z.string(), z.array(z.string())]).optional(),
  cmd: z.string().optional(),
  args: z.array(z.coerce.string()).default([]),
  env: variablesSchema,
  environment: variablesSchema,
  envs: variablesSchema,
  envFile: z.string().optional(),
  env_vars: z.array(z.unknown()).default([]),
  env_keys: z.array(z.unknown()).default([]),
  enabled: z.boolean().default(true),
  disabled: z.boolean().default(false),
});
type Entry = z.infer<typeof entrySchema>;

const NAME = "entry";
const ROOTS = [...new Set(Object.values(CLIENT_FILES).map(({ root }) => root))];
/** An environment variable as some client writes it. Only the client can fill others, like ${input:key}. */
const OTHER_PLACEHOLDER =
  /\$\{\{[^}]*\}\}|\$\{(?:env:)?[A-Z][A-Z\d_]*(?::-[^}]*)?\}|\{env:\w+\}|^\$[A-Z]\w*$/;
const ENV_FIELDS = ["env", "environment", "envs"] as const;

export async function readClientEntry(client: ClientName, machine: Machine): Promise<ClientEntry> {
  const { title } = FORMATS[client];
  const { files, root } = CLIENT_FILES[client];
  const places = pathsOf(files, machine);
  for (const file of places) {
    let text = "";
    let document: unknown;
    try {
      // eslint-disable-next-line no-await-in-loop -- the first file with an entry wins
      text = await readFile(file, "utf8");
      document = parseFile(file, text);
    } catch (error) {
      if (!(error instanceof UnreadableFile)) continue;
      const at = error.line === undefined ? "" : ` near line ${error.line}`;
      const repair = text.includes("\0")
        ? `Save ${file} as UTF-8: it is in UTF-16, as Windows PowerShell writes it with >`
        : `Repair ${file}${at}: a comma, a quote or a bracket is missing or too many`;
      return { checks: [fail(NAME, `${title} can't read this file`, repair)] };
    }
    const found = ROOTS.map((name) => ({ name, entry: findEntry(document, name, machine) })).filter(
      ({ entry }) => entry !== undefined,
    );
    const own = found.find(({ name }) => name === root) ?? found[0];
    if (own === undefined || (own.name !== root && isOfAnotherClient(file, own.name, machine))) continue;
    if (own.name !== root)
      return {
        checks: [fail(NAME, `${title} reads only "${root}"`, `Rename "${own.name}" to "${root}" in ${file}`)],
      };
    const entry = entrySchema.safeParse(own.entry);
    if (!entry.success)
      return { checks: [fail(NAME, `${file} has an entry that ${title} can't use`, printAgain(client))] };
    // eslint-disable-next-line no-await-in-loop -- it is the last one
    return checkEntry(client, file, entry.data, machine);
  }
  const bundle =
    client === "claude-desktop"
      ? ". If you installed the bundle, look at its settings page: doctor can't read it"
      : "";
  return {
    checks: [fail(NAME, `${title} has none in ${places.join(", ")}`, `${printAgain(client)}${bundle}`)],
  };
}

function printAgain(client: ClientName): string {
  return `Run "npx -y faceless-video-mcp config ${client}" and put what it prints into the file that it names`;
}

/** The entry of this name, or the first that starts this server. */
function findEntry(document: unknown, root: string, { workingDir, platform }: Machine): unknown {
  // On Windows the terminal and the client may spell one folder differently: c: or C:, / or \.
  const spelling = (path: string) => (platform === "win32" ? win32.normalize(path).toLowerCase() : path);
  // Claude Code also keeps entries of its own for each project.
  const project = Object.entries(Object(field(document, "projects"))).find(
    ([folder]) => spelling(folder) === spelling(workingDir),
  )?.[1];
  const lists = [field(project, root), field(document, root)];
  return lists
    .flatMap((list) =>
      Array.isArray(list)
        ? list.map((entry: unknown) => [field(entry, "name"), entry] as const)
        : Object.entries(Object(list)),
    )
    .find(([name, entry]) => name === SERVER || startsThisServer(entry))?.[1];
}

function startsThisServer(entry: unknown): boolean {
  const words = ["command", "cmd", "args"].map((name) => field(entry, name));
  return JSON.stringify(words).includes("faceless-video-mcp");
}

function field(value: unknown, name: string): unknown {
  return Object(value)[name];
}

/** Whether another client reads the file with this root, so that it must stay. */
function isOfAnotherClient(file: string, root: string, machine: Machine): boolean {
  return Object.values(CLIENT_FILES).some(
    (other) => other.root === root && pathsOf(other.files, machine).includes(file),
  );
}

async function checkEntry(
  client: ClientName,
  file: string,
  entry: Entry,
  machine: Machine,
): Promise<ClientEntry> {
  const { title } = FORMATS[client];
  const { envField, readsEnvFile, inherits } = CLIENT_FILES[client];
  const words = [entry.command ?? entry.cmd ?? [], entry.args].flat();
  const problems: Check[] = [];
  const addProblem = (detail: string, fix: string) => problems.push(fail(NAME, detail, fix));
  if (entry.disabled || !entry.enabled)
    addProblem(`it is switched off in ${file}`, `Switch this server on in ${title}`);
  if (words.some((word) => word.includes("fl_")))
    addProblem(
      `the key is one of the arguments in ${file}, where other programs can see it`,
      `Move the key from "args" to FACELESS_API_KEY under "${envField}"`,
    );
  const other = ENV_FIELDS.find((field) => field !== envField && Object.keys(entry[field]).length > 0);
  if (other !== undefined)
    addProblem(`${title} reads only "${envField}"`, `Rename "${other}" to "${envField}" in ${file}`);
  const filed = readsEnvFile === true ? await readEnvFile(entry, machine) : undefined;
  if (entry.envFile !== undefined && readsEnvFile !== true)
    addProblem(`${title} does not read "envFile"`, `Write its variables under "${envField}" in ${file}`);
  else if (entry.envFile !== undefined && filed === undefined)
    addProblem(
      `${title} can't read "${entry.envFile}"`,
      `Correct the path of "envFile" in ${file}, or create that file`,
    );
  const program = await checkProgram(client, words, machine);
  const flags = readFlags(words);
  if ("problem" in flags && problems.length === 0)
    addProblem(`the server does not start: ${flags.problem}`, `Correct "args" in ${file}`);
  const { values, checks } = await fillIn(client, entry, filed ?? {}, machine);
  const found = [...problems, ...program, ...checks];
  if ("problem" in flags || [...problems, ...program].some(({ status }) => status === "fail"))
    return { checks: found };
  return {
    checks: [pass(NAME, file), ...found],
    start: {
      flags,
      env: { ...(inherits === true && machine.env), ...values },
      hidden: checks.map(({ name }) => name),
    },
  };
}

/** The variables as the client passes them on, and one check, by its name, for each that has no value. */
async function fillIn(
  client: ClientName,
  entry: Entry,
  filed: Environment,
  machine: Machine,
): Promise<{ readonly values: Environment; readonly checks: readonly Check[] }> {
  const { envField, envFiles = [], placeholder, hasSecrets } = CLIENT_FILES[client];
  const { title, key = "" } = FORMATS[client];
  const files = await Promise.all(pathsOf(envFiles, machine).map(readVariables));
  const known: Environment = Object.assign({}, ...files, machine.env);
  const checks: Check[] = [];
  const values: Record<string, string | undefined> = { ...filed };
  const addHidden = (name: string) => {
    const fix = "To have it checked too, set it in this terminal and run doctor again";
    if (machine.env[name] !== undefined) values[name] = machine.env[name];
    else checks.push(warn(name, `${title} keeps it, so doctor can't see it`, fix));
  };
  const addUnset = (name: string, variable: string) => {
    const detail = `the entry takes it from the variable ${variable}, which is not set in this terminal`;
    const fix = `Write the value itself into the entry, or set ${variable} where ${title} starts`;
    checks.push(fail(name, detail, fix));
  };
  for (const variable of [...entry.env_vars, ...entry.env_keys].filter((word) => typeof word === "string")) {
    if (known[variable] !== undefined) values[variable] = known[variable];
    else if (!variable.startsWith("FACELESS_")) continue;
    else if (hasSecrets === true) addHidden(variable);
    else addUnset(variable, variable);
  }
  for (const [name, written] of Object.entries(entry[envField])) {
    const missing: string[] = [];
    const value =
      placeholder === undefined
        ? written
        : written.replace(placeholder, (whole: string, variable: string, fallback?: string) => {
            const found = known[variable] ?? (typeof fallback === "string" ? fallback : undefined);
            if (found === undefined) missing.push(variable);
            return found ?? whole;
          });
    const left = OTHER_PLACEHOLDER.exec(value)?.[0];
    if (missing[0] !== undefined) addUnset(name, missing[0]);
    else if (left === undefined && /\$?\{\w+:/.test(value)) addHidden(name);
    else if (left === undefined) values[name] = value.replaceAll("${userHome}", machine.homeDir);
    else {
      const own = key.includes("FACELESS_API_KEY")
        ? key.replace("FACELESS_API_KEY", name)
        : "the value itself";
      checks.push(fail(name, `${title} does not fill in ${left}`, `Write ${own} instead`));
    }
  }
  return { values, checks };
}

/** The variables of the file that the entry names. The entry's own win. */
async function readEnvFile(
  { envFile }: Entry,
  { homeDir, workingDir }: Machine,
): Promise<Environment | undefined> {
  if (envFile === undefined) return undefined;
  const named = envFile.replaceAll("${userHome}", homeDir).replaceAll("${workspaceFolder}", workingDir);
  return readVariables(resolve(workingDir, named));
}

/** undefined if the file can't be read. */
function readVariables(file: string): Promise<Environment | undefined> {
  return readFile(file, "utf8").then(parseEnv, () => undefined);
}
