// The commands that `config` prints for Claude Code, Codex and Gemini CLI, run by a shell with the clients' own
// programs, in a home folder whose path has a space.

import { mkdir, mkdtemp } from "node:fs/promises";
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
];

test.each(CLIENTS)(
  "the command for %s adds an entry that doctor starts",
  async (client, name, executable) => {
    const home = join(await mkdtemp(join(temporaryFolder(), "home ")), "it's");
    await mkdir(home);
    const service = await scriptedService({ "GET /api/v1/videos": { json: { videos: [] } } });
    const bin = dirname(await npmProgram(name, executable));
    const env = { HOME: home, PATH: `${bin}:${process.env["PATH"]}`, FACELESS_BASE_URL: service.url };
    const ours = (...words: readonly string[]) =>
      run(process.execPath, [BUILT_FILE, ...words], { env, cwd: home });
    const { stderr } = await ours("config", client);
    const [, command = ""] = /^ {3}((?:claude|codex|gemini) [^]+?)\n\n/m.exec(stderr) ?? [];

    const added = await run("/bin/sh", ["-c", command.replace("fl_example", "fl_own")], { env, cwd: home });
    const checked = await ours("doctor", "--client", client);

    expect([added.code, checked.code], added.stderr + checked.stdout).toEqual([0, 0]);
    expect(checked.stdout).toMatch(/^ok +start +version /m);
    expect(checked.stdout).toContain(client === "codex" ? "A video can be made." : "only ");
  },
);
