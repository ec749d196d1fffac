// Reads what the service's OpenAPI document adds to its documentation: the paging parameter, the bounds of
// limit, and the path that lists the connected platforms. Guesses nothing: if it is silent, defaults hold.

export interface Discovery {
  /** Name of the request parameter that continues the video list. */
  readonly pagingParameter: string;
  readonly limit: { readonly min?: number; readonly max?: number };
  /** Lists the connected platforms, at the service's own origin. */
  readonly platformsUrl?: URL;
}

export const DISCOVERED_NOTHING: Discovery = { pagingParameter: "cursor", limit: {} };

type Json = Readonly<Record<string, unknown>>;

/** Reads a parsed OpenAPI document. Ignores whatever can't be understood, or leads to another origin. */
export function readOpenApi(document: unknown, baseUrl: URL): Discovery {
  const root = objectOf(document);
  const basePath = baseUrl.pathname.replace(/\/$/, "");
  const prefix = findPrefix(root, baseUrl)?.replace(/\/$/, "");
  if (prefix === undefined) return DISCOVERED_NOTHING;
  const gets = Object.entries(objectOf(root["paths"])).map(([path, value]) => {
    const item = objectOf(value);
    return { path, item, get: objectOf(item["get"]) };
  });
  const list = gets.find(({ path }) => prefix + path === `${basePath}/api/v1/videos`);
  const query = [list?.get, list?.item]
    .flatMap((owner) => listOf(owner?.["parameters"]))
    .map((parameter) => resolve(root, parameter))
    .filter((parameter) => parameter["in"] === "query");
  const platforms = gets.find(
    ({ path, get }) => get["operationId"] === "list_connected_platforms" && /^\/[^{]*$/.test(path),
  );
  const platformsUrl = new URL(baseUrl);
  platformsUrl.pathname = prefix + platforms?.path;
  return {
    pagingParameter: findPagingParameter(query) ?? DISCOVERED_NOTHING.pagingParameter,
    limit: limitBounds(root, query.find(({ name }) => name === "limit")?.["schema"]),
    ...(platforms !== undefined && { platformsUrl }),
  };
}

/** The one parameter beside limit, or the one that describes nextCursor. */
function findPagingParameter(query: readonly Json[]): string | undefined {
  const others = query.filter(({ name }) => name !== "limit");
  const described = others.filter(({ description }) => String(description).includes("nextCursor"));
  const [only, ...more] = described.length > 0 ? described : others;
  const name = only?.["name"];
  return typeof name === "string" && more.length === 0 ? name : undefined;
}

/** The path below which the document's paths are; undefined if all its servers are at other origins. */
function findPrefix(root: Json, baseUrl: URL): string | undefined {
  const servers = listOf(root["servers"]);
  if (servers.length === 0) return baseUrl.pathname;
  const documentUrl = `${baseUrl.href.replace(/\/$/, "")}/api/v1/openapi.json`;
  const server = servers
    .map((entry) => objectOf(entry)["url"])
    .filter((url) => typeof url === "string")
    .filter((url) => URL.canParse(url, documentUrl))
    .map((url) => new URL(url, documentUrl))
    .find(({ origin }) => origin === baseUrl.origin);
  // Generators write "/" by default, so it stands for the base URL, prefix included.
  return server?.pathname === "/" ? baseUrl.pathname : server?.pathname;
}

/** The bounds of the schema, or of the number among its choices (if null is allowed too). */
function limitBounds(root: Json, schema: unknown): Discovery["limit"] {
  const own = resolve(root, schema);
  const choices = listOf(own["anyOf"]).map((choice) => resolve(root, choice));
  const { minimum: min, maximum: max } = choices.find(({ type }) => type === "integer") ?? own;
  return { ...(typeof min === "number" && { min }), ...(typeof max === "number" && { max }) };
}

/** The object, or what its reference leads to within the document. */
function resolve(root: Json, value: unknown): Json {
  const object = objectOf(value);
  const reference = object["$ref"];
  if (typeof reference !== "string") return object;
  const names = reference.split("/").slice(1);
  return objectOf(names.reduce<unknown>((target, name) => objectOf(target)[name], root));
}

function objectOf(value: unknown): Json {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
