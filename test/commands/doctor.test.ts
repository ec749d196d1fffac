// How doctor prints its report, at a terminal and elsewhere.

import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { TerminalUi } from "../../src/commands/terminal-ui.ts";
import { doctor } from "./run-doctor.ts";

/** The report of an environment in which nothing is set, so that nothing is sent. */
const report = async (env: Readonly<Record<string, string>>, isTerminal: boolean) =>
  (await doctor({ env, isTerminal, nodeVersion: "22.0.0" })).text;

test("doctor marks its checks in colour at a terminal", async () => {
  expect((await report({ TERM: "xterm" }, true)).split("\n").slice(2, 5)).toEqual([
    // eslint-disable-next-line no-control-regex -- the marks are coloured by escape sequences
    expect.stringMatching(/^\u001B\[31m✖\u001B\[0m {2}settings {2}Add --client and .+\.$/),
    expect.stringMatching(/^ {13}\(this terminal does not set FACELESS_API_KEY and FACELESS_BASE_URL.+\)$/),
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

test.each([
  [true, false, "\u001B[A\u001B[2K"],
  [true, true, ""],
  [false, false, ""],
])("a progress bar moves in a terminal (%j) that is not dumb (%j)", (isTTY, isDumb, between) => {
  const output = Object.assign(new PassThrough(), { isTTY });
  const ui = new TerminalUi({ input: new PassThrough(), output, isDumb });

  ui.progress(1, 2, "1 of 2");
  ui.progress(2, 2, "2 of 2");

  expect(String(output.read())).toBe(`  [#.] 1 of 2\n${between}  [##] 2 of 2\n`);
});

test("at a terminal only y or yes is a yes, and the end of the input is a no", async () => {
  const answer = (typed: string) => {
    const input = new PassThrough();
    input.end(typed);
    return new TerminalUi({ input, output: new PassThrough() }).confirm("Is this your service?");
  };
  const typed = ["y\n", "Yes\r\n", "\n", "n\n", "yesterday\n", ""];

  expect(await Promise.all(typed.map(answer))).toEqual([true, true, false, false, false, false]);
});
