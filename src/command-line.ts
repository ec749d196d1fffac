// argv becomes a command with its options. Pure. Never repeats an argument that might be an API key.

import { parseArgs } from "node:util";
import type { Flags } from "./config.ts";
import { parseWhole } from "./setting-values.ts";

/** The clients that `config` knows, in the order in which they are listed. */
export const CLIENTS = [
  "claude-desktop",
  "claude-code",
  "cursor",
  "vscode",
  "codex",
  "gemini",
  "zed",
  "cline",
  "windsurf",
  "copilot",
  "opencode",
  "continue",
  "goose",
  "lm-studio",
  "kiro",
  "visual-studio",
] as const;
export type ClientName = (typeof CLIENTS)[number];

/** How a client's entry starts this server. */
export interface EntryOptions {
  /** The client runs on Windows. */
  readonly windows: boolean;
  readonly sandbox: boolean;
  /** Starts a copy of this version that is kept beside the journal, instead of npx. */
  readonly installed: boolean;
}

export type Command =
  | { readonly name: "help" | "version" | "demo" }
  | { readonly name: "serve"; readonly flags: Flags }
  | { readonly name: "sandbox"; readonly port: number; readonly webhookUrl?: string }
  | {
      readonly name: "doctor";
      readonly json: boolean;
      readonly trustProject: boolean;
      readonly client?: ClientName;
    }
  | { readonly name: "history"; readonly json: boolean }
  | { readonly name: "config"; readonly client: ClientName; readonly options: EntryOptions };

/** The commands with their options, in the order of --help. The server itself has no name. */
export const COMMANDS = [
  {
    name: "",
    argument: "",
    summary: "MCP server on stdio, for the service named by the environment",
    options: {
      sandbox:
        "use the built-in sandbox instead of the service: no account, no credits, nothing is published",
      "read-only": "offer only tools that read, so that nothing can be started, spent or posted",
      "no-publish": "offer no tool that posts",
    },
  },
  {
    name: "demo",
    argument: "",
    summary: "generate, watch, publish and list a sandbox video in this terminal",
    options: {},
  },
  {
    name: "sandbox",
    argument: "",
    summary: "run the sandbox service alone, over HTTP",
    options: {
      port: "port to listen on; any free one if left out",
      webhook: "URL that gets a webhook when a render ends",
    },
  },
  {
    name: "doctor",
    argument: "",
    summary: "check the settings, the network and the key, and say how to fix what is wrong",
    options: {
      client: "check the entry in the configuration of CLIENT, not this terminal's settings",
      "trust-project":
        "send your key without asking to the address that an entry of the working folder names",
      json: "print the checks as JSON",
    },
  },
  {
    name: "history",
    argument: "",
    summary: "list what this computer has ordered and posted, and by which application; sends nothing",
    options: { json: "print it whole, as JSON" },
  },
  {
    name: "config",
    argument: "CLIENT",
    summary: `print the entry for the configuration of CLIENT: ${CLIENTS.join(", ")}`,
    options: {
      installed:
        "keep a copy of this version beside the journal, and start it without npx and the network; a newer version's same command updates it in all clients",
      windows: "print the Windows form (the default on Windows)",
      sandbox: "use the sandbox; needs no key and no URL",
    },
  },
] as const;

/** The options that take a value, with the word that stands for it in --help. */
export const OPTION_VALUES: Readonly<Record<string, string>> = {
  port: "N",
  webhook: "URL",
  client: "CLIENT",
};

const NAMES = COMMANDS.flatMap(({ options }) => Object.keys(options));
const OPTIONS = {
  ...Object.fromEntries(
    NAMES.map((name) => [name, { type: name in OPTION_VALUES ? ("string" as const) : ("boolean" as const) }]),
  ),
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
} as const;

/** `usageError` is a clause, without the name of the program. The exit code is then 2. */
export type CommandLine = { readonly command: Command } | { readonly usageError: string };

