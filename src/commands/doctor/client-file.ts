// Reads one of a client's files as strictly as the client does, and says where a mistake is. Shows no value.

import { isUtf8 } from "node:buffer";
import { readFile, stat } from "node:fs/promises";
import { load as parseYaml, YAMLException } from "js-yaml";
import { type ParseError, parse as parseJson, type ParseOptions, printParseErrorCode } from "jsonc-parser";
import { parse as parseToml, TomlError } from "smol-toml";
import { errnoOf } from "../../errors.ts";
import type { ClientFormat } from "../client-formats.ts";

/** What is wrong with a file, as a clause, and the fix, without a full stop. */
export interface FileProblem {
  readonly problem: string;
  readonly fix: string;
}

export interface ClientFile {
  readonly path: string;
  readonly document: unknown;
  /** The faults that this client may not be able to read. */
  readonly doubts: readonly FileProblem[];
}

/** Undefined if there is no such file. */
export async function readClientFile(
  path: string,
  format: ClientFormat,
): Promise<ClientFile | FileProblem | undefined> {
  let bytes: Buffer;
  try {
    // A pipe would never end.
    if (!(await stat(path)).isFile())
      return { problem: `${path} isn't a file`, fix: `Look at what is in its place` };
    bytes = await readFile(path);
  } catch (error) {
    const code = errnoOf(error) ?? "unknown error";
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    const fix = `Make it readable to you: ${format.title} can't read it either`;
    return { problem: `${path} can't be read (${code})`, fix };
  }
  // Windows PowerShell 5 writes UTF-16 with >.
  const isUtf16 = /^(?:fffe|feff)/.test(bytes.toString("hex", 0, 2)) || bytes.subarray(0, 200).includes(0);
  const encoding = isUtf16 ? "UTF-16" : "another encoding than UTF-8";
  if (isUtf16 || !isUtf8(bytes))
    return {
      problem: `${path} is in ${encoding}, which ${format.title} can't read`,
      fix: "Open it in a text editor, and save it again as UTF-8",
    };
  return parseFile(path, bytes.toString(), format);
}

function parseFile(path: string, written: string, { title, reads = {} }: ClientFormat) {
  const text = written.replace(/^\uFEFF/, "");
  const mark: Extra = {
    kind: "byteOrderMark",
    problem: `${path} begins with a byte order mark`,
    fix: `Open it in a text editor, and save it as UTF-8 without a byte order mark (BOM)`,
  };
  const parsed = parse(path, text, reads.missingCommas === true);
  if ("problem" in parsed) return parsed;
  const extras = [...(text === written ? [] : [mark]), ...parsed.extras];
  const refused = extras.find(({ kind }) => reads[kind] === false);
  if (refused !== undefined)
    return { problem: `${refused.problem}, which ${title} can't read`, fix: refused.fix };
  return { path, document: parsed.document, doubts: extras.filter(({ kind }) => reads[kind] !== true) };
}

/** Syntax in a file that some clients read, and others don't. */
interface Extra extends FileProblem {
  readonly kind: keyof NonNullable<ClientFormat["reads"]>;
}

interface Parsed {
  readonly document: unknown;
  readonly extras: readonly Extra[];
}

function parse(path: string, text: string, mayLackCommas: boolean): Parsed | FileProblem {
  try {
    if (path.endsWith(".toml")) return { document: parseToml(text), extras: [] };
    if (path.endsWith(".yaml")) return { document: parseYaml(text), extras: [] };
    return parseJsonFile(path, text, mayLackCommas);
  } catch (error) {
    // The parsers call themselves for each level.
    if (error instanceof RangeError)
      return {
        problem: `${path} is nested too deeply to be read`,
        fix: "Look for brackets that were repeated by mistake",
      };
    if (error instanceof TomlError) return mistakeIn(path, `${error.line}, column ${error.column}`);
    if (!(error instanceof YAMLException)) throw error;
    const { line = 0, column = 0 } = error.mark ?? {};
    return mistakeIn(path, `${line + 1}, column ${column + 1}`);
  }
}

function mistakeIn(path: string, place: string): FileProblem {
  return {
    problem: `${path} has a mistake in line ${place}`,
    fix: `Look at line ${place}, and at what stands before it`,
  };
}

function parseJsonFile(path: string, text: string, mayLackCommas: boolean): Parsed | FileProblem {
  const read = (options: ParseOptions) => {
    const errors: ParseError[] = [];
    const document: unknown = parseJson(text, errors, { allowEmptyContent: true, ...options });
    const kinds = errors.map(({ error, offset }) => ({ offset, kind: printParseErrorCode(error) }));
    return { document, faults: kinds.filter(({ kind }) => !mayLackCommas || kind !== "CommaExpected") };
  };
  const { document, faults } = read({ allowTrailingComma: true });
  if (faults[0] !== undefined) return mistakeIn(path, placeIn(text, faults[0].offset));
  const strict = read({ disallowComments: true }).faults;
  const describe = (kind: Extra["kind"], name: string, what: string, offset: number | undefined) => {
    if (offset === undefined) return [];
    const place = placeIn(text, offset);
    return [
      { kind, problem: `${path} has ${what} in line ${place}`, fix: `In line ${place}, remove the ${name}` },
    ];
  };
  const comment = strict.find(({ kind }) => kind === COMMENT);
  // The parser names the bracket after the comma.
  const bracket = strict.find(({ kind }) => kind !== COMMENT);
  const comma = bracket && text.lastIndexOf(",", bracket.offset);
  return {
    document,
    extras: [
      ...describe("comments", "comment", "a comment", comment?.offset),
      ...describe("trailingCommas", "comma", "a comma before a closing bracket", comma),
    ],
  };
}

const COMMENT = "InvalidCommentToken";

/** "3, column 5", counted from 1. */
function placeIn(text: string, offset: number): string {
  const before = text.slice(0, offset).split("\n");
  return `${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}
