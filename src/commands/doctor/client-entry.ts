// Finds this server's entries in the user's own files of a client, and says what is wrong with how they are
// written. Reads no project's file: it may have come with a clone. Shows no value.

import { readdir } from "node:fs/promises";
import { dirname, isAbsolute, join, win32 } from "node:path";
import * as z from "zod";
import { type ClientName, flagsFrom } from "../../command-line.ts";
import type { Environment, Flags } from "../../config.ts";
import { SANDBOX_KEY } from "../../settings/values.ts";
import { capitalized, quote } from "../../text.ts";
import { valueAt } from "../../value-at.ts";
import { type ClientFormat, filesOf, FORMATS, type Permission } from "../client-formats.ts";
import type { Host } from "../host.ts";
import { commandOf, EXAMPLE_KEY, isOutsideProjects, SERVER, keyLine } from "../server-entry.ts";
import { type Check, fail, pass, skip, warn } from "./check.ts";
import { type ClientFile, readClientFile } from "./client-file.ts";
import { KEY, type Settings, settingsOf } from "./environment.ts";

/** An entry that can be tried. */
export interface ClientEntry {
  readonly client: ClientName;
  /** The suffix of a check's name, for an entry that doesn't have this server's name. */
  readonly suffix: string;
  /** The program and its arguments. */
  readonly words: readonly Filled[];
  /** The folder in which the client starts it. */
  readonly cwd: string | undefined;
  /** The variables that the entry sets, as far as their values are known. */
  readonly env: Environment;
  /** All that the server gets. */
  readonly settings: Settings;
  /** What the client's files say about a tool; undefined if nothing. */
  readonly permissionFor: (tool: string) => Permission | undefined;
}

/** A value of an entry. */
export interface Filled {
  /** The placeholder itself if it is left, without its fallback, which may be a secret. */
  readonly text: string;
  /** The variables of the shell that the value is taken from. */
  readonly names: readonly string[];
  /**
   * `unset`: this shell doesn't set such a variable. `hidden`: only the client knows a part of the value.
   * `left`: the client doesn't fill in a placeholder.
   */
  readonly state: "known" | "unset" | "hidden" | "left";
}

const NAME = "entry";

const wordSchema = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const variablesSchema = z.record(z.string(), wordSchema).default({});
const entrySchema = z.looseObject({
  command: z.union([z.string(), z.array(z.string())]).optional(),
  cmd: z.string().optional(),
  args: z.array(wordSchema).default([]),
  env: variablesSchema,
  environment: variablesSchema,
  envs: variablesSchema,
  /** A file with further variables, which doctor does not read. */
  envFile: z.string().optional(),
  /** Names of variables that the client takes from its shell or its secrets. */
  env_vars: z.array(z.unknown()).default([]),
  env_keys: z.array(z.unknown()).default([]),
  cwd: z.string().optional(),
  enabled: z.boolean().default(true),
  disabled: z.boolean().default(false),
});

/** Returns the checks of all entries, the entries that can be started, and whether one contains a key. */
export async function readClientEntries(client: ClientName, host: Host) {
  const format = FORMATS[client];
  const { title, envField = "env" } = format;
  const paths = filesOf(format, host).map((pattern) => findFiles(...pattern.split("*")));
  const unique = [...new Set((await Promise.all(paths)).flat())];
  const read = await Promise.all(unique.map((path) => readClientFile(path, format)));
  const files = read.filter((file) => file !== undefined);
  const checks = files.flatMap(({ path, document, faults }) =>
    faults.map(({ problem, fix }) =>
      document === undefined
        ? fail(NAME, `${path} ${problem}`, fix)
        : warn(NAME, `${path} ${problem}: it isn't known if ${title} reads that`, fix),
    ),
  );
  // The first file with an entry wins.
  const found = files
    .map((file) => ({ ...file, named: findEntries(file.document, format, host) }))
    .find(({ named }) => named.length > 0);
  if (found === undefined) {
    if (checks.every(({ status }) => status !== "fail")) checks.push(noEntry(files, unique, client, host));
    return { checks, entries: [], holdsKey: false };
  }
  const { path, named } = found;
  const [first, ...others] = named.map(([name]) => quote(name, 40));
  const judged = named.map(([, value], index) =>
    judgeEntry(value, index === 0 ? "" : ` ${others[index - 1]}`, path, files, client, host),
  );
  checks.push(...judged.flatMap((each) => each.checks));
  if (others.length > 0) {
    const problem = `${path} starts this server more than once, as ${[first, ...others].join(" and ")}`;
    const fix = `Remove ${others.join(" and ")}: ${title} shows the model each tool twice`;
    checks.push(warn(NAME, problem, fix));
  }
  const keys = named.map(([, value]) => String(valueAt(value, envField, KEY)));
  const holdsKey = keys.some((key) => key.startsWith("fl_") && key !== EXAMPLE_KEY && key !== SANDBOX_KEY);
  return { checks, entries: judged.flatMap(({ entry }) => entry ?? []), holdsKey };
}

