import { defineConfig } from "vitest/config";

/** Tests that replace a module or its timers, or look at what the whole process holds. */
const ISOLATED = [
  "test/network/{journal-postgres,leaks,late-answers,deadline,dead-connections,mcp-deadline}.test.ts",
  "test/features/{call-patience,sandbox/webhooks}.test.ts",
];

/** `unit`, `model` and `faults` run the source; `e2e` what only the built file shows (build it first). */
export default defineConfig({
  test: {
    globalSetup: "test/fixtures/no-leftovers.ts",
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["test/{features,network,pure,repository}/**/*.test.ts"],
          exclude: ["test/network/faults/**", ...ISOLATED],
          // Modules have no state, so files share them: loading them anew took a third of the time.
          isolate: false,
        },
      },
      { extends: true, test: { name: "isolated", include: ISOLATED } },
      { extends: true, test: { name: "model", include: ["test/model/*.test.ts"] } },
      {
        extends: true,
        test: { name: "e2e", include: ["test/e2e/**/*.test.ts"], isolate: false },
      },
      { extends: true, test: { name: "faults", include: ["test/network/faults/**/*.test.ts"] } },
    ],
    // Many tests wait for processes and timers, so three workers fill two cores; each loads the SDKs anew.
    maxWorkers: 3,
    // Ends a test that hangs; far above what a busy machine needs.
    testTimeout: 60_000,
    expect: { poll: { timeout: 50_000, interval: 10 } },
    hookTimeout: 60_000,
  },
});
