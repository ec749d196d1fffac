// Commands and settings, as far as only the built process shows them. The rest: test/features, test/pure/config.test.ts.

import { spawn, spawnSync, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { load } from "../fixtures/client-loaders.ts";
import { createCertificate } from "../fixtures/certificate.ts";
import { CANARY, tracesOf } from "../fixtures/canary.ts";
import { BUILT_FILE, connectLegacy, SERVER_NODE } from "../fixtures/clients.ts";
import { VIDEOS } from "../fixtures/constants.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { run } from "../fixtures/run.ts";
import { scriptedService } from "../fixtures/scripted-service.ts";
import { proxyServer } from "../fixtures/proxy-server.ts";
import { TOOLS } from "../fixtures/tools.ts";
import { until } from "../fixtures/until.ts";

test("doctor starts and accepts the entry that config prints, and rejects empty settings", async () => {
  const service = await scriptedService({ [VIDEOS]: { json: { videos: [] } } });
  const home = temporaryFolder();
  const inHome = { cwd: home, env: { HOME: home, FACELESS_BASE_URL: service.url, FACELESS_API_KEY: CANARY } };
  const printed = await run(SERVER_NODE, [BUILT_FILE, "config", "cursor", "--installed"], inHome);
  await mkdir(join(home, ".cursor"));
  await writeFile(join(home, ".cursor/mcp.json"), printed.stdout.replace("fl_example", CANARY));

  const checked = await run(SERVER_NODE, [BUILT_FILE, "doctor", "--client", "cursor"], inHome);
  const unready = await run(SERVER_NODE, [BUILT_FILE, "doctor", "--json"]);
  const { command, args: words } = load("cursor", printed.stdout);
  const [file = "", ...args] = words;
  const { raw } = await connectLegacy({ command, file, args });

  expect([printed.code, checked.code, unready.code]).toEqual([0, 0, 1]);
  expect([checked.stderr, unready.stderr, JSON.parse(unready.stdout).ok]).toEqual(["", "", false]);
  expect(printed.stderr).toMatch(
    /^1\. Put this into ~\/\.cursor\/mcp\.json, with your key in place of fl_example\./,
  );
  expect(checked.stdout).toMatch(/^A video can be made\.\n/);
  expect(tracesOf(CANARY, JSON.stringify([printed, checked]))).toEqual([]);
  expect((await raw.listTools()).tools).toHaveLength(TOOLS.length);
});

test("doctor uses the proxy and the company's certificate as the server would", async () => {
  const certificate = createCertificate("192.0.2.1");
  const caFile = join(temporaryFolder(), "ca.pem");
  await writeFile(caFile, certificate.cert);
  const { port } = await scriptedService({ [VIDEOS]: { json: { videos: [] } } }, { certificate });
  const proxy = await proxyServer({ tunnelTo: port });

  const { code, stdout, stderr } = await run(SERVER_NODE, [BUILT_FILE, "doctor"], {
    env: {
      FACELESS_API_KEY: CANARY,
      FACELESS_STATE_DIR: "off",
      FACELESS_BASE_URL: "https://192.0.2.1",
      HTTPS_PROXY: proxy.url.replace("//", "//user:secret@"),
      NODE_EXTRA_CA_CERTS: caFile,
    },
  });

  expect({ code, stderr, traces: tracesOf(CANARY, stdout) }).toEqual({ code: 0, stderr: "", traces: [] });
  expect(stdout).toMatch(/^ok {4}key +the service accepts it$/m);
  expect(new Set(proxy.asked.map(({ target }) => target))).toEqual(new Set(["192.0.2.1:443"]));
});

const FAULTS = [
  ["an exception", `throw new TypeError("${CANARY}")`],
  ["a rejection", `Promise.reject(new TypeError("${CANARY}"))`],
] as const;
const COMMANDS = ["doctor", "history", "config cursor", "call list_videos", "sandbox", "demo"];

// All commands have one listener for both kinds.
test.each(
  COMMANDS.flatMap((command, index) =>
    FAULTS.slice(index % 2, (index % 2) + 1).map((fault) => [command, ...fault] as const),
  ),
)("%s exits with 1 and a sentence after %s that nobody foresaw", async (command, _, fault) => {
  const preload = `data:text/javascript,${encodeURIComponent(`setImmediate(() => { ${fault} })`)}`;
  const home = temporaryFolder();

  const ran = await run(SERVER_NODE, ["--import", preload, BUILT_FILE, ...command.split(" ")], {
    // The demo keeps its folder.
    env: { HOME: home, TMPDIR: home },
  });

  expect(ran).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      "faceless-video-mcp: this program itself failed (TypeError). Please report it with the command that you ran\n",
    ),
  });
  expect(ran.stdout + ran.stderr).not.toMatch(/^ +at /m);
  expect(tracesOf(CANARY, ran.stdout + ran.stderr)).toEqual([]);
});

