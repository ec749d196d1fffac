// Prints for `config CLIENT`: the client's own command, the entry to paste, and what is left to do, in steps.
// Shows nothing of the environment but the service's URL.

import { isAbsolute, join, relative } from "node:path";
import { dump } from "js-yaml";
import { stringify } from "smol-toml";
import type { ClientName, EntryOptions } from "../command-line.ts";
import type { Clock } from "../clock.ts";
import { NO_FLAGS, readConfig } from "../config.ts";
import { VERSION } from "../version.ts";
import {
  addCommandOf,
  type ClientFormat,
  documentOf,
  type Entry,
  filesOf,
  FORMATS,
  keySourceOf,
} from "./client-formats.ts";
import type { HostInfo } from "./doctor/check.ts";
import { installCopy } from "./installed-copy.ts";
import {
  EXAMPLE_KEY,
  EXAMPLE_URL,
  type Launch,
  launch,
  type LaunchOptions,
  ownCommand,
  quoteWord,
  SERVER,
} from "./server-entry.ts";
import { wrap } from "./terminal-ui.ts";

export interface ConfigContext extends HostInfo {
  readonly clock: Clock;
  /** The path of the Node.js that runs this. */
  readonly node: string;
  /** The folder of this server's files. */
  readonly files: string;
  /** True if npx can start this server. Until then every entry starts the installed copy. */
  readonly isOnNpm: boolean;
}

/** `before` and `after` go to stderr, `entry` between them to stdout. */
export interface Printed {
  readonly exitCode: number;
  readonly before: string;
  readonly entry: string;
  readonly after: string;
}

const INDENT = "   ";
const COLUMNS = 80;

/** The command's output. It also keeps a copy of this server, unless npx starts the entry. */
export async function runConfig(
  client: ClientName,
  { windows, sandbox, installed }: EntryOptions,
  context: ConfigContext,
): Promise<Printed> {
  const onWindows = windows || context.platform === "win32";
  const installation = installed || !context.isOnNpm ? await install(onWindows, context) : undefined;
  if (typeof installation === "string") {
    const before = paragraph(`faceless-video-mcp: ${installation}.`);
    return { exitCode: 1, before: `${before}\n`, entry: "", after: "" };
  }
  const url = readUrl(context);
  const entry = entryOf(client, { windows: onWindows, sandbox, installation }, url);
  const host = onWindows && context.platform !== "win32" ? ANY_WINDOWS : context;
  const file = installation?.args[0] ?? join(context.files, "bin.cjs");
  const byNpx = context.isOnNpm && installation === undefined;
  const doctor = ownCommand(`doctor --client ${client}`, file, byNpx);
  return { exitCode: 0, ...describeEntry(client, entry, host, doctor) };
}

/** How the entry starts the installed copy, or why there is none. */
async function install(onWindows: boolean, context: ConfigContext): Promise<Launch | string> {
  const { platform, node } = context;
  if (onWindows && platform !== "win32")
    return "the entry starts a copy on this computer, which isn't Windows: leave out --windows";
  if (isOfProject(context))
    return `this was started by the Node.js of a project (${node}), which the project can exchange. Use one that is installed for all projects, from https://nodejs.org`;
  const copied = await installCopy(context);
  return "problem" in copied ? copied.problem : { command: stablePath(node), args: [copied.script] };
}

/** A Node.js from a project's packages or folder runs whatever the project wants, with the user's key. */
function isOfProject({ node, workingDir, homeDir }: ConfigContext): boolean {
  const isInProject = isInside(node, workingDir) && !isInside(homeDir, workingDir);
  return isInProject || /[\\/]node_modules[\\/]/.test(node);
}

function isInside(path: string, folder: string): boolean {
  return !/^\.\.(?:[\\/]|$)/.test(relative(folder, path)) && !isAbsolute(relative(folder, path));
}

/** Homebrew replaces the folder of a version with each update, and keeps a link to the newest beside it. */
function stablePath(node: string): string {
  return node.replace(/\/Cellar\/([^/]+)\/[^/]+\/bin\/node$/, "/opt/$1/bin/node");
}

/** The service's address, whether or not the key is set too. A key that was set as the address isn't shown. */
function readUrl({ env, homeDir }: ConfigContext): string {
  const address = { FACELESS_API_KEY: EXAMPLE_KEY, FACELESS_BASE_URL: env["FACELESS_BASE_URL"] };
  const { service } = readConfig(address, NO_FLAGS, homeDir);
  if (service === undefined || service.baseUrl.href.includes("fl_")) return EXAMPLE_URL;
  // Some clients replace $NAME anywhere.
  return service.baseUrl.href.replace(/\/$/, "").replaceAll("$", "%24");
}

