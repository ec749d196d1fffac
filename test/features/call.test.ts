// `call` as scripts, cron jobs and coding agents use it: the built file, one process for each call.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { runCall } from "../../src/commands/call.ts";
import { systemClock } from "../../src/clock.ts";
import { readConfig } from "../../src/config.ts";
import { BUILT_FILE, connectLegacy, SERVER_NODE } from "../fixtures/clients.ts";
import {
  GENERATE,
  JOB_ID,
  KEY,
  OTHER_JOB_ID,
  OTHER_STATUS,
  PUBLISH,
  STATUS,
  TOOLS,
  VIDEOS,
} from "../fixtures/constants.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { type Ran, run, type RunOptions } from "../fixtures/run.ts";
import { until } from "../fixtures/until.ts";
import { scriptedService, type Scripts } from "../fixtures/scripted-service.ts";

const TOPIC = "The tide comes in twice a day.";
const ORDER = ["generate_video", "--topic", TOPIC, "--duration", "20"];
const POST = ["publish_video", "--job-id", JOB_ID, "--platforms", "tiktok"];
const LINK = "https://media.example/final.mp4";
const started = { json: { jobId: JOB_ID, status: "processing" } };
const rendering = {
  json: { status: "processing", videoUrls: [], progress: { total: 4, completed: 1, failed: 0 } },
};
const ready = { json: { status: "completed", videoUrls: [], finalVideoUrl: LINK } };
const failed = { json: { status: "failed", videoUrls: [] } };
const posted = { json: { results: [{ platform: "tiktok", ok: true, url: "https://tiktok.example/1" }] } };
const accounts = { json: { videos: [{ jobId: JOB_ID, status: "completed", finalVideoUrl: LINK }] } };

/** A user's computer: `call` runs the built file with its journal, `sent` counts orders and posts. */
async function computer(scripts: Scripts, settings: Readonly<Record<string, string>> = {}) {
  const rest = await scriptedService({
    [STATUS]: ready,
    [OTHER_STATUS]: ready,
    [VIDEOS]: accounts,
    ...scripts,
  });
  const folder = temporaryFolder();
  const env = {
    FACELESS_API_KEY: KEY,
    FACELESS_BASE_URL: rest.url,
    FACELESS_STATE_DIR: folder,
    FACELESS_POLL_SECONDS: "0.1",
    ...settings,
  };
  const call = (args: readonly string[], options: RunOptions = {}) =>
    run(SERVER_NODE, [BUILT_FILE, "call", ...args], { ...options, env: { ...env, ...options.env } });
  const sent = () => [GENERATE, PUBLISH].map((route) => rest.lines(route).length);
  return { rest, folder, env, call, sent };
}

const jsonOf = ({ stdout }: Ran): Record<string, unknown> => JSON.parse(stdout);
const errorOf = (ran: Ran) => ({ code: ran.code, error: jsonOf(ran)["error"] });

/** Makes everything in the journal older than the time in which an answer may still come. */
function makeOlder(folder: string): void {
  for (const name of readdirSync(folder)) {
    const text = readFileSync(join(folder, name), "utf8");
    const older = (_: string, ms: string) => `"atMs":${Number(ms) - 6 * 60_000}`;
    writeFileSync(join(folder, name), text.replace(/"atMs":([\d.]+)/g, older));
  }
}

test("a fresh clone without settings makes a sandbox video, and prints it as one JSON document", async () => {
  const env = { HOME: temporaryFolder(), FACELESS_SANDBOX_SECONDS: "0.5", FACELESS_POLL_SECONDS: "0.1" };
  const args = [BUILT_FILE, "call", ...ORDER, "--sandbox", "--wait", "--json"];
  const ran = await run(SERVER_NODE, args, { env });

  expect({ code: ran.code, video: jsonOf(ran) }).toEqual({
    code: 0,
    video: expect.objectContaining({
      summary: expect.stringMatching(/^Your video is ready: http:/),
      status: "completed",
      done: true,
      finalVideoUrl: expect.stringMatching(/^http:.*\.mp4$/),
    }),
  });
  expect(ran.stderr).toMatch(/^Job \S+: The video was started: 20 s/);
});

test("without --json, summary and next step are printed, and a line for each item of a list", async () => {
  const { call } = await computer({});

  const { code, stdout, stderr } = await call(["list_videos", "--limit=1"]);

  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(new RegExp(`^.+\\n  ${JOB_ID}  completed  ${LINK}\\n$`));
});

