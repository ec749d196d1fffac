import * as fc from "fast-check";
import { expect, test } from "vitest";
import { fitInto } from "../../src/result-size.ts";

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
const long = (length: number) => "é".repeat(length / 2);

test("a result that fits is passed on as it is", () => {
  const result = { jobId: "a", extra: { any: "thing" } };

  expect(fitInto(result, bytesOf(result))).toEqual({ value: result });
  expect(fitInto(result, bytesOf(result)).value).toBe(result);
});

test("the longest undocumented fields go first, wherever they are", () => {
  const result = {
    jobId: "a",
    note: long(100),
    progress: { total: 3, stage: "clips" },
    videos: [{ jobId: "b", status: "completed", seeds: [long(900)], mood: long(50) }],
    blob: { of: long(2_000) },
  };

  const { value, leftOut } = fitInto(result, 500);

  expect(value).toEqual({
    jobId: "a",
    note: long(100),
    progress: { total: 3, stage: "clips" },
    videos: [{ jobId: "b", status: "completed", mood: long(50) }],
  });
  expect(leftOut).toEqual({ fields: 2, items: new Map() });
  expect(result.videos[0]).toHaveProperty("seeds");
});

test("documented lists lose their ends where nothing else is left", () => {
  const link = `https://cdn.example/${"x".repeat(80)}`;
  const result = { status: "completed", extra: 1, videoUrls: Array.from({ length: 10 }, () => link) };

  const { value, leftOut } = fitInto(result, 500);

  expect(value).toEqual({ status: "completed", videoUrls: [link, link, link, link] });
  expect(leftOut).toEqual({ fields: 1, items: new Map([["videoUrls", 6]]) });
});

test("a result fits that has one undocumented field in each of many items", () => {
  const result = { results: Array.from({ length: 100 }, () => ({ note: "x" })) };

  expect(bytesOf(fitInto(result, 310).value)).toBeLessThanOrEqual(310);
});

test("any result fits, with the texts that its wanted fields may have", () => {
  const names = fc.constantFrom(
    "jobId",
    "status",
    "videos",
    "results",
    "videoUrls",
    "publishedTo",
    "url",
    "x",
    "y",
  );
  const text = fc.string({ maxLength: 100, unit: "binary" });
  const { any } = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 5 },
      text,
      fc.integer(),
      fc.array(tie("any"), { maxLength: 9 }),
      fc.dictionary(names, tie("any"), { maxKeys: 6 }),
    ),
  }));
  fc.assert(
    fc.property(fc.dictionary(names, any, { maxKeys: 9 }), (result) => {
      const before = JSON.stringify(result);
      // Nine names with a text of a hundred characters each, of up to six bytes.
      expect(bytesOf(fitInto(result, 6_000).value)).toBeLessThanOrEqual(6_000);
      expect(JSON.stringify(result)).toBe(before);
    }),
    { seed: 1 },
  );
});
