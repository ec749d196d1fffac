import { defineConfig } from "vitest/config";

/** The built server and plugins with others' programs from npm: gateways, clients, pg-boss. Needs npm. */
export default defineConfig({
  test: {
    globalSetup: "test/fixtures/no-leftovers.ts",
    include: ["test/checks/{gateways,plugins}/*.test.ts"],
    // Each file of gateways starts a dozen processes.
    fileParallelism: false,
    // Ends a test that hangs: one waits for renders of a minute.
    testTimeout: 600_000,
    hookTimeout: 300_000,
  },
});
