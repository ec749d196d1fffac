import { defineConfig } from "vitest/config";

/** `unit` runs the source, `e2e` the built file in child processes, for which `npm run build` comes first. */
export default defineConfig({
  test: {
    globalSetup: "test/fixtures/no-leftovers.ts",
    projects: [
      {
        extends: true,
        test: { name: "unit", include: ["test/**/*.test.ts"], exclude: ["test/e2e/**", "test/faults/**"] },
      },
      { extends: true, test: { name: "e2e", include: ["test/{e2e,faults}/**/*.test.ts"] } },
    ],
    // Files over stdio start child processes: on two cores more than two at once only adds waiting.
    maxWorkers: 2,
    // Guards against a test that hangs, far above what a busy machine needs.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
