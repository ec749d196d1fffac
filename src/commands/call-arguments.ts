// Reads the arguments of `call` by the schema of its tool, and lists the tools with them. Sends nothing.

import { createReadStream } from "node:fs";
import { addAbortSignal } from "node:stream";
import {
  ABOUT,
  COMMANDS,
  describeWord,
  flagsFrom,
  type Options,
  readArguments,
  UsageError,
} from "../command-line.ts";
import { readConfig } from "../config.ts";
import { cancelledError, errnoOf } from "../errors.ts";
import { textFor } from "../sentences.ts";
import { quote } from "../text.ts";
import { type Field, TOOL_SCHEMAS } from "../tools/tool-schemas.ts";
import { TOOLS } from "../tools/catalog.ts";
import { getVideoStatus } from "../tools/get-video-status.ts";
import { offered } from "../tools/listing.ts";
import type { Tool } from "../tools/tool.ts";
import { helpLines, optionRows, table } from "./help.ts";
import type { Host } from "./host.ts";

export type Call = Exclude<Awaited<ReturnType<typeof readCall>>, string>;

/** The call, or the help that was asked for. Throws a UsageError. */
export async function readCall(argv: readonly string[], host: Host) {
  const name = argv.find((word) => !word.startsWith("-"));
  const tool = TOOLS.find((candidate) => candidate.name === name);
  const unknown = new UsageError(`unknown ${describeWord("tool", name ?? "")}`);
  if (name !== undefined && tool === undefined) throw unknown;
  const own: Options = { ...COMMANDS.call.options, help: ABOUT.help };
  const given = readArguments(argv, name ?? "call", { ...(tool && optionsOf(tool)), ...own });
  const flags = flagsFrom(given);
  const tools = offered(TOOLS, flags);
  if (tool === undefined) return helpOf(tools);
  if (!tools.includes(tool)) throw unknown;
  if (given.has("help")) return helpOf([tool]);
  const words = given.words.filter((word) => word !== name);
  const surplus = words.find((word) => word !== "-");
  if (surplus !== undefined) throw new UsageError(`${name} takes no ${describeWord("argument", surplus)}`);
  const waits = given.has("wait");
  if (waits && tool.effect !== "spends" && tool !== getVideoStatus)
    throw new UsageError(`${name} has no job that --wait could follow`);

  const args: Record<string, unknown> = {};
  const add = (argument: string, value: unknown) => {
    if (Object.hasOwn(args, argument))
      throw new UsageError(`${describeWord("argument", argument)} was given twice`);
    args[argument] = value;
  };
  for (const [argument, values] of given.values)
    if (!Object.hasOwn(own, argument)) add(argument, values.length === 1 ? values[0] : values);
  const [jsonArgs, topicFile, csv] = ["json-args", "topic-file", "csv"].map(given.value);
  const objects = [...words, ...(jsonArgs === undefined ? [] : [jsonArgs])];
  const sources = [...objects, ...(topicFile === undefined ? [] : [topicFile])];
  if (objects.length > 1 || sources.indexOf(STDIN) !== sources.lastIndexOf(STDIN))
    throw new UsageError("- and --json-args can't be used together, and stdin can be read once only");
  if (csv !== undefined && tool.effect !== "spends") throw new UsageError(`${name} takes no table`);
  if (csv !== undefined && sources.length + Object.keys(args).length > 0)
    throw new UsageError("the columns of the table give all arguments: give none beside --csv");
  if (topicFile !== undefined) add("topic", await readInput(topicFile, "the topic", host));
  for (const object of objects) {
    const isStdin = object === STDIN;
    const json = isStdin ? await readInput(STDIN, "the arguments as JSON", host) : object;
    for (const [argument, value] of Object.entries(parseObject(json))) add(argument, value);
  }
  const config = readConfig(host.env, flags, host.homeDir);
  return { tool, args, config, waits, saysYes: given.has("yes"), rows: await readRows(csv, tool, host) };
}

const STDIN = "-";
/** More than any tool takes, and than a table of 1,000 long topics has. */
const MAX_BYTES = 10_000_000;
const TABLE = "the table";

async function readRows(csv: string | undefined, { name }: Tool, host: Host) {
  if (csv === undefined) return undefined;
  const { readTable } = await import("./read-table.ts");
  const text = await readInput(csv, TABLE, host);
  return readTable(text, Object.keys(TOOL_SCHEMAS[name]?.input.properties ?? {}));
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

/** Reads a file, or stdin until it ends: at a terminal nothing else but the interrupt may ever end it. */
async function readInput(source: string, what: string, host: Host): Promise<string> {
  const { input: stdin, errors, interrupted: signal } = host;
  const isStdin = source === STDIN;
  if (isStdin && stdin.isTTY === true) errors.write(`Type ${what}, and end with Ctrl-D.\n`);
  const file = source.includes("fl_") ? "the file of an option" : `the file ${quote(source, 200)}`;
  const shown = isStdin ? "what came on stdin" : file;
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    const input: AsyncIterable<Buffer> = addAbortSignal(signal, isStdin ? stdin : createReadStream(source));
    for await (const chunk of input) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > MAX_BYTES) break;
    }
  } catch (error) {
    if (signal.aborted) throw cancelledError("The call was interrupted.");
    const errno = errnoOf(error) ?? "unknown reason";
    throw new UsageError(
      errno === "ENOENT"
        ? `there is no ${file.slice(4)}`
        : `${isStdin ? "stdin" : file} can't be read (${errno})`,
    );
  }
  if (length > MAX_BYTES) throw new UsageError(`${shown} is longer than 10 MB, more than ${what} can be`);
  const bytes = Buffer.concat(chunks);
  // Excel's "Unicode Text" and older PowerShells write UTF-16, with its mark.
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : "utf-8";
  try {
    // A damaged text would be paid for as it is.
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    const hint = what === TABLE ? ': in a spreadsheet program, save it as "CSV UTF-8"' : "";
    throw new UsageError(`${shown} is not UTF-8 text${hint}`);
  }
}

function optionsOf({ name, help = {} }: Tool): Options {
  const { properties = {}, required = [] }: Field = TOOL_SCHEMAS[name]?.input ?? {};
  const options = Object.entries(properties).map(([argument, field]) => {
    const { type = "", description, enum: values, default: unset } = field;
    const isList = type === "array";
    const notes = [
      help[argument] ?? description,
      values && `One of ${values.join(", ")}`,
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
    `call ${tool.name}`,
    `  ${textFor("person", tool.description)}`,
    ...table(optionRows(optionsOf(tool))),
  ]);
  return [...helpLines("call"), ...sections].join("\n");
}
