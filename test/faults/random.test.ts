// Random faults at random points of random calls. The seed is fixed; SEED=… tries another, RUNS=10000 more.

import { afterAll, beforeAll, expect, test } from "vitest";
import { seededRandom } from "../fixtures/durations.ts";
import { inTurns, KINDS, randomRun, type Tally } from "./random-run.ts";
import { trustCertificate } from "./tools-under-test.ts";

const RUNS = Number(process.env["RUNS"] ?? 100);
const SEED = Number(process.env["SEED"] ?? 1);
const AT_A_TIME = 8;

let restoreTrust = () => {};
beforeAll(() => {
  restoreTrust = trustCertificate();
});
afterAll(() => restoreTrust());

test(
  `${RUNS} random runs send nothing twice, report the right outcomes and show no key (SEED=${SEED})`,
  async () => {
    const tally: Tally = new Map();
    await inTurns(RUNS, AT_A_TIME, (run) =>
      randomRun(seededRandom(SEED + run), tally).catch((error: unknown) => {
        throw new Error(`SEED=${SEED + run} RUNS=1 replays it`, { cause: error });
      }),
    );

    // Without each outcome the runs show nothing. A refused POST is rare: one of both kinds is enough.
    const common = KINDS.flatMap((kind) =>
      ["done", "not_sent", "unknown"].map((outcome) => `${kind} ${outcome}`),
    );
    const refused = ["status rejected", tally.has("publish rejected") ? [] : "generate rejected"].flat();
    expect([...common, ...refused].filter((outcome) => RUNS >= 100 && !tally.has(outcome))).toEqual([]);
  },
  Math.max(120_000, RUNS * 400),
);
