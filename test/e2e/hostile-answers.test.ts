// `npm run stress -- answers` measures more such answers, and what they cost exactly.

import { platform } from "node:os";
import { expect, test } from "vitest";
import { costOf, HOSTILE, isAsTold } from "../fixtures/hostile-answers.ts";

const SOME = [
  "videos that are empty",
  "100 videos with 450 fields each",
  "a status with a text of as much as fits",
  "a status with 1,000 texts",
  "100 results with as much as fits",
  "a status with objects 3,000 deep",
  "a jobId behind lists, 2,000,000 deep",
  "the MCP endpoint: as many zeros as are read",
];
const cases = Object.entries(HOSTILE).filter(([name]) => SOME.includes(name));

test.skipIf(platform() !== "linux").each(cases)(
  "an answer of the service ends its call and no other: %s",
  async (_, hostile) => {
    const { text } = await costOf(hostile);

    expect([text.slice(0, 500), isAsTold(hostile, text)]).toEqual([expect.any(String), true]);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(50_000);
  },
);
