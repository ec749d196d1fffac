// `call` and slow answers: nobody gives up on it, so it awaits the answers to paid and public requests.

import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemClock } from "../../src/clock.ts";
import {
  callingComputer as callingComputerOf,
  jsonOf,
  ORDER,
  POST,
  READY,
  RENDERING,
  STARTED,
} from "../fixtures/call.ts";
import { GENERATE, JOB_ID, PUBLISH, STATUS, VIDEOS } from "../fixtures/constants.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { envelope, type Reply, type Scripts } from "../fixtures/scripted-service.ts";
import { until } from "../fixtures/until.ts";

// The timers run faster here than the disk.
vi.mock("../../src/service/time-budget.ts", async (load) => ({
  ...(await load<object>()),
  MAX_DISK_MS: 1_000_000,
}));

// The deadlines of requests are the system's timers.
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] }));
afterEach(() => void vi.useRealTimers());

/** A clock whose times are those of the timers. */
const clock = { ...systemClock, now: () => Date.now(), monotonicMs: () => Date.now() };

async function callingComputer(scripts: Scripts, settings?: Readonly<Record<string, string>>) {
  const computer = await callingComputerOf(scripts, settings);
  const start = (args: readonly string[], caller = {}) => computer.start(args, { clock, ...caller });
  return { ...computer, start, call: (args: readonly string[]) => start(args).ended };
}

const PLATFORMS = ["tiktok", "youtube", "instagram"];
const LINKS = PLATFORMS.map((platform) => `https://${platform}.example/1`);
const POSTED = {
  json: { results: PLATFORMS.map((platform, index) => ({ platform, ok: true, url: LINKS[index] })) },
};
const POST_TO_ALL = ["publish_video", "--job-id", JOB_ID, "--platforms", PLATFORMS.join(","), "--yes"];
const AWAITED = /^The service has not answered yet\. Its answer is awaited for five minutes\.\n$/;

/** Lets this much time pass, a second at a time, as requests and reads follow each other. */
async function pass(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    vi.advanceTimersByTime(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A reply at a time that the test chooses. */
function laterReply() {
  let give: (reply: Reply) => void = () => {};
  const reply = new Promise<Reply>((resolve) => (give = resolve));
  return { script: () => reply, give: (answer: Reply) => give(answer) };
}

test.each([41, 90, 200])(
  "a post that is answered after %i s exits with 0 and prints its links",
  async (seconds) => {
    const reply = laterReply();
    const { start, sent } = await callingComputer({ [PUBLISH]: reply.script });
    const { ended, written } = start(POST_TO_ALL);
    await until(() => sent()[1] === 1);
    await pass(seconds);
    await until(() => written.stderr !== "");
    reply.give(POSTED);

    const { code, stdout, stderr } = await ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(AWAITED) });
    for (const link of LINKS) expect(stdout).toContain(link);
    expect(sent()).toEqual([0, 1]);
  },
);

test("an order that is answered after 41 s exits with 0 and prints its job, with and without --wait", async () => {
  for (const flags of [["--json"], ["--wait", "--json"]]) {
    const reply = laterReply();
    const { start, sent } = await callingComputer({ [GENERATE]: reply.script });
    const { ended, written } = start([...ORDER, ...flags]);
    await until(() => sent()[0] === 1);
    await pass(41);
    await until(() => AWAITED.test(written.stderr));
    reply.give(STARTED);
    // With --wait, the first read is due.
    await until(async () => (await pass(1), written.stdout !== ""));

    expect(await ended.then(({ code, stdout }) => [code, jsonOf({ code, stdout, stderr: "" })])).toEqual([
      0,
      expect.objectContaining({ jobId: JOB_ID }),
    ]);
    expect(sent()).toEqual([1, 0]);
  }
});

test("an order that is refused after 40 s is reported as refused, and the user isn't asked again", async () => {
  const reply = laterReply();
  const { start, sent } = await callingComputer(
    { [GENERATE]: reply.script },
    { FACELESS_CONFIRM_GENERATE: "on" },
  );
  const { ended, written } = start([...ORDER, "--wait"], { answer: "y" });
  await until(() => sent()[0] === 1);
  await pass(40);
  await until(() => written.stderr.includes("awaited"));
  reply.give(envelope(402, "out_of_credits", "None."));

  const { code, stderr } = await ended;
  expect(code).toBe(1);
  expect(stderr.match(/\[y\/N\]/g)).toHaveLength(1);
  expect(stderr).toMatch(/does not have enough credits.*This call started no video and spent no credits\./);
  expect(sent()).toEqual([1, 0]);
});

