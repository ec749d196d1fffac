// Reads this server's entry from a client's own files and fills it in as the client would. Shows no value.

import { isAbsolute, resolve, win32 } from "node:path";
import * as z from "zod";
import type { ClientName } from "../../command-line.ts";
import type { Environment, Flags } from "../../config.ts";
import { FORMATS } from "../client-formats.ts";
import { SERVER } from "../server-entry.ts";
import { type Check, fail, pass } from "./check.ts";
import { CLIENT_FILES, type Machine, pathsOf } from "./client-files.ts";
import { fillIn, isSetting, isUsersOwn, readText, readVariables, settingsOf } from "./entry-variables.ts";
import { parseFile, UnreadableFile } from "./parse-file.ts";
import { checkProgram, readFlags } from "./program.ts";

/** How the client starts the server, as far as it can. */
export interface ClientStart {
  readonly flags: Flags;
  readonly env: Environment;
  /** Variables whose values doctor does not know. */
  readonly hidden: readonly string[];
  /** Files of the working folder that it was read from. A cloned project may have brought them. */
  readonly projectFiles: readonly string[];
}

export interface ClientEntry {
  /** About the entry itself. */
  readonly checks: readonly Check[];
  /** Absent if the server would not start. */
  readonly start?: ClientStart;
}

// Coercing an object would run its toString, and a list may hold itself in YAML.
const wordSchema = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const variablesSchema = z.record(z.string(), wordSchema).default({});
const entrySchema = z.looseObject({
  command: z.union([z.string(), z.array(z.string())]).optional(),
  cmd: z.string().optional(),
  args: z.array(wordSchema).default([]),
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
      text = await readText(file);
      document = parseFile(file, text);
    } catch (error) {
      if (!(error instanceof UnreadableFile)) continue;
      const at = error.line === undefined ? "" : ` near line ${error.line}`;
      const repair = text.includes("\0")
        ? `Save ${file} as UTF-8: it is in UTF-16, as Windows PowerShell writes it with >`
        : `Repair ${file}${at}: a comma, quote or bracket is missing or extra`;
      return { checks: [fail(NAME, `${title} can't read this file`, repair)] };
    }
    const found = ROOTS.map((name) => ({ name, entry: findEntry(document, name, machine) })).filter(
      ({ entry }) => entry !== undefined,
    );
    const own = found.find(({ name }) => name === root) ?? found[0];
    if (own === undefined || (own.name !== root && isOfAnotherClient(file, own.name, machine))) continue;
    const rename = `Rename "${own.name}" to "${root}" in ${file}`;
    if (own.name !== root) return { checks: [fail(NAME, `${title} reads only "${root}"`, rename)] };
    const entry = entrySchema.safeParse(own.entry);
    if (!entry.success)
      return { checks: [fail(NAME, `${file} has an entry that ${title} can't use`, printAgain(client))] };
    // eslint-disable-next-line no-await-in-loop -- it is the last one
    return checkEntry(client, file, entry.data, machine);
  }
  const bundle = ". If you installed the bundle, look at its settings page: doctor can't read it";
  const fix = `${printAgain(client)}${client === "claude-desktop" ? bundle : ""}`;
  return { checks: [fail(NAME, `${title} has none in ${places.join(", ")}`, fix)] };
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
  const words = ["command", "cmd", "args"].map((name) => field(entry, name)).flat();
  return words.some((word) => typeof word === "string" && word.includes("faceless-video-mcp"));
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
  const { files, envField, readsEnvFile, inherits } = CLIENT_FILES[client];
  const words = [entry.command ?? entry.cmd ?? [], entry.args].flat();
  const isOfProject = !(await isUsersOwn(file, files, machine));
  const paths = machine.platform === "win32" && isOfProject ? [...words, entry.envFile ?? ""] : [];
  // Opening one would show this computer's user to the other computer.
  if (paths.some((path) => /^[\\/](?:[\\/]|\?\?)/.test(path))) {
    const fix = "Find out where this entry comes from before you start anything with it";
    return {
      checks: [fail(NAME, `${file} names a file on another computer, which doctor does not open`, fix)],
    };
  }
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
  const envFile = readsEnvFile === true ? locateEnvFile(entry, machine) : undefined;
  const filed = envFile && (await readVariables(envFile.path));
  if (entry.envFile !== undefined && readsEnvFile !== true)
    addProblem(`${title} does not read "envFile"`, `Write its variables under "${envField}" in ${file}`);
  else if (envFile !== undefined && filed === undefined)
    addProblem(
      `${title} can't read "${entry.envFile}"`,
      `Correct the path of "envFile" in ${file}, or create that file`,
    );
  const program = await checkProgram(client, words, machine);
  const flags = readFlags(words);
  if ("problem" in flags && problems.length === 0)
    addProblem(`the server does not start: ${flags.problem}`, `Correct "args" in ${file}`);
  const { values, checks, projectFiles } = await fillIn(client, entry, filed ?? {}, machine);
  const found = [...problems, ...program, ...checks];
  if ("problem" in flags || [...problems, ...program].some(({ status }) => status === "fail"))
    return { checks: found };
  const leftOut = Object.keys(entry[envField]).filter((name) => !isSetting(name));
  const remark = leftOut.length > 0 ? `; doctor leaves out ${leftOut.join(", ")}` : "";
  return {
    checks: [pass(NAME, `${file}${remark}`), ...found],
    start: {
      flags,
      env: { ...(inherits === true && settingsOf(machine.env)), ...values },
      hidden: checks.map(({ name }) => name),
      projectFiles: [
        ...(isOfProject ? [file] : []),
        ...(envFile?.isOfProject === true ? [envFile.path] : []),
        ...projectFiles,
      ],
    },
  };
}

/** The file of further variables that the entry names. The entry's own variables win. */
function locateEnvFile({ envFile }: Entry, { homeDir, workingDir }: Machine) {
  if (envFile === undefined) return undefined;
  const named = envFile.replaceAll("${userHome}", homeDir);
  const path = resolve(workingDir, named.replaceAll("${workspaceFolder}", workingDir));
  return { path, isOfProject: !isAbsolute(named) };
}
