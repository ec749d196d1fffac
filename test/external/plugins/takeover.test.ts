// Each thing that a project can do to npx, on its own, with the oldest npm that comes with a supported Node.js
// and with the one that is installed.

import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import manifest from "../../../package.json" with { type: "json" };
import { launch } from "../../../src/commands/server-entry.ts";
import { ATTACKS, HostileProjects } from "../../fixtures/hostile-projects.ts";
import { npmProgram } from "../../fixtures/npm-tools.ts";

const projects = new HostileProjects();
beforeAll(() => projects.open(fileURLToPath(new URL("../../..", import.meta.url))));
afterAll(() => projects.close());

const PINNED = ["-y", "--prefer-offline", `${manifest.name}@${manifest.version}`];
const npms = [
  ["npm 10.8", async () => dirname(await npmProgram("npm", "npx"))],
  ["the installed npm", async () => ""],
] as const;
const cases = npms.flatMap(([npm, folder]) =>
  Object.keys(ATTACKS).map((attack) => [attack, npm, folder] as const),
);

test.each(cases)("%s takes over a bare npx and not the printed entry, with %s", async (attack, _, folder) => {
  const env = { PATH: [await folder(), process.env["PATH"]].join(":") };
  const startFirst = (start: { command: string; args: readonly string[] }) =>
    projects.start(start, [attack], { env });

  expect(await startFirst({ command: "npx", args: PINNED })).toMatchObject({ isTakenOver: true });
  expect(await startFirst(launch({ windows: false, sandbox: false }))).toEqual({
    isTakenOver: false,
    version: manifest.version,
  });
});
