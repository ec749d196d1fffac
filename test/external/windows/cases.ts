// The cases on Windows. Each returns what was found, and throws if that is not what was promised.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { constants, readFileSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { createServer } from "node:http";
import { dirname } from "node:path";
import type { ClientName } from "../../../src/command-line.ts";
import { launch } from "../../../src/commands/server-entry.ts";
import { load } from "../../fixtures/client-loaders.ts";
import { listen } from "../../fixtures/free-port.ts";
import { until } from "../../fixtures/until.ts";
import { ask, call, type User } from "./user.ts";

/** libuv's flag for a file that nobody else may open meanwhile, as some programs open theirs. */
const EXCLUSIVE = 0x10000000;
/** Each client's file on Windows, by its own documentation. */
const FILES: Readonly<Record<Exclude<ClientName, "other">, string>> = {
  "claude-desktop": "AppData/Roaming/Claude/claude_desktop_config.json",
  "claude-code": ".claude.json",
  cursor: ".cursor/mcp.json",
  vscode: "AppData/Roaming/Code/User/mcp.json",
  codex: ".codex/config.toml",
  gemini: ".gemini/settings.json",
  antigravity: ".gemini/antigravity/mcp_config.json",
  zed: "AppData/Roaming/Zed/settings.json",
  cline: "AppData/Roaming/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
  windsurf: ".codeium/windsurf/mcp_config.json",
  copilot: ".copilot/mcp-config.json",
  opencode: ".config/opencode/opencode.json",
  continue: ".continue/config.yaml",
  goose: "AppData/Roaming/Block/goose/config/config.yaml",
  "lm-studio": ".lmstudio/mcp.json",
  kiro: ".kiro/settings/mcp.json",
  "visual-studio": ".mcp.json",
};

