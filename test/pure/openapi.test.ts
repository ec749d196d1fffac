import * as fc from "fast-check";
import { expect, test } from "vitest";
import { DISCOVERED_NOTHING, readOpenApi } from "../../src/service/openapi.ts";

const BASE = new URL("https://api.example/prefix");

const query = (name: string, extra: object = {}) => ({ name, in: "query", ...extra });

/** A document with the video list and these parameters, and more paths if given. */
function documented(parameters: unknown, extra: object = {}, paths: object = {}): object {
  return {
    openapi: "3.1.0",
    paths: { "/api/v1/videos": { get: { parameters } }, ...paths },
    ...extra,
  };
}

const read = (document: unknown) => readOpenApi(document, BASE);
const LISTED = { get: { operationId: "list_connected_platforms" } };
const found = (paths: object, extra: object = {}) => read({ paths, ...extra }).platformsUrl?.href;
const at = (path: string) => `https://api.example/prefix${path}`;

test.each<[string, object[], string]>([
  ["the one beside limit, whatever its name", [query("limit"), query("from_ts")], "from_ts"],
  [
    "the one that describes nextCursor",
    [
      query("limit"),
      query("status"),
      query("sort"),
      query("before", { description: "The nextCursor of the page before" }),
    ],
    "before",
  ],
  ["cursor, if none of several is named so", [query("before"), query("page[cursor]")], "cursor"],
  ["cursor, if the other one isn't a query parameter", [{ name: "before", in: "header" }], "cursor"],
])("the paging parameter is %s", (_, parameters, name) => {
  expect(read(documented(parameters)).pagingParameter).toBe(name);
});

test("the paging parameter is found by reference", () => {
  const parameter = { $ref: "#/components/parameters/before" };
  const components = { components: { parameters: { before: query("before") } } };

  expect(read(documented([parameter], components)).pagingParameter).toBe("before");
});

test.each([
  ["to itself", { $ref: "#/components/parameters/a" }],
  ["to a property of every object", { $ref: "#/constructor/name" }],
])("the paging parameter is cursor if the reference to it leads %s", (_, reference) => {
  const components = { components: { parameters: { a: { $ref: "#/components/parameters/a" } } } };

  expect(read(documented([reference], components))).toEqual(DISCOVERED_NOTHING);
});

test("the paging parameter is that of the documented list only", () => {
  const taking = (name: string) => ({ get: { parameters: [query(name)] } });
  const paths = { "/api/v1/users/videos": taking("after"), "/api/v2/videos": taking("page_token") };

  expect(read({ paths }).pagingParameter).toBe("cursor");
  expect(read({ paths: { ...paths, "/api/v1/videos": taking("before") } }).pagingParameter).toBe("before");
  expect(
    read({ servers: [{ url: "/prefix/api/v1" }], paths: { "/videos": taking("before") } }).pagingParameter,
  ).toBe("before");
});

test.each<[object, object]>([
  [
    { minimum: 1, maximum: 50 },
    { min: 1, max: 50 },
  ],
  [{ anyOf: [{ type: "integer", maximum: 50 }, { type: "null" }] }, { max: 50 }],
  [{ type: "integer", default: 20 }, {}],
])("the bounds of limit of %j are %j", (schema, limit) => {
  expect(read(documented([query("limit", { schema })])).limit).toEqual(limit);
});

test("connected platforms are read by the GET operation with the tool's name", () => {
  expect(found({ "/api/v1/platforms": { get: {} }, "/api/v1/links": LISTED })).toBe(at("/api/v1/links"));
});

test.each([
  ["of another name", { "/api/v1/connected-platforms": { get: { operationId: "listConnectedPlatforms" } } }],
  ["of a POST", { "/api/v1/platforms": { post: LISTED.get } }],
  ["with a placeholder", { "/api/v1/users/{id}/platforms": LISTED }],
])("the path of the connected platforms is not one %s", (_, paths) => {
  expect(found(paths)).toBeUndefined();
});

test.each<[string, unknown, string | undefined]>([
  ["none", [], at("/platforms")],
  ["the root, which generators write", [{ url: "/" }], at("/platforms")],
  ["one relative to the document", [{ url: "../v9" }], at("/api/v9/platforms")],
  ["another origin", [{ url: "https://evil.example" }], undefined],
  [
    "another origin first",
    [{ url: "https://evil.example" }, { url: "/v9" }],
    "https://api.example/v9/platforms",
  ],
])("the path of the connected platforms follows the servers: %s", (_, servers, url) => {
  expect(found({ "/platforms": LISTED }, { servers })).toBe(url);
});

test("an OpenAPI document of any shape is read without an exception", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(read({ paths: value, servers: value })).toBeTypeOf("object");
      expect(read(documented(value))).toBeTypeOf("object");
    }),
    { seed: 1 },
  );
});
