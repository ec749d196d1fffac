// The end of the built file: whatever ends it and whatever it is doing, soon, with exit code 0, quietly, and with what was
// paid for told. The limits of the contract are asserted by test/prove/exits.ts, where nothing else runs.

import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { BUILT_FILE, SERVER_NODE } from "./fixtures/clients.ts";
import {
  cells,
  end,
  EVENTS,
  expectedLeft,
  JOB_ID,
  limitMs,
  STATES,
  TOLD,
  until,
} from "./fixtures/endings.ts";
import { type RawServer, type RawStart, startRaw } from "./fixtures/raw-server.ts";
import { run } from "./fixtures/run.ts";
import { scriptedService } from "./fixtures/scripted-service.ts";

/** For a machine that is busy with other tests. */
const NOISE_MS = 1_000;
const ANSWERED = { json: { jobId: JOB_ID, status: "processing" } };

/** Each event in each state, with the two eras in turn. */
const SOME_CELLS = cells().filter(
  ({ state, event, era }) =>
    era === undefined || (era === "old") === ((STATES.indexOf(state) + EVENTS.indexOf(event)) % 2 === 0),
);

describe("the built file ends in time and quietly", () => {
  for (const cell of SOME_CELLS) {
    const { state, event, era = "no" } = cell;
    // Those with a paid request mostly wait.
    test(`${state}, ${event}, ${era} client`, { concurrent: state.startsWith("a paid") }, async () => {
      const { ms, left } = await end(cell);

      expect(left).toEqual(expectedLeft(cell));
      expect(ms).toBeLessThan(limitMs(cell) + NOISE_MS);
    });
  }
});

describe("an end that is asked for twice", () => {
  test("still waits for what is paid for, and takes nothing more", async () => {
    const { server, service } = await paying(() => sleep(400, ANSWERED));
    server.say(generate(server, 1, "The sea"));
    await until(() => service.lines("POST /api/v1/generate").length === 1);

    server.child.kill("SIGTERM");
    server.child.kill("SIGINT");
    // By when the signals have come; nothing tells of it.
    await sleep(150);
    server.say(generate(server, 2, "The moon"));

    expect(await server.ended).toMatchObject({ code: 0, signal: null });
    expect(server.stderr()).toBe(TOLD);
    expect(service.lines("POST /api/v1/generate")).toHaveLength(1);
  });

  test("leaves time for the answer to a client that still reads", async () => {
    const { server, service } = await paying(() => sleep(300, ANSWERED));
    const heard: unknown[] = [];
    server.hear((message) => heard.push(message));
    server.say(generate(server, 1, "The sea"));
    await until(() => service.lines("POST /api/v1/generate").length === 1);

    server.child.kill("SIGTERM");

    expect(await server.ended).toMatchObject({ code: 0 });
    expect(heard).toEqual([
      expect.objectContaining({
        id: 1,
        result: expect.objectContaining({ structuredContent: expect.objectContaining({ jobId: JOB_ID }) }),
      }),
    ]);
  });
});

test("a paid request that comes with the end of the input is told of if it was sent", async () => {
  const { server, service } = await paying(() => ANSWERED);

  server.say(generate(server, 1, "The sea"));
  server.stdin.end();

  expect(await server.ended).toMatchObject({ code: 0 });
  expect(server.stderr()).toBe(service.lines("POST /api/v1/generate").length === 0 ? "" : TOLD);
});

test("a log that nobody reads ends nothing and is no failure", async () => {
  const { server, service } = await paying(() => ANSWERED, { FACELESS_LOG_LEVEL: "debug" });
  server.child.stderr?.destroy();

  const { result } = await server.ask("tools/call", {
    name: "generate_video",
    arguments: { topic: "The sea" },
  });
  expect(result).toHaveProperty("structuredContent.jobId", JOB_ID);
  // It says of each that it has dropped a response.
  server.say({ result: 1 }, { result: 2 }, { result: 3 });
  expect((await server.ask("tools/list")).result).toHaveProperty("tools");

  server.stdin.end();
  expect(await server.ended).toMatchObject({ code: 0, signal: null });
  expect(service.lines("POST /api/v1/generate")).toHaveLength(1);
});

