import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
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
const taking = (name: string) => ({ get: { parameters: [query(name)] } });
const found = (paths: object, extra: object = {}) => read(documented([], extra, paths)).platformsUrl?.href;
const at = (path: string) => `https://api.example/prefix${path}`;

describe("the paging parameter", () => {
  test.each<[string, object[], string]>([
    ["cursor", [query("limit"), query("cursor")], "cursor"],
    ["a name with cursor in it", [query("before"), query("page[cursor]")], "page[cursor]"],
    ["before", [query("limit"), query("before")], "before"],
    ["before rather than a lower bound", [query("since"), query("before")], "before"],
    ["created_before", [query("since"), query("created_before")], "created_before"],
    ["starting_after", [query("order"), query("starting_after")], "starting_after"],
    ["page_token", [query("status"), query("page_token")], "page_token"],
    ["nextToken", [query("nextToken")], "nextToken"],
    [
      "what its description calls so",
      [query("before_filter"), query("t", { description: "The `nextCursor` of the page before." })],
      "t",
    ],
    ["next_cursor in a description", [query("t", { description: "next_cursor of the last answer" })], "t"],
    ["the only candidate beside limit, whatever its name", [query("limit"), query("from_ts")], "from_ts"],
    ["the only candidate beside filters", [query("search"), query("xyz"), query("status")], "xyz"],
    ["what continues the list", [query("q"), query("p", { description: "Where to continue." })], "p"],
  ])("is found as %s", (_, parameters, name) => {
    expect(read(documented(parameters))).toEqual({ pagingParameter: name, pagingConfirmed: true, limit: {} });
  });

  test.each<[string, object[]]>([
    ["limits and sort orders alone", [query("limit"), query("sort"), query("pageSize"), query("status")]],
    ["a cursor in a header", [{ name: "cursor", in: "header" }]],
    ["two candidates that say nothing", [query("limit"), query("from_ts"), query("to_ts")]],
    ["filters", [query("topic"), query("style"), query("search")]],
    ["parameters without a name", [{ in: "query" }, { name: 4, in: "query" }]],
  ])("is cursor if the document has %s", (_, parameters) => {
    expect(read(documented(parameters))).toEqual(DISCOVERED_NOTHING);
  });

  test("is found through a reference, and at the path instead of the operation", () => {
    const parameter = { $ref: "#/components/parameters/a~1b" };
    const components = { components: { parameters: { "a/b": query("before") } } };
    const document = {
      paths: { "/api/v1/videos": { parameters: [parameter], get: {} } },
      ...components,
    };

    expect(read(document)).toMatchObject({ pagingParameter: "before" });
    expect(read(documented([parameter], components))).toMatchObject({ pagingParameter: "before" });
  });

  test("is found in a path item that is a reference", () => {
    const document = {
      paths: { "/api/v1/videos": { $ref: "#/components/pathItems/videos" } },
      components: { pathItems: { videos: { get: { parameters: [query("before")] } } } },
    };

    expect(read(document)).toMatchObject({ pagingParameter: "before" });
  });

  test.each([
    ["to itself", { $ref: "#/components/parameters/a" }],
    ["into nothing", { $ref: "#/components/parameters/none" }],
    ["out of the document", { $ref: "https://evil.example/parameters.json" }],
    ["to a property of every object", { $ref: "#/constructor/name" }],
  ])("is not looked for through a reference that leads %s", (_, reference) => {
    const components = { components: { parameters: { a: { $ref: "#/components/parameters/a" } } } };

    expect(read(documented([reference], components))).toEqual(DISCOVERED_NOTHING);
  });

  test("is that of the documented list only", () => {
    const document = {
      paths: {
        "/api/v1/users/{id}/videos": taking("after"),
        "/api/v2/videos": taking("page_token"),
        "/api/v1/videos": taking("before"),
      },
    };

    expect(read(document)).toMatchObject({ pagingParameter: "before" });
  });
});

describe("the bounds of limit", () => {
  test.each<[object, object]>([
    [
      { minimum: 1, maximum: 50 },
      { min: 1, max: 50 },
    ],
    [{ maximum: 50 }, { max: 50 }],
    [
      { exclusiveMinimum: 0, exclusiveMaximum: 51 },
      { min: 1, max: 50 },
    ],
    [
      { minimum: 0, exclusiveMinimum: true, maximum: 50, exclusiveMaximum: false },
      { min: 1, max: 50 },
    ],
    [{ anyOf: [{ type: "integer", maximum: 50 }, { type: "null" }] }, { max: 50 }],
    [{ anyOf: [{ maximum: 50 }, { maximum: 60 }] }, {}],
    [{ $ref: "#/components/schemas/limit" }, { min: 2, max: 9 }],
    [{ minimum: 9, maximum: 2 }, {}],
    [{ minimum: "1" }, {}],
    [{ type: "integer", default: 20 }, {}],
  ])("of %j are %j", (schema, limit) => {
    const components = { components: { schemas: { limit: { minimum: 2, maximum: 9 } } } };

    expect(read(documented([query("limit", { schema })], components)).limit).toEqual(limit);
  });
});