test("an answer that doesn't come in five minutes means exit code 3", async () => {
  const { start, sent } = await callingComputer({ [PUBLISH]: "hang" });
  const { ended } = start([...POST, "--yes", "--json"]);
  await until(() => sent()[1] === 1);
  await pass(340);

  const ran = await ended;
  expect([ran.code, jsonOf(ran)]).toMatchObject([3, { error: { code: "timeout", outcome: "unknown" } }]);
});

test("the first Ctrl-C says that the answer to a post is awaited, and the answer still counts", async () => {
  const reply = laterReply();
  const { start, sent, call } = await callingComputer({ [PUBLISH]: reply.script });
  const { ended, written, interrupt } = start([...POST, "--yes"]);
  await until(() => sent()[1] === 1);
  interrupt();
  await until(async () => (await pass(1), written.stderr !== ""));
  expect(written.stderr).toBe(
    "The request was sent, so its answer is awaited, for five minutes at most. Ctrl-C again leaves without it.\n",
  );
  reply.give({ json: { results: [{ platform: "tiktok", ok: true, url: LINKS[0] }] } });

  expect(await ended).toMatchObject({ code: 0, stdout: expect.stringContaining(String(LINKS[0])) });
  const again = await call([...POST, "--yes", "--json"]);
  expect(jsonOf(again)["results"]).toMatchObject([{ ok: true, alreadyPublished: true }]);
});

test("the second Ctrl-C ends call, which says that the post may have been made", async () => {
  const { start, sent } = await callingComputer({ [PUBLISH]: "hang" });
  const { ended, written, interrupt } = start([...POST, "--yes", "--json"]);
  await until(() => sent()[1] === 1);
  interrupt();
  await until(async () => (await pass(1), written.stderr !== ""));
  interrupt();

  const ran = await ended;
  expect([ran.code, jsonOf(ran)]).toMatchObject([
    3,
    {
      error: {
        code: "cancelled",
        outcome: "unknown",
        message: expect.stringMatching(
          /It is not known whether the video was published\. .*Look for the video or the post/,
        ),
      },
    },
  ]);
});

test("a table waits for the rate limit, and then orders each row once", async () => {
  let orders = 0;
  const { start, sent } = await callingComputer({
    [GENERATE]: () => {
      const jobId = JOB_ID.replace(/.{4}$/, String(1_000 + orders));
      const refusal = { ...envelope(429, "rate_limited", "Slow down."), headers: { "retry-after": "60" } };
      return orders++ === 2 ? refusal : { json: { jobId, status: "processing" } };
    },
  });
  const table = ["topic", ...Array.from({ length: 6 }, (_, index) => `The tide comes in ${index} times.`)];
  const { ended, written } = start(["generate_video", "--csv", "-"], { input: table.join("\n") });
  await until(async () => (await pass(1), written.stdout !== ""));

  expect(await ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/\n6 of 6 ordered\.\n$/) });
  expect(sent()).toEqual([7, 0]);
});

test("Ctrl-C after an answer was lost never says that nothing was paid", async () => {
  const { start, rest, sent } = await callingComputer({ [GENERATE]: "hang up", [VIDEOS]: "hang" });
  const { ended, interrupt } = start([...ORDER, "--json"]);
  await until(() => rest.lines(VIDEOS).length === 1);
  interrupt();
  await pass(3);

  const ran = await ended;
  expect([ran.code, jsonOf(ran)]).toMatchObject([3, { error: { code: "cancelled", outcome: "unknown" } }]);
  expect(sent()).toEqual([1, 0]);
});

