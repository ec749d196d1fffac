// Asks the service for all that is free and shows the form of its answers, so that it can be reported in
// public: what differs from the documentation is then known without the account. Shows no value, id or link.

import type { Clock } from "../../clock.ts";
import type { ServiceConfig } from "../../config.ts";
import { toBridgeError } from "../../errors.ts";
import { OPERATIONS } from "../../service/client.ts";
import { listThroughMcp } from "../../service/connected-platforms.ts";
import type { Operation } from "../../service/errors.ts";
import { DOCUMENTED_FIELDS } from "../../service/fields.ts";
import { STATES } from "../../service/job.ts";
import { objectOf, readOpenApi, resolve } from "../../service/openapi.ts";
import { RequestSender } from "../../service/request-sender.ts";
import type { ServiceResponse } from "../../service/responses.ts";
import { parseJson, valueAt } from "../../value-at.ts";
import { VERSION } from "../../version.ts";

const ANSWER_MS = 20_000;

/** The fields that the documentation names. A list's elements have one path. */
const DOCUMENTED = {
  videos: ["videos", "videos[].jobId", "videos[].status", "videos[].finalVideoUrl", "nextCursor"],
  status: ["status", "videoUrls", "audioUrl", "progress.total", "progress.completed", "progress.failed"],
  error: ["error.code", "error.message"],
};

/** The names of the service's documentation. */
const DOCUMENTED_NAMES: readonly string[] = [
  ...DOCUMENTED_FIELDS,
  ...Object.values(DOCUMENTED).flatMap((paths) => paths.flatMap((path) => path.split(/[.[\]]+/))),
  ...STATES.keys(),
  "out_of_credits",
  // The parts of its paths.
  ..."api v1 mcp openapi.json generate status publish videos".split(" "),
];

/** True for names in the service's documentation. Other names may be ids, accounts or titles. */
type IsPublic = (name: string) => boolean;

/** The form of one answer. */
interface AnswerShape {
  /** The request, or what was asked for. */
  readonly request: string;
  /** "HTTP 200, application/json", or why there is none. */
  readonly answer: string;
  /** Lists by their titles. What isn't as documented comes first. */
  readonly form?: Readonly<Record<string, readonly string[]>>;
}

/** Sends GETs, and the call of a tool that only reads to the MCP endpoint. Never throws for an answer. */
export async function readShapes(config: ServiceConfig, clock: Clock, nodeVersion: string) {
  const requests = await RequestSender.open({ clock, random: Math.random, config });
  const get = (operation: Operation, url: URL): Promise<ServiceResponse | string> =>
    requests
      .request(operation, { url }, (answer) => answer, { deadlineMs: ANSWER_MS })
      .catch(describeFailure);
  try {
    const document = await get(OPERATIONS.readOpenApi, requests.address("/api/v1/openapi.json"));
    const openApi = jsonOf(document);
    const names = new Set([...DOCUMENTED_NAMES, ...namesIn(openApi)]);
    const isPublic = (name: string) => names.has(name);

    const list = await get(OPERATIONS.listVideos, requests.address("/api/v1/videos"));
    const jobId = valueAt(jsonOf(list), "videos", "0", "jobId");
    const status =
      typeof jobId === "string"
        ? await get(OPERATIONS.getJob, requests.address(`/api/v1/status/${encodeURIComponent(jobId)}`))
        : "not asked for, as the list names no job";

    const operation = OPERATIONS.listConnectedPlatforms;
    const { platformsUrl } = readOpenApi(openApi, requests.address(""));
    const endsMs = clock.monotonicMs() + ANSWER_MS;
    const leftMs = () => Math.max(1, endsMs - clock.monotonicMs());
    const platforms =
      platformsUrl === undefined
        ? await listThroughMcp(operation, requests, leftMs).catch(describeFailure)
        : await get(operation, platformsUrl);
    const source = platformsUrl === undefined ? "at /api/mcp" : "by the OpenAPI document";
    const answers = [
      describeAnswer("GET /api/v1/openapi.json", document, isPublic),
      describeAnswer("GET /api/v1/videos", list, isPublic, DOCUMENTED.videos),
      describeAnswer("GET /api/v1/status/{jobId}", status, isPublic, DOCUMENTED.status),
      describeAnswer(`list_connected_platforms ${source}`, platforms, isPublic, []),
    ];
    return { version: VERSION, node: nodeVersion, answers };
  } finally {
    requests.close();
  }
}

/** Describes a failure without naming a host. */
function describeFailure(error: unknown): string {
  const { code, status } = toBridgeError(error, "unknown").facts;
  return `no usable answer: ${code}${status === undefined ? "" : `, HTTP ${status}`}`;
}

