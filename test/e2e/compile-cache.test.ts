// The compiled code that the server keeps where its Node can. `npm run test:matrix` runs this on newer Nodes than the tests need.

import { chmod, mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { SERVER_NODE } from "../fixtures/clients.ts";
import { fillCompiledCode } from "../fixtures/compiled-code.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { startRaw } from "../fixtures/raw-server.ts";
import { run } from "../fixtures/run.ts";

const { stdout } = await run(SERVER_NODE, [
  "-p",
  "`${process.version} ${typeof require('module').enableCompileCache}`",
]);
const [version = "", type] = stdout.trim().split(" ");
const OWN = `compiled-${manifest.version}-${version}`;

describe.skipIf(type !== "function")("compiled code", () => {
  test("is kept in the state folder, and the next start uses it", async () => {
    const stateDir = temporaryFolder();
    await fillCompiledCode(SERVER_NODE, stateDir);
    expect(await readdir(stateDir)).toEqual([OWN]);
    expect(await usedCode({ FACELESS_STATE_DIR: stateDir })).toEqual(expect.arrayContaining(["serve"]));
  });

  test("of older versions is removed, and that of newer ones and the journal stay", async () => {
    const stateDir = temporaryFolder();
    const older = ["compiled-0.0.9-v24.1.0", `compiled-${manifest.version}-v9.11.2`];
    const newer = ["compiled-99.0.0-v22.1.0"];
    for (const name of [...older, ...newer]) await mkdir(join(stateDir, name, "v"), { recursive: true });
    await writeFile(join(stateDir, "journal-2026-11-21.jsonl"), "");
    await fillCompiledCode(SERVER_NODE, stateDir);
    expect((await readdir(stateDir)).toSorted()).toEqual(
      [OWN, ...newer, "journal-2026-11-21.jsonl"].toSorted(),
    );
  });

  // On Linux a variable names this folder, so that the test can have one of its own.
  test.skipIf(process.platform !== "linux")(
    "is found in the platform's state folder, unless FACELESS_STATE_DIR is off or can't be used",
    async () => {
      const XDG_STATE_HOME = temporaryFolder();
      const stateDir = join(XDG_STATE_HOME, "faceless-video-mcp");
      await mkdir(stateDir);
      await fillCompiledCode(SERVER_NODE, stateDir);
      expect(await usedCode({ FACELESS_STATE_DIR: undefined, XDG_STATE_HOME })).toContain("serve");
      expect(await usedCode({ FACELESS_STATE_DIR: "off", XDG_STATE_HOME })).toEqual([]);
      expect(await usedCode({ FACELESS_STATE_DIR: "relative", XDG_STATE_HOME })).toEqual([]);
    },
  );

  test.skipIf(process.platform === "win32")(
    "is for the user alone, and not run where others may write",
    async () => {
      const stateDir = temporaryFolder();
      await fillCompiledCode(SERVER_NODE, stateDir);
      expect((await stat(join(stateDir, OWN))).mode & 0o777).toBe(0o700);
      await chmod(join(stateDir, OWN), 0o777);
      expect(await usedCode({ FACELESS_STATE_DIR: stateDir })).toEqual([]);
    },
  );
});

/** The chunks whose compiled code Node says that it uses. */
async function usedCode(env: Record<string, string | undefined>): Promise<string[]> {
  const server = startRaw({
    env: { ...env, FACELESS_LOG_LEVEL: "silent", NODE_DEBUG_NATIVE: "COMPILE_CACHE" },
  });
  await server.open("legacy");
  server.stdin.end();
  await server.ended;
  const lines = server.stderr().split("\n");
  return lines.flatMap((line) => /chunks.([a-z-]+)-[\w-]{8}\.cjs was accepted/.exec(line)?.[1] ?? []);
}
