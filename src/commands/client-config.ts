// Prints for `config CLIENT`: the client's own command, the entry to paste, and what is left to do, in steps.
// Shows nothing of the environment but the service's URL.

import { existsSync } from "node:fs";
import { posix, win32 } from "node:path";
import { dump } from "js-yaml";
import { stringify } from "smol-toml";
import type { ClientName, Given } from "../command-line.ts";
import { inSentences } from "../sentences.ts";
import { capitalized, quoteWord } from "../text.ts";
import { VERSION } from "../version.ts";
import {
  addCommandOf,
  type ClientFormat,
  documentOf,
  type Entry,
  filesOf,
  FORMATS,
  sharedFieldsOf,
} from "./client-formats.ts";
import { readClientEntries } from "./doctor/client-entry.ts";
import { readServiceConfig } from "./doctor/environment.ts";
import type { Host } from "./host.ts";
import { copyFolder, installCopy } from "./installed-copy.ts";
import {
  commandOf,
  EXAMPLE_KEY,
  EXAMPLE_URL,
  type Launch,
  launch,
  type LaunchOptions,
  SERVER,
  keyLine,
} from "./server-entry.ts";
import { TerminalUi } from "./terminal-ui.ts";

const MAX_WIDTH = 80;

/** A step that is left to do, in one or two ways. */
interface Step {
  readonly text: string;
  /** A line to paste into a terminal. */
  readonly command?: string | undefined;
  /** What goes into the client's file. */
  readonly entry?: string;
  /** How to do it by hand. */
  readonly or?: Step;
}

/** The client, its format and the entry to print. */
interface Plan {
  readonly client: ClientName;
  readonly format: ClientFormat;
  readonly entry: Entry;
  readonly onWindows: boolean;
  readonly host: Host;
}

/** Prints the entry to stdout, the rest to stderr. Keeps a copy of this server unless npx starts the entry. */
export async function runConfig(
  { client, windows, sandbox, installed }: Given<"config">,
  host: Host,
): Promise<number> {
  const ui = new TerminalUi({ ...host, output: host.errors }, MAX_WIDTH);
  const onWindows = windows || host.platform === "win32";
  const installation = installed || !host.isOnNpm ? await install(onWindows, host) : undefined;
  if (typeof installation === "string") {
    ui.print(`faceless-video-mcp: ${installation}.`);
    return 1;
  }
  const entry = entryOf(client, { windows: onWindows, sandbox, installation }, readUrl(host));
  const plan = { client, format: FORMATS[client], entry, onWindows, host };
  const isOnNpm = host.isOnNpm && installation === undefined;
  const files = installation === undefined ? host.files : copyFolder(host.homeDir);
  // The file of an unknown client can't be checked.
  const check = commandOf(client === "other" ? "doctor" : `doctor --client ${client}`, { files, isOnNpm });
  const isOfThisSystem = onWindows === (host.platform === "win32");
  // The client's command would lose it.
  const isKeyKept = isOfThisSystem && (await readClientEntries(client, host)).holdsKey;
  const steps = [...stepsToAdd(plan, isKeyKept), ...stepsAfterwards(plan, check)];
  for (const [index, step] of steps.entries()) printStep(`${index + 1}. `, step, ui, host);
  ui.print(remarksOn(plan).join("\n"));
  return 0;
}

function printStep(label: string, { text, command, entry, or }: Step, ui: TerminalUi, host: Host): void {
  ui.print(`${label}${text}${command === undefined && entry === undefined ? "" : "\n"}`);
  if (command !== undefined) ui.printWhole(`   ${command}\n`);
  if (entry !== undefined) {
    host.output.write(entry);
    ui.print("");
  }
  if (or !== undefined) printStep("   Or do it by hand: ", or, ui, host);
}

