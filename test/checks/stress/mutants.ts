// Plants bugs in some files, and counts how many the tests find.

import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import * as z from "zod";
import manifest from "../../../package.json" with { type: "json" };
import { installed, VERSIONS } from "../../fixtures/npm-tools.ts";

const MIN_PERCENT = 90;
/** The configuration names it too. */
const REPORT = ".stryker-tmp/mutation.json";
const reportSchema = z.object({
  files: z.record(z.string(), z.object({ mutants: z.array(z.object({ status: z.string() })) })),
});

export async function mutants(files: string) {
  const [core, runner] = ["@stryker-mutator/core", "@stryker-mutator/vitest-runner"] as const;
  // The runner would bring the newest one along.
  const { vitest } = manifest.devDependencies;
  const stryker = await installed({ [core]: VERSIONS[core], [runner]: VERSIONS[runner], vitest });
  const startMs = performance.now();
  rmSync(REPORT, { force: true });
  spawnSync(
    join(stryker, "node_modules/.bin/stryker"),
    ["run", "scripts/stryker.config.json", "--mutate", files],
    {
      stdio: ["ignore", process.stderr.fd, "inherit"],
    },
  );
  const seconds = Math.round((performance.now() - startMs) / 1000);
  const report = reportSchema.parse(JSON.parse(readFileSync(REPORT, "utf8")));
  const shares = Object.entries(report.files).map(([file, { mutants: planted }]) => {
    const count = (...statuses: string[]) => planted.filter(({ status }) => statuses.includes(status)).length;
    const found = count("Killed", "Timeout");
    return { file: basename(file), found, all: found + count("Survived", "NoCoverage") };
  });
  const figures = shares.map(
    ({ file, found, all }) => `${file} ${((100 * found) / all).toFixed(1)} % of ${all}`,
  );
  return [
    {
      test: `bugs planted in \`${files}\``,
      promised: `tests find ${MIN_PERCENT} % or more`,
      measured: `${figures.join(", ")}, in ${seconds} s`,
      met: shares.every(({ found, all }) => 100 * found >= MIN_PERCENT * all),
    },
  ];
}
