// Reads this server's entry from a client's own file, and says what is wrong with it. Shows no value.

import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { isAbsolute, join, win32 } from "node:path";
import { load as parseYaml } from "js-yaml";
import { parse as parseToml } from "smol-toml";
import type { ClientName } from "../../command-line.ts";
import type { Environment, Flags } from "../../config.ts";
import { errnoOf } from "../../errors.ts";
import { FORMATS } from "../client-formats.ts";
import { SERVER } from "../server-entry.ts";
import { quoteName } from "../../text.ts";
import { type Check, fail, type HostInfo, pass } from "./check.ts";
import { type Entry, entrySchema, fillIn, isSetting, settingsOf } from "./entry-variables.ts";
import { checkProgram, printEntry, readFlags } from "./program.ts";

/** How the client starts the server, as far as it can. */
export interface ClientStart {
  readonly flags: Flags;
  readonly env: Environment;
  /** Variables whose values doctor does not know. */
  readonly hidden: readonly string[];
  /** The file of the working folder that it was read from. A cloned project may have brought it. */
  readonly projectFile?: string | undefined;
}

export interface ClientEntry {
  /** About the entry itself. */
  readonly checks: readonly Check[];
  /** Absent if the server would not start. */
  readonly start?: ClientStart;
}

const NAME = "entry";
/** Larger than any project's file needs to be. */
const MAX_PROJECT_FILE_BYTES = 1_000_000;
/** The user's own may hold a history of years. */
const MAX_FILE_BYTES = 100_000_000;

export async function readClientEntry(client: ClientName, host: HostInfo): Promise<ClientEntry> {
  const { title, files, root = "mcpServers" } = FORMATS[client];
  const places = pathsOf(files, host);
  const printAgain = `${printEntry(client)}, and put what it prints into the file that it names`;
  const failed = (detail: string, fix: string) => ({ checks: [fail(NAME, detail, fix)] });
  for (const [index, file] of places.entries()) {
    const maxBytes = files[index]?.startsWith("./") === true ? MAX_PROJECT_FILE_BYTES : MAX_FILE_BYTES;
    let found: unknown;
    try {
      // eslint-disable-next-line no-await-in-loop -- the first file with an entry wins
      const text = await readText(file, maxBytes);
      if (text === undefined) continue;
      found = findEntry(parseFile(file, text), root, host);
    } catch {
      const repair = `Repair ${file}: a comma, quote or bracket is missing or extra, it is not in UTF-8, it is larger than ${maxBytes / 1_000_000} MB, or you may not read it`;
      return failed("this file can't be read", repair);
    }
    if (found === undefined) continue;
    const entry = entrySchema.safeParse(found);
    if (!entry.success) return failed(`${file} has an entry that ${title} can't use`, printAgain);
    // eslint-disable-next-line no-await-in-loop -- it is the last one
    return checkEntry(client, file, entry.data, host);
  }
  const bundle = ". If you installed the bundle, look at its settings page: doctor can't read it";
  return failed(
    `${title} has no entry of this server in ${[...new Set(places)].join(", ")}`,
    `${printAgain}${client === "claude-desktop" ? bundle : ""}`,
  );
}

/** The entry of this name, or the first that starts this server. */
function findEntry(document: unknown, root: string, { workingDir, platform }: HostInfo): unknown {
  // On Windows the terminal and the client may spell one folder differently: c: or C:, / or \.
  const spelling = (path: string) => (platform === "win32" ? win32.normalize(path).toLowerCase() : path);
  // Claude Code also keeps entries of its own for each project.
  const project = entriesOf(field(document, "projects")).find(
    ([folder]) => spelling(folder) === spelling(workingDir),
  )?.[1];
  const lists = [field(project, root), field(document, root)];
  return lists
    .flatMap((list) =>
      Array.isArray(list)
        ? list.map((entry: unknown) => [field(entry, "name"), entry] as const)
        : entriesOf(list),
    )
    .find(([name, entry]) => name === SERVER || startsThisServer(entry))?.[1];
}

