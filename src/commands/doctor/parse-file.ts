// Parses a client's configuration file: JSON with comments, TOML or YAML. The parsers' messages quote the
// file, which may hold a key, so only the line of a mistake is kept. Pure.

import { load as parseYaml, YAMLException } from "js-yaml";
import { parse as parseToml, TomlError } from "smol-toml";

export class UnreadableFile extends Error {
  /** Counted from 1. */
  readonly line: number | undefined;

  constructor(line: number | undefined) {
    super("The file can't be parsed.");
    this.line = line;
  }
}

/** Throws UnreadableFile. */
export function parseFile(name: string, text: string): unknown {
  try {
    if (name.endsWith(".toml")) return parseToml(text);
    return name.endsWith(".yaml") ? parseYaml(text) : parseJson(text);
  } catch (error) {
    throw new UnreadableFile(lineOf(error, text));
  }
}

/** Clients also allow comments and trailing commas. These become blanks, so that positions stay the same. */
function parseJson(text: string): unknown {
  const blank = (pattern: RegExp) => (content: string) =>
    content.replace(pattern, (part) => (part.startsWith('"') ? part : part.replace(/[^\n]/g, " ")));
  const withoutComments = blank(/"(?:\\.|[^"\\])*"|\/\/[^\n]*|\/\*[^]*?\*\//g)(text.replace(/^\uFEFF/, " "));
  const json = blank(/"(?:\\.|[^"\\])*"|,(?=\s*[}\]])/g)(withoutComments);
  return json.trim() === "" ? {} : JSON.parse(json);
}

function lineOf(error: unknown, text: string): number | undefined {
  if (error instanceof TomlError) return error.line;
  if (error instanceof YAMLException) return error.mark === undefined ? undefined : error.mark.line + 1;
  const message = String(error);
  // V8 names the position, or quotes about ten characters on each side of it.
  const quoted = /, (?:\.\.\.)?"([^]+)"(?:\.\.\.)? is not valid JSON$/.exec(message)?.[1] ?? "";
  const at = /at position (\d+)/.exec(message)?.[1] ?? text.indexOf(quoted) + Math.floor(quoted.length / 2);
  return message.includes("Unexpected end") ? undefined : text.slice(0, Number(at)).split("\n").length;
}
