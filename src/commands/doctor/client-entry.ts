// Finds this server's entry in the user's own files of a client, and says what is wrong with how it is written.
// Reads no project's file: it may have come with a clone. Shows no value.

import { readFile } from "node:fs/promises";
import { isAbsolute, win32 } from "node:path";
import { load as parseYaml } from "js-yaml";
import { parse as parseToml } from "smol-toml";
import * as z from "zod";
import type { ClientName } from "../../command-line.ts";
import { errnoOf } from "../../errors.ts";
import { valueAt } from "../../value-at.ts";
import { quote } from "../../text.ts";
import { type ClientFormat, filesOf, FORMATS } from "../client-formats.ts";
import { KEY } from "./environment.ts";
import type { Host } from "../host.ts";
import { isOutsideProjects, SERVER } from "../server-entry.ts";
import { fail, pass, skip, warn } from "./check.ts";

/** The program and its arguments, the folder in which the client starts it, and the variables that are known and not. */
export type ClientEntry = NonNullable<Awaited<ReturnType<typeof readClientEntry>>["entry"]>;

const NAME = "entry";
/** ${NAME}, ${env:NAME}, ${{ secrets.NAME }}, {env:NAME}, $NAME and %NAME%, which clients fill in. */
export function isPlaceholder(text: string): boolean {
  return /\$\{|\{env:|^\$[A-Za-z_]|%[A-Z_]+%/.test(text);
}

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

/** `print`: the command that prints the entry. The entry is absent if none can be started. */
export async function readClientEntry(client: ClientName, host: Host, print: string) {
  const format = FORMATS[client];
  const { title, envField = "env" } = format;
  const files = filesOf(format, host);
  const failed = (detail: string, fix: string) => ({ checks: [fail(NAME, detail, fix)], entry: undefined });
  const replace = `Run ${quote(print)}, and replace the entry with what it prints`;
  for (const file of files) {
    let found: unknown;
    try {
      // eslint-disable-next-line no-await-in-loop -- the first file with an entry wins
      found = findEntry(parseFile(file, await readFile(file, "utf8")), format, host);
    } catch (error) {
      if (errnoOf(error) === "ENOENT") continue;
      const repair = `Repair ${file}: a comma, quote or bracket is missing or extra, it is not in UTF-8, or you may not read it`;
      return failed(`${title}'s file can't be read`, repair);
    }
    if (found === undefined) continue;
    const { data: entry } = entrySchema.safeParse(found);
    const words = [entry?.command ?? entry?.cmd ?? [], entry?.args ?? []].flat();
    if (entry === undefined || words.length === 0)
      return failed(`the entry in ${file} names no program, or in a form that ${title} can't use`, replace);
    const { cwd, envFile, env_vars, env_keys, disabled, enabled } = entry;
    if (disabled || !enabled)
      return failed(`the entry is switched off in ${file}`, `Switch this server on in ${title}`);
    const variables = Object.entries(entry[envField]);
    const env = Object.fromEntries(variables.filter(([, value]) => !isPlaceholder(value)));
    const elsewhere = [...[...env_vars, ...env_keys].map(String), ...(envFile === undefined ? [] : [KEY])];
    const all = new Set([...elsewhere, ...variables.map(([name]) => name)]);
    const hidden = [...all].filter((name) => name.startsWith("FACELESS_") && !Object.hasOwn(env, name));
    const risk = hijackRisk(words, cwd, format);
    const takeOver = `${title} may start it in a project's folder, where ${risk}, so that a cloned project could run another program with your key`;
    const checks = [
      pass(NAME, file),
      ...(risk === undefined ? [] : [warn(NAME, takeOver, replace)]),
      ...hidden.map((name) =>
        skip(
          name,
          `only ${title} knows its value`,
          `To check the value itself, set ${name} in this terminal and run doctor without --client`,
        ),
      ),
    ];
    return { checks, entry: { words, cwd, env, hidden } };
  }
  const bundle =
    client === "claude-desktop" ? ". Doctor can't read the settings page of an installed bundle" : "";
  return failed(
    `${title} has no entry of this server in ${files.join(" or ")}. Files of a project are not read${bundle}`,
    `Run ${quote(print)}, and put what it prints into the file that it names`,
  );
}

/** The entry of this name, or the first that starts this server. */
function findEntry(
  document: unknown,
  { root = "mcpServers" }: ClientFormat,
  { workingDir, platform }: Host,
): unknown {
  // Claude Code also keeps the user's own entries for a project, as `claude mcp add` makes them.
  // On Windows, the terminal may spell one folder differently: c: or C:, / or \.
  const spelling = (path: string) => (platform === "win32" ? win32.normalize(path).toLowerCase() : path);
  const project = entriesOf(valueAt(document, "projects")).find(
    ([folder]) => spelling(folder) === spelling(workingDir),
  )?.[1];
  return [valueAt(project, root), valueAt(document, root)]
    .flatMap((list) =>
      Array.isArray(list)
        ? list.map((entry: unknown) => [valueAt(entry, "name"), entry] as const)
        : entriesOf(list),
    )
    .find(([name, entry]) => name === SERVER || JSON.stringify(entry)?.includes("faceless-video-mcp"))?.[1];
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === "object" && value !== null ? Object.entries<unknown>({ ...value }) : [];
}

/** They obey the folder in which they start, and the files of a project there. */
const PACKAGE_RUNNER = /^(?:npx|npm|pnpm|pnpx|yarn|bunx|bun)(?:\.cmd|\.exe|-cli\.js)?$/i;

/** The things that a project could change about a start in its folder, as a clause; undefined if nothing. */
export function hijackRisk(
  words: readonly string[],
  cwd: string | undefined,
  { isDesktopApp, obeysCwd }: ClientFormat,
): string | undefined {
  const isElsewhere = obeysCwd === true && /^(?:~|\$\{userHome\}|\/|[A-Za-z]:)/.test(cwd ?? "");
  const parts = words.flatMap((word) => word.split(/[\s;&|"'()]+/));
  if (isDesktopApp === true || isElsewhere || isOutsideProjects(words) || parts.includes("cd"))
    return undefined;
  const runner = parts.map((part) => win32.basename(part)).find((part) => PACKAGE_RUNNER.test(part));
  if (runner !== undefined) return `${runner} obeys the project's files`;
  const script = words.find((word) => /\.[cm]?js$/.test(word) && !/^[~$%{]/.test(word) && !isAbsolute(word));
  return script && `${quote(script)} is a file of the project`;
}

/** Throws if the client could not read the file either. The message quotes the file: show none of it. */
function parseFile(name: string, text: string): unknown {
  if (name.endsWith(".toml")) return parseToml(text);
  return name.endsWith(".yaml") ? parseYaml(text) : parseJson(text);
}

/** Clients also allow comments and trailing commas. */
function parseJson(text: string): unknown {
  const withoutComments = text
    .replace(/^\uFEFF/, "")
    .replace(/"[^"\\]*(?:\\[^][^"\\]*)*"?|\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)/g, keepStrings);
  const json = withoutComments.replace(/"[^"\\]*(?:\\[^][^"\\]*)*"?|,(?=\s*[}\]])/g, keepStrings);
  return json.trim() === "" ? {} : JSON.parse(json);
}

function keepStrings(part: string): string {
  return part.startsWith('"') ? part : " ";
}
