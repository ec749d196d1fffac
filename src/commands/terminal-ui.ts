// Shows a command's output: lines of the terminal's width, colours and a progress bar that moves in a terminal;
// whole plain lines elsewhere.

import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { stripVTControlCharacters, styleText } from "node:util";

export interface Streams {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Writable & {
    readonly isTTY?: boolean;
    readonly columns?: number;
    readonly hasColors?: () => boolean;
  };
  /** True if the terminal knows no escape sequences. */
  readonly isDumb?: boolean;
}

export class TerminalUi {
  readonly #streams: Streams;
  #bar = ""; // as it was drawn last

  constructor(streams: Streams) {
    this.#streams = streams;
  }

  /** Prints lines, each broken at its words if it is wider than the terminal. */
  print(text: string, style = (line: string) => line): void {
    const { output } = this.#streams;
    const width = output.isTTY === true ? (output.columns ?? Infinity) : Infinity;
    const lines = text.split("\n").flatMap((line) => wrap(line, width));
    output.write(`${lines.map(style).join("\n")}\n`);
  }

  /** Prints a value whole, for programs. `redact` sees the text. */
  printJson(value: object, redact = (text: string) => text): void {
    this.#streams.output.write(`${escapeUnsafe(redact(JSON.stringify(value, undefined, 2)))}\n`);
  }

  /** Shows the beginning of a step, with `lines` about it. */
  step(title: string, lines: readonly string[] = []): void {
    const isColoured = this.#streams.output.hasColors?.() === true;
    const style = (line: string) => (isColoured ? styleText(["bold", "magenta"], line) : line);
    this.print("");
    this.print(title, style);
    for (const line of lines) this.print(`  ${line}`);
  }

  /** Shows how far something is. In a terminal the next bar takes the place of this one. */
  progress(done: number, total: number, label: string): void {
    const { output, isDumb } = this.#streams;
    const bar = `  ${total === 0 ? "" : `[${"#".repeat(done)}${".".repeat(Math.max(0, total - done))}] `}${label}`;
    if (bar === this.#bar) return;
    if (output.isTTY === true && isDumb !== true && this.#bar !== "") output.write("\u001B[A\u001B[2K");
    this.#bar = bar;
    // Wrapped, it could not be replaced.
    output.write(`${bar}\n`);
  }

  /** Asks at a terminal. Anything but "y" or "yes" is a no, also the end of the input or the signal. */
  async confirm(question: string, signal?: AbortSignal): Promise<boolean> {
    this.print(question);
    this.#streams.output.write("[y/N] ");
    const answer = await this.#line(signal);
    return /^y(es)?\s*$/i.test(answer);
  }

  /** Waits for Enter, or the end of the input, at a terminal. */
  async pause(message: string): Promise<void> {
    this.print(`\n${message}`);
    await this.#line();
  }

  async #line(signal?: AbortSignal): Promise<string> {
    const { input } = this.#streams;
    const ends = ["data", "end"].map((event) => once(input, event, signal === undefined ? {} : { signal }));
    const answer = await Promise.race(ends).catch(() => "");
    input.pause();
    return String(answer);
  }
}

/** The widest column of labels under which further lines of a text are indented. */
const MAX_INDENT = 40;

/** Breaks a line at its spaces, and indents what follows to its text. A longer word, such as a link, stays whole. */
export function wrap(line: string, width: number): string[] {
  const plain = stripVTControlCharacters(line);
  if (plain.length <= width) return [line];
  const gap = plain.slice(0, Math.min(MAX_INDENT, width / 2)).lastIndexOf("  ");
  const indent = gap < 0 ? 0 : gap + 2;
  // Colours only stand before the text.
  const start = indent + line.length - plain.length;
  const lines = [line.slice(0, start)];
  let column = indent;
  for (const word of line.slice(start).split(" ")) {
    const isFirst = column === indent;
    if (!isFirst && column + 1 + word.length > width) {
      lines.push(" ".repeat(indent) + word);
      column = indent + word.length;
    } else {
      lines.push(`${lines.pop()}${isFirst ? "" : " "}${word}`);
      column += word.length + (isFirst ? 0 : 1);
    }
  }
  return lines;
}

/** The same JSON, with what a terminal would obey, hide or reorder written as escapes. */
function escapeUnsafe(json: string): string {
  return json.replace(/(?!\n)[\p{C}\p{DI}\p{Zl}\p{Zp}]/gu, (character) =>
    character.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  );
}
