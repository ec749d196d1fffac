// npm run docs:picture: runs the demo and draws its output as docs/demo.svg. Every run has other job ids, so
// run it only when the text of the demo has changed.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const COLUMNS = 122;
const SIZE = { character: 7.25, line: 17, margin: 18, bar: 26 } as const;
const COLOURS = { title: "#f5f3ff", detail: "#a8a3b8", done: "#86efac", prompt: "#c4b5fd" } as const;

const built = fileURLToPath(new URL("../dist/bin.cjs", import.meta.url));
const demoOutput = execFileSync(process.execPath, [built, "demo"], { encoding: "utf8", env: {} });
const lines = ["$ npm run demo", ...demoOutput.trimEnd().split("\n")];
writeFileSync(new URL("../docs/demo.svg", import.meta.url), draw(lines));

function draw(rows: readonly string[]): string {
  const width = Math.ceil(COLUMNS * SIZE.character + 2 * SIZE.margin);
  const height = rows.length * SIZE.line + 2 * SIZE.margin + SIZE.bar;
  const texts = rows.map((row, index) => {
    const y = SIZE.bar + SIZE.margin + (index + 0.75) * SIZE.line;
    return row.trim() === ""
      ? ""
      : `<text x="${SIZE.margin}" y="${y}" fill="${colourOf(row)}" xml:space="preserve">${escaped(row)}</text>\n`;
  });
  const dots = ["#f87171", "#fbbf24", "#4ade80"].map(
    (fill, index) => `<circle cx="${SIZE.margin + 6 + index * 18}" cy="20" r="5.5" fill="${fill}"/>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="The demo in a terminal">
<rect width="100%" height="100%" rx="10" fill="#1c1826"/>
${dots.join("\n")}
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="12">
${texts.join("")}</g>
</svg>
`;
}

function colourOf(row: string): string {
  if (row.startsWith("$")) return COLOURS.prompt;
  if (!row.startsWith(" ")) return COLOURS.title;
  return /\[#+|completed|posted http/.test(row) ? COLOURS.done : COLOURS.detail;
}

function escaped(row: string): string {
  const cut = row.length > COLUMNS ? `${row.slice(0, COLUMNS - 1)}…` : row;
  return cut.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
