import { defineConfig } from "vitest/config";

/** The tests of the rooms that decide what may be sent, when, and what of it may be shown: what mutants are run against. */
export default defineConfig({
  test: {
    include: [
      "test/service/{retry,did-it-leave,rate-limiter,rate-limit-headers}.test.ts",
      "test/jobs/{schedule,journal,journal-limits}.test.ts",
      "test/text.test.ts",
    ],
    testTimeout: 20_000,
  },
});
