// Random faults at random points of random calls. The seed is fixed here; `npm run prove` makes many more runs with a seed that it prints.

import { afterAll, beforeAll, expect, test } from "vitest";
import { seededRandom } from "../fixtures/durations.ts";
import { KINDS, randomRun, type Tally } from "./random-run.ts";
import { trustCertificate } from "./tools-under-test.ts";

const RUNS = Number(process.env["PROVE_RUNS"] ?? 100);
const SEED = Number(process.env["PROVE_SEED"] ?? 1);
const AT_A_TIME = 8;

let distrust = () => {};
beforeAll(() => {
  distrust = trustCertificate();
});
afterAll(() => distrust());

test(
  `${RUNS} random runs send nothing twice, judge nothing wrong and leave no key (PROVE_SEED=${SEED})`,
  async () => {
    const tally: Tally = new Map();
    let next = 0;
    const worker = async () => {
      for (let run = next++; run < RUNS; run = next++) {
        await randomRun(seededRandom(SEED + run), tally).catch((error: unknown) => {
          throw new Error(`PROVE_SEED=${SEED + run} PROVE_RUNS=1 shows it`, { cause: error });
        });
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, worker));

    // Nothing of it would be proved if some of the ends never came about. To be refused is too seldom to be asked of each.
    const ends = KINDS.flatMap((kind) => ["good", "not_sent", "unknown"].map((end) => `${kind} ${end}`));
    const refused = ["status rejected", tally.has("publish rejected") ? [] : "generate rejected"].flat();
    expect([...ends, ...refused].filter((end) => RUNS >= 100 && !tally.has(end))).toEqual([]);
  },
  Math.max(20_000, RUNS * 200),
);