test("a command in a folder that is gone names the system's own error", async () => {
  const cwd = temporaryFolder();
  const ran = await run("/bin/sh", ["-c", 'rmdir "$PWD" && exec "$0" "$1" doctor', SERVER_NODE, BUILT_FILE], {
    cwd,
  });
  mkdirSync(cwd);

  expect(ran).toEqual({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(
      /^faceless-video-mcp: this program itself failed \(ENOENT: .+uv_cwd\)\. .+\n$/,
    ),
  });
});

test("an unusable setting with a harmless default causes one warning on stderr", async () => {
  const env = { FACELESS_POLL_SECONDS: "often", FACELESS_LOG_LEVEL: "loud" };
  expect(await run(SERVER_NODE, [BUILT_FILE, "--sandbox"], { env })).toEqual({
    code: 0,
    stdout: "",
    stderr:
      "faceless-video-mcp warn: FACELESS_POLL_SECONDS is not a number of seconds from 0.1 to 3600, so the usual schedule is used. Set it to a number of seconds from 0.1 to 3600, or remove it.\n" +
      "faceless-video-mcp warn: FACELESS_LOG_LEVEL is not one of debug, info, warn, error, silent, so warn is used. Set it to one of debug, info, warn, error, silent, or remove it.\n",
  });
});

test("history prints what the journal of its folder holds", async () => {
  const env = { FACELESS_STATE_DIR: temporaryFolder() };
  expect(await run(SERVER_NODE, [BUILT_FILE, "history", "--json"], { env })).toEqual({
    code: 0,
    stdout: expect.stringMatching(/"entries": \[\]/),
    stderr: "",
  });
});

test.runIf(process.platform === "linux").each(["history", "history --json"])(
  "%s exits with 1 if its output can't be written",
  (command) => {
    const env = { FACELESS_STATE_DIR: temporaryFolder() };
    const stdio: StdioOptions = ["ignore", openSync("/dev/full", "w"), "ignore"];
    expect(spawnSync(SERVER_NODE, [BUILT_FILE, ...command.split(" ")], { env, stdio }).status).toBe(1);
  },
);

test("the sandbox command ends with exit code 1 if its port is taken", async () => {
  const { port } = await scriptedService();
  const env = { FACELESS_SANDBOX_SECONDS: "never", FACELESS_STATE_DIR: "state" };
  expect(await run(SERVER_NODE, [BUILT_FILE, "sandbox", `--port=${port}`], { env })).toEqual({
    code: 1,
    stdout: "",
    stderr:
      "faceless-video-mcp: FACELESS_SANDBOX_SECONDS is not a number of seconds from 0 to 3600, so 20 is used. Set it to a number of seconds from 0 to 3600, or remove it.\n" +
      `faceless-video-mcp: the sandbox can't listen on port ${port}: EADDRINUSE\n`,
  });
});

test.skipIf(process.platform === "win32")(
  "Ctrl-C ends doctor at once, with all that the entry has started",
  async () => {
    const home = temporaryFolder();
    const pidFile = join(home, "pid");
    const entry = { command: "/bin/sh", args: ["-c", `sleep 300 & echo $! >${pidFile}; wait`] };
    await mkdir(join(home, ".cursor"));
    await writeFile(
      join(home, ".cursor/mcp.json"),
      JSON.stringify({ mcpServers: { "faceless-video": entry } }),
    );
    const doctor = spawn(SERVER_NODE, [BUILT_FILE, "doctor", "--client", "cursor"], {
      env: { ...process.env, HOME: home },
      stdio: "ignore",
    });
    const ended = once(doctor, "exit");
    let pid = 0;
    await until(async () => (pid = Number(await readFile(pidFile, "utf8").catch(() => ""))) > 0);

    doctor.kill("SIGINT");

    expect(await ended).toEqual([null, "SIGINT"]);
    await until(() => !isRunning(pid));
  },
);

/** Also false for a zombie. */
function isRunning(pid: number): boolean {
  const file = `/proc/${pid}/stat`;
  return existsSync(file) && !/\) Z /.test(readFileSync(file, "utf8"));
}