test("the second Ctrl-C prints a known post that the journal can't take", async () => {
  const state = join(temporaryFolder(), "state");
  mkdirSync(state);
  const { start } = await callingComputer(
    {
      [PUBLISH]: () => {
        renameSync(state, `${state}-gone`);
        writeFileSync(state, "");
        return { json: { results: [{ platform: "tiktok", ok: true, url: LINKS[0] }] } };
      },
    },
    { FACELESS_STATE_DIR: state },
  );
  const { ended, written, interrupt } = start([...POST, "--yes"]);
  await until(() => written.stderr.includes("the journal can't be written"));
  interrupt();
  await new Promise((resolve) => setImmediate(resolve));
  await pass(1);
  await until(() => written.stderr.includes("Ctrl-C again"));
  expect(written.stderr).toContain(
    "The service has answered, which is being recorded. Ctrl-C again leaves at once.",
  );
  interrupt();

  expect(await ended).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      new RegExp(`The journal can't be written .*\\n  TikTok: posted  ${LINKS[0]}\\n$`, "s"),
    ),
  });
});

test("Ctrl-C before anything was sent ends the call, and nothing is sent", async () => {
  const look = laterReply();
  const { start, rest, sent } = await callingComputer({ [STATUS]: look.script });
  const { ended, interrupt } = start([...POST, "--yes", "--json"]);
  await until(() => rest.lines(STATUS).length === 1);
  interrupt();
  await pass(3);

  const ran = await ended;
  expect([ran.code, jsonOf(ran)]).toMatchObject([1, { error: { outcome: "not_sent" } }]);
  look.give(READY);
  expect(sent()).toEqual([0, 0]);
});

test("an identical call waits for the answer to the first, and returns that", async () => {
  const reply = laterReply();
  const { start, sent } = await callingComputer({ [PUBLISH]: reply.script });
  const first = start(POST_TO_ALL);
  await until(() => sent()[1] === 1);
  await pass(20);
  const second = start(POST_TO_ALL);
  await until(async () => (await pass(10), second.written.stderr !== ""));
  expect(second.written.stderr).toBe(
    "The same request was sent before, and its answer has not come yet. It is awaited, for six minutes at most.\n",
  );
  reply.give(POSTED);

  expect((await first.ended).code).toBe(0);
  await until(async () => (await pass(1), second.written.stdout !== ""));
  expect(await second.ended).toMatchObject({ code: 0, stdout: expect.stringContaining("posted") });
  expect(sent()).toEqual([0, 1]);
});

test("an identical call has time for a request of its own if the first is refused late", async () => {
  const reply = laterReply();
  const { start, rest, sent } = await callingComputer({ [GENERATE]: reply.script });
  const first = start([...ORDER, "--json"]);
  await until(() => sent()[0] === 1);
  const second = start([...ORDER, "--json"]);
  await until(async () => (await pass(1), second.written.stderr !== ""));
  await pass(60);
  rest.on(GENERATE, STARTED);
  reply.give(envelope(402, "out_of_credits", "None."));

  expect((await first.ended).code).toBe(1);
  await until(async () => (await pass(1), second.written.stdout !== ""));
  const ran = await second.ended;
  expect([ran.code, jsonOf(ran)]).toMatchObject([0, { jobId: JOB_ID }]);
  expect(sent()).toEqual([2, 0]);
});

// A service that does not know its new job yet, or is out of order for a while.
test.each<[string, Reply]>([
  ["rate limit", { ...envelope(429, "rate_limited", "Slow down."), headers: { "retry-after": "2" } }],
  ["outage", { status: 503 }],
  ["job that isn't listed yet", envelope(404, "job_not_found", "No such job.")],
])("--wait survives reads that fail (%s), and ends with the video", async (_, failing) => {
  let isFailing = true;
  const { start, rest, sent } = await callingComputer(
    { [GENERATE]: STARTED, [STATUS]: () => (isFailing ? failing : READY) },
    { FACELESS_POLL_SECONDS: "5" },
  );
  const { ended, written } = start([...ORDER, "--wait"]);
  await until(async () => (await pass(1), rest.lines(STATUS).length > 4));
  isFailing = false;
  await until(async () => (await pass(1), written.stdout !== ""));

  expect(await ended).toMatchObject({ code: 0, stdout: expect.stringContaining("Your video is ready") });
  expect(sent()).toEqual([1, 0]);
});

