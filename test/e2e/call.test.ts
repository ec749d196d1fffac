// `call` as a process: signals, pipes, and a computer without settings.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { callingComputer, jsonOf, ORDER, POST, READY, RENDERING, STARTED } from "../fixtures/call.ts";
import { BUILT_FILE, SERVER_NODE } from "../fixtures/clients.ts";
import { GENERATE, JOB_ID, PUBLISH, STATUS, VIDEOS } from "../fixtures/constants.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { journalFolder } from "../fixtures/journal-folder.ts";
import { run } from "../fixtures/run.ts";
import { until } from "../fixtures/until.ts";

test("a fresh clone without settings makes a sandbox video, and prints it as one JSON document", async () => {
  const env = { HOME: temporaryFolder(), FACELESS_SANDBOX_SECONDS: "0.5", FACELESS_POLL_SECONDS: "0.1" };
  const args = [BUILT_FILE, "call", ...ORDER, "--sandbox", "--yes", "--wait", "--json"];
  const ran = await run(SERVER_NODE, args, { env });

  expect({ code: ran.code, video: jsonOf(ran) }).toEqual({
    code: 0,
    video: expect.objectContaining({
      summary: expect.stringMatching(/^Your sample video is ready: http:/),
      status: "completed",
      done: true,
      finalVideoUrl: expect.stringMatching(/^http:.*\.mp4$/),
    }),
  });
  expect(ran.stderr).toMatch(/^Job \S+: The sample video was started: 20 s/);
});

test("a slow reader gets all output; a full disk means exit code 1, a reader that stops doesn't", async () => {
  const fields = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`f${index}`, index]));
  const videos = Array.from({ length: 100 }, () => ({ jobId: JOB_ID, status: "processing", ...fields }));
  const { env } = await callingComputer({ [VIDEOS]: { json: { videos } } });
  const inShell = (line: string) =>
    run("bash", ["-o", "pipefail", "-c", line], {
      env: { ...env, CALL: `${SERVER_NODE} ${BUILT_FILE} call list_videos --json` },
    });

  const slow = await inShell("$CALL | (sleep 0.5; cat)");
  expect([slow.code, slow.stdout.length > 65_536, jsonOf(slow)["videos"]]).toEqual([
    0,
    true,
    expect.anything(),
  ]);
  expect(await inShell("$CALL | head -c 1")).toEqual({ code: 0, stdout: "{", stderr: "" });
  expect(await inShell("$CALL > /dev/full")).toEqual({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^The result can't be written to stdout \(ENOSPC\):\n100 videos/),
  });
});

test("a paid order is reported on stderr if nobody reads stdout", async () => {
  const { env, sent } = await callingComputer({ [GENERATE]: STARTED });

  const ran = await run("bash", ["-c", `$CALL ${ORDER.map((word) => `'${word}'`).join(" ")} > >(exec >&-)`], {
    env: { ...env, CALL: `${SERVER_NODE} ${BUILT_FILE} call` },
  });

  expect(ran.stderr).toContain(`Job ${JOB_ID}`);
  expect(sent()).toEqual([1, 0]);
});

const hasTerminals = spawnSync("script", ["--version"]).stdout?.includes("util-linux") ?? false;

test.runIf(hasTerminals)("a y typed before the question, without Enter, doesn't answer it", async () => {
  let isTyped = false;
  const { env, sent, rest } = await callingComputer({
    [STATUS]: async () => {
      await until(() => isTyped);
      return READY;
    },
  });
  const command = [SERVER_NODE, BUILT_FILE, "call", ...POST].join(" ");
  const child = spawn("script", ["-qec", command, "/dev/null"], {
    env: { PATH: process.env["PATH"], ...env },
  });
  const ended = once(child, "close");
  let screen = "";
  child.stdout.on("data", (text: Buffer) => (screen += String(text)));
  await until(() => rest.lines(STATUS).length === 1);
  child.stdin.write("y");
  await until(() => screen.includes("y"));
  isTyped = true;
  await until(() => screen.includes("[y/N] "));
  child.stdin.write("\n");
  await ended;

  expect(screen).toContain("Not posted: you didn't confirm.");
  expect(sent()).toEqual([0, 0]);
});

test("the next call doesn't repeat a call that was killed or whose answer was lost", async () => {
  const { call, callBuilt, rest, folder, sent } = await callingComputer({
    [GENERATE]: "hang",
    [PUBLISH]: "reset",
  });
  const killed = callBuilt(ORDER, {
    onStart: (child) => void until(() => sent()[0] === 1).then(() => child.kill("SIGKILL")),
  });
  expect((await killed).code).toBe(null);
  const lost = await call([...POST, "--yes", "--json"]);

  journalFolder(folder).makeOlder(6);
  rest.on(GENERATE, STARTED);
  const orderedAgain = await call([...ORDER, "--json"]);
  const postedAgain = await call([...POST, "--yes", "--json"]);

  expect(lost.code).toBe(3);
  const duplicate = { error: { code: "duplicate", outcome: "not_sent" } };
  expect([orderedAgain, postedAgain].map(jsonOf)).toMatchObject([duplicate, duplicate]);
  expect(sent()).toEqual([1, 1]);
});

test("Ctrl-C stops following a job, not the job itself, and prints its state", async () => {
  const { callBuilt, rest, sent } = await callingComputer({ [GENERATE]: STARTED, [STATUS]: RENDERING });
  const polls = () => rest.lines(STATUS).length;
  const stopped = await callBuilt([...ORDER, "--wait", "--json"], {
    onStart: (child) => void until(() => polls() > 2).then(() => child.kill("SIGINT")),
  });

  expect({ code: stopped.code, job: jsonOf(stopped) }).toMatchObject({
    code: null,
    job: { jobId: JOB_ID, status: "processing", done: false },
  });
  expect(sent()).toEqual([1, 0]);
});

test("the second Ctrl-C abandons an unanswered order, and the signal ends the process", async () => {
  const { callBuilt, sent } = await callingComputer({ [GENERATE]: "hang" });
  const stopped = await callBuilt([...ORDER, "--json"], {
    onStart(child) {
      // npx forwards the terminal's own signal, so a second one right after it is the same Ctrl-C.
      void until(() => sent()[0] === 1).then(() => (child.kill("SIGINT"), child.kill("SIGINT")));
      const isGone = () => child.signalCode !== null || (child.kill("SIGINT"), false);
      child.stderr?.on("data", (text: Buffer) => {
        if (String(text).includes("Ctrl-C again")) void until(isGone);
      });
    },
  });

  expect([stopped.code, jsonOf(stopped)]).toMatchObject([
    null,
    { error: { code: "cancelled", outcome: "unknown" } },
  ]);
});

test("Ctrl-C while an order is unanswered waits for its answer and records it", async () => {
  let child: ChildProcess | undefined;
  let text = "";
  const { call, callBuilt, sent } = await callingComputer({
    [GENERATE]: async () => {
      child?.stderr?.on("data", (part: Buffer) => (text += String(part)));
      child?.kill("SIGINT");
      await until(() => text.includes("Ctrl-C again"));
      return STARTED;
    },
    [STATUS]: RENDERING,
  });
  const stopped = await callBuilt([...ORDER, "--json"], { onStart: (process) => (child = process) });
  const next = await call([...ORDER, "--json"]);

  expect([stopped.code, jsonOf(stopped)["jobId"]]).toEqual([null, JOB_ID]);
  expect(jsonOf(next)).toMatchObject({ jobId: JOB_ID, alreadyStarted: true });
  expect(sent()).toEqual([1, 0]);
});
