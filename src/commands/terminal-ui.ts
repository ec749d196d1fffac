// The user interface of a command: colours and a progress bar in a terminal, plain lines elsewhere.

import type { Readable, Writable } from "node:stream";

export interface TerminalUi {
  open(title: string): void;
  /** Shows the beginning of a step, with `lines` about it. */
  step(title: string, lines?: readonly string[]): void;
  /** Shows a progress bar of `total` units. */
  bar(total: number): ProgressBar;
  fail(message: string): void;
  close(message: string): void;
  /** Waits for Enter at a terminal. */
  pause(message: string): Promise<void>;
}

export interface ProgressBar {
  update(done: number, label: string): void;
  end(label: string): void;
}

export interface Streams {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Writable & { readonly isTTY?: boolean };
}

export async function createTerminalUi(streams: Streams): Promise<TerminalUi> {
  return streams.output.isTTY === true ? createDecoratedUi(streams) : createPlainUi(streams);
}

function createPlainUi({ output }: Streams): TerminalUi {
  const print = (text: string) => void output.write(`${text}\n`);
  return {
    open: print,
    step(title, lines = []) {
      print(`\n${title}`);
      for (const line of lines) print(`  ${line}`);
    },
    bar(total) {
      let last = "";
      return {
        update(done, label) {
          const line = `  [${"#".repeat(done)}${".".repeat(Math.max(0, total - done))}] ${label}`;
          if (line !== last) print(line);
          last = line;
        },
        end: (label) => print(`  ${label}`),
      };
    },
    fail: (message) => print(`\nFailed: ${message}`),
    close: (message) => print(`\n${message}`),
    pause: () => Promise.resolve(),
  };
}

async function createDecoratedUi({ input, output }: Streams): Promise<TerminalUi> {
  const clack = await import("@clack/prompts");
  const common = { input, output };
  return {
    open: (title) => clack.intro(title, common),
    step(title, lines = []) {
      clack.log.step(title, common);
      if (lines.length > 0) clack.log.message([...lines], common);
    },
    bar(total) {
      const bar = clack.progress({ ...common, max: total, style: "block" });
      bar.start("");
      let shown = 0;
      return {
        update(done, label) {
          bar.advance(done - shown, label);
          shown = done;
        },
        end: (label) => bar.stop(label),
      };
    },
    fail: (message) => clack.log.error(message, common),
    close: (message) => clack.outro(message, common),
    async pause(message) {
      if (input.isTTY === true)
        await clack.select({ ...common, message, options: [{ value: true, label: "Done" }] });
    },
  };
}
