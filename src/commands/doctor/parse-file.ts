// Parses a client's configuration file: JSON with comments, TOML or YAML. The parsers' messages quote the
// file, which may hold a key: show none of them. Pure.

import { load as parseYaml } from "js-yaml";
import { parse as parseToml } from "smol-toml";

/** Throws where the client could not read the file either. */
export function parseFile(name: string, text: string): unknown {
  if (name.endsWith(".toml")) return parseToml(text);
  return name.endsWith(".yaml") ? parseYaml(text) : parseJson(text);
}

/** Clients also allow comments and trailing commas. */
function parseJson(text: string): unknown {
  const withoutComments = text
    .replace(/^\uFEFF/, "")
    .replace(/"(?:\\.|[^"\\])*"|\/\/[^\n]*|\/\*[^]*?\*\//g, keepStrings);
  const json = withoutComments.replace(/"(?:\\.|[^"\\])*"|,(?=\s*[}\]])/g, keepStrings);
  return json.trim() === "" ? {} : JSON.parse(json);
}

function keepStrings(part: string): string {
  return part.startsWith('"') ? part : " ";
}