/** The step that brings the entry into the client's file. */
function stepsToAdd(plan: Plan, isKeyKept: boolean): readonly Step[] {
  const { format, entry, onWindows } = plan;
  const document = printDocument(format, entry);
  const place = placeOf(plan);
  const { root = "mcpServers", addition } = format;
  const fields = sharedFieldsOf(format, entry);
  const shared = Object.keys(fields).map((name) => `, and what "${name}" has here to its "${name}"`);
  const how = format.files[0]?.endsWith(".toml")
    ? "add this at its end, in place of an older one"
    : `add "${SERVER}" to its "${root}", in place of an older one${shared.join("")}`;
  const paste = `put this into ${place}${withOwnValues(document)}. If the file has entries already, ${how}.`;
  const byHand = { text: paste, entry: document };
  const command = isKeyKept ? undefined : commandToAdd(plan);
  if (command === undefined) {
    const keep = isKeyKept ? " Keep the key that your entry has." : "";
    return [{ text: `${capitalized(paste)}${keep}`, entry: document }];
  }
  const shell = onWindows ? " in PowerShell" : "";
  const replaces =
    format.removeCommand === undefined
      ? ""
      : " It first removes an older entry, and goes on if there is none.";
  const text = `Run this${shell}${withOwnValues(command, [EXAMPLE_URL])}.${replaces}`;
  const key = `Write your key into ${place}, in place of ${EXAMPLE_KEY}.`;
  return [
    { text, command, or: byHand },
    ...(withOwnValues(command).includes(EXAMPLE_KEY) ? [{ text: key }] : []),
    ...(addition === undefined
      ? []
      : [{ text: addition, command: `${JSON.stringify(fields).slice(1, -1)},` }]),
  ];
}

/** The line that adds the entry with the client's own command, in place of an older one. */
function commandToAdd({ format, entry, onWindows }: Plan): string | undefined {
  const { removeCommand, isBatchFile } = format;
  const words = addCommandOf(format, entry);
  if (words === undefined || (onWindows && isBatchFile === true)) return undefined;
  const add = words.map((word) => quoteWord(word, onWindows)).join(" ");
  return [
    // PowerShell 7 would pass the backslashes before quotation marks on; Windows PowerShell 5 knows no other way.
    ...(onWindows && add.includes('\\"') ? ["$PSNativeCommandArgumentPassing = 'Legacy'"] : []),
    ...(removeCommand === undefined ? [] : [removeCommand]),
    add,
  ].join("; ");
}

function placeOf({ format, onWindows, host }: Plan): string {
  const files = filesOf(format, onWindows && host.platform !== "win32" ? ANY_WINDOWS : host)
    .filter((file) => !file.includes("*"))
    .map((file) => file.replace(host.homeDir, onWindows ? "%USERPROFILE%" : "~"));
  if (files.length === 0) return "the file in which your client keeps its MCP servers";
  const choice = files.length > 1 ? ", whichever you have" : "";
  return `${files.join(" or ")}${choice}${format.menu === undefined ? "" : ` (${format.menu})`}`;
}

function stepsAfterwards(plan: Plan, check: string): readonly Step[] {
  const { title, isDesktopApp } = plan.format;
  const restart = isDesktopApp === true ? `Quit ${title} entirely, and start it again.` : `Restart ${title}.`;
  return [
    ...(plan.entry.env === undefined ? [] : stepsForKey(plan)),
    { text: restart },
    {
      text: inSentences(
        "Ask for a video, such as: Make a 30-second video about why the sea is salty.",
        "If something doesn't work, this says why:",
      ),
      command: check,
    },
  ];
}

/** Where the key comes from, and the line that sets it if this terminal has none. */
function stepsForKey({ format, onWindows, host: { env } }: Plan): readonly Step[] {
  const { title, key, keySource, envField = "env" } = format;
  if (keySource !== undefined) return [{ text: keySource }];
  // The user writes it into the entry.
  if (key === EXAMPLE_KEY) return [];
  const source = inSentences(
    `${title} takes the key from the variable FACELESS_API_KEY of the shell that it starts from.`,
    "Started from a dock, a menu or another application, it finds none:",
    key === undefined
      ? `then add FACELESS_API_KEY and the key to ${envField}.`
      : `then write the key itself in place of ${key}.`,
  );
  if ((env["FACELESS_API_KEY"] ?? "") !== "") return [{ text: `${source} This terminal has set it.` }];
  const how = onWindows
    ? inSentences(
        "Run this line in PowerShell and enter your key.",
        "It sets the key here, and for everything that starts later.",
      )
    : inSentences(
        "Run this line and paste your key, which isn't shown. It sets the key in this terminal alone:",
        `start ${title} from here, or set it in your shell's startup file.`,
      );
  return [{ text: `${source} ${how}`, command: keyLine(env["SHELL"], onWindows) }];
}