/** The paths that match: the rest of a folder's name may stand between two pieces. */
async function findFiles(start = "", ...[piece, ...pieces]: readonly string[]): Promise<readonly string[]> {
  if (piece === undefined) return [start];
  const folder = dirname(`${start}*`);
  const names = await readdir(folder).catch(() => []);
  const found = names.map((name) => join(folder, name)).filter((path) => path.startsWith(start));
  return (await Promise.all(found.sort().map((path) => findFiles(`${path}${piece}`, ...pieces)))).flat();
}

function noEntry(
  files: readonly ClientFile[],
  paths: readonly string[],
  client: ClientName,
  host: Host,
): Check {
  const { title, root = "mcpServers" } = FORMATS[client];
  const print = printEntry(client, host);
  if (paths.length === 0) {
    const problem = "only a client of the list has a file that doctor knows";
    return fail(NAME, problem, `${capitalized(SET_IN_TERMINAL)}, and run this without --client`);
  }
  const roots = Object.values(FORMATS).map((format) => format.root ?? "mcpServers");
  for (const { path, document } of files) {
    const other = roots.find((name) => name !== root && entriesIn(valueAt(document, name)).some(isOurs));
    if (other === undefined) continue;
    const problem = `in ${path} the entry stands in ${quote(other)}, where ${title} doesn't look`;
    return fail(NAME, problem, `Move it into ${quote(root)}, in the form that this prints`, print);
  }
  const bundle =
    client === "claude-desktop" ? ". Doctor can't read the settings page of an installed bundle" : "";
  const problem = `${title} has no entry of this server in ${paths.join(" or ")}. Files of a project are not read${bundle}`;
  return fail(NAME, problem, "Put what this prints into the file that it names", print);
}

const SET_IN_TERMINAL = "set FACELESS_API_KEY and FACELESS_BASE_URL in this terminal";

type Named = readonly [name: string, entry: unknown];

/** The entries of this server, the one with its name first. */
function findEntries(
  document: unknown,
  { root = "mcpServers" }: ClientFormat,
  { workingDir, platform }: Host,
): readonly Named[] {
  // Claude Code also keeps the user's own entries for a project, as `claude mcp add` makes them.
  // On Windows, the terminal may spell one folder differently: c: or C:, / or \.
  const spelling = (path: string) => (platform === "win32" ? win32.normalize(path).toLowerCase() : path);
  const project = entriesIn(valueAt(document, "projects")).find(
    ([folder]) => spelling(folder) === spelling(workingDir),
  )?.[1];
  const ofProject = entriesIn(valueAt(project, root)).filter(isOurs);
  const hidden = new Set(ofProject.map(([name]) => name));
  const ofUser = entriesIn(valueAt(document, root)).filter((entry) => isOurs(entry) && !hidden.has(entry[0]));
  return [...ofProject, ...ofUser].sort(([a], [b]) => Number(b === SERVER) - Number(a === SERVER));
}

function entriesIn(list: unknown): Named[] {
  if (Array.isArray(list))
    return list.map((entry: unknown): Named => {
      const name = valueAt(entry, "name");
      return [typeof name === "string" ? name : "", entry];
    });
  return typeof list === "object" && list !== null ? Object.entries<unknown>({ ...list }) : [];
}

/** This server's package for npx, or its file in a copy or a clone. */
const PROGRAM =
  /^faceless-video-mcp(?:@[\w.-]+)?(?:\.cmd)?$|[\\/]\.?faceless-video-mcp[\\/](?:app|dist)[\\/]bin\.cjs$/;

