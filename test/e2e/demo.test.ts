// The demo as a new user runs it: the built file, with or without a terminal, and perhaps a key in the environment.

import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { runDemo } from "../../src/commands/demo.ts";
import { CANARY, tracesOf } from "../fixtures/canary.ts";
import { BUILT_FILE, SERVER_NODE } from "../fixtures/clients.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { computer } from "../fixtures/host.ts";
import { run } from "../fixtures/run.ts";
import { TOOLS } from "../fixtures/tools.ts";

const FINAL_VIDEO = new URL("../../src/sandbox/media/final.mp4", import.meta.url);

test("the demo publishes and saves a sandbox video, and never shows the user's key", async () => {
  const folder = temporaryFolder();
  const { code, stdout, stderr } = await run(SERVER_NODE, [BUILT_FILE, "demo"], {
    env: { FACELESS_API_KEY: CANARY, FACELESS_SANDBOX_SECONDS: "1", TMPDIR: folder },
  });
  expect({ code, stderr, traces: tracesOf(CANARY, stdout) }).toEqual({ code: 0, stderr: "", traces: [] });
  for (const words of [
    new RegExp(TOOLS.join(", ")),
    /Job [0-9a-f-]{36}/,
    /\[####\] Ready: 4 clips/,
    /http:\/\/127\.0\.0\.1:\d+\/media\/final\/[0-9a-f-]{36}\.mp4/,
    /TikTok: posted {2}http/,
    /The links end with this demo\. The file stays until your system clears/,
    /Instagram: not posted \(the service says .+ expired/,
    /completed {2}"Every river is secretly salty/,
  ]) {
    expect(stdout).toMatch(words);
  }
  // eslint-disable-next-line no-control-regex -- escape sequences must not be there
  expect(stdout).not.toMatch(/\u001B/);
  const [savedTo = ""] = /\S+faceless-demo-\S+\.mp4/.exec(stdout) ?? [];
  expect(savedTo.startsWith(folder)).toBe(true);
  expect((await readFile(savedTo)).equals(await readFile(FINAL_VIDEO))).toBe(true);
  // The README links to it. Lines without an indent are the same in every run, and so is the topic.
  const shown = await readFile(new URL("../../docs/demo.txt", import.meta.url), "utf8");
  const titles = (text: string) => text.split("\n").filter((line) => /^[^\s$]|\]$/.test(line));
  expect(titles(shown)).toEqual(titles(stdout));
});

test("in a terminal the links work until the user presses Enter", async () => {
  const { host, input, output } = computer(
    { env: { FACELESS_SANDBOX_SECONDS: "0" }, temporaryDir: temporaryFolder() },
    { isTTY: true, columns: 1_000 },
  );
  let shown = "";
  output.on("data", (text: string) => (shown += text));
  const ended = runDemo(host);
  await expect.poll(() => shown, { timeout: 30_000 }).toContain("press Enter");
  const link = /http:\S+\/media\/final\/\S+\.mp4/.exec(shown)?.[0] ?? "";

  expect((await fetch(link)).status).toBe(200);
  input.write("\n");

  expect(await ended).toBe(0);
});
