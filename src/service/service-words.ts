// Finds the service's words in a failed answer: the documented error envelope, which may decide what
// happened, and the forms of frameworks and gateways, which are only shown. Pure.

import type { ServiceMessage } from "../errors.ts";
import { cleanServiceText } from "../text.ts";
import type { ParsedResponse } from "./responses.ts";

const MAX_CODE = 60;
/** Deeper than any framework nests its errors. */
const MAX_DEPTH = 5;
/** More than any framework lists before it says something. */
const MAX_VALUES = 300;
/** Fields with a text, a list or an object of texts, in lower case. The first one that has a text wins. */
const TEXT_FIELDS: readonly string[] = [
  "message", // Laravel, Express, Echo, Kong, AWS
  "detail", // FastAPI, Django, problem+json
  "error_description", // OAuth
  "error", // Rails, Spring, Gin
  "errors", // Rails, JSON:API, ASP.NET, GraphQL
  "title", // problem+json
  "msg", // an item of FastAPI's detail
  "defaultmessage", // an item of Spring's errors
];
/** The argument that an item of a list of errors is about. */
const ARGUMENT_FIELDS = ["field", "loc", "path", "param"] as const;

/** The documented `{ error: { code, message } }`, cleaned; undefined for any other body. */
export function readEnvelope(json: unknown): ServiceMessage | undefined {
  const error = fieldsOf(fieldsOf(json).get("error"));
  const [code, message] = [error.get("code"), error.get("message")];
  const words = {
    // Some write it as a number.
    code: typeof code === "number" || typeof code === "string" ? cleaned(String(code), MAX_CODE) : undefined,
    message: typeof message === "string" ? cleaned(message) : undefined,
  };
  return words.code === undefined && typeof message !== "string" ? undefined : words;
}

/** The documented code, and the words of an answer in any form, cleaned. They decide nothing. */
export function readWords({ json, page, status }: Partial<ParsedResponse>): ServiceMessage | undefined {
  const envelope = readEnvelope(json);
  const code = envelope?.code === String(status) ? undefined : envelope?.code;
  const message = envelope?.message ?? cleaned(firstText(json) ?? page ?? "");
  return code === undefined && message === undefined ? undefined : { code, message };
}

/** The first text that says what is wrong. Gives up after MAX_VALUES values. */
function firstText(json: unknown): string | undefined {
  let valuesLeft = MAX_VALUES;
  /** `within` is the name of the field that has the value. */
  const find = (value: unknown, within: string, depth: number): string | undefined => {
    valuesLeft -= 1;
    if (valuesLeft < 0) return undefined;
    if (typeof value === "string") return value.trim() === "" ? undefined : value;
    if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return undefined;
    if (Array.isArray(value)) return firstOf(value, (item) => find(item, within, depth + 1));
    const fields = fieldsOf(value);
    const named = firstOf(TEXT_FIELDS, (name) => find(fields.get(name), name, depth + 1));
    if (named !== undefined) return withArgument(fields, named);
    // Rails, ASP.NET and Django name each argument, and list what is wrong with it.
    return firstOf(Object.entries<unknown>({ ...value }), ([name, problems]) => {
      const isProblem = Array.isArray(problems) || within === "errors";
      if (!isProblem || TEXT_FIELDS.includes(name.toLowerCase())) return undefined;
      const text = find(problems, name, depth + 1);
      return text && `${name}: ${text}`;
    });
  };
  return find(json, "", 0);
}

function withArgument(fields: Fields, text: string): string {
  const argument = firstOf(ARGUMENT_FIELDS, (name) => {
    const value = fields.get(name);
    const last: unknown = Array.isArray(value) ? value.at(-1) : value;
    return typeof last === "string" && /^[\w.-]{1,60}$/.test(last) ? last : undefined;
  });
  return argument === undefined ? text : `${argument}: ${text}`;
}

function cleaned(text: string, limit?: number): string | undefined {
  return cleanServiceText(text, limit) || undefined;
}

type Fields = ReadonlyMap<string, unknown>;

/** The fields by their names in lower case: AWS writes "Message". */
function fieldsOf(value: unknown): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return new Map();
  return new Map(Object.entries(value).map(([name, field]) => [name.toLowerCase(), field]));
}

function firstOf<Item, Found>(
  items: readonly Item[],
  find: (item: Item) => Found | undefined,
): Found | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
