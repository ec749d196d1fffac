// Reads this server's entry from a client's own files and fills in what the client would. Shows no value of an entry.

import { access, constants, readFile } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { parseEnv } from "node:util";
import * as z from "zod";
import type { ClientName } from "../../command-line.ts";
import type { Environment, Flags } from "../../config.ts";
import { FORMATS } from "../client-formats.ts";
import { SERVER } from "../server-entry.ts";
import { type Check, fail, pass, warn } from "./check.ts";
import { CLIENT_FILES, type ClientFiles, type Machine } from "./client-files.ts";
import { parseFile, UnreadableFile } from "./parse-file.ts";

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
  env_vars: z.array(z.unknown()).default([]),
  env_keys: z.array(z.unknown()).default([]),
  enabled: z.boolean().default(true),
  disabled: z.boolean().default(false),
});
type Entry = z.infer<typeof entrySchema>;

const NAME = "entry";
const ROOTS = [...new Set(Object.values(CLIENT_FILES).map(({ root }) => root))];
/** A variable of the environment as some client writes it. What else is in braces, such as ${input:key}, only the client can know. */
const OTHER_PLACEHOLDER =
  /\$\{\{[^}]*\}\}|\$\{(?:env:)?[A-Z][A-Z\d_]*(?::-[^}]*)?\}|\{env:\w+\}|^\$[A-Z]\w*$/;
const ENV_FIELDS = ["env", "environment", "envs"] as const;

