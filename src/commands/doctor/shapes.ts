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
import type { ParsedResponse, ServiceResponse } from "../../service/responses.ts";
import { valueAt } from "../../value-at.ts";
import { VERSION } from "../../version.ts";
import { type Field, formOf, HIDDEN, type IsPublicName, shapeOf } from "./shape.ts";

const ANSWER_MS = 20_000;

/** The fields that the documentation names. A list's elements have one path. */
const DOCUMENTED = {
  videos: ["videos", "videos[].jobId", "videos[].status", "videos[].finalVideoUrl", "nextCursor"],
  status: ["status", "videoUrls", "audioUrl", "progress.total", "progress.completed", "progress.failed"],
  error: ["error.code", "error.message"],
};
const RATE_LIMIT_HEADERS = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];

/** The names of the service's documentation. */
const DOCUMENTED_NAMES: ReadonlySet<string> = new Set([
  ...DOCUMENTED_FIELDS,
  ...Object.values(DOCUMENTED).flatMap((paths) => paths.flatMap((path) => path.split(/[.[\]]+/))),
  ...STATES.keys(),
  "out_of_credits",
  // The parts of its paths.
  ..."api v1 mcp openapi.json generate status publish videos".split(" "),
]);

/** Lists by their titles. What isn't as documented comes first. */
type Findings = Readonly<Record<string, readonly string[]>>;

/** The form of one answer. */
export interface AnswerShape {
  /** The request, or what was asked for. */
  readonly request: string;
  /** "HTTP 200, application/json", or why there is none. */
  readonly answer: string;
  readonly form?: Findings;
}

export interface Shapes {
  readonly version: string;
  readonly node: string;
  readonly answers: readonly AnswerShape[];
}

/** Sends GETs, and the call of a tool that only reads to the MCP endpoint. Never throws for an answer. */
export async function readShapes(config: ServiceConfig, clock: Clock, nodeVersion: string): Promise<Shapes> {
  const requests = await RequestSender.open({ clock, random: Math.random, config });
  const ask = (operation: Operation, url: URL): Promise<ParsedResponse | string> =>
    requests
      .request(operation, { url }, (answer) => answer, { deadlineMs: ANSWER_MS })
      .catch(describeFailure);
  const answers: AnswerShape[] = [];
  try {
    const document = await ask(OPERATIONS.readOpenApi, requests.address("/api/v1/openapi.json"));
    const json = typeof document === "string" ? undefined : jsonOf(document);
    const names = namesIn(json);
    const isPublic = (name: string) => DOCUMENTED_NAMES.has(name) || names.has(name);
    const operations = json === undefined ? [] : describeOperations(json, isPublic);
    answers.push(describe("GET /api/v1/openapi.json", document, isPublic, undefined, operations));

    const list = await ask(OPERATIONS.listVideos, requests.address("/api/v1/videos"));
    answers.push(describe("GET /api/v1/videos", list, isPublic, DOCUMENTED.videos));
    const jobId = typeof list === "string" ? undefined : newestJobIn(list.json);
    const status =
      jobId === undefined
        ? "not asked for, as the list names no job"
        : await ask(OPERATIONS.getJob, requests.address(`/api/v1/status/${encodeURIComponent(jobId)}`));
    answers.push(describe("GET /api/v1/status/{jobId}", status, isPublic, DOCUMENTED.status));

    const { platformsUrl } = readOpenApi(json, requests.address(""));
    const operation = OPERATIONS.listConnectedPlatforms;
    if (platformsUrl !== undefined) {
      const request = "GET of list_connected_platforms in the OpenAPI document";
      answers.push(describe(request, await ask(operation, platformsUrl), isPublic, []));
    } else {
      const endsMs = clock.monotonicMs() + ANSWER_MS;
      const leftMs = () => Math.max(1, endsMs - clock.monotonicMs());
      const platforms = await listThroughMcp(operation, requests, leftMs).catch(describeFailure);
      const found =
        typeof platforms === "string"
          ? { answer: platforms }
          : { answer: "a list", form: fieldsOf(platforms, isPublic) };
      answers.push({ request: "list_connected_platforms at /api/mcp", ...found });
    }
  } finally {
    requests.close();
  }
  return { version: VERSION, node: nodeVersion, answers };
}