/** `documented`: the paths of its fields. Undefined for the OpenAPI document, whose operations are shown. */
function describeAnswer(
  request: string,
  answer: ServiceResponse | string | readonly object[],
  isPublic: IsPublic,
  documented?: readonly string[],
): AnswerShape {
  if (typeof answer === "string") return { request, answer };
  if (!("status" in answer)) return { request, answer: "a list", form: fieldsOf(answer, isPublic, []) };
  const { status, headers } = answer;
  const json = jsonOf(answer);
  const type = /^[a-z]+\/[a-z.+-]+/.exec(String(headers["content-type"] ?? ""))?.[0] ?? "without a type";
  const expected = status >= 400 ? DOCUMENTED.error : documented;
  const shown = Object.entries(headers).map(([name, value]) =>
    name.startsWith("x-ratelimit-") ? `${name} (${formOf(value)})` : name,
  );
  return {
    request,
    answer: `HTTP ${status}, ${type}${json === undefined ? ", not JSON" : ""}`,
    form: {
      ...(json !== undefined && expected !== undefined && fieldsOf(json, isPublic, expected)),
      operations: documented === undefined ? describeOperations(json, isPublic) : [],
      headers: shown.sort(),
    },
  };
}

function fieldsOf(json: unknown, isPublic: IsPublic, documented: readonly string[]) {
  const fields = shapeOf(json, isPublic);
  // A field that holds a documented one is documented, too, and so are the elements of its list.
  const isDocumented = (path: string) =>
    documented.some((one) => `${one}[]`.startsWith(path) && !/\w/.test(one.charAt(path.length)));
  const show = (paths: readonly string[]) =>
    paths.map((path) => `${path}: ${[...(fields.get(path) ?? [])].sort().join(" or ")}`);
  const paths = [...fields.keys()].filter((path) => path !== "");
  return {
    "documented, but not there": documented.filter((one) => !fields.has(one)),
    "not documented": show(paths.filter((path) => !isDocumented(path))),
    documented: show(paths.filter(isDocumented)),
  };
}

function jsonOf(answer: ServiceResponse | string): unknown {
  return typeof answer === "string" ? undefined : parseJson(answer.text);
}

/** The limits of levels, fields, elements and names that are read. */
const MAX = { depth: 8, fields: 200, elements: 100, hiddenNames: 30 } as const;
/** Stands for any name that isn't shown. */
const HIDDEN = "{…}";

/**
 * The forms of each field of a value, by its path, such as `videos[].jobId`. `{1}` is one name that isn't shown,
 * in each place.
 */
function shapeOf(value: unknown, isPublic: IsPublic): ReadonlyMap<string, ReadonlySet<string>> {
  const forms = new Map<string, Set<string>>();
  const hidden = new Map<string, string>();
  const show = (name: string) => {
    if (isPublic(name)) return name;
    if (!hidden.has(name) && hidden.size < MAX.hiddenNames) hidden.set(name, `{${hidden.size + 1}}`);
    return hidden.get(name) ?? HIDDEN;
  };
  const visit = (at: unknown, path: string, depth: number) => {
    const known = forms.get(path) ?? new Set();
    if (!forms.has(path) && forms.size >= MAX.fields) return;
    forms.set(path, known.add(isWord(at, path, isPublic) ? JSON.stringify(at) : formOf(at)));
    if (depth >= MAX.depth || typeof at !== "object" || at === null) return;
    if (Array.isArray(at)) {
      for (const element of at.slice(0, MAX.elements)) visit(element, `${path}[]`, depth + 1);
      return;
    }
    for (const [name, field] of Object.entries<unknown>({ ...at }).slice(0, MAX.fields))
      visit(field, [path, show(name)].filter(Boolean).join("."), depth + 1);
  };
  visit(value, "", 0);
  return forms;
}

/** True for a status, one of a few words of the service's own, and for an error's code in a document. */
function isWord(value: unknown, path: string, isPublic: IsPublic): boolean {
  if (typeof value !== "string" || value.length > 40) return false;
  if (path === "error.code") return isPublic(value);
  return /^(?:videos\[\]\.)?status$/.test(path) && /^[a-z]+(?:[ _-][a-z]+){0,3}$/i.test(value);
}

/** The form of a value, and nothing that distinguishes it from another value of this form. */
function formOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return value.length === 0 ? "empty list" : "list";
  if (typeof value === "number")
    return Number.isInteger(value) ? integerForm(String(Math.abs(value))) : "number";
  if (typeof value !== "string") return typeof value;
  if (value === "") return "empty text";
  const [, form = "text"] = TEXT_FORMS.find(([pattern]) => pattern.test(value)) ?? [];
  return /^\d+$/.test(value) ? `text, ${integerForm(value)}` : form;
}

