// argv becomes a command with its options, by a table that --help and the documents are made from too. Pure.
// Never repeats an argument that might be an API key.

import type { Flags } from "./config.ts";
import { BridgeError } from "./errors.ts";
import { parseWhole } from "./settings/values.ts";
import { optionOf } from "./text.ts";

/** The clients that `config` knows, in the order in which they are listed. */
export const CLIENTS = [
  "claude-desktop",
  "claude-code",
  "cursor",
  "vscode",
  "codex",
  "gemini",
  "antigravity",
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
  "other",
] as const;
export type ClientName = (typeof CLIENTS)[number];
/** Names of applications that read another client's file, or had another name before. */
const CLIENT_ALIASES: Readonly<Record<string, ClientName>> = { chatgpt: "codex", devin: "windsurf" };
/** All names of one client. */
export function namesOf(client: ClientName): readonly string[] {
  return [client, ...Object.keys(CLIENT_ALIASES).filter((alias) => CLIENT_ALIASES[alias] === client)];
}
export const CLIENT_NAMES: readonly string[] = CLIENTS.flatMap(namesOf);

export interface Option {
  readonly meaning: string;
  /** The word that stands for its value in --help. Without one, the option is a switch. */
  readonly value?: string;
  /** It may be repeated. */
  readonly isList?: boolean;
  /** What a switch takes besides true and false. */
  readonly word?: string;
  /** Its short form, after one -. */
  readonly letter?: string;
}
export type Options = Readonly<Record<string, Option>>;

/** Options of every command, which --help describes on its own. */
export const ABOUT = {
  help: { meaning: "print this text", letter: "h" },
  version: { meaning: "print the version", letter: "v" },
};

const SERVER_OPTIONS = {
  sandbox: {
    meaning:
      "use the built-in sandbox instead of the service: no account, no credits, nothing is published; --sandbox=auto does so while neither key nor address is set",
    word: "auto",
  },
  "read-only": { meaning: "offer only tools that read, so that nothing can be started, spent or posted" },
  "no-publish": { meaning: "offer no tool that posts" },
};

/** The commands in the order of --help. The server itself has no name. */
export const COMMANDS = {
  "": {
    summary: "MCP server on stdio, for the service named by the environment",
    options: SERVER_OPTIONS,
  },
  demo: {
    summary: "generate, watch, publish and list a sandbox video in this terminal",
    options: {},
  },
  call: {
    argument: "TOOL",
    summary:
      "call one tool from a terminal, a script or an agent, with the same guard as in a client; without TOOL, list the tools and their arguments",
    options: {
      "json-args": {
        value: "JSON",
        meaning: "the tool's arguments as a JSON object; --json-args - or a lone - reads it from stdin",
      },
      "topic-file": {
        value: "FILE",
        meaning: "read the argument topic from a file; - reads it from stdin",
      },
      csv: {
        value: "FILE",
        meaning:
          "call generate_video for each row of a table, whose columns are the arguments; - reads it from stdin",
      },
      wait: {
        meaning: "follow the video to its end, for 15 minutes at most; Ctrl-C ends only the following",
      },
      yes: { meaning: "answer yes in advance to what you would be asked in a terminal" },
      json: { meaning: "print the structured result as JSON, and nothing else" },
      ...SERVER_OPTIONS,
    },
  },
  sandbox: {
    summary: "run the sandbox service alone, over HTTP",
    options: {
      port: { value: "N", meaning: "port to listen on; any free one if left out" },
      webhook: { value: "URL", meaning: "URL that gets a webhook when a render ends" },
    },
  },
  doctor: {
    summary: "check the settings, the network and the key, and say how to fix what is wrong",
    options: {
      client: {
        value: "CLIENT",
        meaning:
          "start and check the entry in your own configuration of CLIENT, not this terminal's settings",
      },
      shapes: {
        meaning:
          "print only the form of the service's free answers (names and types, no values), for a public report",
      },
      json: { meaning: "print the checks, or the forms, as JSON" },
    },
  },
  history: {
    summary: "list what this computer has ordered and posted, and by which application; sends nothing",
    options: { json: { meaning: "print it whole, as JSON" } },
  },
  config: {
    argument: "CLIENT",
    summary: `print the entry for the configuration of CLIENT: ${CLIENT_NAMES.join(", ")}`,
    options: {
      installed: {
        meaning:
          "start a copy of this version, kept in ~/.faceless-video-mcp/app, without npx and the network",
      },
      windows: { meaning: "print the Windows form (the default on Windows)" },
      sandbox: { meaning: "use the sandbox; needs no key and no URL" },
    },
  },
} satisfies Record<string, { argument?: string; summary: string; options: Options }>;
export type CommandName = keyof typeof COMMANDS;

export type Command = ReturnType<typeof parseCommandLine>;
/** A command with its options. */
export type Given<Name extends Command["name"]> = Extract<Command, { name: Name }>;

/** A clause that says what is wrong with the command line, without the name of the program. Exit code 2. */
export class UsageError extends BridgeError {
  constructor(problem: string) {
    const facts = { nextStep: "", outcome: "not_sent", retryable: false } as const;
    super({ code: "invalid_input", message: problem, ...facts });
  }
}

