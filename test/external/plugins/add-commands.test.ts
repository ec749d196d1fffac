// The commands that `config` prints for the clients that have one, run by a shell with the clients' own programs, in
// a home folder whose path has a space.

import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { BUILT_FILE } from "../../fixtures/clients.ts";
import { temporaryFolder } from "../../fixtures/folder.ts";
import { npmProgram, type VERSIONS } from "../../fixtures/npm-tools.ts";
import { run } from "../../fixtures/run.ts";
import { scriptedService } from "../../fixtures/scripted-service.ts";

const CLIENTS: readonly (readonly [string, keyof typeof VERSIONS, string])[] = [
  ["claude-code", "@anthropic-ai/claude-code", "claude"],
  ["codex", "@openai/codex", "codex"],
  ["gemini", "@google/gemini-cli", "gemini"],
  ["copilot", "@github/copilot", "copilot"],
  ["opencode", "opencode-ai", "opencode"],
];

test.each(CLIENTS)(
  "from the sandbox to an account: the commands for %s work one after the other, with nothing but what is printed",
  async (client, name, executable) => {
    const home = join(await mkdtemp(join(temporaryFolder(), "home ")), "it's");
    await mkdir(home);
    const service = await scriptedService({ "GET /api/v1/videos": { json: { videos: [] } } });
    const bin = dirname(await npmProgram(name, executable));
    const env = {
      HOME: home,
      PATH: `${bin}:${process.env["PATH"]}`,
      FACELESS_BASE_URL: service.url,
      FACELESS_API_KEY: "fl_own",
    };
    const ours = (...words: readonly string[]) =>
      run(process.execPath, [BUILT_FILE, ...words], { env, cwd: home });
    const add = async (...options: readonly string[]) => {
      const { stderr } = await ours("config", client, ...options);
      const [, command = ""] =
        /^ {3}((?:claude|codex|gemini|copilot|opencode) [^]+?)\n\n/m.exec(stderr) ?? [];
      const added = await run("/bin/sh", ["-c", command], { env, cwd: home });
      expect(added.code, added.stderr + added.stdout).toBe(0);
    };

    await add("--sandbox");
    const inSandbox = await ours("doctor", "--client", client);
    await add();
    await add();
    if (client === "codex") {
      // The one key that is written by hand.
      const file = join(home, ".codex/config.toml");
      await writeFile(file, (await readFile(file, "utf8")).replace("fl_example", "fl_own"));
    }
    const withAccount = await ours("doctor", "--client", client);
    const again = await ours("config", client);

    expect(inSandbox.stdout).toMatch(/^ok +settings +the sandbox/m);
    expect([inSandbox.code, withAccount.code], withAccount.stdout).toEqual([0, 0]);
    expect(withAccount.stdout).toMatch(/^ok +start +version /m);
    expect(withAccount.stdout).not.toMatch(/the sandbox|^fail/m);
    // opencode's command leaves out its permission, without which nobody asks.
    expect(withAccount.stdout.includes("nobody asks you")).toBe(client === "opencode");
    expect(again.stderr.includes("Keep the key that your entry has.")).toBe(client === "codex");
  },
);
