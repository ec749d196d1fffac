// How a command speaks to the person who runs it: with colours and a moving bar in a terminal, in plain lines elsewhere.

import type { Readable, Writable } from "node:stream";

export interface Stage {
  open(title: string): void;
  /** A step begins; `lines` say more about it. */
  step(title: string, lines?: readonly string[]): void;
  /** A bar of `total` units; `line` is printed beside it and stays. */
  bar(total: number): Bar;
  fail(message: string): void;
  close(message: string): void;
  /** Waits for Enter where somebody can press it. */
  pause(message: string): Promise<void>;
}

export interface Bar {
  update(done: number, label: string): void;
  end(label: string): void;
}

export interface Terminal {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Writable & { readonly isTTY?: boolean };
}

export async function createStage(terminal: Terminal): Promise<Stage> {
  return terminal.output.isTTY === true ? createTerminalStage(terminal) : createPlainStage(terminal);
}

function createPlainStage({ output }: Terminal): Stage {
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

async function createTerminalStage({ input, output }: Terminal): Promise<Stage> {
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