test("get_video_status --wait survives a first read that fails", async () => {
  let isFailing = true;
  const { start, rest } = await callingComputer({ [STATUS]: () => (isFailing ? { status: 503 } : READY) });
  const { ended, written } = start(["get_video_status", "--job-id", JOB_ID, "--wait"]);
  await until(async () => (await pass(1), rest.lines(STATUS).length > 3));
  isFailing = false;
  await until(async () => (await pass(1), written.stdout + written.stderr !== ""));

  expect(await ended).toMatchObject({ code: 0, stdout: expect.stringContaining("Your video is ready") });
});

test("--wait looks for the link of a finished video until the list can be read", async () => {
  const finalVideoUrl = "https://cdn.example/final.mp4";
  let isFailing = true;
  const { start, rest } = await callingComputer({
    [STATUS]: { json: { status: "completed", videoUrls: [] } },
    [VIDEOS]: () =>
      isFailing
        ? { status: 503 }
        : { json: { videos: [{ jobId: JOB_ID, status: "completed", finalVideoUrl }] } },
  });
  const { ended, written } = start(["get_video_status", "--job-id", JOB_ID, "--wait", "--json"]);
  await until(async () => (await pass(1), rest.lines(VIDEOS).length > 3 || written.stdout !== ""));
  isFailing = false;
  await until(async () => (await pass(1), written.stdout !== ""));

  const ran = await ended;
  expect([ran.code, jsonOf(ran)]).toMatchObject([0, { status: "completed", finalVideoUrl }]);
});

test("if every read of the fifteen minutes fails, the error is a read's and says that the video was ordered", async () => {
  const { start, sent } = await callingComputer(
    { [GENERATE]: STARTED, [STATUS]: { status: 503 } },
    { FACELESS_POLL_SECONDS: "60" },
  );
  const { ended, written } = start([...ORDER, "--wait", "--json"]);
  await until(() => sent()[0] === 1);
  await until(async () => (await pass(10), written.stdout !== ""));

  const ran = await ended;
  expect([ran.code, jsonOf(ran)]).toEqual([
    3,
    {
      jobId: JOB_ID,
      error: {
        code: "service_failed",
        status: 503,
        outcome: "unknown",
        retryable: true,
        message: expect.stringContaining(`The video was ordered and is job ${JOB_ID}`),
      },
    },
  ]);
  expect(ran.stdout).not.toMatch(/no video|no credits|published nothing/);
});

test("a refused key ends --wait at once, and the error names the job as ordered", async () => {
  const { start } = await callingComputer({
    [GENERATE]: STARTED,
    [STATUS]: envelope(401, "unauthorized", "Bad key."),
  });
  const ran = await start([...ORDER, "--wait"]).ended;

  expect(ran.code).toBe(3);
  expect(ran.stderr).toContain(`The video was ordered and is job ${JOB_ID}`);
  expect(ran.stderr).not.toMatch(/no video|no credits/);
});

test("Ctrl-C during a read of --wait says that the video was ordered", async () => {
  const { start, rest } = await callingComputer({ [GENERATE]: STARTED, [STATUS]: "hang" });
  const { ended, interrupt } = start([...ORDER, "--wait", "--json"]);
  await until(() => rest.lines(STATUS).length === 1);
  interrupt();

  expect(jsonOf(await ended)).toMatchObject({ jobId: JOB_ID, status: "processing" });
});

test("the same call reports an order that was killed before its answer", async () => {
  const { start, sent, rest } = await callingComputer({
    [GENERATE]: "hang",
    [STATUS]: RENDERING,
    [VIDEOS]: { json: { videos: [{ jobId: JOB_ID, status: "processing" }] } },
  });
  void start(ORDER);
  await until(() => sent()[0] === 1);
  // To the next process, the one that sent it is gone, so its answer never comes.
  rest.on(GENERATE, STARTED);
  const again = start([...ORDER, "--json"]);
  await until(async () => (await pass(10), again.written.stdout !== ""));

  const ran = await again.ended;
  expect([ran.code, jsonOf(ran)]).toMatchObject([
    1,
    { error: { code: "duplicate", message: expect.stringContaining(JOB_ID) } },
  ]);
  expect(sent()).toEqual([1, 0]);
});
