import { defineConfig } from "vitest/config";

/**
 * Tests of the built file beside others' programs. Paths begin at the repository's root. `card` needs a browser,
 * `gateways` and `plugins` need npm: gateways, clients, pg-boss. `own` reads files alone.
 */
export default defineConfig({
  test: {
    globalSetup: "test/fixtures/no-leftovers.ts",
    projects: [
      { extends: true, test: { name: "own", include: ["test/external/stress/*.test.ts"] } },
      { extends: true, test: { name: "card", include: ["test/external/card/*.test.ts"] } },
      ...["gateways", "plugins"].map((name) => ({
        extends: true as const,
        test: {
          name,
          include: [`test/external/${name}/*.test.ts`],
          // Each file of gateways starts a dozen processes.
          fileParallelism: false,
          // Ends a test that hangs: one waits for renders of a minute.
          testTimeout: 600_000,
          hookTimeout: 300_000,
        },
      })),
    ],
    maxWorkers: 3,
    // Ends a test that hangs; far above what a busy machine needs.
    testTimeout: 60_000,
    expect: { poll: { timeout: 50_000, interval: 10 } },
    hookTimeout: 60_000,
  },
});
