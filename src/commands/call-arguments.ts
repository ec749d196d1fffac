// Reads the arguments of `call` by the schema of its tool, and lists the tools with them. Sends nothing.

import { readFile } from "node:fs/promises";
import { text as readAll } from "node:stream/consumers";
import * as z from "zod";
import { COMMANDS, describe, flagsFrom, type Options, readArguments, UsageError } from "../command-line.ts";
import { type Config, type Flags, NO_FLAGS } from "../config.ts";
import { errnoOf, BridgeError } from "../errors.ts";
import { TOOL_SCHEMAS } from "../mcp/tool-schemas.ts";
import { toolsFor } from "../tools/catalog.ts";
import type { Tool } from "../tools/tool.ts";
import { helpText, optionRows, table } from "./help.ts";
import type { Streams } from "./terminal-ui.ts";

export interface Call {
  readonly tool: Tool;
  readonly args: Readonly<Record<string, unknown>>;
  readonly config: Config;
  readonly waits: boolean;
  readonly saysYes: boolean;
}

const TOOLS: ReadonlyMap<string, Tool> = new Map(toolsFor(NO_FLAGS).map((tool) => [tool.name, tool]));

type Host = Streams & { readonly readConfig: (flags: Flags) => Config };

const schema = z.looseObject({
  properties: z
    .record(
      z.string(),
      z.looseObject({
        type: z.string().default("string"),
        description: z.string().default(""),
        enum: z.array(z.string()).optional(),
        default: z.union([z.string(), z.number()]).optional(),
      }),
    )
    .default({}),
  required: z.array(z.string()).default([]),
});

/** Throws a BridgeError for a command line that can't be used. */
export async function readCall(
  argv: readonly string[],
  host: Host,
): Promise<Call | { readonly help: string }> {
  const at = argv.findIndex((word) => !word.startsWith("-"));
  const name = argv[at] ?? "call";
  try {
    return await read(
      name,
      argv.filter((_, index) => index !== at),
      host,
    );
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new BridgeError({
      code: "invalid_input",
      message: `faceless-video-mcp: ${error.message}; see faceless-video-mcp call ${TOOLS.has(name) ? `${name} ` : ""}--help`,
      nextStep: "",
      outcome: "not_sent",
      retryable: false,
    });
  }
}

async function read(name: string, argv: readonly string[], { readConfig, input }: Host) {
  const tool = TOOLS.get(name);
  if (tool === undefined && name !== "call") throw new UsageError(`unknown ${describe("tool", name)}`);
  const own = { ...COMMANDS.call.options, help: { meaning: "" } };
  const given = readArguments(argv, name, { ...(tool && optionsOf(tool)), ...own });
  const offered = toolsFor(flagsFrom(given));
  if (tool === undefined) return { help: helpOf(offered) };
  if (!offered.includes(tool)) throw new UsageError(`unknown ${describe("tool", name)}`);
  if (given.has("help")) return { help: helpOf([tool]) };
  const surplus = given.words.find((word) => word !== "-");
  if (surplus !== undefined) throw new UsageError(`${name} takes no ${describe("argument", surplus)}`);

  if (given.has("wait") && !hasJob(tool)) throw new UsageError(`${name} has no job that --wait could follow`);

  const args = new Map<string, unknown>();
  const add = (argument: string, value: unknown) => {
    if (args.has(argument)) throw new UsageError(`${describe("argument", argument)} was given twice`);
    args.set(argument, value);
  };
  for (const [argument, values] of given.values)
    if (!Object.hasOwn(own, argument)) add(argument, values.length === 1 ? values[0] : values);
  const file = given.value("topic-file");
  if (file !== undefined) add("topic", await readText(file));
  const json = given.words.length > 0 ? await readAll(input) : given.value("json-args");
  for (const [argument, value] of Object.entries(parseObject(json ?? "{}"))) add(argument, value);
  return {
    tool,
    args: Object.fromEntries(args),
    config: readConfig(flagsFrom(given)),
    waits: given.has("wait"),
    saysYes: given.has("yes"),
  };
}

function hasJob({ name }: Tool): boolean {
  const { properties } = schema.parse(TOOL_SCHEMAS[name]?.output);
  return "jobId" in properties && "status" in properties;
}

function parseObject(json: string): object {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Its message would repeat the text.
  }
  throw new UsageError(
    "the arguments are not a JSON object (some shells remove its quotes: give it on stdin, with -)",
  );
}

async function readText(file: string): Promise<string> {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await readFile(file));
  } catch (error) {
    throw new UsageError(
      `the file of --topic-file can't be read as UTF-8 text (${errnoOf(error) ?? "unknown reason"})`,
    );
  }
}

function optionsOf(tool: Tool): Options {
  const { properties, required } = schema.parse(TOOL_SCHEMAS[tool.name]?.input);
  return Object.fromEntries(
    Object.entries(properties).map(([name, { type, enum: values, default: unset, description }]) => {
      const isList = type === "array";
      const notes = [
        description,
        ...(values ? [values.join(", ")] : []),
        ...(required.includes(name) ? ["Required"] : []),
        ...(unset === undefined ? [] : [`Default: ${String(unset)}`]),
        ...(isList ? ["May be repeated"] : []),
      ];
      return [
        name,
        { value: isList ? "VALUE" : type.toUpperCase(), isList, meaning: notes.filter(Boolean).join(". ") },
      ];
    }),
  );
}

function helpOf(tools: readonly Tool[]): string {
  const sections = tools.flatMap((tool) => [
    "",
    tool.name,
    `  ${tool.description}`,
    ...table(optionRows(optionsOf(tool))),
  ]);
  return [helpText("call").trimEnd(), ...sections].join("\n");
}
