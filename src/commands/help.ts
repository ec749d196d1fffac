// The texts of --help, made from the tables of commands and settings. Pure.

import { type CommandName, COMMANDS, isCommand, type Option, type Options } from "../command-line.ts";
import { describeSetting, SETTINGS } from "../config.ts";
import { optionOf } from "../text.ts";
import { VERSION, WEBSITE } from "../version.ts";

const PROGRAM = "faceless-video-mcp";
/** Columns of a line of --help. */
export const HELP_WIDTH = 100;

type Row = readonly [label: string, text: string];

/** The lines of the whole help, or of that of one command. */
export function helpLines(of: CommandName = ""): readonly string[] {
  if (of !== "") return [`Usage: ${PROGRAM} ${rowsOf(of)[0]?.[0]} [OPTION …]`, "", ...table(rowsOf(of))];
  const commands = Object.keys(COMMANDS).filter(isCommand).flatMap(rowsOf);
  const variables = Object.values(SETTINGS).map((setting): Row => [setting.name, describeSetting(setting)]);
  return [
    `${PROGRAM} ${VERSION}: an MCP server that makes short faceless videos`,
    "",
    `Usage: ${PROGRAM} [COMMAND] [OPTION …]`,
    "",
    "Commands",
    ...table([...commands, ["--help", "print this text"], ["--version", "print the version"]]),
    "",
    "Environment",
    ...table(variables),
    "",
    `${PROGRAM} COMMAND --help shows one command. Documents: ${WEBSITE}`,
  ];
}

function rowsOf(name: CommandName): Row[] {
  const {
    argument = "",
    summary,
    options,
  }: { argument?: string; summary: string; options: Options } = COMMANDS[name];
  return [[`${name || PROGRAM} ${argument}`.trim(), summary], ...optionRows(options)];
}

/** The options of a command, or the arguments of a tool. */
export function optionRows(options: Options): Row[] {
  return Object.entries<Option>(options).map(([name, { value = "", meaning }]) => [
    `  ${optionOf(name)} ${value}`.trimEnd(),
    meaning,
  ]);
}

export function table(rows: readonly Row[]): string[] {
  const width = Math.max(...rows.map(([label]) => label.length));
  return rows.map(([label, text]) => `  ${label.padEnd(width)}  ${text}`.trimEnd());
}
