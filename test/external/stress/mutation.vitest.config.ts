import { defineConfig } from "vitest/config";

/** The tests of what decides what may be sent and when, and what may be shown. */
const QUICK = ["test/pure/*.test.ts", "test/model/*.test.ts"];
const SLOW = [
  "test/network/{request-sender,client,errors,late-answers,journal-postgres}.test.ts",
  "test/features/{generate,publish,restart}.test.ts",
];

/** Mutation testing runs the quick tests first, and the slow ones with the bugs that those didn't notice. */
export default defineConfig({
  test: {
    globalSetup: "test/fixtures/no-leftovers.ts",
    setupFiles: "test/external/stress/mutation.setup.ts",
    include: process.env["MUTATION_TESTS"] === "slow" ? SLOW : QUICK,
    testTimeout: 20_000,
  },
});