function startsThisServer(entry: unknown): boolean {
  const words = ["command", "cmd", "args"].map((name) => field(entry, name)).flat();
  return words.some((word) => typeof word === "string" && word.includes("faceless-video-mcp"));
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === "object" && value !== null ? Object.entries<unknown>({ ...value }) : [];
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

async function checkEntry(
  client: ClientName,
  file: string,
  entry: Entry,
  host: HostInfo,
): Promise<ClientEntry> {
  const { title, envField = "env", inherits } = FORMATS[client];
  const words = [entry.command ?? entry.cmd ?? [], entry.args].flat();
  const flags = readFlags(words);
  const { values, checks } = fillIn(client, entry, host.env);
  const problems = [
    ...(entry.disabled || !entry.enabled
      ? [fail(NAME, `it is switched off in ${file}`, `Switch this server on in ${title}`)]
      : []),
    ...("problem" in flags
      ? [fail(NAME, `the server does not start: ${flags.problem}`, `Correct "args" in ${file}`)]
      : []),
    ...(await checkProgram(client, words, entry.cwd, host)),
  ];
  const found = [...problems, ...checks];
  if ("problem" in flags || problems.some(({ status }) => status === "fail")) return { checks: found };
  const leftOut = Object.keys(entry[envField]).filter((name) => !isSetting(name));
  const remark = leftOut.length > 0 ? `; doctor leaves out ${leftOut.map(quoteName).join(", ")}` : "";
  return {
    checks: [pass(NAME, `${file}${remark}`), ...found],
    start: {
      flags,
      env: { ...(inherits === true && settingsOf(host.env)), ...values },
      hidden: checks.map(({ name }) => name),
      projectFile: (await isUsersOwn(client, file, host)) ? undefined : file,
    },
  };
}

/** Whether it is, by whatever path, one of the client's files outside the working folder. */
async function isUsersOwn(client: ClientName, file: string, host: HostInfo): Promise<boolean> {
  const elsewhere = FORMATS[client].files.filter((place) => !place.startsWith("./"));
  const own = await Promise.all(
    pathsOf(elsewhere, host)
      .filter((path) => isAbsolute(path))
      .map((path) => realpath(path).catch(() => "")),
  );
  return own.includes(await realpath(file));
}

/**
 * undefined unless there is a regular file. A link in a project may lead to one without an end, which says that
 * it is empty, or to one that waits for something.
 */
async function readText(path: string, maxBytes: number): Promise<string | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => {
    if (["ENOENT", "ENOTDIR"].includes(errnoOf(error) ?? "")) return undefined;
    throw error;
  });
  if (file === undefined) return undefined;
  try {
    if (!(await file.stat()).isFile()) return undefined;
    const chunks: Buffer[] = [];
    for (let bytes = 0; bytes <= maxBytes; bytes += chunks.at(-1)?.length ?? 0) {
      // eslint-disable-next-line no-await-in-loop -- one part after the other
      const { bytesRead, buffer } = await file.read(Buffer.alloc(65_536));
      if (bytesRead === 0) return Buffer.concat(chunks).toString("utf8");
      chunks.push(buffer.subarray(0, bytesRead));
    }
    throw new RangeError("The file is too large.");
  } finally {
    await file.close();
  }
}

/** The paths of these files on this host. */
export function pathsOf(files: readonly string[], host: HostInfo): readonly string[] {
  const folders = foldersOf(host);
  return files.map((file) => join(file.replace(/^[.~$]\w*/, (folder) => folders[folder] ?? folder)));
}

function foldersOf(host: HostInfo): Readonly<Record<string, string>> {
  const { env, homeDir, workingDir } = host;
  return {
    ".": workingDir,
    "~": homeDir,
    $settings: settingsDir(host, "Library/Application Support"),
    $config: settingsDir(host, ".config"),
    $codex: env["CODEX_HOME"] ?? join(homeDir, ".codex"),
  };
}

/** The platform's folder for the settings of applications. */
function settingsDir({ env, homeDir, platform }: HostInfo, onMac: string): string {
  if (platform === "win32") return env["APPDATA"] ?? join(homeDir, "AppData/Roaming");
  if (platform === "darwin") return join(homeDir, onMac);
  return env["XDG_CONFIG_HOME"] ?? join(homeDir, ".config");
}

/** Throws where the client could not read the file either. The message quotes the file: show none of it. */
function parseFile(name: string, text: string): unknown {
  if (name.endsWith(".toml")) return parseToml(text);
  return name.endsWith(".yaml") ? parseYaml(text) : parseJson(text);
}

/**
 * Clients also allow comments and trailing commas. A string or comment without an end is matched up to the
 * end of the file, so that the time is linear.
 */
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
