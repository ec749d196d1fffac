// Shows a command's output: lines of the terminal's width, colours and a progress bar that moves in a
// terminal; whole plain lines elsewhere.

import { once } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import { stripVTControlCharacters, styleText } from "node:util";
import { errnoOf } from "../errors.ts";
import type { Host } from "./host.ts";

/** Columns of a terminal that doesn't know its width. */
const USUAL_WIDTH = 80;
/** The number of event-loop turns in which typed-ahead input is dropped. */
const TYPEAHEAD_TURNS = 10;

export class TerminalUi {
  readonly #input: Host["input"];
  readonly #output: Host["output"];
  /** True if the last output can be replaced. */
  readonly #canMove: boolean;
  readonly #maxWidth: number;
  #bar = ""; // as it was drawn last
  #written: Promise<string | undefined> = Promise.resolve(undefined);

  /** `maxWidth`: columns of a line, also outside of a terminal. */
  constructor({ input, output, env }: Pick<Host, "input" | "output" | "env">, maxWidth = Infinity) {
    this.#input = input;
    this.#output = output;
    this.#canMove = output.isTTY === true && env["TERM"] !== "dumb";
    this.#maxWidth = maxWidth;
  }

  /** Prints lines, each broken at its words if it is wider than the terminal. */
  print(text: string, style = (line: string) => line): void {
    const { isTTY, columns = Infinity } = this.#output;
    // Some terminals don't know their width at first, and give 0.
    const width = Math.min(this.#maxWidth, isTTY === true ? columns || USUAL_WIDTH : Infinity);
    const lines = text.split("\n").flatMap((line) => wrap(line, width));
    this.printWhole(lines.map(style).join("\n"));
  }

  /** Prints lines as they are, for programs or to be pasted. */
  printWhole(text: string): void {
    this.#written = new Promise((resolve) =>
      this.#output.write(`${text}\n`, (error) =>
        resolve(error ? (errnoOf(error) ?? "unknown reason") : undefined),
      ),
    );
  }

  /** The system's code if the last lines could not be written. */
  lastWriteError(): Promise<string | undefined> {
    return this.#written;
  }

  /** Prints a value whole, for programs. `redact` sees the text. */
  printJson(value: object, redact = (text: string) => text): void {
    this.printWhole(escapeUnsafe(redact(JSON.stringify(value, undefined, 2))));
  }

  get isColoured(): boolean {
    return this.#output.hasColors?.() === true;
  }

  /** Shows that a step begins, with `lines` about it. */
  step(title: string, lines: readonly string[] = []): void {
    this.print("");
    this.print(title, (line) => (this.isColoured ? styleText(["bold", "magenta"], line) : line));
    for (const line of lines) this.print(`  ${line}`);
  }

  /** Shows how far something is. In a terminal the next bar takes the place of this one. */
  progress(done: number, total: number, label: string): void {
    const track = `[${"#".repeat(done)}${".".repeat(Math.max(0, total - done))}] `;
    const bar = `  ${total === 0 ? "" : track}${label}`;
    if (bar === this.#bar) return;
    if (this.#canMove && this.#bar !== "") this.#output.write("\u001B[A\u001B[2K");
    this.#bar = bar;
    // Wrapped, it could not be replaced.
    this.printWhole(bar);
  }

  /**
   * Asks at a terminal. Anything but "y" or "yes" is a no, also the end of the input and the signal, and so is what was
   * typed before the question.
   */
  async confirm(question: string, signal?: AbortSignal): Promise<boolean> {
    await this.#dropTypeahead();
    this.print(question);
    this.#output.write("[y/N] ");
    const answer = await this.#line(signal);
    return /^y(es)?\s*$/i.test(answer);
  }

  /** Waits for Enter, or the end of the input, at a terminal. */
  async pause(message: string): Promise<void> {
    this.print(`\n${message}`);
    await this.#line();
  }

  /** Also drops an unfinished line, which a terminal delivers only in raw mode. */
  async #dropTypeahead(): Promise<void> {
    const drop = () => {};
    this.#input.setRawMode?.(true);
    this.#input.on("data", drop).resume();
    for (let turn = 0; turn < TYPEAHEAD_TURNS; turn++) await nextTurn();
    this.#input.off("data", drop).pause();
    this.#input.setRawMode?.(false);
  }

  async #line(signal?: AbortSignal): Promise<string> {
    if (this.#input.readableEnded) return "";
    const ends = ["data", "end"].map((event) =>
      once(this.#input, event, signal === undefined ? {} : { signal }),
    );
    this.#input.resume();
    const answer = await Promise.race(ends).catch(() => "");
    this.#input.pause();
    return String(answer);
  }
}

/** The widest column of labels under which further lines of a text are indented. */
const MAX_INDENT = 40;

/** Breaks a line at its spaces, and indents what follows to its text, after a label or number. */
export function wrap(line: string, width: number): string[] {
  const plain = stripVTControlCharacters(line);
  if (plain.length <= width) return [line];
  const gap = plain.slice(0, Math.min(MAX_INDENT, width / 2)).lastIndexOf("  ");
  const number = /^\d+\. /.exec(plain)?.[0] ?? "";
  const indent = gap < 0 ? number.length : gap + 2;
  // Only what precedes the text is coloured.
  const start = indent + line.length - plain.length;
  const parts = line.slice(start).match(new RegExp(`\\S.{0,${width - indent - 1}}(?= |$)|\\S+`, "g")) ?? [];
  return parts.map((part, index) => (index === 0 ? line.slice(0, start) : " ".repeat(indent)) + part);
}

/** Escapes the characters of a JSON text that a terminal would obey, hide or reorder. */
function escapeUnsafe(json: string): string {
  return json.replace(/(?!\n)[\p{C}\p{DI}\p{Zl}\p{Zp}]/gu, (character) =>
    character.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  );
}
