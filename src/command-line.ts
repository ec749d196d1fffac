// What the person asked for: argv and env become one CommandLine. Pure: reads nothing, touches no process.

import { type Environment, type Flags, readConfig, type Config } from "./config.ts";

/** The clients that `config` knows, in the order in which they are named. */
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
] as const;
export type ClientName = (typeof CLIENTS)[number];

/** How the entry for a client is to start this server. */
export interface EntryForm {
  /** Through cmd. */
  readonly windows: boolean;
  readonly sandbox: boolean;
}

export type Command =
  | { readonly name: "serve" | "demo" | "help" | "version" }
  | { readonly name: "sandbox"; readonly port: number }
  | { readonly name: "doctor"; readonly json: boolean }
  | { readonly name: "config"; readonly client: ClientName; readonly form: EntryForm };

export type CommandLine =
  | { readonly ok: true; readonly command: Command; readonly config: Config }
  /** One line for stderr; exit code 2. */
  | { readonly ok: false; readonly usageError: string };

/** argv without the interpreter and the script; env as the process has it. */
export function parseCommandLine(argv: readonly string[], env: Environment): CommandLine {
  const parsed = parseArguments(argv);
  if ("usageError" in parsed) return { ok: false, usageError: parsed.usageError };
  return { ok: true, command: parsed.command, config: readConfig(env, parsed.flags) };
}

/** Commands that run the sandbox need neither key nor URL. */
const SANDBOX_FLAGS: Flags = { sandbox: true, readOnly: false, noPublish: false };
const NO_FLAGS: Flags = { sandbox: false, readOnly: false, noPublish: false };
const SERVER_FLAGS: ReadonlyMap<string, Partial<Flags>> = new Map([
  ["--sandbox", { sandbox: true }],
  ["--read-only", { readOnly: true }],
  ["--no-publish", { noPublish: true }],
]);

type ParsedArguments = { readonly command: Command; readonly flags: Flags } | { readonly usageError: string };

function parseArguments(argv: readonly string[]): ParsedArguments {
  if (argv.includes("--help") || argv.includes("-h")) return { command: { name: "help" }, flags: NO_FLAGS };
  if (argv.includes("--version") || argv.includes("-v"))
    return { command: { name: "version" }, flags: NO_FLAGS };
  const [first, ...rest] = argv;
  if (first === "demo")
    return rest.length === 0
      ? { command: { name: "demo" }, flags: SANDBOX_FLAGS }
      : { usageError: usageError(`demo takes no ${describeArgument(rest[0])}`) };
  if (first === "sandbox") return parseSandboxArguments(rest);
  if (first === "doctor") return parseDoctorArguments(rest);
  if (first === "config") return parseConfigArguments(rest);
  return parseServerFlags(argv);
}

function parseServerFlags(argv: readonly string[]): ParsedArguments {
  let flags = NO_FLAGS;
  for (const argument of argv) {
    const flag = SERVER_FLAGS.get(argument);
    if (flag === undefined) {
      const isKnown = SERVER_FLAGS.has(nameOf(argument));
      const what = describeArgument(argument);
      return { usageError: usageError(isKnown ? `${what} takes no value` : `unknown ${what}`) };
    }
    flags = { ...flags, ...flag };
  }
  return { command: { name: "serve" }, flags };
}

function parseSandboxArguments(rest: readonly string[]): ParsedArguments {
  const [flag, ...more] = rest;
  if (flag === undefined) return { command: { name: "sandbox", port: 0 }, flags: SANDBOX_FLAGS };
  const inline = /^--port=(.*)$/.exec(flag)?.[1];
  const [value, ...extra] = inline === undefined ? more : [inline, ...more];
  if ((inline === undefined && flag !== "--port") || extra.length > 0)
    return {
      usageError: usageError(`sandbox takes --port N only, not ${describeArgument(extra[0] ?? flag)}`),
    };
  const port = value !== undefined && /^\d{1,5}$/.test(value) ? Number(value) : Number.NaN;
  if (!(port <= 65_535)) return { usageError: usageError("--port takes a number from 0 to 65535") };
  return { command: { name: "sandbox", port }, flags: SANDBOX_FLAGS };
}

function parseDoctorArguments(rest: readonly string[]): ParsedArguments {
  const other = rest.find((argument) => argument !== "--json");
  if (other !== undefined)
    return { usageError: usageError(`doctor takes --json only, not ${describeArgument(other)}`) };
  return { command: { name: "doctor", json: rest.length > 0 }, flags: NO_FLAGS };
}

const ENTRY_OPTIONS: ReadonlyMap<string, Partial<EntryForm>> = new Map([
  ["--windows", { windows: true }],
  ["--sandbox", { sandbox: true }],
]);

function parseConfigArguments(rest: readonly string[]): ParsedArguments {
  let client: ClientName | undefined;
  let form: EntryForm = { windows: false, sandbox: false };
  for (const argument of rest) {
    const option = ENTRY_OPTIONS.get(argument);
    const named = CLIENTS.find((name) => name === argument.toLowerCase());
    if (option !== undefined) form = { ...form, ...option };
    else if (named !== undefined && client === undefined) client = named;
    else if (argument.startsWith("-"))
      return { usageError: usageError(`config takes no ${describeArgument(argument)}`) };
    else if (named !== undefined) return { usageError: usageError("config takes one client at a time") };
    else {
      const what = describeArgument(argument).replace(/^command/, "client");
      return { usageError: usageError(`config knows no ${what}, only ${CLIENTS.join(", ")}`) };
    }
  }
  if (client === undefined)
    return { usageError: usageError(`config takes the name of a client: ${CLIENTS.join(", ")}`) };
  return { command: { name: "config", client, form }, flags: NO_FLAGS };
}

function usageError(problem: string): string {
  return `faceless-video-mcp: ${problem}; see faceless-video-mcp --help`;
}

/** Names an argument without repeating what might be a key pasted in the wrong place. */
function describeArgument(argument: string | undefined): string {
  if (argument === undefined) return "argument";
  if (argument === "") return "empty argument";
  const name = nameOf(argument);
  if (/fl_/.test(name)) return "argument (the key belongs in FACELESS_API_KEY, never on a command line)";
  // eslint-disable-next-line no-control-regex -- control characters are the very thing to find
  const shown = name.replace(/[\u0000-\u001F\u007F-\u009F]/g, "").slice(0, 40);
  return shown.startsWith("-") ? `option ${shown}` : `command ${shown}`;
}

/** Without the value: a key may be pasted there. */
function nameOf(argument: string): string {
  return argument.replace(/=.*$/s, "");
}
