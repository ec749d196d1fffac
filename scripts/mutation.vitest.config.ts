import { defineConfig } from "vitest/config";

/** The tests for mutation testing, of what decides what may be sent and when, and what may be shown. */
export default defineConfig({
  test: {
    globalSetup: "test/fixtures/no-leftovers.ts",
    setupFiles: "scripts/mutation.setup.ts",
    include: [
      "test/network/{request-sender,client,errors,late-answers,journal-postgres}.test.ts",
      "test/features/{generate,publish}.test.ts",
      "test/pure/*.test.ts",
    ],
    testTimeout: 20_000,
  },
});
