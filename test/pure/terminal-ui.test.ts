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

/** A terminal whose user types `before` ahead of the first question, then one of `answers` at each `[y/N] `. */
function askedUi(answers: readonly string[], before = "") {
  const [input, output] = [new PassThrough(), new PassThrough({ encoding: "utf8" })];
  const left = [...answers];
  output.on("data", (text: string) => {
    const answer = text.endsWith("[y/N] ") ? left.shift() : undefined;
    if (answer === "") input.end();
    else if (answer !== undefined) input.write(answer);
  });
  if (before !== "") input.write(before);
  return new TerminalUi({ input, output, env: {} });
}

test("at a terminal only y or yes is a yes, and the end of the input is a no", async () => {
  const typed = ["y\n", "Yes\r\n", "\n", "n\n", "yesterday\n", ""];
  const answers = typed.map((answer) => askedUi([answer]).confirm("Is this your service?"));

  expect(await Promise.all(answers)).toEqual([true, true, false, false, false, false]);
});

test("what was typed before a question doesn't answer it, and each question has an answer of its own", async () => {
  const ui = askedUi(["n\n", "y\n", "n\n", ""], "y\n");
  const answers = [];
  for (let question = 0; question < 5; question++) answers.push(await ui.confirm("Pay for it?"));

  // The input has ended before the last one.
  expect(answers).toEqual([false, true, false, false, false]);
});

test("a terminal that gives 0 as its width has 80 columns", () => {
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 0 });
  new TerminalUi({ input: new PassThrough(), output, env: {} }).print("word ".repeat(30).trim());

  expect(
    String(output.read())
      .split("\n")
      .map(({ length }) => length),
  ).toEqual([79, 69, 0]);
});
