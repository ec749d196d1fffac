import { defineConfig } from "vitest/config";

/** The tests of the modules that decide what may be sent, when, and what of it may be shown: mutants are run against them. */
export default defineConfig({
  test: {
    include: [
      "test/service/{retry,rate-limiter,rate-limit-headers,requests,client,errors}.test.ts",
      "test/jobs/{schedule,journal,journal-limits}.test.ts",
      "test/text.test.ts",
    ],
    testTimeout: 20_000,
  },
});