/** Describes a failure without naming a host. */
function describeFailure(error: unknown): string {
  const { code, status } = toBridgeError(error, "unknown").facts;
  return `no usable answer: ${code}${status === undefined ? "" : `, HTTP ${status}`}`;
}

/** `operations`: a line for each that the answer describes, in place of its fields. */
function describe(
  request: string,
  answer: ServiceResponse | string,
  isPublic: IsPublicName,
  documented: readonly string[] | undefined,
  operations: readonly string[] = [],
): AnswerShape {
  if (typeof answer === "string") return { request, answer };
  const { status, headers } = answer;
  const json = jsonOf(answer);
  const type = /^[a-z]+\/[a-z.+-]+/.exec(String(headers["content-type"] ?? ""))?.[0] ?? "without a type";
  const expected = status >= 400 ? DOCUMENTED.error : documented;
  const hasFields = json !== undefined && expected !== undefined;
  const others = Object.keys(headers).filter((name) => !RATE_LIMIT_HEADERS.includes(name));
  return {
    request,
    answer: `HTTP ${status}, ${type}${json === undefined ? ", not JSON" : ""}`,
    form: {
      ...(hasFields && { ...fieldsOf(json, isPublic, expected), words: wordsIn(json, isPublic) }),
      operations,
      "rate limit headers": RATE_LIMIT_HEADERS.flatMap((name) =>
        headers[name] === undefined ? [] : [`${name} (${formOf(headers[name]).replace(/^text, /, "")})`],
      ),
      "rate limit headers that are not there": RATE_LIMIT_HEADERS.filter(
        (name) => headers[name] === undefined,
      ),
      "other headers": others.sort(),
    },
  };
}

function fieldsOf(json: unknown, isPublic: IsPublicName, documented: readonly string[] = []): Findings {
  const fields = shapeOf(json, isPublic).filter(({ path }) => path !== "");
  // A field that holds a documented one is documented, too, and so are the elements of its list.
  const isDocumented = ({ path }: Field) =>
    documented.some((one) => `${one}[]`.startsWith(path) && !/\w/.test(one.charAt(path.length)));
  const show = ({ path, forms }: Field) => `${path}: ${forms.join(" or ")}`;
  return {
    "documented, but not there": documented.filter((one) => fields.every(({ path }) => path !== one)),
    "not documented": fields.filter((field) => !isDocumented(field)).map(show),
    documented: fields.filter(isDocumented).map(show),
  };
}

function jsonOf({ text }: ServiceResponse): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function newestJobIn(json: unknown): string | undefined {
  const { videos } = objectOf(json);
  const ids = Array.isArray(videos) ? videos.map((video) => objectOf(video)["jobId"]) : [];
  return ids.filter((id) => typeof id === "string").find((id) => id !== "");
}

/** A status is one of a few words of the service's own, not a value of the account's. */
const STATUS = /^[a-z]+(?:[ _-][a-z]+){0,3}$/i;

/** The statuses of jobs, and the code of an error if it stands in a document. */
function wordsIn(json: unknown, isPublic: IsPublicName): readonly string[] {
  const { status, videos, error } = objectOf(json);
  const items: readonly unknown[] = Array.isArray(videos) ? videos.slice(0, 100) : [];
  const show = (kind: string, value: unknown, isShown: IsPublicName) => {
    if (value === undefined) return [];
    const word = typeof value === "string" && value.length <= 40 && isShown(value) ? value : formOf(value);
    return [`${kind} ${word}${typeof value === "string" && isPublic(value) ? "" : " (not documented)"}`];
  };
  const statuses = [status, ...items.map((video) => objectOf(video)["status"])].flatMap((word) =>
    show("status", word, (text) => STATUS.test(text)),
  );
  return [...new Set([...statuses, ...show("code", objectOf(error)["code"], isPublic)])];
}

