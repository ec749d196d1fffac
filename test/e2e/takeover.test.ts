// What is printed and documented for clients is started in a project that tries everything to be run in its
// place. `npm run test:plugins` tries one thing after the other, and other versions of npm.

import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { LOADERS } from "../commands/client-loaders.ts";
import { BUILT_FILE, SERVER_NODE } from "../fixtures/clients.ts";
import { ATTACKS, HostileProjects, type Start } from "../fixtures/hostile-projects.ts";
import { run } from "../fixtures/run.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const projects = new HostileProjects();
beforeAll(() => projects.open(root));
afterAll(() => projects.close());

const startIn = (home: string, start: Start) => projects.start(start, Object.keys(ATTACKS), { home });

test.each<[string, readonly string[]]>([
  ["npx", []],
  ["--installed", ["--installed"]],
])("a project can't take over the entry that config prints for %s", async (_, options) => {
  const home = await projects.home();
  const printed = await run(SERVER_NODE, [BUILT_FILE, "config", "cursor", ...options], {
    env: { HOME: home },
  });

  expect(await startIn(home, LOADERS.cursor(printed.stdout))).toEqual({
    isTakenOver: false,
    version: manifest.version,
  });
});

test("a project can't take over what the plugin for Claude Code starts", async () => {
  const start = { command: fileURLToPath(new URL("docs/plugin/start-server", `file://${root}`)), args: [] };

  expect(await startIn(await projects.home(), start)).toEqual({
    isTakenOver: false,
    version: manifest.version,
  });
});

test("a project takes over the short entry, which is for applications without projects", async () => {
  const start = { command: "npx", args: ["-y", manifest.name] };

  expect(await startIn(await projects.home(), start)).toMatchObject({ isTakenOver: true });
});