export async function readClientEntry(client: ClientName, machine: Machine): Promise<ClientEntry> {
  const { title } = FORMATS[client];
  const { files, root } = CLIENT_FILES[client];
  const places = files(machine);
  for (const file of places) {
    let document: unknown;
    try {
      // eslint-disable-next-line no-await-in-loop -- the first file with an entry wins
      document = parseFile(file, await readFile(file, "utf8"));
    } catch (error) {
      if (!(error instanceof UnreadableFile)) continue;
      const at = error.line === undefined ? "" : ` near line ${error.line}`;
      const repair = `Repair ${file}${at}: a comma, a quote or a bracket is missing or too many`;
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
  return `Run "faceless-video-mcp config ${client}" and put what it prints into the file that it names`;
}

/** The entry of this name, or the first that starts this server. */
function findEntry(document: unknown, root: string, { workingDir }: Machine): unknown {
  // Claude Code also keeps entries of its own for each project.
  const lists = [field(field(field(document, "projects"), workingDir), root), field(document, root)];
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
    (other) => other.root === root && other.files(machine).includes(file),
  );
}

async function checkEntry(
  client: ClientName,
  file: string,
  entry: Entry,
  machine: Machine,
): Promise<ClientEntry> {
  const { title } = FORMATS[client];
  const format = CLIENT_FILES[client];
  const words = [entry.command ?? entry.cmd ?? [], entry.args].flat();
  const problems: Check[] = [];
  if (entry.disabled || !entry.enabled)
    problems.push(fail(NAME, `it is switched off in ${file}`, `Switch this server on in ${title}`));
  if (words.some((word) => word.includes("fl_")))
    problems.push(
      fail(
        NAME,
        `the key is one of the arguments in ${file}, where other programs can see it`,
        `Move the key from "args" to FACELESS_API_KEY under "${format.envField}"`,
      ),
    );
  const other = ENV_FIELDS.find((field) => field !== format.envField && Object.keys(entry[field]).length > 0);
  if (other !== undefined)
    problems.push(
      fail(
        NAME,
        `${title} reads only "${format.envField}"`,
        `Rename "${other}" to "${format.envField}" in ${file}`,
      ),
    );
  const [command, ...args] = words;
  const missing = command === undefined ? undefined : await findMissingProgram(command, args, machine);
  if (command === undefined)
    problems.push(fail(NAME, `the entry in ${file} names no program to start`, printAgain(client)));
  if (missing !== undefined)
    problems.push(
      fail(
        NAME,
        `the entry starts ${missing}, which is not there`,
        isAbsolute(missing)
          ? `Run "faceless-video-mcp config ${client} --installed" and replace the entry with what it prints`
          : `Install Node.js from https://nodejs.org, and restart ${title}`,
      ),
    );
  const { values, hidden, checks } = await fillIn(client, entry, machine);
  if (problems.length > 0) return { checks: [...problems, ...checks] };
  return {
    checks: [pass(NAME, file), ...checks],
    start: {
      flags: {
        sandbox: words.includes("--sandbox"),
        readOnly: words.includes("--read-only"),
        noPublish: words.includes("--no-publish"),
      },
      env: { ...(format.inherits === true && machine.env), ...values },
      hidden: [...hidden, ...checks.map(({ name }) => name)],
    },
  };
}

/** The program, or the script that it runs, if it does not exist. */
async function findMissingProgram(
  command: string,
  args: readonly string[],
  machine: Machine,
): Promise<string | undefined> {
  const script = args.find((word) => isAbsolute(word) && /\.[cm]?js$/.test(word));
  const folders = isAbsolute(command) ? [""] : (machine.env["PATH"] ?? "").split(delimiter);
  const endings = machine.platform === "win32" ? ["", ".exe", ".cmd"] : [""];
  const paths = folders.flatMap((folder) => endings.map((ending) => join(folder, command) + ending));
  if (!(await Promise.all(paths.map((path) => exists(path, constants.X_OK)))).includes(true)) return command;
  return script === undefined || (await exists(script, constants.R_OK)) ? undefined : script;
}

function exists(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}

interface Filled {
  readonly values: Environment;
  readonly hidden: readonly string[];
  /** Named by the variable that has no value. */
  readonly checks: readonly Check[];
}

/** The variables as the client passes them on. */
async function fillIn(client: ClientName, entry: Entry, machine: Machine): Promise<Filled> {
  const { envField, placeholder, hasSecrets } = CLIENT_FILES[client];
  const { title, key = "" } = FORMATS[client];
  const known = await knownVariables(CLIENT_FILES[client], machine);
  const hidden: string[] = [];
  const checks: Check[] = [];
  const values: Record<string, string> = {};
  const hide = (name: string) => {
    const value = machine.env[name];
    if (value !== undefined) values[name] = value;
    else {
      hidden.push(name);
      const detail = `${title} keeps it, so doctor can't see it`;
      checks.push(warn(name, detail, "To have it checked too, set it in this terminal and run doctor again"));
    }
  };
  const unset = (name: string, variable: string) =>
    fail(
      name,
      `the entry takes it from the variable ${variable}, which is not set in this terminal`,
      `Write the value itself into the entry, or set ${variable} where ${title} starts`,
    );
  for (const variable of [...entry.env_vars, ...entry.env_keys].filter((word) => typeof word === "string")) {
    const value = known[variable];
    if (value !== undefined) values[variable] = value;
    else if (!variable.startsWith("FACELESS_")) continue;
    else if (hasSecrets === true) hide(variable);
    else checks.push(unset(variable, variable));
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
    if (missing[0] !== undefined) checks.push(unset(name, missing[0]));
    else if (left === undefined && /\$?\{\w+:/.test(value)) hide(name);
    else if (left === undefined) values[name] = value.replaceAll("${userHome}", machine.homeDir);
    else {
      const own = key.includes("FACELESS_API_KEY")
        ? key.replace("FACELESS_API_KEY", name)
        : "the value itself";
      checks.push(fail(name, `${title} does not fill in ${left}`, `Write ${own} instead`));
    }
  }
  return { values, hidden, checks };
}

async function knownVariables({ envFiles }: ClientFiles, machine: Machine): Promise<Environment> {
  const files = await Promise.all(
    (envFiles?.(machine) ?? []).map((file) => readFile(file, "utf8").catch(() => "")),
  );
  const filed = files.reduce<Environment>((known, text) => ({ ...known, ...parseEnv(text) }), {});
  return { ...filed, ...machine.env };
}
