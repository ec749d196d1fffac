import { spawnSync } from "node:child_process";
import { defineConfig } from "vitest/config";

/** Tests that replace a module or its timers, or look at what the whole process holds. */
const ISOLATED = [
  "test/network/{journal-postgres,leaks,late-answers,deadline,dead-connections,mcp-deadline}.test.ts",
  "test/features/{call-patience,sandbox/webhooks}.test.ts",
];

/**
 * The model takes a tenth of the tests' time. CI runs it, MODEL=quick or MODEL=deep does, and so does a change of
 * the guard, compared with the branch main.
 */
function isModelNeeded(): boolean {
  if (process.env["CI"] !== undefined || process.env["MODEL"] !== undefined) return true;
  const paths = ["src/idempotency", "test/model"];
  // 0 if nothing differs, 1 if something does, and more without git or main.
  const changed = spawnSync("git", ["diff", "--quiet", "--merge-base", "main", "--", ...paths]);
  const added = spawnSync("git", ["ls-files", "--others", "--exclude-standard", "--", ...paths]);
  return changed.status !== 0 || added.stdout.length > 0;
}

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
      { extends: true, test: { name: "model", include: isModelNeeded() ? ["test/model/*.test.ts"] : [] } },
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
