// What the service's OpenAPI document adds to its written documentation: the paging parameter, the bounds of limit, a path that
// lists the connected platforms. None of it is required: without the document, or with a broken one, the defaults hold.

import * as z from "zod";

export interface Discovery {
  /** Name of the request parameter that continues the video list. */
  readonly pagingParameter: string;
  /** Whether the document names that parameter. */
  readonly pagingConfirmed: boolean;
  readonly limit: { readonly min?: number; readonly max?: number };
  /** Where the connected platforms are listed, at the service's own origin. */
  readonly platformsUrl?: URL;
}

export const DISCOVERED_NOTHING: Discovery = { pagingParameter: "cursor", pagingConfirmed: false, limit: {} };

const looseRecord = z.record(z.string(), z.unknown());
const serversSchema = z.array(z.looseObject({ url: z.string() }));
const parameterSchema = z.looseObject({
  name: z.string(),
  in: z.string(),
  description: z.string().optional(),
  schema: z.unknown().optional(),
});
/** A number since OpenAPI 3.1; before, a flag beside the inclusive bound. */
const exclusive = z.union([z.number(), z.boolean()]).optional();
const boundsSchema = z.looseObject({
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  exclusiveMinimum: exclusive,
  exclusiveMaximum: exclusive,
});

type Parameter = z.infer<typeof parameterSchema>;