test("--wait follows a job to its end, with a line on stderr for each change", async () => {
  const { call } = await computer({ [GENERATE]: started, [STATUS]: [rendering, rendering, ready] });

  const { code, stdout, stderr } = await call([...ORDER, "--wait"]);

  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringContaining(`Your video is ready: ${LINK}`),
  });
  expect(stderr.split("\n").slice(1)).toEqual([
    "  [#...] 1 of 4 clips",
    expect.stringContaining("Ready"),
    "",
  ]);
});

test("exit codes: 0 for a result, 1 for a failure or a failed render, 2 for wrong usage, 3 if the outcome is unknown", async () => {
  const { call } = await computer({
    [GENERATE]: [
      { status: 402, json: { error: { code: "out_of_credits", message: "None." } } },
      started,
      "hang up",
    ],
    [STATUS]: [failed],
  });
  const codeOf = async (...args: string[]) => (await call([...args, "--json"])).code;

  expect({
    result: await codeOf("list_videos"),
    refused: await codeOf(...ORDER),
    failedRender: await codeOf(...ORDER, "--wait"),
    usage: await codeOf("list_videos", "--bogus"),
    argument: await codeOf("generate_video", "--topic", TOPIC, "--duration", "5"),
    unknown: await codeOf(...ORDER),
  }).toEqual({ result: 0, refused: 1, failedRender: 1, usage: 2, argument: 2, unknown: 3 });
});

test("a post that one platform refuses is exit code 1, one that the service says nothing of is 3", async () => {
  const refused = { platform: "youtube", ok: false, error: "The token has expired." };
  const { call } = await computer({
    [PUBLISH]: [{ json: { results: [...posted.json.results, refused] } }, posted],
  });
  const publish = async (jobId: string) =>
    (await call(["publish_video", "--job-id", jobId, "--platforms", "tiktok,youtube", "--yes"])).code;

  expect([await publish(JOB_ID), await publish(OTHER_JOB_ID)]).toEqual([1, 3]);
});

test("a failure is one JSON document too, with what may have happened", async () => {
  const { call } = await computer({ [GENERATE]: "hang up" });

  const ran = await call([...ORDER, "--json"]);

  expect(errorOf(ran)).toEqual({
    code: 3,
    error: {
      code: "network",
      outcome: "unknown",
      retryable: false,
      message: expect.stringMatching(/It is not known whether a video was started/),
    },
  });
  expect(ran.stderr).toBe("");
});

test.each<[string, string[], RunOptions, string]>([
  ["hidden tool", ["publish_video", "--no-publish"], {}, "unknown tool publish_video"],
  [
    "option as a value",
    ["generate_video", "--topic", "--style", "story"],
    {},
    "option --topic needs a value; one that begins with - is written --topic=VALUE",
  ],
  ["value in two places", [...ORDER, "-"], { input: '{"topic":"x"}' }, "argument topic was given twice"],
  [
    "list as JSON",
    ["list_videos", "--json-args", "[]"],
    {},
    "the arguments are not a JSON object (some shells remove its quotes: give it on stdin, with -)",
  ],
  [
    "missing file",
    ["generate_video", "--topic-file", "/nowhere"],
    {},
    "the file of --topic-file can't be read as UTF-8 text (ENOENT)",
  ],
  [
    "key on the command line",
    ["list_videos", "fl_canary"],
    {},
    "list_videos takes no argument (the key belongs in FACELESS_API_KEY, never on a command line)",
  ],
])("wrong usage (%s) is one line on stderr, and nothing is sent", async (_, args, options, problem) => {
  const { call, rest } = await computer({});

  expect(await call(args, options)).toEqual({
    code: 2,
    stdout: "",
    stderr: expect.stringMatching(
      new RegExp(
        `^faceless-video-mcp: ${problem.replace(/[().]/g, "\\$&")}; see faceless-video-mcp call .*--help\n$`,
      ),
    ),
  });
  expect(rest.requests).toEqual([]);
});

