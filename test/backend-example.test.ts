// What docs/examples/backend makes of a service's limits. test/checks/gateways runs the whole of it.

import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { VIDEOS } from "./fixtures/constants.ts";
import { run } from "./fixtures/run.ts";
import { envelope, type Script, scriptedService } from "./fixtures/scripted-service.ts";

const EXAMPLE = fileURLToPath(new URL("../docs/examples/backend/service.mjs", import.meta.url));
/** Prints the videos, or the first pause in milliseconds. */
const PROGRAM = `
  const { createService } = await import(process.argv[1]);
  const service = createService({ baseUrl: process.argv[2], apiKey: "fl_example" });
  const print = (value) => { console.log(JSON.stringify(value)); process.exit(); };
  await service.videos().then(print, () => {});
  globalThis.setTimeout = (_, ms) => print(ms);
  await service.ready();`;

async function printed(videos: Script): Promise<unknown> {
  const { url } = await scriptedService({ [VIDEOS]: videos });
  const program = ["--input-type=module", "--eval", PROGRAM, EXAMPLE, url];
  return JSON.parse((await run(process.execPath, program)).stdout);
}

test("the example backend pauses for an hour at most, whatever Retry-After says", async () => {
  const pause = await printed({
    ...envelope(429, "rate_limited", "Slow down."),
    headers: { "retry-after": "3000000" },
  });

  expect(pause).toBeGreaterThan(3_500_000);
  expect(pause).toBeLessThanOrEqual(3_600_000);
});

test("the example backend lists videos of a service that refuses its limit", async () => {
  const videos = [{ jobId: "job-1", status: "processing" }];

  expect(await printed([envelope(422, "limit", "At most 50."), { json: { videos } }])).toEqual(videos);
});
