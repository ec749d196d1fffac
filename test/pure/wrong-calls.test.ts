// How calls are read that models get slightly wrong. None starts a paid job that the caller did not mean;
// if there is one meaning, the call succeeds at once.

import { expect, test } from "vitest";
import { generateVideo } from "../../src/tools/generate-video.ts";
import { getVideoStatus } from "../../src/tools/get-video-status.ts";
import { publishVideo } from "../../src/tools/publish-video.ts";
import { JOB_ID } from "../fixtures/constants.ts";
import { errorOf } from "../fixtures/computer.ts";
import { createHarness, readerOf } from "../fixtures/tool-harness.ts";

const LANGUAGE =
  "must be a language code such as en, fr, es, de or pt-BR, or the name of a common language such as French";

test.each<[object, object]>([
  [{ duration: "30" }, { duration: 30 }],
  [{ duration: "30s" }, { duration: 30 }],
  [{ duration: "1.5 min" }, { duration: 90 }],
  [{ language: "", music: " ", voice: "" }, {}],
  [{ style: "Documentary" }, { style: "documentary" }],
  [{ music: "None" }, { music: "none" }],
  [{ voice: "Charlotte" }, { voice: "charlotte" }],
  [{ language: "English" }, { language: "en" }],
  [{ language: "pt_br" }, { language: "pt-BR" }],
  [{ language: null, duration: null, style: null, voice: null }, {}],
  [{ confirm: null }, {}],
  [{ voice: "clone:My-Voice" }, { voice: "clone:My-Voice" }],
])("generate_video reads %j as %j", async (given, sent) => {
  const { call, computer } = createHarness(generateVideo);
  await call({ topic: "Tides", ...given });

  expect(computer.orders).toEqual([{ topic: "Tides", ...sent }]);
});

test.each<[object, string]>([
  [{ language: "Klingonese" }, `language: "Klingonese" ${LANGUAGE}`],
  [{ language: "jp" }, `language: "jp" ${LANGUAGE} (Japanese is ja)`],
  [{ language: "CZ" }, `language: "CZ" ${LANGUAGE} (Czech is cs)`],
  [{ language: "xx" }, `language: "xx" ${LANGUAGE}`],
  [{ duration: "half a minute" }, 'duration: "half a minute" must be a number'],
  [{ duration: 9.99 }, "duration: 9.99 must be from 10 to 90 seconds"],
  [{ duration: "90.01" }, "duration: 90.01 must be from 10 to 90 seconds"],
  [{ style: "noir" }, 'style: "noir" must be one of story, education, documentary, asmr, brainrot, ugc'],
  [{ confirm: true }, "confirm: true must be a string"],
  [{ topic: "  " }, "topic is missing"],
  [{ topic: ["Tides"] }, "topic: must be a string"],
])("generate_video refuses, with what is allowed, %j", async (given, problem) => {
  const { call, computer } = createHarness(generateVideo);

  expect(await errorOf(call({ topic: "Tides", ...given }))).toEqual({
    code: "invalid_input",
    message: `The arguments of generate_video can't be used: ${problem}.`,
    nextStep: "Tell the user what is allowed and let them choose; call again with that.",
    outcome: "not_sent",
    retryable: false,
    failsAgain: true,
  });
  expect(computer.orders).toEqual([]);
});

test("a duration of very many blanks is refused at once", async () => {
  const { call } = createHarness(generateVideo);
  const error = await errorOf(call({ topic: "Tides", duration: `${" ".repeat(200_000)}x` }));

  expect(error.message).toContain("must be a number");
});

test.each([
  [["tiktok", 5], "5 must be a string"],
  [[], "must name at least one platform"],
  [Array.from({ length: 21 }, (_, index) => `p${index}`), "must name at most 20 platforms"],
])("publish_video refuses platforms %j", async (platforms, problem) => {
  const { call, computer } = createHarness(publishVideo);

  expect((await errorOf(call({ jobId: JOB_ID, platforms }))).message).toContain(`: platforms: ${problem}.`);
  expect(computer.posts).toEqual([]);
});

