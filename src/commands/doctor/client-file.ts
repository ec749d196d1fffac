// Reads one of a client's files as strictly as the client does, and says where a mistake is. Shows no value.

import { readFile, stat } from "node:fs/promises";
import { load as parseYaml, YAMLException } from "js-yaml";
import { type ParseError, parse as parseJson, printParseErrorCode } from "jsonc-parser";
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
  const encoding = encodingOf(bytes);
  if (encoding !== undefined)
    return {
      problem: `${path} is in ${encoding}, which ${format.title} can't read`,
      fix: "Open it in a text editor, and save it again as UTF-8",
    };
  return parseFile(path, bytes.toString("utf8"), format);
}

/** Finds what isn't UTF-8. Windows PowerShell 5 writes UTF-16 with >. */
function encodingOf(bytes: Buffer): string | undefined {
  const isUtf16 = /^(?:fffe|feff)/.test(bytes.toString("hex", 0, 2)) || bytes.subarray(0, 200).includes(0);
  if (isUtf16) return "UTF-16";
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return undefined;
  } catch {
    return "another encoding than UTF-8";
  }
}

function parseFile(path: string, written: string, format: ClientFormat): ClientFile | FileProblem {
  const { title, reads = {} } = format;
  const hasMark = written.startsWith("\uFEFF");
  const text = hasMark ? written.slice(1) : written;
  const mark: FileProblem = {
    problem: `${path} begins with a byte order mark`,
    fix: `Open it in a text editor, and save it as UTF-8 without a byte order mark (BOM)`,
  };
  if (hasMark && reads.byteOrderMark === false)
    return { ...mark, problem: `${mark.problem}, which ${title} can't read` };
  const doubts = hasMark && reads.byteOrderMark === undefined ? [mark] : [];
  try {
    if (path.endsWith(".toml")) return { path, document: parseToml(text), doubts };
    if (path.endsWith(".yaml")) return { path, document: parseYaml(text), doubts };
    return parseJsonFile(path, text, format, doubts);
  } catch (error) {
    // The parsers call themselves for each level.
    if (error instanceof RangeError)
      return {
        problem: `${path} is nested too deeply to be read`,
        fix: "Look for brackets that were repeated by mistake",
      };
    const place = placeOfError(error);
    if (place === undefined) throw error;
    return mistakeIn(path, place);
  }
}

function mistakeIn(path: string, place: string): FileProblem {
  return {
    problem: `${path} has a mistake in line ${place}`,
    fix: `Look at line ${place}, and at what stands before it`,
  };
}

/** "3, column 5", or undefined if the error isn't a parser's. */
function placeOfError(error: unknown): string | undefined {
  if (error instanceof TomlError) return `${error.line}, column ${error.column}`;
  if (!(error instanceof YAMLException)) return undefined;
  const { line = 0, column = 0 } = error.mark ?? {};
  return `${line + 1}, column ${column + 1}`;
}

function parseJsonFile(
  path: string,
  text: string,
  { title, reads = {} }: ClientFormat,
  doubts: readonly FileProblem[],
): ClientFile | FileProblem {
  const errors: ParseError[] = [];
  const document: unknown = parseJson(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const isRead = (each: ParseError) => reads.missingCommas === true && kindOf(each) === "CommaExpected";
  const error = errors.find((each) => !isRead(each));
  if (error !== undefined) return mistakeIn(path, placeIn(text, error.offset));
  const strict: ParseError[] = [];
  parseJson(text, strict, { disallowComments: true, allowEmptyContent: true });
  const kinds = strict
    .filter((each) => !isRead(each))
    .map(({ error: code, offset }) => ({ offset, isComment: printParseErrorCode(code) === COMMENT }));
  const extras = [
    { isComment: true, what: "a comment", isAllowed: reads.comments },
    { isComment: false, what: "a comma before a closing bracket", isAllowed: reads.trailingCommas },
  ];
  const described = extras.flatMap(({ isComment, what, isAllowed }) => {
    const at = kinds.find((each) => each.isComment === isComment);
    if (at === undefined || isAllowed === true) return [];
    // The parser names the bracket after the comma.
    const place = placeIn(text, isComment ? at.offset : text.lastIndexOf(",", at.offset));
    const refuses = isAllowed === false ? `, which ${title} can't read` : "";
    const problem = `${path} has ${what} in line ${place}${refuses}`;
    return [{ isAllowed, problem, fix: `In line ${place}, remove the ${isComment ? "comment" : "comma"}` }];
  });
  const refused = described.find(({ isAllowed }) => isAllowed === false);
  if (refused !== undefined) return { problem: refused.problem, fix: refused.fix };
  const unsure = described.map(({ problem, fix }) => ({ problem, fix }));
  return { path, document, doubts: [...doubts, ...unsure] };
}

const COMMENT = "InvalidCommentToken";

function kindOf({ error }: ParseError): string {
  return printParseErrorCode(error);
}

/** "3, column 5", counted from 1. */
function placeIn(text: string, offset: number): string {
  const before = text.slice(0, offset).split("\n");
  return `${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}
