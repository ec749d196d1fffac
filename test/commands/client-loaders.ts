// Reads what `config` prints as each client reads its file, and fills in what the client fills in.

import { parse as parseToml } from "smol-toml";
import { parse as parseYaml } from "yaml";
import * as z from "zod";
import type { ClientName } from "../../src/command-line.ts";

/** The key in the user's environment. */
export const KEY = "fl_c4nary_0123456789";
export const ADDRESS = "https://videos.test/prefix";
/** The environment of the shell that the client is started from. */
export const SHELL: Readonly<Record<string, string>> = {
  FACELESS_API_KEY: KEY,
  HTTPS_PROXY: "http://proxy.test:1",
};

/** What every client reads from an entry. */
export interface Start {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const text = z.string();
const env = z.record(z.string(), z.string()).default({});
const plain = { command: text, args: z.array(text), env };
const one = <Shape extends z.ZodType>(shape: Shape) => z.strictObject({ "faceless-video": shape });
const fill = (start: Start, value: (written: string) => string): Start => ({
  ...start,
  env: Object.fromEntries(Object.entries(start.env).map(([name, written]) => [name, value(written)])),
});
const shell = (pattern: RegExp) => (written: string) =>
  // An unset variable is passed on as it is written.
  written.replace(pattern, (whole: string, name: string) => SHELL[name] ?? whole);

export const promptSchema = z.strictObject({
  type: z.literal("promptString"),
  id: text,
  description: text,
  password: z.boolean(),
});
export const vscodeServer = z.strictObject({ ...plain, type: z.literal("stdio"), cwd: text.optional() });
const vscodeSchema = z.strictObject({
  inputs: z.array(promptSchema).default([]),
  servers: one(vscodeServer),
});
/** Visual Studio's own schema allows no hyphen in the id of an input. */
const visualStudioSchema = vscodeSchema.extend({
  inputs: z.array(promptSchema.extend({ id: z.string().regex(/^\w+$/) })).default([]),
});

/** opencode has the program and its arguments in one list. */
const opencodeSchema = z.strictObject({
  $schema: z.literal("https://opencode.ai/config.json"),
  mcp: one(
    z.strictObject({
      type: z.literal("local"),
      command: z.tuple([text], text),
      environment: env,
      enabled: z.literal(true),
      // Milliseconds.
      timeout: z.literal(120_000),
    }),
  ),
});
const codexSchema = z.strictObject({
  mcp_servers: one(
    z.strictObject({
      ...plain,
      env_vars: z.array(text).default([]),
      required: z.literal(true).optional(),
      startup_timeout_sec: z.literal(60),
      tool_timeout_sec: z.literal(300),
    }),
  ),
});
const continueSchema = z.strictObject({
  name: text,
  version: text,
  schema: z.literal("v1"),
  mcpServers: z.tuple([
    z.strictObject({ name: z.literal("faceless-video"), type: z.literal("stdio"), ...plain }),
  ]),
});
const gooseSchema = z.strictObject({
  extensions: one(
    z.strictObject({
      enabled: z.literal(true),
      type: z.literal("stdio"),
      name: z.literal("faceless-video"),
      description: text,
      cmd: text,
      args: z.array(text),
      envs: env,
      env_keys: z.array(text).default([]),
      timeout: z.literal(120),
    }),
  ),
});

/** Fills in what the user types when VS Code asks. The key must be asked for as a password. */
export function fillInputs(start: Start, inputs: readonly z.infer<typeof promptSchema>[]): Start {
  return fill(start, (written) =>
    written.replace(/\$\{input:([^}]+)\}/g, (_, id: string) => {
      const input = inputs.find((candidate) => candidate.id === id);
      if (input === undefined) throw new Error(`The entry names an unknown input ${id}.`);
      return input.password ? KEY : ADDRESS;
    }),
  );
}

const plainServers = z.object({ mcpServers: z.object({ "faceless-video": z.object(plain) }) });

/** Reads `mcpServers` in JSON, with `more` allowed in the entry, and fills in variables of this pattern. */
const mcpServers =
  (more: z.ZodRawShape = {}, variable?: RegExp) =>
  (printed: string) => {
    const json: unknown = JSON.parse(printed);
    z.strictObject({ mcpServers: one(z.strictObject({ ...plain, ...more })) }).parse(json);
    const start = plainServers.parse(json).mcpServers["faceless-video"];
    return variable === undefined ? start : fill(start, shell(variable));
  };

/** What the client starts after reading the printed text. Throws if the client would refuse the text. */
export const LOADERS: Record<ClientName, (printed: string) => Start> = {
  "claude-desktop": mcpServers(),
  "claude-code": mcpServers({ type: z.literal("stdio"), alwaysLoad: z.literal(true) }, /\$\{([A-Z_]+)\}/g),
  cursor: mcpServers({}, /\$\{env:([A-Z_]+)\}/g),
  windsurf: mcpServers({}, /\$\{env:([A-Z_]+)\}/g),
  gemini: mcpServers({}, /\$\{?([A-Z_]+)\}?/g),
  cline: mcpServers({ disabled: z.literal(false), autoApprove: z.array(z.never()), timeout: z.literal(120) }),
  copilot: mcpServers({ type: z.literal("local"), tools: z.tuple([z.literal("*")]) }, /\$\{([A-Z_]+)\}/g),
  "lm-studio": mcpServers(),
  kiro: mcpServers({}, /\$\{([A-Z_]+)\}/g),
  vscode(printed) {
    const { inputs, servers } = vscodeSchema.parse(JSON.parse(printed));
    return fillInputs(servers["faceless-video"], inputs);
  },
  codex(printed) {
    const {
      env,
      env_vars: forwarded,
      command,
      args,
    } = codexSchema.parse(parseToml(printed)).mcp_servers["faceless-video"];
    const shared = Object.entries(SHELL).filter(([name]) => forwarded.includes(name));
    return { command, args, env: { ...Object.fromEntries(shared), ...env } };
  },
  zed: (printed) =>
    z
      .strictObject({ context_servers: one(z.strictObject({ ...plain, timeout: z.literal(120) })) })
      .parse(JSON.parse(printed)).context_servers["faceless-video"],
  opencode(printed) {
    const { command, environment } = opencodeSchema.parse(JSON.parse(printed)).mcp["faceless-video"];
    const [program, ...args] = command;
    return fill({ command: program, args, env: environment }, shell(/\{env:([A-Z_]+)\}/g));
  },
  continue: (printed) =>
    fill(continueSchema.parse(parseYaml(printed)).mcpServers[0], shell(/\$\{\{ secrets\.([A-Z_]+) \}\}/g)),
  goose(printed) {
    const { cmd, args, envs, env_keys } = gooseSchema.parse(parseYaml(printed)).extensions["faceless-video"];
    const secrets = Object.entries(SHELL).filter(([name]) => env_keys.includes(name));
    return { command: cmd, args, env: { ...Object.fromEntries(secrets), ...envs } };
  },
  "visual-studio"(printed) {
    const { inputs, servers } = visualStudioSchema.parse(JSON.parse(printed));
    return fillInputs(servers["faceless-video"], inputs);
  },
};
