// A command's output at a terminal and elsewhere.

import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { TerminalUi } from "../../src/commands/terminal-ui.ts";

test.each([
  [true, "xterm", "\u001B[A\u001B[2K"],
  [true, "dumb", ""],
  [false, "xterm", ""],
])("a progress bar moves in a terminal (%j) that is not dumb (%s)", (isTTY, TERM, between) => {
  const output = Object.assign(new PassThrough(), { isTTY });
  const ui = new TerminalUi({ input: new PassThrough(), output, env: { TERM } });

  ui.progress(1, 2, "1 of 2");
  ui.progress(2, 2, "2 of 2");

  expect(String(output.read())).toBe(`  [#.] 1 of 2\n${between}  [##] 2 of 2\n`);
});

test("at a terminal only y or yes is a yes, and the end of the input is a no", async () => {
  const answer = (typed: string) => {
    const input = new PassThrough();
    input.end(typed);
    return new TerminalUi({ input, output: new PassThrough(), env: {} }).confirm("Is this your service?");
  };
  const typed = ["y\n", "Yes\r\n", "\n", "n\n", "yesterday\n", ""];

  expect(await Promise.all(typed.map(answer))).toEqual([true, true, false, false, false, false]);
});
