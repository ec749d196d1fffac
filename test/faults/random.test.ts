// Random faults at random points of random calls. The seed is fixed; PROVE_SEED=… tries another one and PROVE_RUNS=10000 more runs.

import { afterAll, beforeAll, expect, test } from "vitest";
import { seededRandom } from "../fixtures/durations.ts";
import { KINDS, randomRun, type Tally } from "./random-run.ts";
import { trustCertificate } from "./tools-under-test.ts";

const RUNS = Number(process.env["PROVE_RUNS"] ?? 100);
const SEED = Number(process.env["PROVE_SEED"] ?? 1);
const AT_A_TIME = 8;

let restoreTrust = () => {};
beforeAll(() => {
  restoreTrust = trustCertificate();
});
afterAll(() => restoreTrust());

test(
  `${RUNS} random runs send nothing twice, report the right outcomes and show no key (PROVE_SEED=${SEED})`,
  async () => {
    const tally: Tally = new Map();
    let next = 0;
    const worker = async () => {
      for (let run = next++; run < RUNS; run = next++) {
        await randomRun(seededRandom(SEED + run), tally).catch((error: unknown) => {
          throw new Error(`PROVE_SEED=${SEED + run} PROVE_RUNS=1 replays it`, { cause: error });
        });
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, worker));

    // The runs show nothing unless each outcome occurs. A refused POST is too rare to expect it of both kinds.
    const common = KINDS.flatMap((kind) =>
      ["done", "not_sent", "unknown"].map((outcome) => `${kind} ${outcome}`),
    );
    const refused = ["status rejected", tally.has("publish rejected") ? [] : "generate rejected"].flat();
    expect([...common, ...refused].filter((outcome) => RUNS >= 100 && !tally.has(outcome))).toEqual([]);
  },
  Math.max(120_000, RUNS * 400),
);
