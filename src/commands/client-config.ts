// Prints for `config CLIENT`: the client's own command, the entry to paste, and what is left to do, in steps.
// Shows nothing of the environment but the service's URL.

import { isAbsolute, join, relative } from "node:path";
import { dump } from "js-yaml";
import { stringify } from "smol-toml";
import type { ClientName, Command } from "../command-line.ts";
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
import type { Host } from "./host.ts";
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
import { TerminalUi } from "./terminal-ui.ts";

const MAX_WIDTH = 80;

/** The entry goes to stdout, the rest to stderr. It also keeps a copy of this server, unless npx starts the entry. */
export async function runConfig(
  { client, windows, sandbox, installed }: Extract<Command, { name: "config" }>,
  host: Host,
): Promise<number> {
  const ui = new TerminalUi({ ...host, output: host.errors }, MAX_WIDTH);
  const onWindows = windows || host.platform === "win32";
  const installation = installed || !host.isOnNpm ? await install(onWindows, host) : undefined;
  if (typeof installation === "string") {
    ui.print(`faceless-video-mcp: ${installation}.`);
    return 1;
  }
  const format = FORMATS[client];
  const { title, menu, isDesktopApp, note } = format;
  const entry = entryOf(client, { windows: onWindows, sandbox, installation }, readUrl(host));
  const text = printDocument(format, entry);
  const files = filesOf(format, onWindows && host.platform !== "win32" ? ANY_WINDOWS : host).map((file) =>
    file.replace(host.homeDir, onWindows ? "%USERPROFILE%" : "~"),
  );
  const whichever = files.length > 1 ? ", whichever your version has" : "";
  const place = `${files.join(" or ")}${whichever}${menu === undefined ? "" : ` (${menu})`}`;
  const paste = `Put this into ${place}${withOwnValues(text)}. If the file has entries already, add only "${SERVER}" to them.\n`;
  // To paste into a POSIX shell or PowerShell.
  const command = addCommandOf(format, entry)
    ?.map((word) => quoteWord(word, onWindows))
    .join(" ");
  if (command === undefined) ui.print(`1. ${paste}`);
  else {
    ui.print(`1. Run this${onWindows ? " in PowerShell" : ""}${withOwnValues(command)}:\n`);
    ui.printWhole(`   ${command}\n`);
    ui.print(`   Or do it by hand. ${paste}`);
  }
  host.output.write(text);
  const steps = [
    entry.env && keySourceOf(format),
    isDesktopApp === true ? `Quit ${title} entirely, and start it again.` : `Restart ${title}.`,
    "Ask for a video, such as: Make a 30-second video about why the sea is salty. If something doesn't work, this says why:",
  ];
  ui.print("");
  for (const [index, step] of steps.filter(Boolean).entries()) ui.print(`${index + 2}. ${step}`);
  const file = installation?.args[0] ?? join(host.files, "bin.cjs");
  const byNpx = host.isOnNpm && installation === undefined;
  ui.printWhole(`\n   ${ownCommand(`doctor --client ${client}`, file, byNpx)}\n`);
  const remarks = [
    entry.isInstalled
      ? ABOUT_THE_COPY
      : "Add --installed for an entry that starts sooner, without npx and the registry.",
    entry.env && "To save finished videos, set FACELESS_SAVE_DIR to a folder beside FACELESS_BASE_URL.",
    entry.env && note,
  ];
  ui.print(remarks.filter(Boolean).join("\n"));
  return 0;
}

const ABOUT_THE_COPY = `The entry starts a copy of version ${VERSION} in ~/.faceless-video-mcp/app. The config of a newer version replaces it for all clients. After you update or move Node.js, run this again and replace the entry. To remove the copy, delete that folder.`;

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
  if (isOfProject(host))
    return `this was started by the Node.js of a project (${node}), which the project can exchange. Use one that is installed for all projects, from https://nodejs.org`;
  const copied = await installCopy(host);
  // Homebrew replaces the folder of a version with each update, and keeps a link to the newest beside it.
  const command = node.replace(/\/Cellar\/([^/]+)\/[^/]+\/bin\/node$/, "/opt/$1/bin/node");
  return "problem" in copied ? copied.problem : { command, args: [copied.script] };
}

/** A Node.js from a project's packages or folder runs whatever the project wants, with the user's key. */
function isOfProject({ node, workingDir, homeDir }: Host): boolean {
  const isInProject = isInside(node, workingDir) && !isInside(homeDir, workingDir);
  return isInProject || /[\\/]node_modules[\\/]/.test(node);
}

function isInside(path: string, folder: string): boolean {
  return !/^\.\.(?:[\\/]|$)/.test(relative(folder, path)) && !isAbsolute(relative(folder, path));
}

/** The service's address, whether or not the key is set too. A key that was set as the address isn't shown. */
function readUrl({ env, homeDir }: Host): string {
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

/** The values that the user has to write into the text, as the end of a sentence. */
function withOwnValues(text: string): string {
  const words = text.split(/["'=\s]/);
  const values = [
    words.includes(EXAMPLE_KEY) && `your key in place of ${EXAMPLE_KEY}`,
    words.includes(EXAMPLE_URL) && `the service's address in place of ${EXAMPLE_URL}`,
  ].filter(Boolean);
  return values.length > 0 ? `, with ${values.join(" and ")}` : "";
}

export function printDocument(format: ClientFormat, entry: Entry): string {
  const document = documentOf(format, entry);
  const [file = ""] = format.files;
  if (file.endsWith(".toml")) return stringify(document);
  if (file.endsWith(".yaml"))
    return dump(document, { forceQuotes: true, quoteStyle: "double", lineWidth: -1 });
  return `${JSON.stringify(document, undefined, 2)}\n`;
}
