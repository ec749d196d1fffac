// What `config CLIENT` prints: the entry, ready to paste, and what the user has to know about it. The
// service's URL is all that it shows of the environment.

import { isAbsolute, relative } from "node:path";
import { dump } from "js-yaml";
import { stringify } from "smol-toml";
import type { ClientName, EntryOptions } from "../command-line.ts";
import { NO_FLAGS, readConfig } from "../config.ts";
import { documentOf, type Entry, FORMATS, keySourceOf } from "./client-formats.ts";
import type { HostInfo } from "./doctor/check.ts";
import { installCopy } from "./installed-copy.ts";
import { EXAMPLE_KEY, EXAMPLE_URL, type Launch, launch, type LaunchOptions } from "./server-entry.ts";
import type { Clock } from "../clock.ts";
import { VERSION } from "../version.ts";

export interface EntryContext extends HostInfo {
  readonly clock: Clock;
  /** The user who runs this; undefined on Windows. */
  readonly uid: number | undefined;
  /** The path of the Node.js that runs this. */
  readonly node: string;
  /** The folder of this server's files. */
  readonly files: string;
}

/** What the command writes, and its exit code. With `--installed` it also keeps a copy of this server. */
export async function runConfig(
  client: ClientName,
  { windows, sandbox, installed }: EntryOptions,
  context: EntryContext,
): Promise<{ readonly exitCode: number; readonly stdout: string; readonly stderr: string }> {
  const { env, homeDir, platform, node } = context;
  const refuse = (reason: string) => ({ exitCode: 1, stdout: "", stderr: `faceless-video-mcp: ${reason}\n` });
  if (installed && windows && platform !== "win32")
    return refuse("--installed names the files of this computer, which is not Windows: leave out --windows");
  let installation: Launch | undefined;
  if (installed) {
    if (isOfProject(context))
      return refuse(
        `this was started by the Node.js of a project (${node}), which the project can exchange. Use one that is installed for all projects, from https://nodejs.org`,
      );
    const copied = await installCopy(context);
    if ("problem" in copied) return refuse(copied.problem);
    installation = { command: stablePath(node), args: [copied.script] };
  }
  // The address is used whether or not the key is set here too.
  const address = { FACELESS_API_KEY: EXAMPLE_KEY, FACELESS_BASE_URL: env["FACELESS_BASE_URL"] };
  const baseUrl = readConfig(address, NO_FLAGS, homeDir).service?.baseUrl;
  const options = { windows: windows || platform === "win32", sandbox, installation };
  const { text, notes } = clientEntry(client, options, baseUrl);
  return { exitCode: 0, stdout: text, stderr: notes };
}

/** A Node.js from a project's packages or folder runs whatever the project wants, with the user's key. */
function isOfProject({ node, workingDir, homeDir }: EntryContext): boolean {
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

/** The entry, where it goes and what is left to do. `baseUrl` as the environment has it, if it is usable. */
export function clientEntry(client: ClientName, options: LaunchOptions, baseUrl: URL | undefined) {
  const format = FORMATS[client];
  const { where, key, language, link, npxHint, hint } = format;
  const { sandbox, installation } = options;
  const url = shownUrl(baseUrl);
  const entry: Entry = {
    ...options,
    baseUrl: url,
    ...launch(options),
    ...(!sandbox && {
      env: { ...(key !== undefined && { FACELESS_API_KEY: key }), FACELESS_BASE_URL: url },
    }),
  };
  const text = print(documentOf(format, entry), language);
  const keySource = sandbox ? undefined : keySourceOf(format);
  const examples = [
    ...(text.includes(JSON.stringify(EXAMPLE_KEY)) ? [`${EXAMPLE_KEY} with your key`] : []),
    ...(text.includes(JSON.stringify(EXAMPLE_URL)) ? [`${EXAMPLE_URL} with the service's address`] : []),
  ];
  const notes = [
    `This goes into ${where}`,
    ...(link === undefined || installation !== undefined ? [] : [`Or open this link: ${link(entry)}`]),
    installation === undefined
      ? "Add --installed for an entry that starts sooner, without npx and the registry."
      : `It starts a copy of version ${VERSION}. The same command of a newer version updates it in all clients. Print the entry again if this Node.js is removed.`,
    ...(keySource === undefined ? [] : [keySource]),
    ...(examples.length > 0 ? [`Replace ${examples.join(", and ")}.`] : []),
    ...(npxHint !== undefined && installation === undefined ? [npxHint] : []),
    ...(hint !== undefined && !sandbox ? [hint] : []),
    ...(sandbox
      ? []
      : ["To save finished videos, add FACELESS_SAVE_DIR with a folder's path beside FACELESS_BASE_URL."]),
  ];
  return { text, notes: `${notes.join("\n")}\n` };
}

function print(document: object, language: "json" | "toml" | "yaml" = "json"): string {
  // Lists without blanks inside, as in JSON.
  if (language === "toml") return stringify(document).replace(/\[ (.+) \]$/gm, "[$1]");
  if (language === "yaml") return dump(document, { forceQuotes: true, quoteStyle: "double", lineWidth: -1 });
  // Each list of strings on one line.
  const text = JSON.stringify(document, undefined, 2).replace(
    /\[\n\s+("[^[\]{}]*)\n\s+\]/g,
    (_, words: string) => `[${words.replace(/\n\s+/g, " ")}]`,
  );
  return `${text}\n`;
}

/** A key that was set as the URL by mistake must not be shown either. Some clients replace $NAME anywhere. */
function shownUrl(baseUrl: URL | undefined): string {
  if (baseUrl === undefined || baseUrl.href.includes("fl_")) return EXAMPLE_URL;
  return baseUrl.href.replace(/\/$/, "").replaceAll("$", "%24");
}
