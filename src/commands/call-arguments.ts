// Reads the arguments of `call` by the schema of its tool, and lists the tools with them. Sends nothing.

import { readFile } from "node:fs/promises";
import { once } from "node:events";
import {
  ABOUT,
  COMMANDS,
  describe,
  flagsFrom,
  type Options,
  readArguments,
  UsageError,
} from "../command-line.ts";
import { NO_FLAGS, readConfig } from "../config.ts";
import { cancelledError, errnoOf } from "../errors.ts";
import { quote } from "../text.ts";
import { type Field, TOOL_SCHEMAS } from "../tools/tool-schemas.ts";
import { toolsFor } from "../tools/catalog.ts";
import type { Tool } from "../tools/tool.ts";
import { helpLines, optionRows, table } from "./help.ts";
import type { Host } from "./host.ts";

export type Call = Exclude<Awaited<ReturnType<typeof readCall>>, string>;

/** The call, or the help that was asked for. Throws a UsageError. */
export async function readCall(argv: readonly string[], host: Host) {
  const name = argv.find((word) => !word.startsWith("-"));
  const tool = toolsFor(NO_FLAGS).find((candidate) => candidate.name === name);
  const unknown = new UsageError(`unknown ${describe("tool", name ?? "")}`);
  if (name !== undefined && tool === undefined) throw unknown;
  const own: Options = { ...COMMANDS.call.options, help: ABOUT.help };
  const given = readArguments(argv, name ?? "call", { ...(tool && optionsOf(tool)), ...own });
  const flags = flagsFrom(given);
  const offered = toolsFor(flags);
  if (tool === undefined) return helpOf(offered);
  if (!offered.includes(tool)) throw unknown;
  if (given.has("help")) return helpOf([tool]);
  const words = given.words.filter((word) => word !== name);
  const surplus = words.find((word) => word !== "-");
  if (surplus !== undefined) throw new UsageError(`${name} takes no ${describe("argument", surplus)}`);
  const waits = given.has("wait");
  if (waits && !hasJob(tool)) throw new UsageError(`${name} has no job that --wait could follow`);

  const args: Record<string, unknown> = {};
  const add = (argument: string, value: unknown) => {
    if (Object.hasOwn(args, argument))
      throw new UsageError(`${describe("argument", argument)} was given twice`);
    args[argument] = value;
  };
  for (const [argument, values] of given.values)
    if (!Object.hasOwn(own, argument)) add(argument, values.length === 1 ? values[0] : values);
  const [topicFile, jsonArgs] = [given.value("topic-file"), given.value("json-args")];
  if (words.length > 0 && jsonArgs !== undefined)
    throw new UsageError("- and --json-args both give the arguments: use one of them");
  const json = words.length > 0 ? STDIN : jsonArgs;
  if (json === STDIN && topicFile === STDIN)
    throw new UsageError("the arguments and the topic can't both be read from stdin");
  if (topicFile !== undefined)
    add("topic", topicFile === STDIN ? await readStdin("the topic", host) : await readText(topicFile));
  const object = json === STDIN ? await readStdin("the arguments as JSON", host) : (json ?? "{}");
  for (const [argument, value] of Object.entries(parseObject(object))) add(argument, value);
  const config = readConfig(host.env, flags, host.homeDir);
  return { tool, args, config, waits, saysYes: given.has("yes") };
}

const STDIN = "-";

function hasJob({ name }: Tool): boolean {
  const { properties = {} }: Field = TOOL_SCHEMAS[name]?.output ?? {};
  return "jobId" in properties && "status" in properties;
}

function parseObject(json: string): object {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // The parser's message would repeat the text.
  }
  throw new UsageError(
    "the arguments are not a JSON object (some shells remove its quotes: give it on stdin, with -)",
  );
}

async function readText(file: string): Promise<string> {
  const shown = file.includes("fl_") ? "of --topic-file" : quote(file, 200);
  try {
    return decode(await readFile(file), `the file ${shown}`);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const errno = errnoOf(error) ?? "unknown reason";
    throw new UsageError(
      errno === "ENOENT" ? `there is no file ${shown}` : `the file ${shown} can't be read (${errno})`,
    );
  }
}

/** Reads stdin until it ends or the interrupt: at a terminal nothing else may ever end it. */
async function readStdin(what: string, { input, errors, interrupted }: Host): Promise<string> {
  if (input.isTTY === true) errors.write(`Type ${what}, and end with Ctrl-D.\n`);
  const chunks: Buffer[] = [];
  const onData = (chunk: Buffer | string) => void chunks.push(Buffer.from(chunk));
  input.on("data", onData);
  try {
    await once(input, "end", { signal: interrupted });
  } catch (error) {
    if (interrupted.aborted) throw cancelledError("The call was interrupted.");
    throw new UsageError(`stdin can't be read (${errnoOf(error) ?? "unknown reason"})`);
  } finally {
    input.off("data", onData);
  }
  return decode(Buffer.concat(chunks), "what came on stdin");
}

/** Decodes strictly, since a damaged text would be paid for as it is. */
function decode(bytes: Uint8Array, what: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError(`${what} is not UTF-8 text`);
  }
}

function optionsOf({ name }: Tool): Options {
  const { properties = {}, required = [] }: Field = TOOL_SCHEMAS[name]?.input ?? {};
  const options = Object.entries(properties).map(([argument, field]) => {
    const { type = "", description, enum: values, default: unset } = field;
    const isList = type === "array";
    const notes = [
      description,
      values?.join(", "),
      required.includes(argument) && "Required",
      unset !== undefined && `Default: ${String(unset)}`,
      isList && "May be repeated",
    ];
    const value = isList ? "VALUE" : type.toUpperCase();
    return [argument, { value, isList, meaning: notes.filter(Boolean).join(". ") }] as const;
  });
  return Object.fromEntries(options);
}

function helpOf(tools: readonly Tool[]): string {
  const sections = tools.flatMap((tool) => [
    "",
    tool.name,
    `  ${tool.description}`,
    ...table(optionRows(optionsOf(tool))),
  ]);
  return [...helpLines("call"), ...sections].join("\n");
}
