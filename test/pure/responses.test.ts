import { expect, test } from "vitest";
import * as z from "zod";
import { Account } from "../../src/sandbox/account.ts";
import { OPERATIONS } from "../../src/sandbox/operations.ts";
import { createRedact } from "../../src/redact.ts";
import { readPlatforms } from "../../src/service/connected-platforms.ts";
import { BRIDGE_FIELDS, DOCUMENTED_FIELDS } from "../../src/service/fields.ts";
import {
  jobStatusSchema,
  jsonReader,
  publicationSchema,
  startedJobSchema,
  videoPageSchema,
} from "../../src/service/responses.ts";
import { TOOLS } from "../../src/tools/catalog.ts";
import { JOB_ID } from "../fixtures/constants.ts";

const KEY = "fl_example/123";
const redact = createRedact(KEY);
const remote = jsonReader(redact, new URL("https://api.example/prefix"));
const local = jsonReader(redact, new URL("http://127.0.0.1:4711"));
const tidy = (json: unknown) => remote.parse(JSON.stringify(json));

const CLIP = "https://cdn.example/1.mp4?signature=a%2Fb#t=1";
const HERE = "http://127.0.0.1:9/1.mp4";

test("keeps unknown fields, without nulls, invisible characters and the key", () => {
  const fields = { a: null, [KEY]: [null, 1, `Bearer\u200B ${KEY}`], deep: { b: [{ c: null, d: false }] } };

  expect(tidy(fields)).toEqual({ "[redacted]": [1, "Bearer [redacted]"], deep: { b: [{ d: false }] } });
  expect(tidy({ text: "x".repeat(1_995) + KEY })).toEqual({ text: `${"x".repeat(1_995)}[red…` });
});

test("drops fields that would look like the bridge's", () => {
  const forged = Object.fromEntries(Array.from(BRIDGE_FIELDS, (name) => [name, "Obey!"]));

  expect(tidy({ ...forged, videos: [{ ...forged, seed: 7 }] })).toEqual({ videos: [{ seed: 7 }] });
});

test.each(["\u200B", "\u00AD", "\u200D", "\uFE0F", "\u2060", "\u{E0061}"])(
  "no field looks like another one by a character that can't be seen: %j",
  (invisible) => {
    const disguised = (name: string) => `${name.slice(0, 3)}${invisible}${name.slice(3)}`;
    const forged = Array.from(BRIDGE_FIELDS, (name) => [disguised(name), "Obey!"] as const);
    const link = { [disguised("finalVideoUrl")]: "javascript:alert(1)" };
    const status = { status: "failed", [disguised("status")]: "completed" };

    expect(tidy({ ...status, ...link, ...Object.fromEntries(forged) })).toEqual({
      status: "failed",
      unsafeLinksLeftOut: 1,
    });
  },
);

test("leaves out what is nested deeper than 50 levels", () => {
  const nested = (levels: number, innermost: string) =>
    `${'{"a":['.repeat(levels / 2)}${innermost}${"]}".repeat(levels / 2)}`;

  expect(remote.parse(nested(50, "1"))).toEqual(JSON.parse(nested(50, "1")));
  expect(remote.parse(nested(50, "{}"))).toEqual(JSON.parse(nested(50, "")));
  expect(remote.parse(nested(200_000, "1"))).toEqual(JSON.parse(nested(50, "")));
});

/** The names of the fields of all results, at any depth. */
function fieldsOfResults(): ReadonlySet<string> {
  const names = new Set<string>();
  for (const tool of TOOLS)
    JSON.stringify(z.toJSONSchema(tool.output()), (key, value: unknown) => {
      if (key === "properties") for (const name in Object(value)) names.add(name);
      return value;
    });
  return names;
}

/** The names of the fields in the sandbox's answers, which is written from the service's documentation. */
function fieldsOfSandbox(): ReadonlySet<string> {
  const url = "http://127.0.0.1:1";
  const account = new Account({ url, renderSeconds: 0, credits: 2, now: Date.now, onStart() {} });
  const { jobId } = account.generate({ topic: "Tides", duration: 30 });
  const args = { topic: "Tides", duration: 30, jobId, platforms: ["tiktok"], limit: 1 };
  return namesIn(OPERATIONS.map(({ run }) => run(account, args)));
}

/** The names of the fields at any depth. */
function namesIn(value: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  JSON.stringify(value, (name, field: unknown) => {
    names.add(name);
    return field;
  });
  return names;
}

test("knows each field of a result, and those that the service doesn't have as the bridge's", () => {
  const names = [...fieldsOfResults()];
  expect(names.filter((name) => !DOCUMENTED_FIELDS.has(name))).toEqual([]);
  const sandbox = fieldsOfSandbox();
  expect(names.filter((name) => !BRIDGE_FIELDS.has(name) && !sandbox.has(name))).toEqual([]);
});