test("arguments come from options of the schema, a JSON object, stdin and a file of the topic", async () => {
  const { call, rest } = await computer({ [GENERATE]: started });
  const file = join(temporaryFolder(), "topic.txt");
  writeFileSync(file, "\uFEFFCold sea.\n");

  await call(["generate_video", "--json-args", '{"topic":"-5 degrees.","duration":10}', "--style=story"]);
  await call(["generate_video", "-"], { input: '{"topic":"From stdin.","duration":10}' });
  await call(["generate_video", "--duration", "10", "--topic-file", file]);
  await call(["generate_video", "--duration", "10", "--topic=--help is a flag."]);
  await call([...POST, "--platforms", "youtube", "--yes"]);

  const bodies = rest.requests
    .filter(({ method, path }) => method === "POST" && path.startsWith("/api/v1/"))
    .map(({ json }) => json);
  expect(bodies).toEqual([
    { topic: "-5 degrees.", duration: 10, style: "story" },
    { topic: "From stdin.", duration: 10 },
    { topic: "Cold sea.", duration: 10 },
    { topic: "--help is a flag.", duration: 10 },
    { jobId: JOB_ID, platforms: ["tiktok", "youtube"] },
  ]);
});

test("call without a tool lists the tools that are offered, and their arguments", async () => {
  const { call } = await computer({});

  const all = await call([]);
  const reading = await call(["--read-only"]);
  const one = await call(["publish_video", "--help"]);

  const named = (text: string) => TOOLS.filter((tool) => new RegExp(`^${tool}$`, "m").test(text));
  expect([all, reading, one].map(({ stdout }) => named(stdout))).toEqual([
    TOOLS,
    TOOLS.filter((tool) => /^(get|list)_/.test(tool)),
    ["publish_video"],
  ]);
  expect(all.stdout).toMatch(/ --waitSeconds NUMBER /);
});

test("two equal calls at once, a third, and a running server beside them pay once", async () => {
  const { call, env, sent } = await computer({ [GENERATE]: started });
  const server = await connectLegacy({ env });

  const both = await Promise.all([call([...ORDER, "--json"]), call([...ORDER, "--json"])]);
  const third = await call([...ORDER, "--json"]);
  const { structuredContent } = await server.call("generate_video", { topic: TOPIC, duration: 20 });

  expect([...both, third].map((ran) => jsonOf(ran)["jobId"])).toEqual([JOB_ID, JOB_ID, JOB_ID]);
  expect(structuredContent).toMatchObject({ jobId: JOB_ID, alreadyStarted: true });
  expect(sent()).toEqual([1, 0]);
});

test("a call that is killed, or whose answer is lost, is not repeated by the next one", async () => {
  const { call, rest, folder, sent } = await computer({ [GENERATE]: "hang", [PUBLISH]: "reset" });
  const killed = call(ORDER, {
    onStart: (child) => void until(() => sent()[0] === 1).then(() => child.kill("SIGKILL")),
  });
  expect((await killed).code).toBe(null);
  const lost = await call([...POST, "--yes", "--json"]);

  makeOlder(folder);
  rest.on(GENERATE, started);
  const orderedAgain = await call([...ORDER, "--json"]);
  const postedAgain = await call([...POST, "--yes", "--json"]);

  expect(lost.code).toBe(3);
  const duplicate = { code: 1, error: expect.objectContaining({ code: "duplicate", outcome: "not_sent" }) };
  expect([orderedAgain, postedAgain].map(errorOf)).toEqual([duplicate, duplicate]);
  expect(sent()).toEqual([1, 1]);
});

test("Ctrl-C while a job is followed ends the following, not the job, and prints how it stands", async () => {
  const { call, rest, sent } = await computer({ [GENERATE]: started, [STATUS]: rendering });
  const polls = () => rest.lines(STATUS).length;
  const stopped = await call([...ORDER, "--wait", "--json"], {
    onStart: (child) => void until(() => polls() > 2).then(() => child.kill("SIGINT")),
  });

  expect({ code: stopped.code, job: jsonOf(stopped) }).toMatchObject({
    code: null,
    job: { jobId: JOB_ID, status: "processing", done: false },
  });
  expect(sent()).toEqual([1, 0]);
});

