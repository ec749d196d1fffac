import { defineConfig } from "vitest/config";

/** Replace a module or the timers of one, or look at what the whole process holds. */
const ISOLATED = [
  "test/idempotency/journal-disk.test.ts",
  "test/service/{leaks,late-answers}.test.ts",
  "test/faults/deadline.test.ts",
];

/** `unit` runs the source; `e2e` needs `npm run build` first, for what only the built file in a process of its own shows; `card` needs a browser too. */
export default defineConfig({
  test: {
    globalSetup: "test/fixtures/no-leftovers.ts",
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: ["test/e2e/**", "test/faults/**", "test/{card,checks}/**", ...ISOLATED],
          // Modules have no state of their own, so files may share them: a third of the time went into loading them anew.
          isolate: false,
        },
      },
      { extends: true, test: { name: "isolated", include: ISOLATED } },
      {
        extends: true,
        test: { name: "e2e", include: ["test/{e2e,faults}/**/*.test.ts"], exclude: ISOLATED, isolate: false },
      },
      { extends: true, test: { name: "card", include: ["test/checks/card/**/*.test.ts"] } },
    ],
    // Many tests wait for child processes and timers, so four files fill two cores. Each worker loads the SDKs anew.
    maxWorkers: 4,
    // Ends a test that hangs; far above what a busy machine needs.
    testTimeout: 60_000,
    expect: { poll: { timeout: 50_000, interval: 10 } },
    hookTimeout: 60_000,
  },
});
