// What can't be tested with the built file: doctor at a terminal.

import { expect, test } from "vitest";
import { runDoctor } from "../../src/commands/doctor.ts";
import type { Environment } from "../../src/config.ts";

/** The report of an environment in which nothing is set, so that nothing is sent. */
async function report(env: Environment, isTerminal: boolean): Promise<string> {
  const lines: string[] = [];
  const code = await runDoctor({
    env: { FACELESS_STATE_DIR: "off", ...env },
    homeDir: "/home/user",
    workingDir: "/home/user",
    platform: "linux",
    nodeVersion: "22.0.0",
    json: false,
    isTerminal,
    print: (line) => lines.push(line),
    now: Date.now,
  });
  expect(code).toBe(1);
  return lines.join("\n");
}

test("doctor marks its checks in colour at a terminal", async () => {
  expect((await report({ TERM: "xterm" }, true)).split("\n").slice(2, 5)).toEqual([
    // eslint-disable-next-line no-control-regex -- the marks are coloured by escape sequences
    expect.stringMatching(/^\u001B\[31m✖\u001B\[0m {2}settings {2}Add --client and .+\.$/),
    expect.stringMatching(/^ {13}\(key and address are not set in this terminal.+\)$/),
    "\u001B[32m✔\u001B[0m  Node.js   22.0.0",
  ]);
});

test.each([
  ["at a terminal without colours", { TERM: "dumb" }, true],
  ["for a user who wants no colours", { NO_COLOR: "1" }, true],
  ["outside a terminal", { TERM: "xterm" }, false],
])("doctor prints plain text %s", async (_, env, isTerminal) => {
  const text = await report(env, isTerminal);

  expect(text).toContain("ok    Node.js");
  // eslint-disable-next-line no-control-regex -- escape sequences are what must not be there
  expect(text).not.toMatch(/[\u001B✔✖]/);
});