/** Takes `argv` without the interpreter and the script. Throws a UsageError. */
export function parseCommandLine(argv: readonly string[]) {
  const words = joinValues(argv);
  const at = words.findIndex((word) => !word.startsWith("-"));
  const name = words[at] ?? "";
  if (words[at] === "") throw new UsageError("unknown empty argument");
  const rest = words.filter((_, index) => index !== at);
  if (!isCommand(name)) throw new UsageError(`unknown ${describeWord("command", name)}`);
  // The schemas of the tools say how to read the rest.
  if (name === "call") return { name, argv: rest } as const;
  const { argument, options }: { argument?: string; options: Options } = COMMANDS[name];
  const owner = name || "the server";
  const given = readArguments(rest, owner, { ...options, ...ABOUT });
  const { has, value } = given;
  if (has("version")) return { name: "version" } as const;
  if (has("help")) return { name: "help", of: name } as const;
  const surplus = given.words[argument === undefined ? 0 : 1];
  if (surplus !== undefined) throw new UsageError(`${owner} takes no ${describeWord("argument", surplus)}`);
  switch (name) {
    case "":
      return { name: "serve", flags: flagsFrom(given) } as const;
    case "demo":
      return { name } as const;
    case "history":
      return { name, json: has("json") } as const;
    case "sandbox":
      return { name, port: readPort(value("port")), webhook: readWebhook(value("webhook")) } as const;
    case "doctor":
      return {
        name,
        json: has("json"),
        shapes: has("shapes"),
        client: has("client") ? readClient(value("client")) : undefined,
      } as const;
    case "config": {
      const client = readClient(given.words[0]);
      const options = { windows: has("windows"), sandbox: has("sandbox"), installed: has("installed") };
      return { name, client, ...options } as const;
    }
  }
}

/** The options of the server, which `call` takes too. */
export function flagsFrom({ has, value }: Pick<ReturnType<typeof readArguments>, "has" | "value">): Flags {
  const sandbox = value("sandbox") === "auto" ? "auto" : has("sandbox");
  return { sandbox, readOnly: has("read-only"), noPublish: has("no-publish") };
}

/** 0, the default, takes any free port. */
function readPort(text = "0"): number {
  const port = parseWhole(text, 0, 65_535);
  if (port === undefined) throw new UsageError("option --port takes a number from 0 to 65535");
  return port;
}

function readWebhook(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (/^https?:/i.test(text) && URL.canParse(text)) return new URL(text).href;
  throw new UsageError("option --webhook takes an http or https URL");
}

function readClient(text: string | undefined): ClientName {
  const name = text?.toLowerCase() ?? "";
  const client = CLIENTS.find((candidate) => candidate === (CLIENT_ALIASES[name] ?? name));
  if (client !== undefined) return client;
  const problem = text === undefined ? "config needs a client" : `unknown ${describeWord("client", text)}`;
  throw new UsageError(`${problem}; the clients are ${CLIENT_NAMES.join(", ")}`);
}

export function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}

/** Reads options as `--camelCase` and `--kebab-case`. Throws a UsageError. `owner`: the command or tool. */
export function readArguments(argv: readonly string[], owner: string, options: Options) {
  const names = new Map(
    Object.entries(options).flatMap(([name, { letter }]) =>
      [`--${name}`, optionOf(name), letter && `-${letter}`].map((spelling) => [spelling, name] as const),
    ),
  );
  /** The values by name, one or more for a list. A switch that is on has the value "true". */
  const values = new Map<string, readonly string[]>();
  /** The words that aren't options. */
  const words: string[] = [];
  const rest = joinValues(argv);
  for (let given = rest.shift(); given !== undefined; given = rest.shift()) {
    if (!given.startsWith("-") || given === "-") {
      if (given === "") throw new UsageError("unknown empty argument");
      words.push(given);
      continue;
    }
    const [, spelling = "", inline] = /^([^=]*)(?:=(.*))?$/s.exec(given) ?? [];
    const shown = describeWord("option", spelling);
    const name = names.get(spelling);
    if (name === undefined) throw new UsageError(`${owner} has no ${shown}`);
    const { isList = false, word, value: takes } = options[name] ?? {};
    const earlier = values.get(name) ?? [];
    if (earlier.length > 0 && !isList) throw new UsageError(`${shown} was given twice`);
    if (takes === undefined) {
      if (!["true", "false", word].includes(inline ?? "true"))
        throw new UsageError(`${shown} takes no value but true or false`);
      if (inline !== "false") values.set(name, [inline ?? "true"]);
      continue;
    }
    const value = inline ?? rest.shift();
    // The next option isn't the value: an order of the topic "--style" would be paid for.
    if (value === undefined || (inline === undefined && /^-./.test(value)))
      throw new UsageError(`${shown} needs a value; one that begins with - is written ${spelling}=VALUE`);
    values.set(name, [...earlier, value]);
  }
  const value = (name: string) => values.get(name)?.[0];
  return { words, values, has: (name: string) => values.has(name), value };
}

/** Clients of the MCP Registry pass a value with every option that server.json lists: `--read-only false`. */
function joinValues(argv: readonly string[]): string[] {
  const joined: string[] = [];
  for (const word of argv) {
    const before = joined.at(-1) ?? "";
    const isValue = (word === "true" || word === "false") && /^--[^=]+$/.test(before);
    if (isValue) joined[joined.length - 1] = `${before}=${word}`;
    else joined.push(word);
  }
  return joined;
}

/** Names an argument, but neither its value nor what might be a key. */
export function describeWord(kind: string, argument: string): string {
  const name = argument.replace(/=.*$/s, "");
  if (name.includes("fl_")) return "argument (the key belongs in FACELESS_API_KEY, never on a command line)";
  // eslint-disable-next-line no-control-regex -- control characters are what this looks for
  const shown = name.replace(/[\u0000-\u001F\u007F-\u009F]/g, "").slice(0, 40);
  return `${kind} ${shown}`;
}
