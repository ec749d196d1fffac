// npm run release:check: finds what stops a release and is fixed by a commit, a line for each fault. With
// `-- dry`, as npm run release:dry calls it, it ends with the maintainers' steps and does not fail.

import { readFileSync } from "node:fs";
import * as z from "zod";

const manifestSchema = z.looseObject({ version: z.string(), isOnNpm: z.boolean() });
const lockfileSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      integrity: z.string().optional(),
      optionalDependencies: z.record(z.string(), z.string()).default({}),
    }),
  ),
});
const { version, isOnNpm } = manifestSchema.parse(JSON.parse(readFileSync("package.json", "utf8")));
const { packages } = lockfileSchema.parse(JSON.parse(readFileSync("package-lock.json", "utf8")));
const isDry = process.argv[2] === "dry";

const faults = [...lockfileFaults(), ...stageFaults(), ...changelogFaults()];
const verdict = faults.length === 0 ? "Nothing in the repository stops the release." : faults.join("\n");
process.stdout.write(`${verdict}\n${isDry ? maintainersSteps() : ""}`);
process.exitCode = isDry || faults.length === 0 ? 0 : 1;

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

/** The documents that a release publishes say that npm has the package. */
function stageFaults(): string[] {
  return isOnNpm ? [] : ["package.json: set isOnNpm to true, and run npm run docs."];
}

/** The release's notes are the part of its version alone, which is the newest. */
function changelogFaults(): string[] {
  const heading = /^## .*$/m.exec(readFileSync("CHANGELOG.md", "utf8"))?.[0] ?? "";
  const isDated = heading.startsWith(`## [${version}] - `) && / - \d{4}-\d\d-\d\d$/.test(heading);
  return isDated
    ? []
    : [`CHANGELOG.md: the first heading is not "## [${version}] - " with the day of the release.`];
}

/** The headings of RELEASING.md, and what is bold in its steps. */
function maintainersSteps(): string {
  const text = readFileSync(new URL("../.github/RELEASING.md", import.meta.url), "utf8");
  const lines = [...text.matchAll(/^(?:## (?<title>.+)|(?<step>\d+\. )\*\*(?<what>.+?)\*\*)/gm)];
  const list = lines.map(({ groups: { title, step, what } = {} }) =>
    title === undefined ? `  ${step}${what}` : `\n${title}`,
  );
  return `\nWhat only a maintainer can do, in this order (.github/RELEASING.md says how):\n${list.join("\n")}\n`;
}
