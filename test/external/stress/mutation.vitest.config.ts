import { defineConfig } from "vitest/config";

/** Files of tests, as patterns with commas between them: `{a,b}` is one. */
const TESTS = (process.env["MUTATION_TESTS"] ?? "test/pure/*.test.ts").split(/,(?![^{]*\})/);

export default defineConfig({
  test: {
    globalSetup: "test/fixtures/no-leftovers.ts",
    setupFiles: "test/external/stress/mutation.setup.ts",
    include: TESTS,
    testTimeout: 20_000,
  },
});
