// The stress tests, their workflow and their figures name each other.

import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { parse } from "yaml";
import * as z from "zod";
import { TESTS } from "./tests.ts";

const workflowSchema = z.object({
  jobs: z.object({
    stress: z.object({ strategy: z.object({ matrix: z.object({ test: z.array(z.string()) }) }) }),
  }),
});
const read = (path: string) => readFile(new URL(path, import.meta.url), "utf8");

test("each stress test has a job of its own, and rows with its figures", async () => {
  const names = Object.keys(TESTS);
  const { jobs } = workflowSchema.parse(parse(await read("../../../.github/workflows/stress.yml")));
  expect(jobs.stress.strategy.matrix.test).toEqual(names);
  const figures = await read("figures.md");
  expect([...new Set(figures.match(/(?<=^\| `).+?(?=` )/gm))]).toEqual(names);
});