/** Reads a parsed OpenAPI document. What can't be understood, or leads to another origin, is ignored. */
export function readOpenApi(document: unknown, baseUrl: URL): Discovery {
  const root = asRecord(document);
  const paths = asRecord(root?.["paths"]);
  if (root === undefined || paths === undefined) return DISCOVERED_NOTHING;
  const context: Context = { root, baseUrl };
  const gets = Object.entries(paths).flatMap(([path, item]) => {
    const pathItem = asRecord(resolve(context, item));
    const operation = asRecord(pathItem?.["get"]);
    if (pathItem === undefined || operation === undefined) return [];
    const url = operationUrl(context, path, pathItem, operation);
    return url === undefined ? [] : [{ path, pathItem, operation, url }];
  });

  const documented = join(baseUrl, "/api/v1/videos")?.href;
  const list =
    gets.find(({ url }) => url.href === documented) ??
    gets.find(({ path, url }) => url.pathname.endsWith("/videos") && !path.includes("{"));
  const query = list === undefined ? [] : queryParameters(context, list.pathItem, list.operation);
  const paging = pagingParameter(query);
  const platforms = gets
    .map((get) => ({ get, score: platformsScore(get.path, get.operation) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)[0]?.get.url;
  return {
    pagingParameter: paging ?? DISCOVERED_NOTHING.pagingParameter,
    pagingConfirmed: paging !== undefined,
    limit: limitBounds(context, query),
    ...(platforms !== undefined && { platformsUrl: platforms }),
  };
}

interface Context {
  readonly root: Record<string, unknown>;
  readonly baseUrl: URL;
}

function asRecord(value: unknown): Record<string, unknown> | undefined {
  const parsed = looseRecord.safeParse(value);
  return parsed.success ? parsed.data : undefined;
}

/** Follows references within the document. */
function resolve({ root }: Context, value: unknown): unknown {
  let current = value;
  for (let step = 0; step < 10; step++) {
    const reference = asRecord(current)?.["$ref"];
    if (typeof reference !== "string") return current;
    if (!reference.startsWith("#/")) return undefined;
    current = reference
      .slice(2)
      .split("/")
      .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
      .reduce<unknown>((node, part) => {
        const record = asRecord(node);
        return record !== undefined && Object.hasOwn(record, part) ? record[part] : undefined;
      }, root);
  }
  return undefined;
}

/** The operation's URL if it is at the service's origin. The most specific list of servers counts, as OpenAPI says. */
function operationUrl(
  { root, baseUrl }: Context,
  path: string,
  pathItem: Record<string, unknown>,
  operation: Record<string, unknown>,
): URL | undefined {
  if (!/^\/(?!\/)/.test(path) || path.includes("\\")) return undefined;
  const documentUrl = `${baseUrl.href.replace(/\/$/, "")}/api/v1/openapi.json`;
  const declared = [operation["servers"], pathItem["servers"], root["servers"]]
    .map((servers) => serversSchema.safeParse(servers).data ?? [])
    .find((servers) => servers.length > 0);
  if (declared === undefined) return join(baseUrl, path);
  for (const { url } of declared) {
    if (!URL.canParse(url, documentUrl)) continue;
    const server = new URL(url, documentUrl);
    // "/" is what generators write by default, so it stands for the base URL, prefix included.
    if (server.origin === baseUrl.origin) return join(server.pathname === "/" ? baseUrl : server, path);
  }
  return undefined;
}

function join(server: URL, path: string): URL | undefined {
  const joined = `${server.origin}${server.pathname.replace(/\/$/, "")}${path}`;
  const url = URL.canParse(joined) ? new URL(joined) : undefined;
  return url?.origin === server.origin ? url : undefined;
}

function queryParameters(
  context: Context,
  pathItem: Record<string, unknown>,
  operation: Record<string, unknown>,
): Parameter[] {
  return [operation["parameters"], pathItem["parameters"]]
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .map((item) => parameterSchema.safeParse(resolve(context, item)).data)
    .filter((parameter) => parameter !== undefined)
    .filter((parameter) => parameter.in === "query");
}

/** Parameters that bound, order or filter a list. */
const OTHER_PURPOSE =
  /^(limit|page[-_]?size|per[-_]?page|count|size|order|order[-_]?by|sort|sort[-_]?by|status|state|q|query|search|filter|fields|include|platform|language|style|topic)$/i;

const PAGING_NAMES =
  /^(next|page|paging|starting|start|ending|end)?[-_]?(cursor|before|after|token|page_?token|since|until|from|start|continue|continuation|marker|offset)([-_](token|id|at|time|timestamp|cursor|date))?$/i;

function pagingParameter(query: readonly Parameter[]): string | undefined {
  const others = query.filter(({ name }) => !OTHER_PURPOSE.test(name));
  const best =
    others.find(({ name }) => /cursor/i.test(name)) ??
    others.find(({ description }) => /cursor/i.test(description ?? "")) ??
    // The list is newest first, so of two bounds it is the upper one that continues it.
    others.find(({ name }) => /before$/i.test(name)) ??
    others.find(({ name }) => PAGING_NAMES.test(name)) ??
    others.find(({ description }) => /\b(next page|pagination|paging|continue)/i.test(description ?? "")) ??
    // A single candidate is a better guess than a name that the document does not have.
    (others.length === 1 ? others[0] : undefined);
  return best?.name;
}

function limitBounds(context: Context, query: readonly Parameter[]): { min?: number; max?: number } {
  const limit = query.find(({ name }) => name === "limit");
  const bounds = boundsSchema.safeParse(numberSchema(context, limit?.schema)).data;
  if (bounds === undefined) return {};
  const min = wholeBound(bounds.minimum, bounds.exclusiveMinimum, 1);
  const max = wholeBound(bounds.maximum, bounds.exclusiveMaximum, -1);
  if (min !== undefined && max !== undefined && min > max) return {};
  return { ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
}

/** The schema itself, or the number's part of one that allows a number or null. */
function numberSchema(context: Context, schema: unknown): unknown {
  const resolved = resolve(context, schema);
  const choices = asRecord(resolved)?.["anyOf"];
  if (!Array.isArray(choices)) return resolved;
  const [number, ...more] = choices
    .map((choice) => resolve(context, choice))
    .filter((choice) => asRecord(choice)?.["type"] !== "null");
  return more.length === 0 ? number : undefined;
}

/** limit is a whole number, so an exclusive bound is the inclusive one that is `step` away. */
function wholeBound(
  inclusive: number | undefined,
  exclusive: number | boolean | undefined,
  step: 1 | -1,
): number | undefined {
  if (typeof exclusive === "number") return exclusive + step;
  return inclusive !== undefined && exclusive === true ? inclusive + step : inclusive;
}

/** How likely a GET lists the connected platforms; 0 for not at all. */
function platformsScore(path: string, operation: Record<string, unknown>): number {
  if (path.includes("{")) return 0;
  const id = typeof operation["operationId"] === "string" ? operation["operationId"] : "";
  const last = path.split("/").at(-1) ?? "";
  if (/^list_?connected_?platforms$/i.test(id)) return 4;
  // Not "connect": a GET at such a path may begin to connect an account.
  const connected = /(?<!dis)connect(ed|ion)/i.test(path + id);
  if (connected && /platform/i.test(path)) return 3;
  if (/^platforms$/i.test(last)) return 2;
  if (connected && /(account|platform|channel|social)/i.test(path + id)) return 1;
  return 0;
}
