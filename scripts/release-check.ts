// npm run release:check: finds what stops a release and is fixed by a commit. Prints a line for each fault.

import { readFileSync } from "node:fs";
import * as z from "zod";

const lockfileSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      integrity: z.string().optional(),
      optionalDependencies: z.record(z.string(), z.string()).default({}),
    }),
  ),
});
const { packages } = lockfileSchema.parse(JSON.parse(readFileSync("package-lock.json", "utf8")));

const faults = [...lockfileFaults(), ...readmeFaults(), ...changelogFaults()];
process.stdout.write(faults.length === 0 ? "Nothing stops the release.\n" : `${faults.join("\n")}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;

/** npm doesn't check a package without an integrity, or install a platform's package without an entry. */
function lockfileFaults(): string[] {
  const unchecked = Object.keys(packages).filter(
    (path) => path !== "" && packages[path]?.integrity === undefined,
  );
  const paths = Object.keys(packages);
  const absent = Object.values(packages)
    .flatMap(({ optionalDependencies }) => Object.keys(optionalDependencies))
    .filter((name) => !paths.some((path) => path.endsWith(`node_modules/${name}`)));
  const [example] = [...unchecked, ...absent];
  if (example === undefined) return [];
  return [
    `package-lock.json: ${unchecked.length} packages have no integrity and ${absent.length} no entry, such as ${example}. Run npm run lockfile where the registry has every platform's packages.`,
  ];
}

function readmeFaults(): string[] {
  const isMarked = readFileSync("README.md", "utf8").includes("<!-- unpublished -->");
  return isMarked ? ["README.md: remove the block that says that the package is not on npm yet."] : [];
}

/** The release's notes are the part of its version alone. */
function changelogFaults(): string[] {
  const isMissed = /^## \[Unreleased\]\s+(?!## )\S/m.test(readFileSync("CHANGELOG.md", "utf8"));
  return isMissed ? ["CHANGELOG.md: move the changes under Unreleased to the version's own heading."] : [];
}