export function entryOf(client: ClientName, options: LaunchOptions, url: string): Entry {
  const { key } = FORMATS[client];
  const env = { ...(key !== undefined && { FACELESS_API_KEY: key }), FACELESS_BASE_URL: url };
  const isInstalled = options.installation !== undefined;
  return { ...launch(options), ...(!options.sandbox && { env }), isInstalled };
}

/** The folders of a Windows computer that isn't this one. */
const ANY_WINDOWS = {
  env: { APPDATA: "%APPDATA%", LOCALAPPDATA: "%LOCALAPPDATA%" },
  homeDir: "%USERPROFILE%",
  platform: "win32",
} as const;

function describeEntry(
  client: ClientName,
  entry: Entry,
  host: Pick<HostInfo, "env" | "homeDir" | "platform">,
  doctor: string,
): Omit<Printed, "exitCode"> {
  const format = FORMATS[client];
  const { title, menu, isDesktopApp, note } = format;
  const text = printDocument(format, entry);
  const onWindows = host.platform === "win32";
  const files = filesOf(format, host).map((file) =>
    file.replace(host.homeDir, onWindows ? "%USERPROFILE%" : "~"),
  );
  const whichever = files.length > 1 ? ", whichever your version has" : "";
  const place = `${files.join(" or ")}${whichever}${menu === undefined ? "" : ` (${menu})`}`;
  const paste = `Put this into ${place}${withOwnValues(text)}. If the file has entries already, add only "${SERVER}" to them.`;
  // To paste into a POSIX shell or PowerShell.
  const command = addCommandOf(format, entry)
    ?.map((word) => quoteWord(word, onWindows))
    .join(" ");
  const run = `Run this${onWindows ? " in PowerShell" : ""}${withOwnValues(command ?? "")}:`;
  const steps = [
    entry.env && keySourceOf(format),
    isDesktopApp === true ? `Quit ${title} entirely, and start it again.` : `Restart ${title}.`,
    "Ask for a video, such as: Make a 30-second video about why the sea is salty. If something doesn't work, this says why:",
  ];
  const remarks = [
    entry.isInstalled
      ? ABOUT_THE_COPY
      : "Add --installed for an entry that starts sooner, without npx and the registry.",
    entry.env && "To save finished videos, set FACELESS_SAVE_DIR to a folder beside FACELESS_BASE_URL.",
    entry.env && note,
  ];
  const before =
    command === undefined
      ? [paragraph(paste, "1. ")]
      : [paragraph(run, "1. "), `${INDENT}${command}`, paragraph(`Or do it by hand. ${paste}`, INDENT)];
  const after = [
    ...sentencesOf(steps).map((sentence, index) => paragraph(sentence, `${index + 2}. `)),
    "",
    `${INDENT}${doctor}`,
    "",
    ...sentencesOf(remarks).map((sentence) => paragraph(sentence)),
  ];
  return { before: `${before.join("\n\n")}\n\n`, entry: text, after: `\n${after.join("\n")}\n` };
}

const ABOUT_THE_COPY = `The entry starts a copy of version ${VERSION} in ~/.faceless-video-mcp/app. The config of a newer version replaces it for all clients. After you update or move Node.js, run this again and replace the entry. To remove the copy, delete that folder.`;

/** The values that the user has to write into the text, as the end of a sentence. */
function withOwnValues(text: string): string {
  const isValue = (example: string) => text.split(/["'=\s]/).includes(example);
  const values = sentencesOf([
    isValue(EXAMPLE_KEY) ? `your key in place of ${EXAMPLE_KEY}` : undefined,
    isValue(EXAMPLE_URL) ? `the service's address in place of ${EXAMPLE_URL}` : undefined,
  ]);
  return values.length > 0 ? `, with ${values.join(" and ")}` : "";
}

function sentencesOf(sentences: readonly (string | undefined)[]): readonly string[] {
  return sentences.filter((sentence) => sentence !== undefined);
}

/** The lines after the first are indented as far as the first one's start. */
function paragraph(text: string, start = ""): string {
  return `${start}${wrap(text, COLUMNS - start.length).join(`\n${" ".repeat(start.length)}`)}`;
}

export function printDocument(format: ClientFormat, entry: Entry): string {
  const document = documentOf(format, entry);
  if (format.language === "toml") return stringify(document);
  if (format.language === "yaml")
    return dump(document, { forceQuotes: true, quoteStyle: "double", lineWidth: -1 });
  return `${JSON.stringify(document, undefined, 2)}\n`;
}