/** `argv` without the interpreter and the script. */
export function parseCommandLine(argv: readonly string[]): CommandLine {
  // Not strict: parseArgs's own messages would repeat the argument, which may be a key in the wrong place.
  const { tokens, values } = parseArgs({
    args: withInlineValues(argv),
    options: OPTIONS,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  if (values["help"] !== undefined) return { command: { name: "help" } };
  if (values["version"] !== undefined) return { command: { name: "version" } };

  const [name = "", ...positionals] = tokens.flatMap((token) =>
    token.kind === "positional" ? [token.value] : [],
  );
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (argv.includes("")) return { usageError: "unknown empty argument" };
  if (command === undefined) return { usageError: `unknown ${describe("command", name)}` };
  const given = new Map<string, string | undefined>();
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const option = describe("option", token.rawName);
    if (!Object.hasOwn(OPTIONS, token.name)) return { usageError: `unknown ${option}` };
    if (!Object.hasOwn(command.options, token.name))
      return { usageError: `${name === "" ? "the server" : name} takes no ${option}` };
    const isAuto = name === "" && token.name === "sandbox" && token.value === "auto";
    if (isAuto || Object.hasOwn(OPTION_VALUES, token.name)) given.set(token.name, token.value);
    else if (token.value === undefined || token.value === "true") given.set(token.name, undefined);
    else if (token.value !== "false") return { usageError: `${option} takes no value but true or false` };
  }
  const [argument, more] = command.argument === "" ? [undefined, ...positionals] : positionals;
  if (more !== undefined) return { usageError: `${name} takes no ${describe("argument", more)}` };
  return commandFrom(command.name, argument, given);
}

/** Clients of the MCP Registry pass a value with every option that server.json lists: `--read-only false`. */
function withInlineValues(argv: readonly string[]): string[] {
  const switches = Object.keys(COMMANDS[0].options).map((option) => `--${option}`);
  const isSwitch = (word: string | undefined) => word !== undefined && switches.includes(word);
  const isValue = (word: string | undefined) => word === "true" || word === "false";
  return argv.flatMap((word, index) => {
    if (isValue(word) && isSwitch(argv[index - 1])) return [];
    return [isSwitch(word) && isValue(argv[index + 1]) ? `${word}=${argv[index + 1]}` : word];
  });
}

function commandFrom(
  name: (typeof COMMANDS)[number]["name"],
  argument: string | undefined,
  given: ReadonlyMap<string, string | undefined>,
): CommandLine {
  const sandbox = given.has("sandbox");
  if (name === "") {
    const flags: Flags = {
      sandbox: given.get("sandbox") === "auto" ? "auto" : sandbox,
      readOnly: given.has("read-only"),
      noPublish: given.has("no-publish"),
    };
    return { command: { name: "serve", flags } };
  }
  if (name === "demo") return { command: { name } };
  if (name === "history") return { command: { name, json: given.has("json") } };
  if (name === "sandbox") {
    const port = given.has("port") ? parseWhole(given.get("port") ?? "", 0, 65_535) : 0;
    if (port === undefined) return { usageError: "option --port takes a number from 0 to 65535" };
    if (!given.has("webhook")) return { command: { name, port } };
    const webhookUrl = parseHttpUrl(given.get("webhook"));
    if (webhookUrl === undefined) return { usageError: "option --webhook takes an http or https URL" };
    return { command: { name, port, webhookUrl } };
  }
  const isDoctor = name === "doctor";
  const checks = { json: given.has("json"), trustProject: given.has("trust-project") };
  if (isDoctor && !given.has("client")) return { command: { name, ...checks } };
  const text = isDoctor ? given.get("client") : argument;
  const client = CLIENTS.find((candidate) => candidate === text?.toLowerCase());
  if (client === undefined) {
    const missing = `${isDoctor ? "option --client" : name} needs a client`;
    const problem = text === undefined ? missing : `unknown ${describe("client", text)}`;
    return { usageError: `${problem}; the clients are ${CLIENTS.join(", ")}` };
  }
  if (isDoctor) return { command: { name, ...checks, client } };
  const options = { windows: given.has("windows"), sandbox, installed: given.has("installed") };
  return { command: { name, client, options } };
}

function parseHttpUrl(text = ""): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, href } = new URL(text);
  return protocol === "http:" || protocol === "https:" ? href : undefined;
}

/** Names an argument, but neither its value nor what might be a key. */
function describe(kind: string, argument: string): string {
  const name = argument.replace(/=.*$/s, "");
  if (name.includes("fl_")) return "argument (the key belongs in FACELESS_API_KEY, never on a command line)";
  // eslint-disable-next-line no-control-regex -- control characters are what this looks for
  const shown = name.replace(/[\u0000-\u001F\u007F-\u009F]/g, "").slice(0, 40);
  return `${kind} ${shown}`;
}
