import { defineConfig } from "vitest/config";

/** The tests for mutation testing, of what decides what may be sent and when, and what may be shown. */
export default defineConfig({
  test: {
    globalSetup: "test/fixtures/no-leftovers.ts",
    setupFiles: "scripts/mutation.setup.ts",
    include: [
      "test/pure/rate-limiter.test.ts",
      "test/service/{request-sender,client,errors,late-answers}.test.ts",
      "test/idempotency/*.test.ts",
      "test/jobs/schedule.test.ts",
      "test/tools/*.test.ts",
      "test/features/{generate,publish}.test.ts",
      "test/pure/*.test.ts",
    ],
    testTimeout: 20_000,
  },
});
