// The demo as a new user runs it: the built file, no terminal, and perhaps a key in the environment.

import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { CANARY, tracesOf } from "../fixtures/canary.ts";
import { BUILT_FILE, SERVER_NODE } from "../fixtures/clients.ts";
import { TOOLS } from "../fixtures/constants.ts";
import { run } from "../fixtures/run.ts";

test("the demo publishes a sandbox video and never shows the user's key", async () => {
  const { code, stdout, stderr } = await run(SERVER_NODE, [BUILT_FILE, "demo"], {
    env: { FACELESS_API_KEY: CANARY, FACELESS_SANDBOX_SECONDS: "1" },
  });
  expect({ code, stderr, traces: tracesOf(CANARY, stdout) }).toEqual({ code: 0, stderr: "", traces: [] });
  for (const words of [
    new RegExp(TOOLS.join(", ")),
    /Job [0-9a-f-]{36}/,
    /completed: 4 clips/,
    /http:\/\/127\.0\.0\.1:\d+\/media\/clips\/[0-9a-f-]{36}\/4\.mp4/,
    /tiktok: posted http/,
    /instagram: not posted, .+/,
    /[0-9a-f-]{36} {2}completed {2}http/,
  ]) {
    expect(stdout).toMatch(words);
  }
  // eslint-disable-next-line no-control-regex -- escape sequences must not be there
  expect(stdout).not.toMatch(/\u001B/);
  // The README links to it. What is not indented is the same in every run.
  const shown = await readFile(new URL("../../docs/demo.txt", import.meta.url), "utf8");
  const titles = (text: string) => text.split("\n").filter((line) => /^[^\s$]/.test(line));
  expect(titles(shown)).toEqual(titles(stdout));
});
