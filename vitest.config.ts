import { spawnSync } from "node:child_process";
import { defineConfig } from "vitest/config";

/** Tests that replace a module or its timers, or look at what the whole process holds. */
const ISOLATED = {
  network:
    "test/network/{journal-postgres,leaks,late-answers,deadline,dead-connections,mcp-deadline}.test.ts",
  features: "test/features/{call-patience,sandbox/webhooks}.test.ts",
};

/** True if one of these paths differs from the branch main. */
function differs(...paths: readonly string[]): boolean {
  // 0 if nothing differs, 1 if something does, and more without git or main.
  const changed = spawnSync("git", ["diff", "--quiet", "--merge-base", "main", "--", ...paths]);
  const added = spawnSync("git", ["ls-files", "--others", "--exclude-standard", "--", ...paths]);
  return changed.status !== 0 || added.stdout.length > 0;
}

/** The model takes a tenth of the tests' time, so only CI, MODEL=quick, MODEL=deep and a change of the guard run it. */
const isModelNeeded =
  process.env["CI"] !== undefined ||
  process.env["MODEL"] !== undefined ||
  differs("src/idempotency", "src/mcp/elicitation.ts", "test/model");

/** These import the whole server, so each change would run them. A tool's own file can't break what they test. */
const isNetworkNeeded =
  !process.argv.includes("--changed") ||
  differs(
    "src/service",
    "src/idempotency",
    "src/jobs",
    "src/commands",
    ":(glob)src/*.ts",
    "test/network",
    "test/fixtures",
  );
const ifNeeded = (isNeeded: boolean, path: string) => (isNeeded ? [path] : []);

/** `unit`, `model` and `faults` run the source; `e2e` what only the built file shows (build it first). */
export default defineConfig({
  test: {
    globalSetup: "test/fixtures/no-leftovers.ts",
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: [
            "test/{features,pure,repository}/**/*.test.ts",
            ...ifNeeded(isNetworkNeeded, "test/network/*.test.ts"),
          ],
          exclude: [ISOLATED.network, ISOLATED.features],
          // Modules have no state, so files share them: loading them anew took a third of the time.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: "isolated",
          include: [ISOLATED.features, ...ifNeeded(isNetworkNeeded, ISOLATED.network)],
        },
      },
      { extends: true, test: { name: "model", include: ifNeeded(isModelNeeded, "test/model/*.test.ts") } },
      {
        extends: true,
        test: { name: "e2e", include: ["test/e2e/**/*.test.ts"], isolate: false },
      },
      {
        extends: true,
        test: { name: "faults", include: ifNeeded(isNetworkNeeded, "test/network/faults/**/*.test.ts") },
      },
    ],
    // Many tests wait for processes and timers, so three workers fill two cores; each loads the SDKs anew.
    maxWorkers: 3,
    // Ends a test that hangs. Beside 35 other processes, three seconds of processor take more than a minute.
    testTimeout: 600_000,
    expect: { poll: { timeout: 590_000, interval: 10 } },
    hookTimeout: 600_000,
  },
});
