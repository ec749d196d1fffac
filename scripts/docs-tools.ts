// The reference of the tools, and what can be chosen for a video, from the tools' own schemas and the catalog.

import type { ErrorCode } from "../src/errors.ts";
import { type Field, TOOL_SCHEMAS } from "../src/tools/tool-schemas.ts";
import { PROMPTS } from "../src/prompts/catalog.ts";
import { FIELDS } from "../src/service/fields.ts";
import { CATALOG_VOICES, DURATION, EXAMPLE_LANGUAGES } from "../src/service/options.ts";
import { textFor } from "../src/sentences.ts";
import { TOOLS } from "../src/tools/catalog.ts";
import type { Tool } from "../src/tools/tool.ts";
import { table } from "./markdown.ts";

const ANY_CALL: readonly string[] = ["reads", "spends", "publishes"];
const PAID_OR_PUBLIC: readonly string[] = ["spends", "publishes"];

/** The calls that can end with each error, by the effect or the name of the tool. */
const CALLS: Readonly<Record<ErrorCode, readonly string[]>> = {
  invalid_input: TOOLS.filter(({ name }) => Object.keys(argumentsOf(name)).length > 0).map(
    ({ name }) => name,
  ),
  not_configured: ANY_CALL,
  check_order: ["generate_video"],
  limit_reached: ["generate_video"],
  duplicate: PAID_OR_PUBLIC,
  in_progress: PAID_OR_PUBLIC,
  not_ready: ["publish_video"],
  not_connected: ["publish_video"],
  journal_unreadable: PAID_OR_PUBLIC,
  journal_unwritable: PAID_OR_PUBLIC,
  declined: PAID_OR_PUBLIC,
  unauthorized: ANY_CALL,
  out_of_credits: ANY_CALL,
  not_found: ANY_CALL,
  rate_limited: ANY_CALL,
  refused: ANY_CALL,
  service_failed: ANY_CALL,
  redirected: ANY_CALL,
  bad_answer: ANY_CALL,
  timeout: ANY_CALL,
  network: ANY_CALL,
  paging_loop: ["list_videos"],
  cancelled: ANY_CALL,
  internal: ANY_CALL,
};

const ARGUMENTS: Readonly<Record<string, string>> = {
  topic:
    "All that is spoken and, in [brackets] after each line, what is shown ([an example](TOPICS.md)). In the schema, models read here how to write one",
  pacing: "How fast it is spoken",
};

export function toolReference(): string {
  return TOOLS.map(toolSection).join("\n\n");
}

function toolSection(tool: Tool): string {
  const { name, title, description } = tool;
  const schemas = TOOL_SCHEMAS[name];
  const output: Field = schemas?.output ?? {};
  return `## \`${name}\`

**${title}.** ${textFor("model", description)}

${argumentsTable(schemas?.input ?? {})}

${table(
  ["result", "type", "meaning"],
  Object.entries(output.properties ?? {}).map(([field, schema]) => [
    `\`${field}\`${output.required?.includes(field) === true ? "" : "?"}`,
    typeOf(schema),
    meaningOf(field),
  ]),
)}

Errors: ${errorsOf(tool)
    .map((code) => `\`${code}\``)
    .join(", ")}.`;
}

function meaningOf(field: string): string {
  const { meaning } = new Map<string, { readonly meaning: string }>(Object.entries(FIELDS)).get(field) ?? {};
  if (meaning === undefined) throw new Error(`Say in src/service/fields.ts what ${field} means.`);
  return meaning;
}

function argumentsTable({ properties = {}, required = [] }: Field): string {
  const rows = Object.entries(properties).map(([name, field]) => [
    `\`${name}\`${required.includes(name) ? "" : "?"}`,
    boundsOf(field),
    field.default === undefined ? "" : `\`${String(field.default)}\``,
    ARGUMENTS[name] ?? field.description ?? "",
  ]);
  return rows.length === 0
    ? "It takes no arguments."
    : table(["argument", "value", "default", "meaning"], rows);
}

function boundsOf(field: Field): string {
  if (field.enum) return field.enum.map((value) => `\`${value}\``).join(", ");
  const { minimum, maximum } = field;
  return minimum !== undefined && maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER
    ? `${typeOf(field)}, ${minimum} to ${maximum}`
    : typeOf(field);
}

function typeOf({ type = "any", items }: Field): string {
  return type === "array" ? `list of ${typeOf(items ?? {})}s` : type;
}

function errorsOf({ name, effect }: Tool): string[] {
  return Object.entries(CALLS).flatMap(([code, calls]) =>
    calls.includes(name) || calls.includes(effect) ? [code] : [],
  );
}

export function toolsTable(): string {
  return table(
    ["tool", "what it does"],
    TOOLS.map(({ name, description }) => [`\`${name}\``, firstSentence(textFor("model", description))]),
  );
}

function firstSentence(text: string): string {
  return /^.*?\.(?= |$)/.exec(text)?.[0].replace(/\.$/, "") ?? text;
}

/** A user's choices for a video. */
export function choicesTable(): string {
  const rows = Object.entries(argumentsOf("generate_video"))
    .filter(([, field]) => field.default !== undefined)
    .map(([name, field]) => [
      CHOICE_NAMES[name] ?? inWords(name),
      CHOICE_VALUES[name] ?? field.enum?.join(", ") ?? boundsOf(field),
      String(field.default),
    ]);
  return table(["you choose", "from", "if you say nothing"], rows);
}

/** An argument's name as words: "Aspect ratio" for aspectRatio. */
function inWords(name: string): string {
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.replace(/^./, (letter) => letter.toUpperCase());
}

const CHOICE_NAMES: Readonly<Record<string, string>> = { duration: "Seconds" };
/** In place of the schema's. */
const CHOICE_VALUES: Readonly<Record<string, string>> = {
  duration: `${DURATION.min} to ${DURATION.max}`,
  language: `any, by its name or code (such as ${EXAMPLE_LANGUAGES.join(", ")})`,
  voice: `${CATALOG_VOICES.join(", ")}, a native voice of the language, or your own cloned one`,
};

function argumentsOf(tool: string): NonNullable<Field["properties"]> {
  return TOOL_SCHEMAS[tool]?.input.properties ?? {};
}

export function promptsList(): string {
  return PROMPTS.map(({ name, description }) => `- \`${name}\`: ${description}`).join("\n");
}
