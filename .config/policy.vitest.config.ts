import { defineConfig } from "vitest/config";

/** The tests of the modules that decide what may be sent, when, and what of it may be shown: mutants are run against them. */
export default defineConfig({
  test: {
    include: [
      "test/service/{retry,rate-limiter,rate-limit-headers,requests}.test.ts",
      "test/once/*.test.ts",
      "test/jobs/schedule.test.ts",
      "test/tools/*.test.ts",
      "test/{text,redact}.test.ts",
    ],
    testTimeout: 20_000,
  },
});
