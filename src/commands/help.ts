// The texts of --help, made from the tables of commands and settings. Pure.

import { type CommandName, COMMANDS, isCommand, type Option, type Options } from "../command-line.ts";
import { describeSetting, SETTINGS } from "../config.ts";
import { VERSION, WEBSITE } from "../version.ts";
import { wrap } from "./terminal-ui.ts";

const PROGRAM = "faceless-video-mcp";
const MAX_WIDTH = 100;

type Row = readonly [label: string, text: string];
const COMMON: readonly Row[] = [
  ["help, --help", "print this text"],
  ["version, --version", "print the version"],
];

/** The whole help, or that of one command. `columns`: the width of the terminal. */
export function helpText(of: CommandName = "", columns = MAX_WIDTH): string {
  const title = `${PROGRAM} ${VERSION}: an MCP server that makes short faceless videos`;
  const usage = `Usage: ${PROGRAM} ${of === "" ? "[COMMAND]" : rowsOf(of)[0]?.[0]} [OPTION …]`;
  if (of !== "") return fit([usage, "", ...table(rowsOf(of))], columns);
  const commands = Object.keys(COMMANDS).filter(isCommand).flatMap(rowsOf);
  const variables = Object.values(SETTINGS).map((setting): Row => [setting.name, describeSetting(setting)]);
  const more = `${PROGRAM} COMMAND --help shows one command. Documents: ${WEBSITE}`;
  return fit(
    [
      title,
      "",
      usage,
      "",
      "Commands",
      ...table([...commands, ...COMMON]),
      "",
      "Environment",
      ...table(variables),
      "",
      more,
    ],
    columns,
  );
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
    `  --${name} ${value}`.trimEnd(),
    meaning,
  ]);
}

function fit(lines: readonly string[], columns = MAX_WIDTH): string {
  return `${lines.flatMap((line) => wrap(line, Math.min(columns, MAX_WIDTH))).join("\n")}\n`;
}

export function table(rows: readonly Row[]): string[] {
  const width = Math.max(...rows.map(([label]) => label.length));
  return rows.map(([label, text]) => `  ${label.padEnd(width)}  ${text}`.trimEnd());
}
