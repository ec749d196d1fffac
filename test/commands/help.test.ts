import { expect, test } from "vitest";
import { CLIENTS, COMMANDS } from "../../src/command-line.ts";
import { helpText } from "../../src/commands/help.ts";
import { describeSetting, SETTINGS } from "../../src/config.ts";

const text = helpText("1.2.3");
/** The same on one line. */
const words = text.replace(/\s+/g, " ");

test("the help begins with name and version, and ends with a line break", () => {
  expect(text).toMatch(/^faceless-video-mcp 1\.2\.3: an MCP server that makes short faceless videos\n/);
  expect(text.endsWith(".\n")).toBe(true);
  // eslint-disable-next-line no-control-regex -- control characters are what must not be there
  expect(text).not.toMatch(/[\u0000-\u0009\u000B-\u001F]/);
});

test.each([100, 80, 60, 40])("the help fits a terminal of %i columns", (columns) => {
  const narrow = helpText("1.2.3", columns);

  // A word alone may be longer.
  expect(narrow.split("\n").filter((line) => line.length > columns && line.trim().includes(" "))).toEqual([]);
  expect(narrow.replace(/\s+/g, " ")).toBe(words);
});

test("the help names every command, option, client and variable", () => {
  const named = [
    ...COMMANDS.map(({ name, summary }) =>
      ["faceless-video-mcp", name, summary].join(" ").replace("  ", " "),
    ),
    ...COMMANDS.flatMap(({ options }) => Object.keys(options).map((option) => `--${option} `)),
    "--help",
    "--version",
    CLIENTS.join(", "),
    ...Object.values(SETTINGS).map((setting) => `${setting.name} ${describeSetting(setting)}`),
  ].map((part) => part.replace("config print", "config CLIENT print"));

  expect(named.filter((part) => !words.includes(part))).toEqual([]);
});