/** Keeps the number of digits, which distinguishes seconds, milliseconds and times. */
function integerForm(digits: string): string {
  return digits.length >= 9 ? `integer of ${digits.length} digits` : "integer";
}

const TEXT_FORMS: readonly (readonly [RegExp, string])[] = [
  [/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/, "UUID"],
  [/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i, "UUID in capitals"],
  [/^\d{4}-\d\d-\d\dT[\d:.]+Z$/, "time in UTC"],
  [/^\d{4}-\d\d-\d\d[T ][\d:.]+(?:[+-][\d:]+)?$/, "time"],
  [/^\d{4}-\d\d-\d\d$/, "date"],
  [/^https:\/\/\S+$/i, "https link"],
  [/^http:\/\/\S+$/i, "http link"],
  [/^\/\S*$/, "path"],
  [/^[a-z][a-z\d+.-]*:\S+$/i, "another URI"],
  [/^[a-z]+$/, "word"],
  [/^\S+$/, "text without blanks"],
];

/** The names of fields, parameters and choices in the OpenAPI document, which is the same for everybody. */
function namesIn(document: unknown): readonly string[] {
  const visit = (value: unknown, depth: number): readonly unknown[] => {
    if (depth > 20 || typeof value !== "object" || value === null) return [];
    const { properties, name, in: place, enum: choices } = objectOf(value);
    return [
      ...Object.values(objectOf(choices)),
      ...Object.keys(objectOf(properties)),
      ...(place === undefined ? [] : [name]),
      ...Object.entries<unknown>({ ...value }).flatMap(([field, part]) =>
        /^examples?$|^default$/.test(field) ? [] : visit(part, depth + 1),
      ),
    ];
  };
  // A name with digits may be an id.
  return visit(document, 0)
    .filter((name) => typeof name === "string")
    .filter((name) => /^[A-Za-z_][A-Za-z_-]{0,39}$/.test(name));
}

/** One line for each operation of the OpenAPI document: parameters, fields of the body and statuses. */
function describeOperations(document: unknown, isPublic: IsPublic): readonly string[] {
  const root = objectOf(document);
  const operations = Object.entries(objectOf(root["paths"])).flatMap(([path, item]) =>
    Object.entries(objectOf(item))
      .filter(([method]) => /^(?:get|post|put|patch|delete)$/.test(method))
      .map(([method, operation]) => ({ method, path, item: objectOf(item), operation: objectOf(operation) })),
  );
  const show = (name: string) => (name === "" || isPublic(name.replace(/^\{(.*)\}$/, "$1")) ? name : HIDDEN);
  return operations.slice(0, 50).map(({ method, path, item, operation }) => {
    const listed = [item, operation].map((each): unknown => each["parameters"]).filter(Array.isArray);
    const named = listed.flat().map((parameter: unknown) => String(resolve(root, parameter)["name"]));
    const schema = valueAt(resolve(root, operation["requestBody"]), "content", "application/json", "schema");
    const taken = [...named, ...Object.keys(objectOf(resolve(root, schema)["properties"]))];
    const statuses = Object.keys(objectOf(operation["responses"])).filter((status) =>
      /^(?:\dXX|\d{3}|default)$/i.test(status),
    );
    return [
      `${method.toUpperCase()} ${path.split("/").map(show).join("/")}`,
      ...(taken.length > 0 ? [`takes ${taken.map(show).join(", ")}`] : []),
      ...(statuses.length > 0 ? [`answers ${statuses.join(", ")}`] : []),
    ].join("; ");
  });
}

/** The report for people: first what isn't as documented, then the rest. */
export function formatShapes({ version, node, answers }: Awaited<ReturnType<typeof readShapes>>): string {
  const formatList = ([title, list]: readonly [string, readonly string[]]) =>
    ["not documented", "documented", "operations"].includes(title)
      ? [`  ${title}:`, ...list.map((line) => `    ${line}`)]
      : [`  ${title}: ${list.join(", ")}`];
  return [
    "The form of the service's free answers. It has no value, id or link, so it can be reported in public.",
    `faceless-video-mcp ${version}, Node.js ${node}`,
    ...answers.flatMap(({ request, answer, form = {} }) => [
      "",
      `${request}: ${answer}`,
      ...Object.entries(form)
        .filter(([, list]) => list.length > 0)
        .flatMap(formatList),
    ]),
  ].join("\n");
}
