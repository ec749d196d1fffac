// The stress tests by their names.

import { exits } from "./exits.ts";
import { randomHistory } from "./history.ts";
import { manyComputers } from "./many-computers.ts";
import { mutants } from "./mutants.ts";
import { soak } from "./soak.ts";

export const SEED = process.env["SEED"] ?? String(Math.floor(Math.random() * 1_000_000_000));
const ROUNDS = Number(process.env["ROUNDS"] ?? 200);
/** Of each random history. */
const CALLS = Number(process.env["CALLS"] ?? 10_000);
/** The files in which bugs are planted. */
export const MODULES: Readonly<Record<string, string>> = {
  guard: "src/idempotency/*.ts,!src/idempotency/journal*.ts",
  journal: "src/idempotency/journal.ts",
  "journal-files": "src/idempotency/journal-files.ts,src/idempotency/private-folder.ts",
  "journal-postgres": "src/idempotency/journal-postgres.ts,src/settings/database-address.ts",
  "request-sender": "src/service/request-sender.ts",
  "generate-video": "src/tools/generate-video.ts",
  "publish-video": "src/tools/publish-*.ts",
  "rate-limiter": "src/service/rate-limiter.ts",
  retry: "src/service/retry.ts",
  redact: "src/redact.ts",
  text: "src/text.ts",
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
    await randomHistory(CALLS, Number(SEED), "Postgres"),
  ],
  exits,
  soak,
  ...Object.fromEntries(
    Object.entries(MODULES).map(([name, files]) => [`mutants ${name}`, () => mutants(files)]),
  ),
};
