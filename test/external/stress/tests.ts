// The stress tests by their names.

import { exits } from "./exits.ts";
import { flapping } from "./flapping.ts";
import { randomHistory } from "./history.ts";
import { manyComputers } from "./many-computers.ts";
import { mutants } from "./mutants.ts";
import { planted } from "./planted.ts";
import { soak } from "./soak.ts";

export const SEED = process.env["SEED"] ?? String(Math.floor(Math.random() * 1_000_000_000));
const ROUNDS = Number(process.env["ROUNDS"] ?? 200);
/** The calls of each random history. */
const CALLS = Number(process.env["CALLS"] ?? 10_000);
/** Enough to find each planted bug. */
const MAX_PLANTED_CALLS = 1_000;
/** How long the service flaps. */
const SECONDS = Number(process.env["SECONDS"] ?? 600);
/** Bugs are planted in these files, and found by the tests of each step in turn: those that a step misses are left to the next. */
export interface Module {
  readonly files: string;
  readonly steps: readonly string[];
}

const PURE = "test/pure/*.test.ts";
const MODEL = "test/model/*.test.ts";
const PAID = "test/features/{generate,publish,restart}.test.ts";
const SERVICE = "test/network/{request-sender,client,errors,late-answers}.test.ts";
const CALL = "test/features/call*.test.ts";
const inPaid = (name: string) => ({ files: `src/idempotency/${name}.ts`, steps: [PURE, PAID, MODEL] });

export const MODULES: Readonly<Record<string, Module>> = {
  guard: { files: "src/idempotency/guard.ts", steps: [PURE, `${PAID},${CALL}`, MODEL] },
  "generate-once": inPaid("generate-once"),
  "publish-once": inPaid("publish-once"),
  "same-request": {
    files: ["same-order", "same-post", "journal-facts"].map((name) => `src/idempotency/${name}.ts`).join(),
    steps: [PURE, PAID, MODEL],
  },
  "paid-errors": inPaid("errors"),
  journal: inPaid("journal"),
  "torn-line": { files: "src/idempotency/torn-line.ts", steps: ["test/pure/journal*.test.ts"] },
  "journal-files": {
    files: "src/idempotency/journal-files.ts,src/disk.ts",
    steps: ["test/pure/journal*.test.ts", `${PAID},test/features/{sudo,doctor-files}.test.ts`],
  },
  "journal-postgres": {
    files: "src/idempotency/journal-postgres.ts,src/settings/database-address.ts",
    steps: [PURE, "test/network/journal-postgres.test.ts"],
  },
  call: {
    files: "src/commands/call.ts,src/commands/call-text.ts,src/commands/local-tools.ts",
    steps: [CALL],
  },
  "request-sender": { files: "src/service/request-sender.ts", steps: [PURE, SERVICE, PAID] },
  "generate-video": { files: "src/tools/generate-video.ts", steps: [PURE, PAID] },
  "publish-video": { files: "src/tools/publish-*.ts", steps: [PURE, PAID] },
  elicitation: {
    files: "src/mcp/elicitation.ts,src/mcp/connected-client.ts",
    steps: ["test/features/{series,forged-answers}.test.ts", PAID],
  },
  "inbound-lines": { files: "src/mcp/inbound-lines.ts", steps: ["test/pure/inbound-lines.test.ts"] },
  "rate-limiter": { files: "src/service/rate-limiter.ts", steps: [PURE, SERVICE] },
  retry: { files: "src/service/retry.ts", steps: [PURE, SERVICE] },
  redact: { files: "src/redact.ts", steps: [PURE, SERVICE] },
  text: { files: "src/text.ts", steps: [PURE, PAID] },
};

export interface Row {
  readonly test: string;
  readonly promised: string;
  readonly measured: string;
  readonly met: boolean;
}

/** The tests by the name of their part of the document. */
export const TESTS: Readonly<Record<string, () => readonly Row[] | Promise<readonly Row[]>>> = {
  computers: () => manyComputers(ROUNDS, Number(SEED)),
  history: async () => [
    await randomHistory(CALLS, Number(SEED), "files"),
    ...(process.env["STORE"] === "files" ? [] : [await randomHistory(CALLS, Number(SEED), "Postgres")]),
  ],
  planted: () => planted({ SEED, CALLS: String(Math.min(CALLS, MAX_PLANTED_CALLS)) }),
  flapping: async () => [await flapping(SECONDS, Number(SEED))],
  exits,
  soak,
  ...Object.fromEntries(
    Object.entries(MODULES).map(([name, module]) => [`mutants ${name}`, () => mutants(module)]),
  ),
};