describe("a failure of its own", () => {
  test.each([
    ["an exception", "setImmediate(() => { throw new TypeError('fl_secret_0123') })"],
    ["a rejection", "void Promise.reject(new TypeError('fl_secret_0123'))"],
  ])(
    "ends it with exit code 1 and one line that holds no stack and no message: %s",
    async (_name, failure) => {
      const server = start({ nodeArgs: preload(`process.on("SIGUSR2", () => ${failure})`) });
      await server.open("old");
      const before = server.stderr();

      server.child.kill("SIGUSR2");

      expect(await server.ended).toMatchObject({ code: 1, signal: null });
      expect(server.stderr().slice(before.length)).toBe(
        "faceless-video-mcp error: the bridge itself failed (TypeError) and ends\n",
      );
    },
  );

  test("while its code is loaded is one line too", async () => {
    const server = start({ nodeArgs: whenServing(`throw new RangeError("fl_secret_0123");`) });

    expect(await server.ended).toMatchObject({ code: 1, signal: null });
    expect(server.stderr()).toBe(
      "faceless-video-mcp error: the bridge itself failed (RangeError) and ends\n",
    );
  });
});

test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
  "%s ends it though it comes before its code is loaded",
  async (signal) => {
    const slowly = `writeSync(2, "loading\\n"); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);`;
    const server = start({ nodeArgs: whenServing(slowly), env: { FACELESS_LOG_LEVEL: "silent" } });
    await until(() => server.stderr().includes("loading"));
    const startMs = performance.now();

    server.child.kill(signal);

    const { code, atMs } = await server.ended;
    expect(code).toBe(0);
    expect(atMs - startMs).toBeLessThan(NOISE_MS);
    expect(server.stderr()).toBe("loading\n");
  },
);

test("whatever a library prints goes to stderr", async () => {
  const server = start({ nodeArgs: preload(`process.on("SIGUSR2", () => console.log("printed"))`) });
  const heard: unknown[] = [];
  server.hear((message) => heard.push(message));
  await server.open("old");

  server.child.kill("SIGUSR2");

  await until(() => server.stderr().endsWith("\nprinted\n"));
  await server.ask("ping");
  expect(heard).toEqual([]);
});

test("it answers a file of requests, into a file", async () => {
  const folder = await mkdtemp(join(tmpdir(), "faceless-files-"));
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

test.each(["--help", "--version"])("%s into a closed pipe prints no stack", async (option) => {
  const { stderr } = await run("sh", ["-c", '"$0" "$1" "$2" | true', SERVER_NODE, BUILT_FILE, option]);
  expect(stderr).toBe("");
});

function start(options: RawStart): RawServer {
  const server = startRaw(options);
  onTestFinished(() => void server.child.kill("SIGKILL"));
  return server;
}

/** A client of the older era before a service that starts videos as it is told. */
async function paying(answer: () => unknown, env: Record<string, string> = {}) {
  const service = await scriptedService({
    "POST /api/v1/generate": async () => ({ ...Object(await answer()) }),
  });
  const server = start({
    env: { FACELESS_API_KEY: "fl_exit_0123456789", FACELESS_BASE_URL: service.url, ...env },
  });
  await server.open("old");
  return { server, service };
}

function generate(server: RawServer, id: number, topic: string): object {
  return server.request(id, "tools/call", { name: "generate_video", arguments: { topic } });
}

/** Runs in the server's process before anything of ours. */
function preload(code: string): string[] {
  return ["--import", `data:text/javascript,${encodeURIComponent(code)}`];
}

/** Runs when the code that serves is about to be loaded. */
function whenServing(code: string): string[] {
  return preload(`
    import Module from "node:module";
    import { writeSync } from "node:fs";
    const load = Module._load;
    Module._load = (request, ...rest) => {
      if (/\\/serve-[^/]*$/.test(request)) { ${code} }
      return load(request, ...rest);
    };`);
}