describe("the path of the connected platforms", () => {
  test.each([
    ["/api/v1/platforms"],
    ["/api/v1/connected-platforms"],
    ["/api/v1/platforms/connected"],
    ["/api/v1/accounts/connected"],
    ["/api/v1/social/connections"],
  ])("is %s", (path) => {
    expect(found({ [path]: { get: {} } })).toBe(at(path));
  });

  test("is preferably a path whose operation has the tool's name", () => {
    const paths = {
      "/api/v1/platforms": { get: {} },
      "/api/v1/links": { get: { operationId: "listConnectedPlatforms" } },
      "/api/v1/platforms/connected": { get: {} },
    };

    expect(found(paths)).toBe(at("/api/v1/links"));
  });

  test.each([
    ["a POST", { "/api/v1/platforms": { post: {} } }],
    ["a path with a placeholder", { "/api/v1/platforms/{id}/connected": { get: {} } }],
    ["what begins to connect an account", { "/api/v1/platforms/connect": { get: {} } }],
    ["what ends a connection", { "/api/v1/platforms/disconnected": { get: {} } }],
    ["anything else", { "/api/v1/accounts": { get: {} } }],
    ["a path without a slash", { "api/v1/platforms": { get: {} } }],
    ["a path that is a host", { "//evil.example/platforms": { get: {} } }],
    ["a path that is a whole URL", { "https://evil.example/platforms": { get: {} } }],
    ["a path with a backslash", { "/\\evil.example/platforms": { get: {} } }],
  ])("is not %s", (_, paths) => {
    expect(found(paths)).toBeUndefined();
  });

  test.each<[string, unknown, string | undefined]>([
    ["none", [], at("/platforms")],
    ["the root, which generators write", [{ url: "/" }], at("/platforms")],
    ["the origin's root", [{ url: "https://api.example" }], at("/platforms")],
    ["an absolute one", [{ url: "https://api.example/v9/" }], "https://api.example/v9/platforms"],
    ["a path", [{ url: "/v9" }], "https://api.example/v9/platforms"],
    ["one relative to the document", [{ url: "../v9" }], at("/api/v9/platforms")],
    ["one with user info", [{ url: "https://a:b@api.example/v9" }], "https://api.example/v9/platforms"],
    ["another origin", [{ url: "https://evil.example" }], undefined],
    ["another port", [{ url: "https://api.example:8443" }], undefined],
    ["another scheme", [{ url: "http://api.example" }], undefined],
    ["a look-alike", [{ url: "https://api.example.evil.example" }], undefined],
    ["a template", [{ url: "https://{host}/v9" }], undefined],
    [
      "another origin first",
      [{ url: "https://evil.example" }, { url: "/v9" }],
      "https://api.example/v9/platforms",
    ],
  ])("follows the servers: %s", (_, servers, url) => {
    expect(found({ "/platforms": { get: {} } }, { servers })).toBe(url);
    expect(found({ "/platforms": { servers, get: {} } })).toBe(url);
    expect(found({ "/platforms": { get: { servers } } })).toBe(url);
  });

  test("follows the servers nearest to the operation", () => {
    const paths = {
      "/platforms": { servers: [{ url: "/path" }], get: { servers: [{ url: "/operation" }] } },
    };

    expect(found(paths, { servers: [{ url: "/root" }] })).toBe("https://api.example/operation/platforms");
  });
});

describe("a document", () => {
  test.each([
    ["null", null],
    ["a list", []],
    ["a text", "openapi"],
    ["empty", {}],
    ["without usable paths", { paths: [] }],
    ["with a path that is nothing", { paths: { "/api/v1/videos": null } }],
    ["with parameters that are no list", documented("cursor")],
  ])("that is %s discovers nothing", (_, document) => {
    expect(read(document)).toEqual(DISCOVERED_NOTHING);
  });

  test("of any shape leads only to the service's origin", () => {
    const text = fc.oneof(
      fc.string(),
      fc.webUrl(),
      fc.constantFrom(
        "/",
        "//evil.example",
        "https:evil.example",
        "/\t/evil",
        "\\\\evil",
        "@evil.example",
        "#/paths",
      ),
    );
    const servers = fc.array(fc.record({ url: text }), { maxLength: 3 });
    const operation = fc.record({ operationId: fc.constant("list_connected_platforms"), servers });
    const document = fc.record({
      servers,
      paths: fc.dictionary(text, fc.record({ servers, get: operation }), { maxKeys: 4 }),
    });

    fc.assert(
      fc.property(document, (value) => {
        const { origin, username, password } = read(value).platformsUrl ?? BASE;
        expect({ origin, username, password }).toEqual({ origin: BASE.origin, username: "", password: "" });
      }),
      { seed: 1, numRuns: 1_000 },
    );
  });

  test("of any shape is read without an exception", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(read(value).pagingParameter).toBe("cursor");
        expect(read({ paths: value, servers: value })).toBeTypeOf("object");
        expect(read(documented(value))).toBeTypeOf("object");
      }),
      { seed: 1 },
    );
  });
});