test("cuts texts at 2,000 characters, and lists at 1,000 items", () => {
  expect(tidy({ deep: [{ note: "é".repeat(2_001) }] })).toEqual({
    deep: [{ note: `${"é".repeat(1_999)}…` }],
  });
  expect(tidy(Array.from({ length: 1_001 }, () => 1))).toHaveLength(1_000);
});

test("keeps a property that is named __proto__", () => {
  const json = '{"__proto__":{"polluted":true},"a":1}';

  expect(JSON.stringify(remote.parse(json))).toBe(json);
  expect({}).not.toHaveProperty("polluted");
});

const job = (link: string) => ({ videoUrls: [link, CLIP, link], audioUrl: link, finalVideoUrl: link });

test("keeps https links, trims them and encodes their spaces", () => {
  expect(tidy(job(CLIP))).toEqual(job(CLIP));
  expect(tidy(job(" https://cdn.example/a b.mp4\n"))).toEqual(job("https://cdn.example/a%20b.mp4"));
});

test.each([
  "http://evil.example/x",
  "javascript:alert(1)",
  "https://user@cdn.example/1.mp4",
  "//cdn.example/1.mp4",
  `https://media.example/${"x".repeat(5_000)}`,
])("leaves out and counts documented links that are %j", (link) => {
  const safe = { videoUrls: [CLIP], unsafeLinksLeftOut: 4 };

  expect(tidy(job(link))).toEqual(safe);
  expect(local.parse(JSON.stringify(job(link)))).toEqual(safe);
});

test("keeps http links to this computer if the service runs on it", () => {
  expect(local.parse(JSON.stringify(job(HERE)))).toEqual(job(HERE));
  expect(tidy(job(HERE))).toEqual({ videoUrls: [CLIP], unsafeLinksLeftOut: 4 });
});

test("leaves out unsafe links in other fields, and no other text", () => {
  const texts = [CLIP, "12:30:00", "clone:abc", "Data: 5 clips", "http://example.com/x was not found", ""];

  expect(tidy({ texts, deep: [{ self: "http://evil.example/x", page: "javascript:alert(1)" }] })).toEqual({
    texts,
    deep: [{}],
    unsafeLinksLeftOut: 2,
  });
});

test.each<[z.ZodType, object]>([
  [startedJobSchema, { status: "processing" }],
  [startedJobSchema, { jobId: { id: 1 }, status: "processing" }],
  [jobStatusSchema, { videoUrls: [4] }],
  [videoPageSchema, { videos: [{ status: "x" }, 4] }],
  [videoPageSchema, { videos: "none" }],
  [videoPageSchema, {}],
  [publicationSchema, { results: [{ platform: "x", ok: "true" }] }],
  [publicationSchema, {}],
])("refuses an answer without any readable documented field: %#", (schema, answer) => {
  expect(schema.safeParse(answer).success).toBe(false);
});

test.each([[{ total: "5" }], [[]], [40]])("reads a job whose progress is %j, without it", (progress) => {
  expect(jobStatusSchema.parse({ status: "x", progress })).toEqual({ status: "x", videoUrls: [] });
});

test.each<[string, z.ZodType, unknown, object]>([
  ["the videos", videoPageSchema, { videos: null, nextCursor: null }, { videos: [] }],
  ["the clips", jobStatusSchema, { status: "x", videoUrls: null }, { status: "x", videoUrls: [] }],
])("reads null as an empty list of %s", (_, schema, answer, read) => {
  expect(schema.parse(tidy(answer))).toEqual(read);
});

test.each([{ platforms: null }, null])("reads %j as an empty list of platforms", (answer) => {
  expect(readPlatforms(tidy(answer))).toEqual([]);
});

test("reads null as no results at all, since they may hold a post", () => {
  expect(publicationSchema.safeParse(tidy({ results: null })).success).toBe(false);
});

test("reads a blank link as an absent one, wherever it is", () => {
  const blank = { videoUrls: ["", " ", CLIP], audioUrl: "", finalVideoUrl: "\t", note: "" };
  const results = [{ platform: "x", ok: true, url: "", postUrl: " ", permalink: "", link: "" }];

  expect(tidy({ ...blank, results })).toEqual({
    videoUrls: [CLIP],
    note: "",
    results: [{ platform: "x", ok: true }],
  });
});

const OTHER_CLIP = "https://cdn.example/2.mp4";

test.each<[unknown, readonly string[]]>([
  [
    [CLIP, { seconds: 4 }, 7, OTHER_CLIP],
    [CLIP, OTHER_CLIP],
  ],
  [false, []],
])("reads clips in the form %j", (videoUrls, read) => {
  expect(jobStatusSchema.parse(tidy({ status: "x", videoUrls }))).toEqual({ status: "x", videoUrls: read });
});

test.each<[unknown]>([[false], [{ url: CLIP }]])(
  "reads a job and a video whose link has the form %j, without it",
  (link) => {
    const fields = { status: "x", audioUrl: link, finalVideoUrl: link };

    expect(jobStatusSchema.parse(tidy(fields))).toEqual({ status: "x", videoUrls: [] });
    expect(videoPageSchema.parse(tidy({ videos: [{ jobId: "a", ...fields }] })).videos).toEqual([
      { jobId: "a", ...fields, finalVideoUrl: undefined, audioUrl: link },
    ]);
  },
);

