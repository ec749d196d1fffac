import { expect, test } from "vitest";
import { DOCUMENT, KEY, VIDEOS } from "../fixtures/constants.ts";
import { type Reply, scriptedService } from "../fixtures/scripted-service.ts";
import { bridge, failureOf } from "./bridge.ts";

const EMPTY: Reply = { json: { videos: [] } };

const limit = { name: "limit", in: "query", schema: { type: "integer", minimum: 1, maximum: 50 } };
const before = { name: "before", in: "query" };
const bounds = (schema: object): Reply => ({
  json: { paths: { "/api/v1/videos": { get: { parameters: [{ ...limit, schema }] } } } },
});

function documented(extra: object = {}): Reply {
  return {
    json: {
      openapi: "3.1.0",
      paths: { "/api/v1/videos": { get: { parameters: [limit, before] } } },
      ...extra,
    },
  };
}

test("the document is read once, when it is first needed", async () => {
  const { service, rest } = await bridge({ [DOCUMENT]: documented(), [VIDEOS]: EMPTY });

  await service.listVideos({});
  await service.listVideos({ cursor: "a" });
  await service.listVideos({ limit: 50, cursor: "b" });

  expect(rest.lines()).toEqual([VIDEOS, DOCUMENT, `${VIDEOS}?before=a`, `${VIDEOS}?limit=50&before=b`]);
});

test.each<[object, number, number]>([
  [{ minimum: 1, maximum: 50 }, 0, 1],
  [{ minimum: 1, maximum: 50 }, 51, 50],
])("with the bounds %j a limit of %i is sent as %i", async (schema, asked, sent) => {
  const { service, rest } = await bridge({ [DOCUMENT]: bounds(schema), [VIDEOS]: EMPTY });
  await service.listVideos({ limit: asked });

  expect(rest.lines(VIDEOS)).toEqual([`${VIDEOS}?limit=${sent}`]);
});

test.each<[string, Reply]>([
  ["cut off", { body: '{"paths":{"/api' }],
  ["redirected", { status: 301, headers: { location: "https://docs.example/openapi.json" } }],
  ["nested without end", { body: `{"paths":${"[".repeat(200_000)}${"]".repeat(200_000)}}` }],
])("an OpenAPI document that is %s is replaced by defaults", async (_, reply) => {
  const { service, rest } = await bridge({ [DOCUMENT]: reply, [VIDEOS]: EMPTY });

  expect(await service.listVideos({ limit: 500, cursor: "a" })).toEqual({ videos: [] });
  await service.listVideos({ limit: 500, cursor: "b" });

  expect(rest.lines(VIDEOS)).toEqual([`${VIDEOS}?limit=500&cursor=a`, `${VIDEOS}?limit=500&cursor=b`]);
  expect(rest.lines(DOCUMENT).length).toBeLessThanOrEqual(3);
});

// Another program may take the port in between.
test("the key goes to no server that the document names elsewhere", async () => {
  const elsewhere = await scriptedService({
    "GET /api/v1/platforms": { json: ["evil"] },
    [VIDEOS]: EMPTY,
    "POST /api/mcp": { json: {} },
  });
  const servers = [{ url: elsewhere.url }];
  const get = { operationId: "list_connected_platforms" };
  const platforms = { "/api/v1/platforms": { get }, [`${elsewhere.url}/platforms`]: { get } };
  const { service, rest } = await bridge({
    [DOCUMENT]: documented({ servers, paths: { ...platforms, "/api/v1/videos": { get: { servers } } } }),
    [VIDEOS]: EMPTY,
  });

  await service.listVideos({ limit: 1, cursor: "a" });
  await failureOf(service.listConnectedPlatforms());

  expect(elsewhere.requests).toEqual([]);
  expect(elsewhere.connections()).toBe(0);
  expect(rest.requests.every(({ headers }) => headers.authorization === `Bearer ${KEY}`)).toBe(true);
});

test.each<[string, Reply, string]>([
  ["a maximum of 6", bounds({ maximum: 6 }), "?limit=6"],
  ["a maximum of 500", bounds({ maximum: 500 }), "?limit=100"],
  ["nothing, as it is missing", { status: 404 }, ""],
])(
  "the newest videos are requested with the limit that the document allows: %s",
  async (_, document, query) => {
    const { service, rest } = await bridge({ [DOCUMENT]: document, [VIDEOS]: EMPTY });

    expect(await service.listNewestVideos({ background: true })).toEqual({ videos: [] });
    expect(rest.lines()).toEqual([DOCUMENT, VIDEOS + query]);
  },
);