test("Ctrl-C while an order is unanswered waits for its answer and records it", async () => {
  let child: { kill(signal: "SIGINT"): void } | undefined;
  const { call, sent } = await computer({
    [GENERATE]: async () => {
      child?.kill("SIGINT");
      await new Promise((resolve) => setTimeout(resolve, 200));
      return started;
    },
    [STATUS]: rendering,
  });
  const stopped = await call([...ORDER, "--json"], { onStart: (process) => (child = process) });
  const next = await call([...ORDER, "--json"]);

  expect([stopped.code, jsonOf(stopped)["jobId"]]).toEqual([null, JOB_ID]);
  expect(jsonOf(next)).toMatchObject({ jobId: JOB_ID, alreadyStarted: true });
  expect(sent()).toEqual([1, 0]);
});

test("a slow reader gets the whole output, one that has read enough does no harm, and a full disk is exit code 1", async () => {
  const fields = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`f${index}`, index]));
  const videos = Array.from({ length: 100 }, () => ({ jobId: JOB_ID, status: "processing", ...fields }));
  const { env } = await computer({ [VIDEOS]: { json: { videos } } });
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
  expect((await inShell("$CALL > /dev/full")).code).toBe(1);
});

test("with --sandbox, a job of another call is explained by each call's own sandbox", async () => {
  const { call } = await computer({});

  const { code, stderr } = await call(["get_video_status", "--jobId", JOB_ID, "--sandbox"]);

  expect(code).toBe(1);
  expect(stderr).toMatch(/each call has a sandbox of its own.* run faceless-video-mcp sandbox --port 8080/);
});

/** The same in this process, at a terminal where the user types `answer`. */
async function callAtTerminal(args: readonly string[], env: Record<string, string>, answer?: string) {
  const [output, errors] = [new PassThrough(), new PassThrough()];
  const input = Object.assign(new PassThrough(), { isTTY: answer !== undefined });
  if (answer !== undefined) input.write(`${answer}\n`);
  const code = await runCall(args, {
    input,
    output,
    errors: Object.assign(errors, { isTTY: answer !== undefined, columns: 1_000 }),
    readConfig: (flags) => readConfig(env, flags, "/"),
    interrupted: new AbortController().signal,
    clock: systemClock,
  });
  return { code, text: `${String(errors.read() ?? "")}${String(output.read() ?? "")}` };
}

test.each([
  ["yes at a terminal", [], "on", "y", 1],
  ["no at a terminal", [], "on", "", 0],
  ["--yes without a terminal, always", ["--yes"], "always", undefined, 0],
  ["--yes and no at a terminal, always", ["--yes"], "always", "n", 0],
  ["yes at a terminal, always", [], "always", "y", 1],
  ["off without a terminal", [], "off", undefined, 1],
])("a post is asked for: %s", async (_, flags, mode, answer, posts) => {
  const { env, sent } = await computer({ [PUBLISH]: posted }, { FACELESS_CONFIRM_PUBLISH: mode });

  const { code, text } = await callAtTerminal([...POST, ...flags], env, answer);

  expect([code, sent()]).toEqual([posts === 1 ? 0 : 1, [0, posts]]);
  expect(/^Publish .+\? .*\nPublish on TikTok\?\n\[y\/N\] /.test(text)).toBe(answer !== undefined);
});

test.each([
  ["on", undefined, 0],
  ["on", "y", 1],
  ["always", "n", 0],
])("with FACELESS_CONFIRM_GENERATE=%s and the answer %j, %i order is sent", async (mode, answer, orders) => {
  const { env, sent } = await computer({ [GENERATE]: started }, { FACELESS_CONFIRM_GENERATE: mode });

  const { code } = await callAtTerminal(ORDER, env, answer);

  expect([code, sent()]).toEqual([orders === 1 ? 0 : 1, [orders, 0]]);
});

test("a repeat is asked for, and without a terminal it needs --yes besides the code", async () => {
  const { env, sent } = await computer({
    [GENERATE]: [started, { json: { jobId: OTHER_JOB_ID, status: "processing" } }],
    [STATUS]: rendering,
  });
  await callAtTerminal(ORDER, env);
  const { text } = await callAtTerminal(ORDER, env);
  const coded = [...ORDER, `--confirm=${/confirm: "(\w+)"/.exec(text)?.[1]}`];

  const refused = await callAtTerminal(coded, env);
  expect([refused.code, sent()]).toEqual([1, [1, 0]]);
  expect(refused.text).toMatch(
    /--yes was not given\. The question is: Pay for another video of the same words/,
  );

  const confirmed = await callAtTerminal([...coded, "--yes"], env);
  expect([confirmed.code, sent()]).toEqual([0, [2, 0]]);
});