function remarksOn({ format, entry: { isInstalled, env } }: Plan): readonly string[] {
  return [
    isInstalled
      ? ABOUT_THE_COPY
      : "Add --installed for an entry that starts sooner, without npx and the registry.",
    env?.["FACELESS_BASE_URL"] === EXAMPLE_URL &&
      "If FACELESS_BASE_URL is set in this terminal, config writes that address into the entry.",
    env !== undefined &&
      "To save finished videos, set FACELESS_SAVE_DIR to a folder beside FACELESS_BASE_URL.",
    format.note,
  ].filter((remark) => typeof remark === "string");
}

const ABOUT_THE_COPY = inSentences(
  `The entry starts a copy of version ${VERSION} in ~/.faceless-video-mcp/app.`,
  "The config of a newer version replaces it for all clients, and their entries stay as they are.",
  "After you update or move Node.js, run this again and replace the entry.",
  "To remove the copy, delete that folder.",
);

/** The folders of a Windows computer that isn't this one. */
const ANY_WINDOWS = {
  env: { APPDATA: "%APPDATA%", LOCALAPPDATA: "%LOCALAPPDATA%" },
  homeDir: "%USERPROFILE%",
  platform: "win32",
} as const;

/** How the entry starts the installed copy, or why there is none. */
async function install(onWindows: boolean, host: Host): Promise<Launch | string> {
  const { platform, node } = host;
  if (onWindows && platform !== "win32")
    return "the entry starts a copy on this computer, which isn't Windows: leave out --windows";
  if (isInProject(host))
    return inSentences(
      `this was started by the Node.js of a project (${node}), which the project can exchange.`,
      "Use one that is installed for all projects, from https://nodejs.org",
    );
  const copied = await installCopy(host);
  // Homebrew replaces the folder of a version with each update, and keeps a link to the newest beside it.
  const command = node.replace(/\/Cellar\/([^/]+)\/[^/]+\/bin\/node$/, "/opt/$1/bin/node");
  return "problem" in copied ? copied.problem : { command, args: [copied.script] };
}

type Place = Pick<Host, "node" | "workingDir" | "homeDir" | "platform">;

/**
 * A Node.js from a project's packages or folder runs whatever the project wants, with the user's key. The project
 * is the outermost folder with a project's files around this one, or this one. The user's home, what holds it, and
 * a whole drive aren't projects, but for a drive with a project's files.
 */
export function isInProject({ node, workingDir, homeDir, platform }: Place): boolean {
  const { dirname, isAbsolute, join, relative } = platform === "win32" ? win32 : posix;
  const isInside = (path: string, folder: string) => {
    const way = relative(folder, path);
    return !/^\.\.(?:[\\/]|$)/.test(way) && !isAbsolute(way);
  };
  const isProject = (folder: string) =>
    (folder === workingDir && folder !== dirname(folder)) ||
    [".git", "package.json"].some((name) => existsSync(join(folder, name)));
  const holdsNode = (folder: string): boolean =>
    !isInside(homeDir, folder) &&
    ((isInside(node, folder) && isProject(folder)) ||
      (folder !== dirname(folder) && holdsNode(dirname(folder))));
  return holdsNode(workingDir) || /[\\/]node_modules[\\/]/.test(node);
}

/** The service's address, also without a key. A key that was set as the address isn't shown. */
function readUrl({ env, homeDir }: Host): string {
  const service = readServiceConfig({ FACELESS_BASE_URL: env["FACELESS_BASE_URL"] }, homeDir);
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

const OWN_VALUES = [
  { example: EXAMPLE_KEY, own: "your key" },
  { example: EXAMPLE_URL, own: "the service's address" },
];

/** Names, as the end of a sentence, the values that the user has to write in place of the examples. */
function withOwnValues(text: string, examples = [EXAMPLE_KEY, EXAMPLE_URL]): string {
  const values = OWN_VALUES.filter(({ example }) => examples.includes(example) && text.includes(example));
  const ends = values.map(({ example, own }) => `${own} in place of ${example}`);
  return ends.length > 0 ? `, with ${ends.join(" and ")}` : "";
}

export function printDocument(format: ClientFormat, entry: Entry): string {
  const document = documentOf(format, entry);
  const [file = ""] = format.files;
  if (file.endsWith(".toml")) return stringify(document);
  if (file.endsWith(".yaml"))
    return dump(document, { forceQuotes: true, quoteStyle: "double", lineWidth: -1 });
  return `${JSON.stringify(document, undefined, 2)}\n`;
}