test.each<[unknown, unknown, string[]]>([
  [JOB_ID, "tiktok", ["tiktok"]],
  [JOB_ID, "TikTok, youtube", ["tiktok", "youtube"]],
  [JOB_ID, [" X ", "my.site_2-b", "x".repeat(64)], ["x", "my.site_2-b", "x".repeat(64)]],
  [JOB_ID, ' ["tiktok", "YouTube"]', ["tiktok", "youtube"]],
  [` ${JOB_ID}\n`, ["tiktok"], ["tiktok"]],
  [`faceless://jobs/${JOB_ID}`, ["TIKTOK"], ["tiktok"]],
  [` FACELESS://JOBS/${JOB_ID.toUpperCase()} `, "tiktok", ["tiktok"]],
  [`https://videos.example/watch/${JOB_ID.toUpperCase()}?job=${JOB_ID}`, "tiktok", ["tiktok"]],
])("publish_video reads jobId %j and platforms %j", async (jobId, platforms, sent) => {
  const { call, computer } = createHarness(publishVideo);
  await call({ jobId, platforms, confirm: null });

  expect(computer.posts).toEqual([{ jobId: JOB_ID, platforms: sent }]);
});

test.each([
  [{ waitSeconds: -0.1 }, "waitSeconds: -0.1 must be a number of seconds, 0 or more"],
  [{ waitSeconds: "ten" }, 'waitSeconds: "ten" must be a number'],
  [{ jobId: "../../secret" }, 'jobId: "../../secret" must be the UUID of a job, as list_videos shows it'],
])("get_video_status refuses %j", async (args, problem) => {
  const error = await errorOf(createHarness(getVideoStatus).call({ jobId: JOB_ID, ...args }));

  expect(error.message).toContain(`: ${problem}.`);
});

test.each<[object, number | undefined, number?]>([
  [{ waitSeconds: "120" }, 50_000],
  [{ waitSeconds: "45s" }, 45_000],
  [{ waitSeconds: null }, undefined],
  [{ waitSeconds: 1_000 }, 240_000, 240],
])("get_video_status reads %j", async (args, forMs, maxWaitSeconds = 50) => {
  const waits: number[] = [];
  const job = { jobId: JOB_ID, status: "processing", done: false, videoUrls: [] };
  const { call } = createHarness(getVideoStatus, {
    reader: readerOf(async () => job),
    maxWaitSeconds,
    waitForEnd: async (_job, ms) => (waits.push(ms), job),
  });
  await call({ jobId: `faceless://jobs/${JOB_ID}`, ...args });

  expect(waits).toEqual(forMs === undefined ? [] : [forMs]);
});

test.each([
  ["generate_video", ["captions"], { topic: "Tides" }, generateVideo],
  ["generate_video", ["price"], { topic: "Tides", duration: "half a minute" }, generateVideo],
  ["publish_video", ["caption", "scheduleAt"], { jobId: JOB_ID, platforms: ["tiktok"] }, publishVideo],
  ["publish_video", ["platform"], { jobId: JOB_ID }, publishVideo],
])("%s says that wishes can't be fulfilled: %j beside %j", async (_, wishes, args, tool) => {
  const { call, computer } = createHarness(tool);
  const error = await errorOf(call({ ...args, ...Object.fromEntries(wishes.map((name) => [name, "x"])) }));

  const are = wishes.length === 1 ? "is not an argument" : "are not arguments";
  const known = Object.keys(tool.input().shape).join(", ");
  expect(error).toEqual({
    code: "invalid_input",
    message: expect.stringContaining(
      `${wishes.map((name) => `"${name}"`).join(", ")} ${are} of ${tool.name} (its arguments: ${known})`,
    ),
    nextStep:
      "If one of the listed arguments means the same, use that. Anything else is not possible here: tell the user, and call without it only if they still want that.",
    outcome: "not_sent",
    retryable: false,
    failsAgain: true,
  });
  expect([computer.orders, computer.posts]).toEqual([[], []]);
});

test("a tool that only reads names the argument that it doesn't have, and no wish", async () => {
  const error = await errorOf(createHarness(getVideoStatus).call({ jobId: JOB_ID, verbose: true }));

  expect(error.message).toContain('"verbose" is not an argument of get_video_status');
  expect(error.nextStep).toBe("Correct them, then call again.");
});
