// npm run lockfile: has npm add the missing integrity hashes to package-lock.json. Leaves the file as it was
// if a package would disappear, as happens where the registry lacks the packages of other platforms.

import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import * as z from "zod";

const FILE = "package-lock.json";
const lockfileSchema = z.looseObject({ packages: z.record(z.string(), z.record(z.string(), z.unknown())) });
const read = (text: string) => lockfileSchema.parse(JSON.parse(text));

const before = readFileSync(FILE, "utf8");
const lockfile = read(before);
// npm asks the registry only about packages that have no entry.
const packages = Object.fromEntries(
  Object.entries(lockfile.packages).filter(([path, entry]) => path === "" || "integrity" in entry),
);
writeFileSync(FILE, `${JSON.stringify({ ...lockfile, packages }, undefined, 2)}\n`);
const { status } = spawnSync("npm install --package-lock-only --ignore-scripts", {
  shell: true,
  stdio: "inherit",
});
const after = read(readFileSync(FILE, "utf8")).packages;
const lost = Object.keys(lockfile.packages).filter((path) => !(path in after));
if (status !== 0 || lost.length > 0) {
  writeFileSync(FILE, before);
  const why = lost.length > 0 ? `${lost.length} packages would disappear, such as ${lost[0]}` : "npm failed";
  process.stderr.write(`${FILE} is unchanged: ${why}. Use a registry that has every platform's packages.\n`);
  process.exitCode = 1;
}