function isOurs([name, entry]: Named): boolean {
  if (name === SERVER) return true;
  const { data } = entrySchema.safeParse(entry);
  const words = [data?.command ?? data?.cmd ?? [], data?.args ?? []].flat();
  return words.flatMap((word) => [word, ...word.split(/[\s"']+/)]).some((word) => PROGRAM.test(word));
}

function judgeEntry(
  value: unknown,
  suffix: string,
  path: string,
  files: readonly ClientFile[],
  client: ClientName,
  host: Host,
): { readonly checks: readonly Check[]; readonly entry?: ClientEntry } {
  const format = FORMATS[client];
  const { title, envField = "env", inherits, permission } = format;
  const print = printEntry(client, host);
  const name = `${NAME}${suffix}`;
  const { data } = entrySchema.safeParse(value);
  const program = [data?.command ?? data?.cmd ?? []].flat();
  if (data === undefined || (program[0] ?? "") === "") {
    const problem = `in ${path} it names no program, or in a form that ${title} can't use`;
    return { checks: [fail(name, problem, REPLACE_ENTRY, print)] };
  }
  const { cwd, disabled, enabled } = data;
  if (disabled || !enabled)
    return { checks: [fail(name, `it is switched off in ${path}`, `Switch this server on in ${title}`)] };
  const written = [...program, ...data.args];
  const checks = [pass(name, path)];
  const risk = hijackRisk(written, cwd, format);
  const takeOver = [
    `${title} may start it in a project's folder, where ${risk},`,
    "so that a cloned project could run another program with your key",
  ].join(" ");
  if (risk !== undefined) checks.push(warn(name, takeOver, REPLACE_ENTRY, print));
  // A shell fills in what the client leaves.
  const isShell = SHELL.test(win32.basename(program[0] ?? ""));
  const words = written.map((word): Filled => {
    const filled = fillIn(word, format, host.env);
    return isShell && filled.state === "left" ? { text: word, names: [], state: "known" } : filled;
  });
  const variables = readVariables(data[envField], data, format, host.env);
  const setKey = keyLine(host.env["SHELL"], host.platform === "win32");
  for (const [variable, filled] of variables)
    checks.push(...judgeValue(variable, suffix, filled, format, setKey));
  const known = variables.filter(([, { state }]) => state === "known");
  const env: Environment = Object.fromEntries(known.map(([variable, { text }]) => [variable, text]));
  const hidden = variables.map(([variable]) => variable).filter((variable) => !(variable in env));
  const unknown = Object.fromEntries(hidden.map((variable) => [variable, undefined]));
  const all = { ...(inherits === true && settingsOf(host.env)), ...unknown, ...env };
  const settings = { env: all, flags: flagsIn(words), hidden };
  const permissionFor = (tool: string) =>
    files.map(({ document }) => permission?.(tool, value, document)).find((each) => each !== undefined);
  return { checks, entry: { client, suffix, words, cwd, env, settings, permissionFor } };
}

const SHELL = /^(?:(?:ba|z|da)?sh|cmd|powershell|pwsh)(?:\.exe)?$/i;

export const REPLACE_ENTRY = "Replace the entry with what this prints";

/** The command that prints another entry. */
export function printEntry(client: ClientName, host: Host): string {
  return commandOf(`config ${client}`, host);
}

/** Ignores words that aren't the server's, such as those of npx. */
function flagsIn(words: readonly Filled[]): Flags {
  const isGiven = (...spellings: readonly string[]) => words.some(({ text }) => spellings.includes(text));
  return flagsFrom({
    has: (flag) => isGiven(`--${flag}`, `--${flag}=true`),
    value: (flag) => (isGiven(`--${flag}=auto`) ? "auto" : undefined),
  });
}

/** The variables that the client sets, each once, as far as they are known. */
function readVariables(
  written: Readonly<Record<string, string>>,
  { envFile, env_vars, env_keys }: z.infer<typeof entrySchema>,
  format: ClientFormat,
  shell: Environment,
): readonly (readonly [name: string, value: Filled])[] {
  const forward = (names: readonly unknown[], whenUnset: Filled["state"]) =>
    names
      .map(String)
      .filter(isOurVariable)
      .map((name): [string, Filled] => {
        const { [name]: text } = shell;
        return [name, { text: text ?? "", names: [name], state: text === undefined ? whenUnset : "known" }];
      });
  const values = new Map([
    ...(envFile === undefined ? [] : [[KEY, { text: "", names: [], state: "hidden" }] as const]),
    ...forward(env_vars, "unset"),
    // goose also looks for it in its secrets.
    ...forward(env_keys, "hidden"),
    ...Object.entries(written).map(([name, value]) => [name, fillIn(value, format, shell)] as const),
  ]);
  return [...values];
}

/** Ignores a value that is written in the entry itself. */
function judgeValue(
  variable: string,
  suffix: string,
  { text, names, state }: Filled,
  { title, isInTerminal }: ClientFormat,
  setKey: string,
): readonly Check[] {
  const name = `${variable}${suffix}`;
  if (state === "left") {
    const placeholder = `it holds the placeholder ${quote(text, 60)}, which ${title} doesn't fill in`;
    return [fail(name, placeholder, "Write the value itself in its place")];
  }
  if (state === "hidden") {
    const fix = `To check the value itself, ${SET_IN_TERMINAL}, and run doctor without --client`;
    return [skip(name, `only ${title} knows its value`, fix)];
  }
  if (names.length === 0) return [];
  const source = names.join(" and ");
  const from = `${title} takes it from ${source} of the shell that starts it`;
  const fix = `Start ${title} from a shell that sets ${source}, or write the value itself into the entry`;
  if (state === "unset") {
    const problem = `${from}. This shell doesn't set that: started from here, ${title} has none`;
    if (names.includes(KEY))
      return [fail(name, problem, `${fix}. This line asks for the key and sets it`, setKey)];
    return [(variable === "FACELESS_BASE_URL" ? fail : skip)(name, problem, fix)];
  }
  const detail = `${from}, here this one`;
  if (isInTerminal === true) return [pass(name, detail)];
  return [skip(name, `${detail}. Started from a dock or a menu, it has none`, fix)];
}

/**
 * Fills in placeholders as the client does, if they name a variable of this server: any other one of this
 * terminal may be a secret, which an entry could have sent to a service.
 */
function fillIn(text: string, { fills }: ClientFormat, env: Environment): Filled {
  if (!ANY.test(text)) return { text, names: [], state: "known" };
  // Nobody has tried this client.
  if (fills === undefined) return { text, names: [], state: "hidden" };
  const { ofShell = NONE, ofClient = NONE } = fills;
  const left = ANY.exec(text.replaceAll(ofShell, "").replaceAll(ofClient, ""))?.[0];
  if (left !== undefined) return { text: left.replace(/:-.*(?=\}$)/s, ":-…"), names: [], state: "left" };
  const taken = Array.from(text.matchAll(ofShell), ({ 0: placeholder, groups = {} }) => {
    const { name = "", bare: variable = name, fallback } = groups;
    return { placeholder, variable, value: env[variable], fallback };
  });
  if (text.search(ofClient) !== -1 || !taken.every(({ variable }) => isOurVariable(variable)))
    return { text, names: [], state: "hidden" };
  const ofThisShell = taken.filter(({ value, fallback }) => value !== undefined || fallback === undefined);
  return {
    text: taken.reduce(
      (rest, { placeholder, value, fallback = "" }) => rest.replace(placeholder, () => value ?? fallback),
      text,
    ),
    names: ofThisShell.map(({ variable }) => variable),
    state: ofThisShell.every(({ value }) => value !== undefined) ? "known" : "unset",
  };
}

function isOurVariable(name: string): boolean {
  return name.startsWith("FACELESS_");
}

const NONE = /(?!)/g;

/** ${NAME}, ${env:NAME}, ${{ secrets.NAME }}, {env:NAME}, $NAME and %NAME%: each works in some client. */
const ANY = /\$\{[^}]*\}|\{(?:env|file):[^}]*\}|^\$[A-Za-z_]\w*|^%[A-Z_]+%$/;

/** Programs that obey the files of a project in the folder in which they start. */
const PACKAGE_RUNNER = /^(?:npx|npm|pnpm|pnpx|yarn|bunx|bun)(?:\.cmd|\.exe|-cli\.js)?$/i;
/** Programs that start others out of sight of that folder. */
const CONTAINER = /^(?:docker|podman)(?:\.exe)?$/i;

/** What a project could change about a start in its folder, as a clause; undefined if nothing. */
export function hijackRisk(
  words: readonly string[],
  cwd: string | undefined,
  { isDesktopApp, obeysCwd }: ClientFormat,
): string | undefined {
  const isElsewhere = obeysCwd === true && /^(?:~|\$\{userHome\}|\/|[A-Za-z]:)/.test(cwd ?? "");
  const parts = words.flatMap((word) => word.split(/[\s;&|"'()]+/));
  const isContainer = CONTAINER.test(win32.basename(words[0] ?? ""));
  if (isDesktopApp === true || isElsewhere || isContainer) return undefined;
  if (isOutsideProjects(words) || parts.includes("cd")) return undefined;
  const runner = parts.map((part) => win32.basename(part)).find((part) => PACKAGE_RUNNER.test(part));
  if (runner !== undefined) return `${runner} obeys the project's files`;
  const script = words.find((word) => /\.[cm]?js$/.test(word) && !/^[~$%{]/.test(word) && !isAbsolute(word));
  return script && `${quote(script)} is a file of the project`;
}
