// The text of --help, made from the tables of commands and settings. Pure.

import { COMMANDS, OPTION_VALUES } from "../command-line.ts";
import { describeSetting, SETTINGS } from "../config.ts";
import { wrap } from "./terminal-ui.ts";

const PROGRAM = "faceless-video-mcp";

export function helpText(version: string): string {
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
  return `${PROGRAM} ${version}: an MCP server that makes short faceless videos

Commands
${table([...commands, common])}

Environment
${table(variables)}
`;
}

/** Two columns, at most 100 characters wide, with long texts on several lines. */
function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows
    .flatMap(([left, right]) =>
      wrap(right, 96 - width).map((line, index) => `  ${(index === 0 ? left : "").padEnd(width)}  ${line}`),
    )
    .join("\n");
}
