// Finds the service's words in a failed answer: the documented error envelope, which may decide what
// happened, and the forms of frameworks and gateways, which are only shown. Pure.

import type { ServiceMessage } from "../errors.ts";
import { cleanServiceText } from "../text.ts";
import type { ParsedResponse } from "./responses.ts";

const MAX_CODE_CHARS = 60;
/** Fields with a text, a list or an object of texts, in lower case. The first one that has a text wins. */
const TEXT_FIELDS: readonly string[] = [
  "message", // Laravel, Express, Echo, Kong, AWS
  "detail", // FastAPI, Django, problem+json
  "error_description", // OAuth
  "error", // Rails, Spring, Gin
  "errors", // Rails, JSON:API, ASP.NET, GraphQL
  "title", // problem+json
  "reason",
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
    code: ["number", "string"].includes(typeof code) ? cleaned(String(code), MAX_CODE_CHARS) : undefined,
    message: typeof message === "string" ? cleaned(message) : undefined,
  };
  return words.code === undefined && typeof message !== "string" ? undefined : words;
}

/** The documented code, and the words of an answer in any form, cleaned. They decide nothing. */
export function readWords({ json, page, status }: Partial<ParsedResponse>): ServiceMessage | undefined {
  const envelope = readEnvelope(json);
  const code = envelope?.code === String(status) ? undefined : envelope?.code;
  const message = envelope?.message ?? cleaned(reasonIn(json) ?? page ?? "");
  return code === undefined && message === undefined ? undefined : { code, message };
}

/** Why something failed, in the service's words, wherever its answer or a part of it has them. */
export function reasonIn(json: unknown): string | undefined {
  const [first] = textsIn(json, "");
  return first;
}

/** The texts that say what is wrong, the most telling one first. `within` is the field that has the value. */
function* textsIn(value: unknown, within: string): Generator<string> {
  if (typeof value === "string" && value.trim() !== "") yield value;
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) yield* textsIn(item, within);
    return;
  }
  const fields = fieldsOf(value);
  const argument = ARGUMENT_FIELDS.map((name) => [fields.get(name)].flat().at(-1)).find(
    (name): name is string => typeof name === "string" && /^[\w.-]{1,60}$/.test(name),
  );
  for (const name of TEXT_FIELDS)
    for (const text of textsIn(fields.get(name), name))
      yield argument === undefined ? text : `${argument}: ${text}`;
  // Rails, ASP.NET and Django name each argument, and list what is wrong with it.
  for (const [name, problems] of Object.entries(value))
    if (!TEXT_FIELDS.includes(name.toLowerCase()) && (Array.isArray(problems) || within === "errors"))
      for (const text of textsIn(problems, name)) yield `${name}: ${text}`;
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
