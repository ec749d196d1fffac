import { expect, test } from "vitest";
import { truncateToFit } from "../../src/tools/result-size.ts";

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
const LINK = `https://cdn.example/${"x".repeat(80)}`;

test("passes on a result that fits", () => {
  const result = { jobId: "é", extra: { any: "thing" } };

  expect(truncateToFit(result, bytesOf(result))).toEqual({ value: result });
});

test("drops undocumented fields first, wherever they are", () => {
  const result = {
    jobId: "a",
    note: "x",
    progress: { total: 3, stage: "clips" },
    videos: [{ jobId: "b", status: "completed", seeds: ["x".repeat(900)] }],
  };

  expect(truncateToFit(result, 500)).toEqual({
    value: { jobId: "a", progress: { total: 3 }, videos: [{ jobId: "b", status: "completed" }] },
    truncation: new Map(),
  });
  expect(result.videos[0]).toHaveProperty("seeds");
});

test("cuts the ends of lists if nothing else is left", () => {
  const result = { status: "completed", extra: 1, videoUrls: Array.from({ length: 10 }, () => LINK) };

  const { value, truncation } = truncateToFit(result, 500);

  expect(value).toEqual({ status: "completed", videoUrls: [LINK, LINK, LINK, LINK] });
  expect(truncation).toEqual(new Map([["videoUrls", 6]]));
});