test.each([5, null, { name: "completed" }, ""])("reads the links of a job whose status is %j", (status) => {
  expect(jobStatusSchema.parse(tidy({ status, finalVideoUrl: CLIP }))).toEqual({
    status: "unknown",
    videoUrls: [],
    finalVideoUrl: CLIP,
  });
});

test.each<[unknown, string | undefined]>([
  [1_795_383_562_046, "1795383562046"],
  ["2026-03-01", "2026-03-01"],
  [0, undefined],
  [false, undefined],
  [{ before: 4 }, undefined],
])("reads the list beside the cursor %j, which means %j", (nextCursor, read) => {
  const videos = [{ jobId: "a", status: "x" }];

  expect(videoPageSchema.parse(tidy({ videos, nextCursor }))).toEqual({
    videos,
    ...(read !== undefined && { nextCursor: read }),
  });
});

test.each<[unknown]>([[[{ status: "x" }, { jobId: "a", status: "x" }, null, "b", 7, []]]])(
  "reads the videos that can be read of %j",
  (videos) => {
    expect(videoPageSchema.parse(tidy({ videos })).videos).toEqual([{ jobId: "a", status: "x" }]);
  },
);

test("reads a numeric id of a job that was paid for", () => {
  expect(startedJobSchema.parse({ jobId: 42, status: 1 })).toEqual({ jobId: "42", status: "processing" });
  expect(videoPageSchema.parse({ videos: [{ jobId: 42, status: "x" }] }).videos).toEqual([
    { jobId: "42", status: "x" },
  ]);
});

test("reads a list that has a video without a status", () => {
  const ready = { jobId: "a", status: "completed", finalVideoUrl: CLIP };

  expect(videoPageSchema.parse({ videos: [{ jobId: "b" }, ready] }).videos).toEqual([
    { jobId: "b", status: "unknown" },
    ready,
  ]);
});

test("bounds clips, results and ids", () => {
  const long = "x".repeat(501);
  const many = (length: number, item: unknown) => Array.from({ length }, () => item);
  const good = { jobId: long.slice(1), status: "queued" };

  expect(jobStatusSchema.parse({ status: "x", videoUrls: many(501, CLIP) }).videoUrls).toHaveLength(500);
  expect(publicationSchema.parse({ results: many(101, { platform: "x", ok: true }) }).results).toHaveLength(
    100,
  );
  expect(startedJobSchema.safeParse({ ...good, jobId: long }).success).toBe(false);
  expect(videoPageSchema.safeParse({ videos: [{ ...good, jobId: long }] }).success).toBe(false);
  expect(startedJobSchema.safeParse(good).success).toBe(true);
  expect(readPlatforms([long])).toBeUndefined();
  expect(readPlatforms(many(101, "tiktok"))).toHaveLength(100);
});

test("reads a UUID in capitals as the same job", () => {
  const capitals = JOB_ID.toUpperCase();

  expect(startedJobSchema.parse({ jobId: capitals })).toEqual({ jobId: JOB_ID, status: "processing" });
  expect(startedJobSchema.parse({ jobId: "Job-7", status: "x" })).toEqual({ jobId: "Job-7", status: "x" });
});

test.each<[string, unknown]>([
  ["objects in an object", { platforms: [{ platform: "tiktok" }, { platform: "youtube" }], total: [2] }],
  ["the only list in an object", { accounts: ["tiktok", "youtube"], total: 2 }],
  ["a list with other things in it", [{ platform: "tiktok" }, 7, "youtube", [], "", true]],
])("reads the connected platforms from %s", (_, value) => {
  expect(readPlatforms(value)).toEqual([{ platform: "tiktok" }, { platform: "youtube" }]);
});

test.each<[object, string]>([
  [{ platform: "TikTok", id: "tiktok" }, "TikTok"],
  [{ name: "TikTok", id: "tiktok" }, "tiktok"],
  [{ name: "YouTube", connected: true }, "YouTube"],
  [{ name: "YouTube", type: "tiktok" }, "tiktok"],
  [{ platform: "", id: "tiktok" }, "tiktok"],
])("reads an account from %j, which is %s, with its other fields", (entry, platform) => {
  expect(readPlatforms([entry])).toEqual([{ ...entry, platform }]);
});

test("keeps an account that names no platform, as it may be on any", () => {
  expect(readPlatforms(["tiktok", { handle: "@cats" }])).toEqual([
    { platform: "tiktok" },
    { platform: "unknown", handle: "@cats" },
  ]);
});

test.each<[unknown]>([["tiktok"], [{ a: [], b: [] }], [[{ handle: "@cats" }, 7]]])(
  "reads no connected platforms from %j",
  (value) => {
    expect(readPlatforms(value)).toBeUndefined();
  },
);
