// Reads what the service's OpenAPI document adds to its documentation: the paging parameter, the bounds of
// limit, and the path that lists the connected platforms. Guesses nothing: where it is silent, defaults hold.

export interface Discovery {
  /** Name of the request parameter that continues the video list. */
  readonly pagingParameter: string;
  readonly limit: { readonly min?: number; readonly max?: number };
  /** Lists the connected platforms, at the service's own origin. */
  readonly platformsUrl?: URL;
}

export const DISCOVERED_NOTHING: Discovery = { pagingParameter: "cursor", limit: {} };

/** The URL of a server is read once for each path. */
const MAX_URL_CHARACTERS = 2_000;

type Json = Readonly<Record<string, unknown>>;

const NOTHING: Json = Object.freeze({});

/** Reads a parsed OpenAPI document. What can't be understood, or leads to another origin, is ignored. */
export function readOpenApi(document: unknown, baseUrl: URL): Discovery {
  const root = objectOf(document);
  const prefix = findPrefix(listOf(root["servers"]), baseUrl);
  if (prefix === undefined) return DISCOVERED_NOTHING;
  const gets = Object.entries(objectOf(root["paths"])).map(([path, value]) => {
    const item = objectOf(value);
    return { path, item, get: objectOf(item["get"]) };
  });
  const listUrl = urlBelow(baseUrl, baseUrl.pathname, "/api/v1/videos").href;
  const list = gets
    .filter(({ path }) => path.startsWith("/") && path.endsWith("/videos"))
    .find(({ path }) => urlBelow(baseUrl, prefix, path).href === listUrl);
  const query = [list?.get, list?.item]
    .flatMap((owner) => listOf(owner?.["parameters"]))
    .map((parameter) => resolve(root, parameter))
    .filter((parameter) => parameter["in"] === "query");
  const others = query.filter(({ name }) => name !== "limit");
  const isDescribed = ({ description }: Json) => String(description).includes("nextCursor");
  const platforms = gets.find(
    ({ path, get }) => get["operationId"] === "list_connected_platforms" && /^\/[^{]*$/.test(path),
  );
  return {
    pagingParameter:
      onlyName(others.filter(isDescribed)) ?? onlyName(others) ?? DISCOVERED_NOTHING.pagingParameter,
    limit: limitBounds(root, query.find(({ name }) => name === "limit")?.["schema"]),
    ...(platforms !== undefined && { platformsUrl: urlBelow(baseUrl, prefix, platforms.path) }),
  };
}

/** The name that all these parameters have. */
function onlyName(parameters: readonly Json[]): string | undefined {
  const [name, ...others] = new Set(parameters.map((parameter) => parameter["name"]));
  return typeof name === "string" && others.length === 0 ? name : undefined;
}

/** Returns the object itself, as copies for all references would take minutes; empty for anything else. */
function objectOf(value: unknown): Json {
  return isObject(value) ? value : NOTHING;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The object, or what its reference leads to within the document. */
function resolve(root: Json, value: unknown): Json {
  const object = objectOf(value);
  const reference = object["$ref"];
  if (typeof reference !== "string") return object;
  const names = reference.split("/").slice(1);
  return objectOf(
    names.reduce<unknown>((target, name) => {
      const object = objectOf(target);
      return Object.hasOwn(object, name) ? object[name] : undefined;
    }, root),
  );
}

/** The path below which the document's paths are; undefined if all its servers are at other origins. */
function findPrefix(servers: readonly unknown[], baseUrl: URL): string | undefined {
  if (servers.length === 0) return baseUrl.pathname;
  const documentUrl = urlBelow(baseUrl, baseUrl.pathname, "/api/v1/openapi.json").href;
  const server = servers
    .map((entry) => objectOf(entry)["url"])
    .filter((url) => typeof url === "string")
    .filter((url) => url.length <= MAX_URL_CHARACTERS && URL.canParse(url, documentUrl))
    .map((url) => new URL(url, documentUrl))
    .find(({ origin }) => origin === baseUrl.origin);
  // Generators write "/" by default, so it stands for the base URL, prefix included.
  return server?.pathname === "/" ? baseUrl.pathname : server?.pathname;
}

/** Stays at the same origin, whatever the prefix and the path are. */
function urlBelow(baseUrl: URL, prefix: string, path: string): URL {
  const url = new URL(baseUrl);
  url.pathname = prefix.replace(/\/$/, "") + path;
  return url;
}

/** The bounds of the schema, or of the number among its choices (where null is allowed too). */
function limitBounds(root: Json, schema: unknown): Discovery["limit"] {
  const own = resolve(root, schema);
  const choices = listOf(own["anyOf"]).map((choice) => resolve(root, choice));
  const { minimum: min, maximum: max } =
    choices.find(({ type }) => type === "integer" || type === "number") ?? own;
  // No list has a smaller maximum: the service would refuse what obeys it.
  if (typeof max === "number" && (max < 1 || (typeof min === "number" && min > max))) return {};
  return { ...(typeof min === "number" && { min }), ...(typeof max === "number" && { max }) };
}