/** The names of fields, parameters and choices in the document, which is the same for everybody. */
function namesIn(document: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (value: unknown, depth: number): void => {
    if (depth > 20 || typeof value !== "object" || value === null || names.size > 2_000) return;
    const { properties, name, in: place, enum: choices } = objectOf(value);
    if (Array.isArray(choices)) for (const choice of choices) names.add(String(choice));
    for (const property of Object.keys(objectOf(properties))) names.add(property);
    if (typeof name === "string" && place !== undefined) names.add(name);
    for (const [field, part] of Object.entries<unknown>({ ...value }))
      if (!/^examples?$|^default$/.test(field)) visit(part, depth + 1);
  };
  visit(document, 0);
  // A name with digits may be an id.
  return new Set([...names].filter((name) => /^[A-Za-z_][A-Za-z_-]{0,39}$/.test(name)));
}

/** One line for each operation: its parameters, the fields of its body and its statuses. */
function describeOperations(document: unknown, isPublic: IsPublicName): readonly string[] {
  const root = objectOf(document);
  const operations = Object.entries(objectOf(root["paths"])).flatMap(([path, item]) =>
    Object.entries(objectOf(item))
      .filter(([method]) => /^(?:get|post|put|patch|delete)$/.test(method))
      .map(([method, operation]) => ({ method, path, item: objectOf(item), operation: objectOf(operation) })),
  );
  return operations.slice(0, 50).map(({ method, path, item, operation }) => {
    const listed = [item, operation].map((each): unknown => each["parameters"]).filter(Array.isArray);
    const named = listed.flat().map((parameter: unknown) => String(resolve(root, parameter)["name"]));
    const schema = valueAt(resolve(root, operation["requestBody"]), "content", "application/json", "schema");
    const body = Object.keys(objectOf(resolve(root, schema)["properties"]));
    const shown = [...named, ...body].map((name) => (isPublic(name) ? name : HIDDEN));
    const statuses = Object.keys(objectOf(operation["responses"])).filter((status) =>
      /^(?:\dXX|\d{3}|default)$/i.test(status),
    );
    return [
      `${method.toUpperCase()} ${showPath(path, isPublic)}`,
      ...(shown.length > 0 ? [`takes ${shown.join(", ")}`] : []),
      ...(statuses.length > 0 ? [`answers ${statuses.join(", ")}`] : []),
    ].join("; ");
  });
}

function showPath(path: string, isPublic: IsPublicName): string {
  const isShown = (segment: string) => isPublic(segment.replace(/^\{(.*)\}$/, "$1"));
  return path
    .split("/")
    .map((segment) => (segment === "" || isShown(segment) ? segment : HIDDEN))
    .join("/");
}

/** The report for people: first what isn't as documented, then the rest. */
export function formatShapes({ version, node, answers }: Shapes): string {
  return [
    "The form of the service's free answers. It has no value, id or link, so it can be reported in public.",
    `faceless-video-mcp ${version}, Node.js ${node}`,
    ...answers.flatMap((answer) => ["", ...formatAnswer(answer)]),
  ].join("\n");
}

const IN_LINES = ["not documented", "documented", "operations"];

function formatAnswer({ request, answer, form = {} }: AnswerShape): string[] {
  const found = Object.entries(form).filter(([, list]) => list.length > 0);
  const lines = found.flatMap(([title, list]) =>
    IN_LINES.includes(title)
      ? [`  ${title}:`, ...list.map((line) => `    ${line}`)]
      : [`  ${title}: ${list.join(", ")}`],
  );
  return [`${request}: ${answer}`, ...lines];
}
