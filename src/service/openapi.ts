// Reads what the service's OpenAPI document adds to its documentation: the paging parameter, the bounds of
// limit, and the path that lists the connected platforms. Guesses nothing: what it leaves out has a default.

import { MAX_LEVELS, valueAt } from "../value-at.ts";

export interface Discovery {
  /** Name of the request parameter that continues the video list. */
  readonly pagingParameter: string;
  readonly limit: { readonly min?: number; readonly max?: number };
  /** Lists the connected platforms, at the service's own origin. */
  readonly platformsUrl?: URL;
}

export const DISCOVERED_NOTHING: Discovery = { pagingParameter: "cursor", limit: {} };

type Json = Readonly<Record<string, unknown>>;

/** Reads a parsed OpenAPI document. Ignores what can't be understood, or leads to another origin. */
export function readOpenApi(document: unknown, baseUrl: URL): Discovery {
  const root = objectOf(document);
  const prefix = findPrefix(listOf(root["servers"]), baseUrl)?.replace(/\/$/, "");
  if (prefix === undefined) return DISCOVERED_NOTHING;
  const gets = Object.entries(objectOf(root["paths"])).map(
    ([path, item]) => [prefix + path, objectOf(objectOf(item)["get"])] as const,
  );
  const listPath = `${baseUrl.pathname.replace(/\/$/, "")}/api/v1/videos`;
  const [, list] = gets.find(([path]) => path === listPath) ?? [];
  const query = listOf(list?.["parameters"])
    .map((parameter) => resolve(root, parameter))
    .filter((parameter) => parameter["in"] === "query");
  const [pathname] =
    gets.find(([path, get]) => get["operationId"] === "list_connected_platforms" && !path.includes("{")) ??
    [];
  return {
    pagingParameter: findPagingParameter(query) ?? DISCOVERED_NOTHING.pagingParameter,
    limit: boundsOf(objectOf(query.find(({ name }) => name === "limit")?.["schema"])),
    ...(pathname !== undefined && { platformsUrl: Object.assign(new URL(baseUrl), { pathname }) }),
  };
}

/** The only parameter besides limit, or the one that describes nextCursor. */
function findPagingParameter(query: readonly Json[]): string | undefined {
  const others = query.filter(({ name }) => name !== "limit");
  const described = others.filter(({ description }) => String(description).includes("nextCursor"));
  const [only, ...more] = described.length > 0 ? described : others;
  const name = only?.["name"];
  return typeof name === "string" && more.length === 0 ? name : undefined;
}

/** The path that the document's paths are relative to; undefined if all its servers are at other origins. */
function findPrefix(servers: readonly unknown[], baseUrl: URL): string | undefined {
  const documentUrl = `${baseUrl.href.replace(/\/$/, "")}/api/v1/openapi.json`;
  const urls = servers.map((server) => String(objectOf(server)["url"]));
  const server = (urls.length === 0 ? ["/"] : urls)
    .filter((url) => URL.canParse(url, documentUrl))
    .map((url) => new URL(url, documentUrl))
    .find(({ origin }) => origin === baseUrl.origin);
  // Generators write "/" by default, so it means the base URL, including its prefix.
  return server?.pathname === "/" ? baseUrl.pathname : server?.pathname;
}

/** The bounds in the schema, or in one of its alternatives, as for a number that may be null. */
function boundsOf(schema: Json): Discovery["limit"] {
  const { minimum: min, maximum: max } = objectOf(Object.assign({}, schema, ...listOf(schema["anyOf"])));
  return { ...(typeof min === "number" && { min }), ...(typeof max === "number" && { max }) };
}

/** The object, or what its reference leads to within the document. */
export function resolve(root: Json, value: unknown): Json {
  const object = objectOf(value);
  const { $ref: reference } = object;
  if (typeof reference !== "string") return object;
  return objectOf(valueAt(root, ...reference.split("/").slice(1, MAX_LEVELS)));
}

/** The fields of an object; none for anything else. */
export function objectOf(value: unknown): Json {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