export const CASES: Readonly<Record<string, (user: User) => Promise<string>>> = {
  async "`npx` alone, and the printed entry, in a project that has programs of these names"(user) {
    const [error]: unknown[] = await once(spawn("npx", { env: { PATH: user.path("bin") } }), "error");
    assert.equal(Reflect.get(Object(error), "code"), "ENOENT");
    for (const name of ["npx.cmd", "cmd.cmd", "cmd.bat", "node.cmd"])
      user.write(`project/${name}`, "@echo taken over> taken-over\r\n");
    const project = user.path("project");
    spawnSync("cmd", ["/c", "npx"], { cwd: project });
    assert.ok(user.files().includes(String.raw`project\taken-over`), "the project's npx.cmd is harmless");
    rmSync(user.path("project/taken-over"));
    const { command, args } = launch({ windows: true, sandbox: true });
    const [file = "", ...rest] = args.toReversed();
    const how = { command: [command, ...rest.reverse()] as const, file, cwd: project };
    const server = await user.start({}, "legacy", how);
    assert.match((await call(server, "list_connected_platforms")).summary, /sandbox/);
    server.stdin.end();
    assert.deepEqual([(await server.ended).code, server.stderr()], [0, ""]);
    assert.ok(!user.files().includes(String.raw`project\taken-over`), "taken over");
    return "alone ENOENT, or the project's own; the printed entry starts, and ends with its stdin: exit 0, nothing on stderr";
  },

  async "`config --installed` twice, while a server runs"(user) {
    const print = async () =>
      (await user.run(user.home, "config", "cursor", "--installed", "--sandbox")).stdout;
    const { command, args } = load("cursor", await print());
    const [script = "", flag = ""] = args;
    const server = await user.start({}, "legacy", { command: [command, script], file: flag });
    assert.deepEqual(load("cursor", await print()).args, [...args]);
    assert.match((await call(server, "list_connected_platforms")).summary, /sandbox/);
    return String.raw`it is in %USERPROFILE%\.faceless-video-mcp\app, and the server runs on`;
  },

  async "a whole job, with `FACELESS_SAVE_DIR` set to `~\\Videos`"(user) {
    const server = await user.start({ FACELESS_SAVE_DIR: "~\\Videos" }, "modern");
    const { jobId } = await call(server, "generate_video", { topic: "How Windows got its name" });
    const savedTo = await saved(() => call(server, "get_video_status", { jobId, waitSeconds: 45 }));
    assert.equal(dirname(savedTo), user.path("Videos"));
    assert.ok(readFileSync(savedTo).includes("ftyp"), "no MP4");
    const { results } = await call(server, "publish_video", { jobId, platforms: ["tiktok"] });
    assert.match(JSON.stringify(results), /"ok":true/);
    assert.match(JSON.stringify(await call(server, "list_videos")), new RegExp(String(jobId)));
    return `rendered, published, listed and saved in ${user.path("Videos").replace(user.home, "%USERPROFILE%")}`;
  },

  async "a saved video that another program has open, in the next process"(user) {
    const env = { FACELESS_SAVE_DIR: "~/Videos" };
    const { jobId } = await call(await user.start(env), "generate_video", { topic: "Saved twice" });
    const status = async () => call(await user.start(env), "get_video_status", { jobId, waitSeconds: 45 });
    const file = await open(await saved(status), "r+");
    await file.truncate(1);
    assert.equal((await status()).savedTo, await saved(status));
    assert.equal((await file.stat()).size, 1);
    await file.close();
    const left = user.files().filter((name) => name.startsWith("Videos\\"));
    assert.deepEqual(left.filter((name) => !name.endsWith(".faceless-saved.jsonl")).length, 1);
    return "the file is left alone, nothing is left beside it but the record of saved videos";
  },

  async "the same call in two processes at the same time, and one after the other"(user) {
    const [one, other] = [await user.start(), await user.start()];
    const order = { topic: "Two at a time" };
    const answers = await Promise.all([one, other].map((server) => call(server, "generate_video", order)));
    assert.equal(answers.filter(({ alreadyStarted }) => alreadyStarted === true).length, 1);
    const { jobId } = await call(one, "generate_video", { topic: "Read on" });
    assert.equal((await call(other, "generate_video", { topic: "Read on" })).jobId, jobId);
    assert.deepEqual([await videosOf(user, order.topic), await videosOf(user, "Read on")], [1, 1]);
    assert.equal(dirname(journalOf(user)), ".faceless-video-mcp");
    return String.raw`each video once; the journal is in %USERPROFILE%\.faceless-video-mcp`;
  },

  async "a journal that another program has open"(user) {
    const server = await user.start();
    await call(server, "generate_video", { topic: "The journal" });
    const path = user.path(journalOf(user));
    const shared = await open(path, "r+");
    await call(server, "generate_video", { topic: "Shared" });
    await shared.close();
    // eslint-disable-next-line no-bitwise -- flags are bits
    const locked = await open(path, constants.O_RDWR | EXCLUSIVE);
    const { _meta } = await ask(server, "generate_video", { topic: "Locked" });
    await locked.close();
    const error = _meta["faceless/error"];
    assert.deepEqual([error?.outcome, await videosOf(user, "Locked")], ["not_sent", 0]);
    await call(server, "generate_video", { topic: "Locked" });
    return `shared: goes on; locked: ${error?.code}, nothing is sent until it is free again`;
  },

  async "folders whose names Windows forbids"(user) {
    const unwritable = await user.start({ FACELESS_STATE_DIR: user.path("a?b") });
    const { _meta } = await ask(unwritable, "generate_video", { topic: "Forbidden" });
    const error = _meta["faceless/error"];
    assert.deepEqual([error?.outcome, await videosOf(user, "Forbidden")], ["not_sent", 0]);
    const server = await user.start({ FACELESS_SAVE_DIR: user.path("a<b") });
    const { jobId } = await call(server, "generate_video", { topic: "Forbidden" });
    const status = () => call(server, "get_video_status", { jobId, waitSeconds: 45 });
    await until(async () => (await status()).summary.includes("not be saved"));
    return `a journal: ${error?.code}, nothing is sent; a video: made, and the user is told that it is not saved`;
  },

  async "a process that is ended within a paid request, and the same call in the next"(user) {
    let posts = 0;
    const service = createServer(({ method }, response) => {
      if (method === "POST") posts += 1;
      else response.writeHead(404).end();
    });
    const env = { FACELESS_BASE_URL: `http://127.0.0.1:${await listen(service)}` };
    const first = await user.start(env);
    void first.ask("tools/call", { name: "generate_video", arguments: { topic: "Ended" } });
    await until(() => posts === 1);
    first.child.kill("SIGKILL");
    await first.ended;
    const { _meta } = await ask(await user.start(env), "generate_video", { topic: "Ended" });
    const error = _meta["faceless/error"];
    assert.deepEqual([error?.outcome, posts], ["not_sent", 1]);
    service.closeAllConnections();
    return `${error?.code}: nothing is sent again`;
  },

  async "`doctor --client CLIENT` for each, with line ends of Windows"(user) {
    for (const [client, file] of Object.entries(FILES)) {
      const entry = (await user.run(user.home, "config", client, "--sandbox")).stdout;
      user.write(file, entry.replaceAll("\n", "\r\n"));
      const { code, stdout } = await user.run(user.path("bin"), "doctor", "--client", client);
      assert.equal(code, 0, stdout);
      // Windows' paths are the same in any case.
      const told = `ok    entry     ${user.path(file)}`.toLowerCase();
      assert.ok(stdout.toLowerCase().includes(told), stdout);
      assert.doesNotMatch(stdout, /^(warn|fail)/m);
    }
    return `${Object.keys(FILES).length} entries found in the clients' own files, nothing wrong with them`;
  },

  async "`doctor --client` with `npx` alone, and with `c:\\` for `C:/`"(user) {
    const entry = { command: "npx", args: ["-y", "faceless-video-mcp", "--sandbox"] };
    const file = JSON.stringify({ mcpServers: { "faceless-video": entry } });
    user.write(FILES.cursor, file);
    const cursor = await user.run(user.home, "doctor", "--client", "cursor");
    assert.match(cursor.stdout, /^warn +entry +Replace .*\n.*config cursor\n.*may start it in a project's/m);
    const project = user.path("bin").replace(/^\w/, (drive) => drive.toLowerCase());
    const spelt = project.replaceAll("\\", "/").replace(/^\w/, (drive) => drive.toUpperCase());
    user.write(FILES["claude-code"], JSON.stringify({ projects: { [spelt]: JSON.parse(file) } }));
    const { stdout } = await user.run(project, "doctor", "--client", "claude-code");
    assert.ok(stdout.includes(`ok    entry     ${user.path(FILES["claude-code"])}`), stdout);
    return "told what to do; the project's entry is found";
  },
};

/** The path, once the video is saved. */
async function saved(status: () => ReturnType<typeof call>): Promise<string> {
  let path: string | undefined;
  await until(async () => (path = (await status()).savedTo) !== undefined);
  return path ?? "";
}

/** The path, relative to the user's folder. */
function journalOf(user: User): string {
  return user.files().find((name) => name.endsWith(".jsonl")) ?? "";
}

/** How many videos of the topic the service has. */
async function videosOf({ sandboxUrl }: User, topic: string): Promise<number> {
  const headers = { authorization: "Bearer fl_sandbox" };
  const { videos } = Object(await (await fetch(`${sandboxUrl}/api/v1/videos?limit=100`, { headers })).json());
  return JSON.stringify(videos).split(JSON.stringify(topic)).length - 1;
}
