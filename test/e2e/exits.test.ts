// How the built file ends: exit code 0, nothing on stderr but the id of a paid job, no orphan process. How
// fast it ends is measured by test/external/stress/exits.ts, where nothing else runs.

import { readdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { BUILT_FILE, SERVER_NODE } from "../fixtures/clients.ts";
import { GENERATE, JOB_ID, KEY, TIDES } from "../fixtures/constants.ts";
import { EVENTS, exitCases, expectedOutcome, runExitCase, STATES } from "../fixtures/exit-cases.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { type RawServer, type RawStart, startRaw } from "../fixtures/raw-server.ts";
import { run } from "../fixtures/run.ts";
import { scriptedService } from "../fixtures/scripted-service.ts";
import { until } from "../fixtures/until.ts";

/**
 * One protocol per case, alternating. Signals share one code path, and a killed parent only closes both
 * streams, so an idle server alone gets all of these events. external/stress/exits.ts has every case.
 */
const SOME_CASES = exitCases().filter(({ state, event, protocol }) => {
  if (state !== "idle" && ["SIGINT", "SIGHUP", "parent killed"].includes(event)) return false;
  return (
    protocol === undefined ||
    (protocol === "legacy") === ((STATES.indexOf(state) + EVENTS.indexOf(event)) % 2 === 0)
  );
});

for (const exitCase of SOME_CASES) {
  const { state, event, protocol = "no" } = exitCase;
  // A case with a paid request mostly waits.
  test(
    `the server ends cleanly by ${event}: ${state}, ${protocol} client`,
    { concurrent: state.startsWith("a paid") },
    async () => {
      expect((await runExitCase(exitCase)).outcome).toEqual(expectedOutcome(exitCase));
    },
  );
}

test("the server ends even if a disk hangs, though Node.js would wait for its thread pool", async () => {
  const fifo = join(temporaryFolder(), "fifo");
  await run("mkfifo", [fifo]);
  const server = start({
    nodeArgs: preload(`import { readFile } from "node:fs"; readFile(${JSON.stringify(fifo)}, () => {});`),
  });
  await server.open("legacy");

  server.stdin.end();

  expect(await server.ended).toMatchObject({ code: null, signal: "SIGKILL" });
  expect(server.stderr()).not.toContain("rror");
});

/** Makes the system know no home folder of this process's user but HOME and `home`. */
function knownAs(home: string | undefined): string[] {
  return preload(`
    import os from "node:os";
    import { syncBuiltinESMExports } from "node:module";
    const home = ${JSON.stringify(home ?? null)};
    os.userInfo = () => { if (home === null) throw new Error("ENOENT"); return { homedir: home }; };
    os.homedir = () => process.env.HOME ?? os.userInfo().homedir;
    syncBuiltinESMExports();`);
}

const WITHOUT_HOME = { HOME: "", FACELESS_STATE_DIR: "" };

test("without a home folder, calls fail only if a setting needs one", async () => {
  const service = await scriptedService({ [GENERATE]: { json: { jobId: JOB_ID, status: "processing" } } });
  const settings = { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: service.url };
  const order = async (env: RawStart["env"]) => {
    const server = start({ nodeArgs: knownAs(undefined), env: { FACELESS_STATE_DIR: "", ...env } });
    await server.open("legacy");
    return JSON.stringify((await server.ask("tools/call", ORDER)).result);
  };

  const refused = await order(settings);
  expect(refused).toContain("FACELESS_STATE_DIR is not set, and this user has no home folder");
  expect(refused).toContain("or set HOME to a folder that this user can write to");
  expect(await order({ ...settings, FACELESS_SAVE_DIR: "~/Videos" })).toContain(
    "FACELESS_SAVE_DIR begins with ~, but this user has no home folder",
  );
  expect(service.requests).toEqual([]);
  expect(await order({ ...settings, FACELESS_STATE_DIR: temporaryFolder() })).toContain(JOB_ID);
  expect(service.lines(GENERATE)).toHaveLength(1);
});

test("without a home folder the readers work, and nothing is ordered or posted", async () => {
  const service = await scriptedService({ "GET /api/v1/videos": { json: { videos: [] } } });
  const settings = { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: service.url };
  const server = start({ nodeArgs: knownAs(undefined), env: { ...WITHOUT_HOME, ...settings } });
  await server.open("legacy");

  const listed = await server.ask("tools/call", { name: "list_videos", arguments: {} });
  expect(listed.result).toHaveProperty("structuredContent.videos", []);
  const refused = JSON.stringify((await server.ask("tools/call", ORDER)).result);
  expect(refused).toContain("FACELESS_STATE_DIR is not set, and this user has no home folder");
  expect(service.requests.map(({ method }) => method)).not.toContain("POST");
});

test("the sandbox needs no home folder", async () => {
  const server = start({ nodeArgs: knownAs(undefined), env: WITHOUT_HOME, options: ["--sandbox"] });
  await server.open("legacy");

  expect((await server.ask("tools/call", ORDER)).result).toHaveProperty("structuredContent.jobId");
});

test.each(["history", "config cursor", "doctor --client cursor"])(
  "%s without a home folder says what to set, without a stack trace",
  async (words) => {
    const { code, stdout, stderr } = await run(
      SERVER_NODE,
      [...knownAs(undefined), BUILT_FILE, ...words.split(" ")],
      { env: WITHOUT_HOME },
    );

    expect(code).toBe(1);
    expect(stdout + stderr).toMatch(/this user has no home folder.+ HOME to a/s);
    expect(stdout + stderr).not.toMatch(/^ +at /m);
  },
);

test("with an empty HOME, the journal lies in the home folder that the system knows", async () => {
  const home = temporaryFolder();
  const service = await scriptedService({ [GENERATE]: { json: { jobId: JOB_ID, status: "processing" } } });
  const server = start({
    nodeArgs: knownAs(home),
    env: { HOME: "", FACELESS_STATE_DIR: "", FACELESS_API_KEY: KEY, FACELESS_BASE_URL: service.url },
  });
  await server.open("legacy");

  await server.ask("tools/call", ORDER);

  expect(readdirSync(join(home, ".faceless-video-mcp")).join()).toMatch(/journal-\S+\.jsonl/);
});

test("the answer to a paid request still reaches the client of a server that is ending", async () => {
  const { server, service, answer } = await startPaying({ nodeArgs: preload(REPORT_SIGTERM) });
  const answers: unknown[] = [];
  server.send(server.request(1, "tools/call", ORDER));
  await until(() => service.lines(GENERATE).length === 1);
  server.child.kill("SIGTERM");
  await until(() => server.stderr().includes("SIGTERM"));
  server.onMessage((message) => {
    if (typeof message === "object" && "id" in message) answers.push(message);
  });
  answer();

  expect(await server.ended).toMatchObject({ code: 0 });
  expect(answers).toEqual([
    expect.objectContaining({
      id: 1,
      result: expect.objectContaining({ structuredContent: expect.objectContaining({ jobId: JOB_ID }) }),
    }),
  ]);
});

test("the server keeps running when stderr is closed", async () => {
  const { server, service, answer } = await startPaying({ env: { FACELESS_LOG_LEVEL: "debug" } });
  answer();
  server.child.stderr?.destroy();

  const { result } = await server.ask("tools/call", ORDER);
  expect(result).toHaveProperty("structuredContent.jobId", JOB_ID);
  // Each of them is logged.
  server.send({ result: 1 }, { result: 2 }, { result: 3 });
  expect((await server.ask("tools/list")).result).toHaveProperty("tools");

  server.stdin.end();
  expect(await server.ended).toMatchObject({ code: 0, signal: null });
  expect(service.lines(GENERATE)).toHaveLength(1);
});

test.each([
  ["an exception", "setImmediate(() => { throw new TypeError('fl_example') })"],
  ["a rejection", "void Promise.reject(new TypeError('fl_example'))"],
])(
  "%s in the server ends it with exit code 1 and one line without stack and message",
  async (_name, failure) => {
    const server = start({ nodeArgs: preload(`process.on("SIGUSR2", () => ${failure})`) });
    await server.open("legacy");
    const before = server.stderr();

    server.child.kill("SIGUSR2");

    expect(await server.ended).toMatchObject({ code: 1, signal: null });
    expect(server.stderr().slice(before.length)).toBe(
      "faceless-video-mcp error: this server itself failed (TypeError) and ends\n",
    );
  },
);

test("a signal ends the server cleanly even before its code is loaded", async () => {
  const server = start({ nodeArgs: preload(SLOW_START), env: { FACELESS_LOG_LEVEL: "silent" } });
  await until(() => server.stderr().includes("loading"));

  server.child.kill("SIGTERM");

  expect(await server.ended).toMatchObject({ code: 0, signal: null });
  expect(server.stderr()).toBe("loading\n");
});

test("console.log of a library goes to stderr", async () => {
  const server = start({ nodeArgs: preload(`process.on("SIGUSR2", () => console.log("printed"))`) });
  const messages: unknown[] = [];
  server.onMessage((message) => messages.push(message));
  await server.open("legacy");

  server.child.kill("SIGUSR2");

  await until(() => server.stderr().endsWith("\nprinted\n"));
  await server.ask("ping");
  expect(messages).toEqual([]);
});

test("the server reads requests from a file and writes its answers to a file", async () => {
  const folder = temporaryFolder();
  const ids = Array.from({ length: 100 }, (_, id) => id);
  const lines = ids.map((id) => `${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/list" })}\n`);
  await writeFile(join(folder, "in"), lines.join(""));

  const { code } = await run("sh", ["-c", '"$0" "$1" <in >out', SERVER_NODE, BUILT_FILE], {
    cwd: folder,
  });

  expect(code).toBe(0);
  const answers = (await readFile(join(folder, "out"), "utf8")).trimEnd().split("\n");
  expect(answers.map((line) => Object(JSON.parse(line)).id)).toEqual(ids);
});

test("a server that is started in a terminal says so in one line on stderr and names --help", async () => {
  const command = `${SERVER_NODE} ${BUILT_FILE} --sandbox 2>err`;
  const cwd = temporaryFolder();

  await run("sh", ["-c", 'echo | script -qec "$0" /dev/null', command], { cwd });

  expect(await readFile(join(cwd, "err"), "utf8")).toMatch(/^faceless-video-mcp: .*--help.*\n$/);
});

test.each(["--help", "--version"])("%s into a closed pipe prints no stack trace", async (option) => {
  const { stderr } = await run("sh", ["-c", '"$0" "$1" "$2" | true', SERVER_NODE, BUILT_FILE, option]);
  expect(stderr).toBe("");
});

const ORDER = { name: "generate_video", arguments: TIDES };

/** Runs before the server's own listener, in the same turn. */
const REPORT_SIGTERM = `
  import { writeSync } from "node:fs";
  process.on("SIGTERM", () => writeSync(2, "SIGTERM\\n"));`;

function start(options: RawStart): RawServer {
  const server = startRaw(options);
  onTestFinished(() => void server.child.kill("SIGKILL"));
  return server;
}

/** A 2025-11-25 client, and a service that starts videos once `answer` is called. */
async function startPaying({ env, ...options }: RawStart) {
  let answer = () => {};
  const allowed = new Promise<void>((resolve) => (answer = resolve));
  const service = await scriptedService({
    [GENERATE]: async () => {
      await allowed;
      return { json: { jobId: JOB_ID, status: "processing" } };
    },
  });
  const server = start({
    ...options,
    env: { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: service.url, ...env },
  });
  await server.open("legacy");
  return { server, service, answer };
}

/** Runs in the server's process before its own code. */
function preload(code: string): string[] {
  return ["--import", `data:text/javascript,${encodeURIComponent(code)}`];
}

/** Pauses when the serving code is about to be loaded. */
const SLOW_START = `
  import Module from "node:module";
  import { writeSync } from "node:fs";
  const load = Module._load;
  Module._load = (request, ...rest) => {
    if (/\\/serve-[^/]*$/.test(request)) {
      writeSync(2, "loading\\n");
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    }
    return load(request, ...rest);
  };`;
