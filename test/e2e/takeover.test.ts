// The entries for clients are started in a project that tries everything to be run in their place.
// `npm run plugins` tries one thing after the other, and other versions of npm.

import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { launch } from "../../src/commands/server-entry.ts";
import { load } from "../fixtures/client-loaders.ts";
import { BUILT_FILE, SERVER_NODE } from "../fixtures/clients.ts";
import { ATTACKS, HostileProjects, type Start } from "../fixtures/hostile-projects.ts";
import { run } from "../fixtures/run.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const projects = new HostileProjects();
beforeAll(() => projects.open(root));
afterAll(() => projects.close());

const startIn = (home: string, start: Start) => projects.start(start, Object.keys(ATTACKS), { home });

test.each([
  ["npx", async () => launch({ windows: false, sandbox: false })],
  [
    "the installed copy",
    async (home: string) => {
      const words = [BUILT_FILE, "config", "cursor", "--installed"];
      return load("cursor", (await run(SERVER_NODE, words, { env: { HOME: home } })).stdout);
    },
  ],
] as const)("a project can't take over the entry that config prints for %s", async (_, entry) => {
  const home = await projects.home();

  expect(await startIn(home, await entry(home))).toEqual({
    isTakenOver: false,
    version: manifest.version,
  });
});

test("a project can't take over what the plugins for Claude Code and Cursor start", async () => {
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
