import { expect, test } from "vitest";
import { helpText } from "../../src/commands/help.ts";
import { CLIENTS, parseCommandLine } from "../../src/command-line.ts";
import { VARIABLES } from "../../src/config.ts";

const text = helpText("1.2.3");
const lines = text.split("\n");

test("the help begins with name and version, and ends with a line break", () => {
  expect(lines[0]).toBe("faceless-video-mcp 1.2.3: an MCP server that makes faceless short videos");
  expect(text.endsWith(")\n")).toBe(true);
});

test("the help names every variable with its meaning and default, in one column", () => {
  const first = lines.indexOf("Environment") + 1;
  const width = Math.max(...VARIABLES.map(({ name }) => name.length));

  expect(lines.slice(first, -1)).toEqual(
    VARIABLES.map(
      (variable) => `  ${variable.name.padEnd(width)}  ${variable.meaning} (${variable.default})`,
    ),
  );
});

test("the help names the commands and options that there are, and each of them is understood", () => {
  const commands = lines.slice(lines.indexOf("Commands") + 1, lines.indexOf("Environment") - 1);
  const names = commands.map((line) => line.slice(2).split(/ {2,}(?=\S)/));

  expect(names.map((columns) => columns.at(-2))).toEqual([
    "faceless-video-mcp",
    "--sandbox",
    "--read-only",
    "--no-publish",
    "faceless-video-mcp demo",
    "faceless-video-mcp sandbox [--port N]",
    "faceless-video-mcp doctor [--json]",
    "faceless-video-mcp config CLIENT",
    "",
    "--windows",
    "--sandbox",
    "faceless-video-mcp --help, --version",
  ]);
  for (const argv of [
    [],
    ["--sandbox"],
    ["--read-only"],
    ["--no-publish"],
    ["demo"],
    ["sandbox", "--port", "8080"],
    ["doctor", "--json"],
    ...CLIENTS.map((client) => ["config", client, "--windows", "--sandbox"]),
    ["--help"],
    ["--version"],
  ])
    expect([argv, parseCommandLine(argv, {}).ok]).toEqual([argv, true]);
  const clients = commands.join(" ").replace(/^.*configuration: | +--windows.*$/g, "");
  expect(clients.split(/, *| or /).map((client) => client.trim())).toEqual(CLIENTS);
});

test("the help fits a terminal of 120 columns and holds neither tabs nor escapes", () => {
  expect(lines.filter((line) => line.length > 120)).toEqual([]);
  // eslint-disable-next-line no-control-regex -- control characters are the very thing to find
  expect(text).not.toMatch(/[\u0000-\u0009\u000B-\u001F]/);
});
