// The text of --help, made from the tables of commands and settings. Pure.

import { COMMANDS, OPTION_VALUES } from "../command-line.ts";
import { describeSetting, SETTINGS } from "../config.ts";
import { wrap } from "./terminal-ui.ts";

const PROGRAM = "faceless-video-mcp";
const MAX_WIDTH = 100;
const MIN_TEXT_WIDTH = 30;

/** `columns`: the width of the terminal. Lines are at most 100 characters long. */
export function helpText(version: string, columns = MAX_WIDTH): string {
  const width = Math.min(columns, MAX_WIDTH);
  const commands = COMMANDS.flatMap(({ name, argument, summary, options }): [string, string][] => [
    [[PROGRAM, name, argument].filter((word) => word !== "").join(" "), summary],
    ...Object.entries(options).map(([option, meaning]): [string, string] => [
      `  --${option} ${OPTION_VALUES[option] ?? ""}`.trimEnd(),
      meaning,
    ]),
  ]);
  const common: [string, string] = [`${PROGRAM} --help, --version`, "print this text, or the version"];
  const variables = Object.values(SETTINGS).map((setting): [string, string] => [
    setting.name,
    describeSetting(setting),
  ]);
  const title = wrap(`${PROGRAM} ${version}: an MCP server that makes short faceless videos`, width);
  return `${title.join("\n")}

Commands
${table([...commands, common], width)}

Environment
${table(variables, width)}
`;
}

/** Two columns, with long texts on several lines; where that leaves no room, one below the other. */
function table(rows: readonly (readonly [string, string])[], width: number): string {
  const indent = 2 + Math.max(...rows.map(([left]) => left.length)) + 2;
  const isNarrow = width < indent + MIN_TEXT_WIDTH;
  return rows
    .map(([left, right]) =>
      isNarrow
        ? [`  ${left}`, ...wrap(right, width - 6).map((line) => `      ${line}`)].join("\n")
        : `  ${left}`.padEnd(indent) + wrap(right, width - indent).join(`\n${" ".repeat(indent)}`),
    )
    .join("\n");
}
