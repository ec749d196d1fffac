// Reads one of a client's files as strictly as the client does, and says where a mistake is. Shows no value.

import { isUtf8 } from "node:buffer";
import { readFile, stat } from "node:fs/promises";
import { load as parseYaml, YAMLException } from "js-yaml";
import { type ParseError, parse as parseJson, type ParseOptions, printParseErrorCode } from "jsonc-parser";
import { parse as parseToml, TomlError } from "smol-toml";
import { errnoOf } from "../../errors.ts";
import type { ClientFormat } from "../client-formats.ts";

/** What is wrong with a file, after its path, and the fix, without a full stop. */
interface Fault {
  readonly problem: string;
  readonly fix: string;
  /** Absent if no client reads the file. */
  readonly kind?: keyof NonNullable<ClientFormat["reads"]>;
}

export interface ClientFile {
  readonly path: string;
  /** Undefined if the client can't read the file. */
  readonly document?: unknown;
  /** Why the client can't read it, or what it may not be able to read. */
  readonly faults: readonly Fault[];
}

/** Undefined if there is no such file. */
export async function readClientFile(path: string, format: ClientFormat): Promise<ClientFile | undefined> {
  const { title, reads = {} } = format;
  const refused = (problem: string, fix: string) => ({ path, faults: [{ problem, fix }] });
  let bytes: Buffer;
  try {
    // A pipe would never end.
    if (!(await stat(path)).isFile()) return refused("isn't a file", "Look at what is in its place");
    bytes = await readFile(path);
  } catch (error) {
    const code = errnoOf(error) ?? "unknown error";
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    return refused(`can't be read (${code})`, `Make it readable to you: ${title} can't read it either`);
  }
  // Windows PowerShell 5 writes UTF-16 with >. Its letters of ASCII have a zero byte.
  if (!isUtf8(bytes) || bytes.includes(0)) {
    const fix = "Open it in a text editor, and save it again as UTF-8";
    return refused(`is in UTF-16 or another encoding that ${title} can't read`, fix);
  }
  const { document, faults } = parse(path, bytes.toString(), reads);
  const fatal = faults.find(({ kind }) => kind === undefined || reads[kind] === false);
  if (fatal === undefined)
    return { path, document, faults: faults.filter(({ kind }) => kind && reads[kind] !== true) };
  const reader = fatal.kind === undefined ? "" : `, which ${title} can't read`;
  return refused(`${fatal.problem}${reader}`, fatal.fix);
}

interface Parsed {
  readonly document?: unknown;
  readonly faults: readonly Fault[];
}

function parse(path: string, written: string, reads: NonNullable<ClientFormat["reads"]>): Parsed {
  const text = written.replace(/^\uFEFF/, "");
  const mark: Fault = {
    kind: "byteOrderMark",
    problem: "begins with a byte order mark",
    fix: "Open it in a text editor, and save it as UTF-8 without a byte order mark (BOM)",
  };
  const marks = text === written ? [] : [mark];
  try {
    if (path.endsWith(".toml")) return { document: parseToml(text), faults: marks };
    if (path.endsWith(".yaml")) return { document: parseYaml(text), faults: marks };
    const { document, faults } = parseJsonFile(text, reads.missingCommas === true);
    return { document, faults: [...marks, ...faults] };
  } catch (error) {
    // The parsers call themselves for each level.
    if (error instanceof RangeError) {
      const fix = "Look for brackets that were repeated by mistake";
      return { faults: [{ problem: "is nested too deeply to be read", fix }] };
    }
    if (error instanceof TomlError) return { faults: [mistakeIn(`${error.line}, column ${error.column}`)] };
    if (!(error instanceof YAMLException)) throw error;
    const { line = 0, column = 0 } = error.mark ?? {};
    return { faults: [mistakeIn(`${line + 1}, column ${column + 1}`)] };
  }
}

function mistakeIn(place: string): Fault {
  return {
    problem: `has a mistake in line ${place}`,
    fix: `Look at line ${place}, and at what stands before it`,
  };
}

function parseJsonFile(text: string, mayLackCommas: boolean): Parsed {
  const read = (options: ParseOptions) => {
    const errors: ParseError[] = [];
    const document: unknown = parseJson(text, errors, { allowEmptyContent: true, ...options });
    const mistakes = errors.map(({ error, offset }) => ({ offset, code: printParseErrorCode(error) }));
    return { document, mistakes: mistakes.filter(({ code }) => !mayLackCommas || code !== "CommaExpected") };
  };
  const { document, mistakes } = read({ allowTrailingComma: true });
  if (mistakes[0] !== undefined) return { faults: [mistakeIn(placeIn(text, mistakes[0].offset))] };
  const extras = read({ disallowComments: true }).mistakes;
  const fault = (kind: "comments" | "trailingCommas", name: string, offset: number): Fault => {
    const place = placeIn(text, offset);
    return { kind, problem: `has a ${name} in line ${place}`, fix: `In line ${place}, remove the ${name}` };
  };
  const comment = extras.find(({ code }) => code === COMMENT);
  const bracket = extras.find(({ code }) => code !== COMMENT);
  // The parser names the bracket after the comma.
  const comma = bracket && text.lastIndexOf(",", bracket.offset);
  const faults = [
    comment && fault("comments", "comment", comment.offset),
    comma !== undefined && fault("trailingCommas", "comma before a closing bracket", comma),
  ];
  return { document, faults: faults.filter((each) => typeof each === "object") };
}

const COMMENT = "InvalidCommentToken";

/** "3, column 5", counted from 1. */
function placeIn(text: string, offset: number): string {
  const before = text.slice(0, offset).split("\n");
  return `${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}
