// What can't be tested with the built file: other versions of Node.js, and a terminal.

import { describe, expect, test } from "vitest";
import { runDoctor } from "../../src/commands/doctor.ts";
import type { Environment } from "../../src/config.ts";

/** The report of an environment in which nothing is set, so that nothing is sent. */
async function report(nodeVersion: string, env: Environment = {}, isTerminal = false) {
  const lines: string[] = [];
  const code = await runDoctor({
    env: { FACELESS_STATE_DIR: "off", ...env },
    homeDir: "/home/user",
    workingDir: "/home/user",
    platform: "linux",
    nodeVersion,
    json: false,
    isTerminal,
    print: (line) => lines.push(...line.split("\n")),
    now: Date.now,
  });
  expect(code).toBe(1);
  return lines;
}

test.each(["18.20.8", "20.9.0", "20.18.0"])("Node.js %s is too old", async (version) => {
  expect((await report(version)).slice(2, 4)).toEqual([
    expect.stringMatching(/^fail {2}Node\.js {3}Install Node\.js 20\.18\.1 or newer, or .+\.$/),
    `                (version ${version} is too old)`,
  ]);
});

test.each(["20.18.1", "20.100.0", "22.0.0"])("Node.js %s is new enough", async (version) => {
  expect(await report(version)).toContain(`ok    Node.js   ${version}`);
});

describe("the report", () => {
  test("has coloured marks at a terminal", async () => {
    const lines = await report("22.0.0", { TERM: "xterm" }, true);

    // eslint-disable-next-line no-control-regex -- the marks are coloured by escape sequences
    expect(lines[2]).toMatch(/^\u001B\[31m✖\u001B\[0m {2}settings {2}Add --client and .+\.$/);
    expect(lines[3]).toMatch(/^ {13}\(key and address are not set in this terminal.+\)$/);
    expect(lines[4]).toBe("\u001B[32m✔\u001B[0m  Node.js   22.0.0");
  });

  test.each([
    ["at a terminal without colours", { TERM: "dumb" }, true],
    ["for a user who wants no colours", { NO_COLOR: "1" }, true],
    ["outside a terminal", { TERM: "xterm" }, false],
  ])("is plain text %s", async (_, env, isTerminal) => {
    const text = (await report("22.0.0", env, isTerminal)).join("\n");

    expect(text).toContain("ok    Node.js");
    // eslint-disable-next-line no-control-regex -- escape sequences are what must not be there
    expect(text).not.toMatch(/[\u001B✔✖]/);
  });
});
