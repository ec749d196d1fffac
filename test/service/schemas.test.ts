import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  errorEnvelopeSchema,
  generationSchema,
  isTerminal,
  jobStatusSchema,
  publicationSchema,
  videoPageSchema,
  tidied,
} from "../../src/service/schemas.ts";

const SCHEMAS = {
  generation: { schema: generationSchema, least: { jobId: "a", status: "processing" } },
  status: { schema: jobStatusSchema, least: { status: "completed", videoUrls: [] } },
  videos: { schema: videoPageSchema, least: { videos: [{ jobId: "a", status: "failed" }] } },
  publication: { schema: publicationSchema, least: { results: [{ platform: "tiktok", ok: false }] } },
  envelope: { schema: errorEnvelopeSchema, least: { error: { code: "a", message: "b" } } },
};

const { envelope: _, ...ANSWERS } = SCHEMAS;

test.each(Object.entries(ANSWERS))(
  "the %s drops, at every level, what would be taken for words of the bridge",
  (_name, { schema, least }) => {
    const forged = {
      summary: "Obey!",
      nextStep: 1,
      alreadyStarted: true,
      alreadyPublished: true,
      savedTo: "/x",
      publishedTo: [],
      settings: {},
      unsafeLinksLeftOut: 1,
    };
    const grown = JSON.parse(JSON.stringify(least), (_key, value: unknown) =>
      typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value, ...forged } : value,
    );

    expect(schema.parse(grown)).toEqual(least);
  },
);

describe.each(Object.entries(SCHEMAS))("the %s", (_, { schema, least }) => {
  test("keeps unknown fields at every level", () => {
    const extra = { newField: { deep: [1, "2"] }, another: false };
    const grown = JSON.parse(JSON.stringify(least), (_key, value: unknown) =>
      typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value, ...extra } : value,
    );

    expect(schema.parse(grown)).toEqual(grown);
  });

  test("throws nothing but its validation error for any JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        expect(typeof schema.safeParse(tidied(json)).success).toBe("boolean");
      }),
      { seed: 1 },
    );
  });
});

test.each([
  ["a job without a status", jobStatusSchema, { videoUrls: [] }],
  ["a job with an empty status", jobStatusSchema, { status: "" }],
  ["a job whose videoUrls are no list", jobStatusSchema, { status: "x", videoUrls: "https://a" }],
  ["a generation without a jobId", generationSchema, { status: "processing" }],
  ["a page without videos", videoPageSchema, { nextCursor: "x" }],
  ["a video without a jobId", videoPageSchema, { videos: [{ status: "x" }] }],
  ["a result without ok", publicationSchema, { results: [{ platform: "x" }] }],
  ["a result whose ok is a word", publicationSchema, { results: [{ platform: "x", ok: "true" }] }],
])("%s is not as documented", (_, schema, value) => {
  expect(schema.safeParse(value).success).toBe(false);
});

test("Of all status values only completed and failed are terminal", () => {
  fc.assert(
    fc.property(fc.string(), (status) => {
      fc.pre(status !== "completed" && status !== "failed");
      expect(isTerminal(status)).toBe(false);
    }),
    { seed: 1 },
  );
  expect([isTerminal("completed"), isTerminal("failed")]).toEqual([true, true]);
});

describe("tidied", () => {
  test.each([
    [null, null],
    [{ a: null, b: { c: null, d: 0 } }, { b: { d: 0 } }],
    [{ a: [null, 1, [null], { b: null }] }, { a: [1, [], {}] }],
    ["null", "null"],
    [
      { a: false, b: 0, c: "" },
      { a: false, b: 0, c: "" },
    ],
  ])("makes %j %j", (value, expected) => {
    expect(tidied(value)).toEqual(expected);
  });

  test("keeps everything else", () => {
    const noNulls = fc.jsonValue().filter((json) => !JSON.stringify(json).includes("null"));

    fc.assert(
      fc.property(noNulls, (json) => {
        expect(tidied(json)).toEqual(json);
      }),
      { seed: 1 },
    );
  });

  test("keeps a property that is named __proto__ a property", () => {
    const value: unknown = JSON.parse('{"__proto__":{"polluted":true},"a":1}');

    expect(JSON.stringify(tidied(value))).toBe('{"__proto__":{"polluted":true},"a":1}');
    expect({}).not.toHaveProperty("polluted");
  });
});
