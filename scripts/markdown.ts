// Markdown as oxfmt writes it. Pure.

/** A table with aligned columns. A vertical bar in a cell is escaped. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const escaped = rows.map((cells) => cells.map((cell) => cell.replaceAll("|", "\\|")));
  const widths = head.map((_, column) =>
    Math.max(3, ...[head, ...escaped].map((cells) => cells[column]?.length ?? 0)),
  );
  const lines = [head, widths.map((width) => "-".repeat(width)), ...escaped];
  return lines
    .map((cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`)
    .join("\n");
}

/** A block of code, which ends in a newline. */
export function fenced(code: string, language: string): string {
  return `\`\`\`${language}\n${code}\`\`\``;
}
