// Reads a table as spreadsheet programs write it: separated by commas, semicolons or tabs, with line ends in
// quoted cells. Knows what its columns are called, not what they mean. Pure.

import papa from "papaparse";
import { UsageError } from "../command-line.ts";
import { inWords, quote } from "../text.ts";

export interface TableRow {
  /** As a spreadsheet program counts it, headings and empty rows included. */
  readonly number: number;
  /** Why the row can't be read as it was meant, as a predicate. */
  readonly problem: string | undefined;
  /** The cells by column name. */
  readonly cells: Readonly<Record<string, string>>;
}

/** Excel leaves out the cells at the end that are empty in this many rows at once. */
const BLOCK_ROWS = 16;

/** The rows that aren't empty. Throws a UsageError if the headings or quotation marks can't be understood. */
export function readTable(text: string, columns: readonly string[]): TableRow[] {
  // Some programs tell Excel the separator in a first line. An empty one keeps the numbers of the rows.
  const plain = text.replace(/\r\n?/g, "\n").replace(/^"?sep=.?"?\n/i, "\n");
  const columnOf = (heading: string) =>
    columns.find((column) => column.toLowerCase() === heading.trim().toLowerCase());
  // Only what separates the names of columns separates cells: in a table of one column, a comma is text.
  const headingLine = plain.split("\n").find((line) => /[^\s,;"]/.test(line)) ?? "";
  const separator = /[,;\t]/.exec(headingLine)?.[0] ?? papa.UNIT_SEP;
  const { data, errors } = papa.parse<string[]>(plain, { delimiter: separator, newline: "\n" });
  const [fault] = errors;
  if (fault !== undefined)
    throw new UsageError(`the quotation marks in row ${(fault.row ?? 0) + 1} of the table are not in pairs`);

  const top = data.findIndex((cells) => !isBlank(cells));
  const headings = data[top] ?? [];
  const names = headings.map(columnOf);
  const isWrong = (name: string | undefined, at: number) => name === undefined || names.indexOf(name) !== at;
  const wrong = headings.filter((heading, at) => heading.trim() !== "" && isWrong(names[at], at));
  if (wrong.length > 0) {
    const found = wrong.map((name) => quote(name, 60)).join(", ");
    throw new UsageError(
      `the table's first row names its columns, each once, among ${inWords(columns)}; it has ${found}`,
    );
  }

  const rows = data.flatMap((cells, index): TableRow[] => {
    if (index <= top || isBlank(cells)) return [];
    const start = index - (index % BLOCK_ROWS);
    const widths = data.slice(start, start + BLOCK_ROWS).map(({ length }) => length);
    const expected = Math.min(Math.max(...widths), names.length);
    const isOutside = cells.some((cell, column) => names[column] === undefined && cell.trim() !== "");
    const named = names.flatMap((name, column) => (name ? [[name, cells[column] ?? ""] as const] : []));
    const problem = isOutside
      ? "has a cell without a heading: a text with a separator in it needs quotation marks around it"
      : cells.length < expected
        ? `has ${cells.length} of ${expected} cells: a text of several lines needs quotation marks around it`
        : undefined;
    return [{ number: index + 1, problem, cells: Object.fromEntries(named) }];
  });
  if (rows.length === 0) throw new UsageError("the table has no row below its headings");
  return rows;
}

function isBlank(cells: readonly string[]): boolean {
  return cells.every((cell) => cell.trim() === "");
}
