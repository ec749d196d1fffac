// What a command shows: colours and a progress bar that moves in a terminal, plain lines elsewhere.

import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { styleText } from "node:util";

export interface Streams {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Writable & { readonly isTTY?: boolean; readonly hasColors?: () => boolean };
  /** Whether the terminal knows no escape sequences. */
  readonly isDumb?: boolean;
}

export class TerminalUi {
  readonly #streams: Streams;
  #bar = ""; // as it was drawn last

  constructor(streams: Streams) {
    this.#streams = streams;
  }

  print(text: string): void {
    this.#streams.output.write(`${text}\n`);
  }

  /** Shows the beginning of a step, with `lines` about it. */
  step(title: string, lines: readonly string[] = []): void {
    const { output } = this.#streams;
    const isColoured = output.hasColors?.() === true;
    this.print(`\n${isColoured ? styleText(["bold", "magenta"], title) : title}`);
    for (const line of lines) this.print(`  ${line}`);
  }

  /** Shows how far something is. In a terminal the next bar takes the place of this one. */
  progress(done: number, total: number, label: string): void {
    const { output, isDumb } = this.#streams;
    const bar = `  [${"#".repeat(done)}${".".repeat(Math.max(0, total - done))}] ${label}`;
    if (bar === this.#bar) return;
    if (output.isTTY === true && isDumb !== true && this.#bar !== "") output.write("\u001B[A\u001B[2K");
    this.#bar = bar;
    this.print(bar);
  }

  /** Asks at a terminal. Anything but "y" or "yes" is a no, the end of the input too. */
  async confirm(question: string): Promise<boolean> {
    const { input, output } = this.#streams;
    output.write(`${question} [y/N] `);
    const answer = await Promise.race([once(input, "data"), once(input, "end")]);
    input.pause();
    return /^y(es)?\s*$/i.test(String(answer));
  }

  /** Waits for Enter, or the end of the input, at a terminal. */
  async pause(message: string): Promise<void> {
    const { input } = this.#streams;
    this.print(`\n${message}`);
    await Promise.race([once(input, "data"), once(input, "end")]);
    input.pause();
  }
}

/** Breaks a text at its spaces. A longer word, such as a link, stays whole. */
export function wrap(text: string, width: number): string[] {
  return text.split(" ").reduce<string[]>((lines, word) => {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) return [...lines, word];
    return [...lines.slice(0, -1), `${last} ${word}`];
  }, []);
}
