import { expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { CLIENT_NAMES, type CommandName, COMMANDS } from "../../src/command-line.ts";
import { HELP_WIDTH, helpLines } from "../../src/commands/help.ts";
import { wrap } from "../../src/commands/terminal-ui.ts";
import { describeSetting, SETTINGS } from "../../src/config.ts";

const helpText = (of?: CommandName, columns = HELP_WIDTH) =>
  `${helpLines(of)
    .flatMap((line) => wrap(line, columns))
    .join("\n")}\n`;
const onOneLine = (text: string) => text.replace(/\s+/g, " ");

test("the help names the version and every command, option, client and variable", () => {
  const named = [
    manifest.version,
    ...Object.keys(COMMANDS),
    ...Object.values(COMMANDS).flatMap(({ summary, options }) => [
      summary,
      ...Object.entries<{ meaning: string }>(options).flatMap(([name, { meaning }]) => [
        `--${name} `,
        meaning,
      ]),
    ]),
    "--help",
    "--version",
    CLIENT_NAMES.join(", "),
    ...Object.values(SETTINGS).map((setting) => `${setting.name} ${describeSetting(setting)}`),
  ];

  expect(named.filter((part) => !onOneLine(helpText()).includes(part))).toEqual([]);
});

test("the help of a command shows that command alone", () => {
  expect(helpText("history")).toBe(`Usage: faceless-video-mcp history [OPTION …]

  history   ${COMMANDS.history.summary}
    --json  print it whole, as JSON
`);
});

test.each([80, 40])(
  "in %i columns, texts are wrapped between words and aligned under their own column",
  (columns) => {
    const narrow = helpText(undefined, columns);

    // A single word may be longer.
    expect(narrow.split("\n").filter((line) => line.length > columns && line.trim().includes(" "))).toEqual(
      [],
    );
    expect(onOneLine(narrow)).toBe(onOneLine(helpText()));
    expect(wrap("ok    key   the service accepts it", 24)).toEqual([
      "ok    key   the service",
      "            accepts it",
    ]);
  },
);
