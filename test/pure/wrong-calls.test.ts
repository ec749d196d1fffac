// Calls that models get slightly wrong. None starts a paid job that the caller did not mean;
// if there is one meaning, the call succeeds at once.

import { expect, test } from "vitest";
import { generateVideo } from "../../src/tools/generate-video.ts";
import { getVideoStatus } from "../../src/tools/get-video-status.ts";
import { listConnectedPlatforms } from "../../src/tools/list-connected-platforms.ts";
import { listVideos } from "../../src/tools/list-videos.ts";
import { publishVideo } from "../../src/tools/publish-video.ts";
import { JOB_ID } from "../fixtures/constants.ts";
import { errorOf } from "../fixtures/computer.ts";
import { createHarness, readerOf } from "../fixtures/tool-harness.ts";

const LANGUAGE =
  "must be a language code such as en, fr, es, de or pt-BR, or the name of a common language such as French";

const SECONDS = "must be a number of seconds from 10 to 90";

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
  [{ voice: "clone:Rosa-7f2" }, { voice: "clone:Rosa-7f2" }],
  [
    { style: ["story"], duration: [10], music: ["upbeat"] },
    { style: "story", duration: 10, music: "upbeat" },
  ],
  [
    { voice: [null], language: ["fr"], pacing: ["Fast"] },
    { language: "fr", pacing: "fast" },
  ],
  [{ duration: "1:30" }, { duration: 90 }],
  [{ duration: "0:45" }, { duration: 45 }],
  [{ duration: "30-second" }, { duration: 30 }],
  [{ duration: "30-sec." }, { duration: 30 }],
  [{ duration: "1 min 15 s" }, { duration: 75 }],
  [{ duration: "1 minute and 15 seconds" }, { duration: 75 }],
  [{ duration: "1m15s" }, { duration: 75 }],
  [{ music: false }, { music: "none" }],
  [{ music: "No music" }, { music: "none" }],
  [{ music: "without music" }, { music: "none" }],
  [{ music: "off" }, { music: "none" }],
  [{ language: "null", duration: "None", style: "none", pacing: "undefined", confirm: "None" }, {}],
  [{ music: "null", voice: "undefined" }, {}],
  [{ music: "default", voice: "Default", style: "default", duration: "default" }, {}],
  [{ voice: "Clone: Rosa-7f2" }, { voice: "clone:Rosa-7f2" }],
  [{ language: "English (US)" }, { language: "en-US" }],
  [{ language: "english (united kingdom)" }, { language: "en-GB" }],
  [{ language: "English (UK)" }, { language: "en-GB" }],
  [{ language: "Español (México)" }, { language: "es-MX" }],
  [{ language: "Spanish (Mexico)" }, { language: "es-MX" }],
  [{ language: "Spanish (Latin America)" }, { language: "es-419" }],
  [{ language: "Français (Canada)" }, { language: "fr-CA" }],
  [{ language: "Chinese (Traditional)" }, { language: "zh-Hant" }],
  [{ language: "Castellano" }, { language: "es" }],
])("generate_video reads %j as %j", async (given, sent) => {
  const { call, computer } = createHarness(generateVideo);
  await call({ topic: "Tides", ...given });

  expect(computer.orders).toEqual([{ topic: "Tides", ...sent }]);
});

test('a topic may be a single word that means "no value" elsewhere', async () => {
  const { call, computer } = createHarness(generateVideo);
  for (const topic of ["Auto", "Off", ["Default"]])
    // eslint-disable-next-line no-await-in-loop -- one order after the other
    await call({ topic });

  expect(computer.orders).toEqual([{ topic: "Auto" }, { topic: "Off" }, { topic: "Default" }]);
});

test.each<[object, string, "wish" | "mistake"]>([
  [{ language: "Klingonese" }, `language: "Klingonese" ${LANGUAGE}`, "wish"],
  [{ language: "English (casual)" }, `language: "English (casual)" ${LANGUAGE}`, "wish"],
  [{ language: "jp" }, `language: "jp" ${LANGUAGE}`, "wish"],
  [{ language: "CZ" }, `language: "CZ" ${LANGUAGE}`, "wish"],
  [{ language: "xx" }, `language: "xx" ${LANGUAGE}`, "wish"],
  [{ language: 5 }, `language: 5 ${LANGUAGE}`, "mistake"],
  [{ language: ["en", "fr"] }, `language: ["en","fr"] ${LANGUAGE}`, "mistake"],
  [{ duration: "half a minute" }, `duration: "half a minute" ${SECONDS}`, "mistake"],
  [{ duration: true }, `duration: true ${SECONDS}`, "mistake"],
  [{ duration: [10, 20] }, `duration: [10,20] ${SECONDS}`, "mistake"],
  [{ duration: { value: 30 } }, `duration: {"value":30} ${SECONDS}`, "mistake"],
  [{ duration: 9.99 }, `duration: 9.99 ${SECONDS}`, "wish"],
  [{ duration: "90.01" }, `duration: 90.01 ${SECONDS}`, "wish"],
  [{ duration: "2:00" }, `duration: 120 ${SECONDS}`, "wish"],
  [
    { style: "noir" },
    'style: "noir" must be one of story, education, documentary, asmr, brainrot, ugc',
    "wish",
  ],
  [{ style: 1 }, "style: 1 must be one of story, education, documentary, asmr, brainrot, ugc", "mistake"],
  [{ music: true }, "music: true must be one of none, cinematic, upbeat, educational, dramatic", "mistake"],
  [{ confirm: true }, "confirm: true must be a string", "mistake"],
  [{ topic: "  " }, "topic is missing", "mistake"],
  [{ topic: ["Tides", "Moons"] }, 'topic: ["Tides","Moons"] must be a string', "mistake"],
])("generate_video refuses, with what is allowed, %j", async (given, problem, kind) => {
  const { call, computer } = createHarness(generateVideo);

  expect(await errorOf(call({ topic: "Tides", ...given }))).toEqual({
    code: "invalid_input",
    message: `The arguments of generate_video can't be used: ${problem}.`,
    nextStep:
      kind === "wish"
        ? "Tell the user what is allowed and let them choose; call again with that."
        : "Correct it, then call again.",
    outcome: "not_sent",
    retryable: false,
    failsAgain: true,
  });
  expect(computer.orders).toEqual([]);
});

test("the user is asked about mistakes in a call only if one of them is a wish", async () => {
  const { call } = createHarness(generateVideo);
  const mistakes = await errorOf(call({ topic: "Tides", duration: "long", confirm: true }));
  const withWish = await errorOf(call({ topic: "Tides", duration: "long", style: "noir" }));

  expect(mistakes.nextStep).toBe("Correct them, then call again.");
  expect(withWish.nextStep).toBe("Tell the user what is allowed and let them choose; call again with that.");
});

test("a code that has digits only may come as a number", async () => {
  const { call, computer } = createHarness(generateVideo);
  const doubted = { topic: "Tides", voice: "nova" };
  let attempt = 0;
  let code = "";
  // Each topic has another code: one of sixteen has digits only.
  while (!/^[1-9]\d{5}$/.test(code)) {
    doubted.topic = `Tides ${(attempt += 1)}`;
    // eslint-disable-next-line no-await-in-loop -- one after the other, until a code fits
    code = /confirm: "(\w+)"/.exec((await errorOf(call(doubted))).nextStep)?.[1] ?? "";
  }
  await call({ ...doubted, confirm: Number(code) });

  expect(computer.orders).toEqual([doubted]);
});

test("a duration of very many blanks is refused at once", async () => {
  const { call } = createHarness(generateVideo);
  const error = await errorOf(call({ topic: "Tides", duration: `${" ".repeat(200_000)}x` }));

  expect(error.message).toContain(SECONDS);
});

const AN_ID = 'must be the id of a platform, such as "tiktok"';

test.each([
  [["tiktok", 5], `platforms: 5 ${AN_ID}`],
  [{ tiktok: true }, `platforms: {"tiktok":true} ${AN_ID}`],
  [5, 'platforms: 5 must be the id of a platform, such as "tiktok"'],
  [[], "platforms: [] must name at least one platform"],
  [
    Array.from({ length: 21 }, () => "tiktok"),
    `platforms: ["tiktok",${'"tiktok",'.repeat(5)}"tik… must name at most 20 platforms`,
  ],
  [[0, 1, 2, 3, 4, 5, 6], `${[0, 1, 2, 3, 4].map((id) => `platforms: ${id} ${AN_ID}; `).join("")}and 2 more`],
])("publish_video refuses platforms %j", async (platforms, problem) => {
  const { call, computer } = createHarness(publishVideo);

  const error = await errorOf(call({ jobId: JOB_ID, platforms }));
  expect(error.message).toContain(`: ${problem}.`);
  expect(error.nextStep).toMatch(/^Correct (?:it|them), then call again\.$/);
  expect(computer.posts).toEqual([]);
});

test.each<[unknown, unknown, string[]]>([
  [JOB_ID, "tiktok", ["tiktok"]],
  [JOB_ID, "TikTok, youtube", ["tiktok", "youtube"]],
  [JOB_ID, [" X ", "my.site_2-b", "x".repeat(64)], ["x", "my.site_2-b", "x".repeat(64)]],
  [JOB_ID, ' ["tiktok", "YouTube"]', ["tiktok", "youtube"]],
  [JOB_ID, "['tiktok', 'youtube']", ["tiktok", "youtube"]],
  [JOB_ID, [{ platform: "tiktok" }, "youtube"], ["tiktok", "youtube"]],
  [JOB_ID, { platform: "tiktok" }, ["tiktok"]],
  [JOB_ID, [{ id: "tiktok" }, { id: "X" }], ["tiktok", "x"]],
  [JOB_ID, [{ platform: "tiktok", connected: true }], ["tiktok"]],
  [JOB_ID, '[{"platform": "tiktok"}]', ["tiktok"]],
  [JOB_ID, [["tiktok"]], ["tiktok"]],
  [[JOB_ID], "tiktok", ["tiktok"]],
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
  [{ waitSeconds: "ten" }, 'waitSeconds: "ten" must be a number of seconds, 0 or more'],
  [{ jobId: "null" }, "jobId is missing"],
  [
    { jobId: "../../secret" },
    'jobId: "../../secret" must be the UUID of a job, as the list of videos shows it',
  ],
])("get_video_status refuses %j", async (args, problem) => {
  const error = await errorOf(createHarness(getVideoStatus).call({ jobId: JOB_ID, ...args }));

  expect(error.message).toContain(`: ${problem}.`);
});

test.each<[object, number | undefined, number?]>([
  [{ waitSeconds: "120" }, 50_000],
  [{ waitSeconds: "45s" }, 45_000],
  [{ waitSeconds: null }, undefined],
  [{ waitSeconds: "None" }, undefined],
  [{ waitSeconds: [20] }, 20_000],
  [{ waitSeconds: "1:30" }, 90_000, 240],
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
      `${wishes.map((name) => `"${name}"`).join(" and ")} ${are} of ${tool.name} (its arguments: ${known})`,
    ),
    nextStep:
      "If one of the listed arguments means the same, use that. Anything else is not possible here: tell the user, and call without it only if they still want the rest.",
    outcome: "not_sent",
    retryable: false,
    failsAgain: true,
  });
  expect([computer.orders, computer.posts]).toEqual([[], []]);
});

const READERS = [
  [getVideoStatus, { jobId: JOB_ID }],
  [listVideos, {}],
  [listConnectedPlatforms, {}],
] as const;

function reader(tool: (typeof READERS)[number][0]) {
  const job = { jobId: JOB_ID, status: "processing", done: false, videoUrls: [] };
  return createHarness(tool, {
    reader: readerOf(async () => job),
    service: { listVideos: async () => ({ videos: [] }), listConnectedPlatforms: async () => [] },
  });
}

test.each(READERS)(
  "a tool that only reads ignores unknown arguments, and says so: $name",
  async (tool, args) => {
    const summaryOf = async (more: object) =>
      String((await reader(tool).call({ ...args, ...more }))["summary"]);

    expect(await summaryOf({ verbose: true })).toMatch(/ "verbose" was ignored: \w+ has no such argument\.$/);
    expect(await summaryOf({ verbose: 1, "a\nb": 2 })).toMatch(
      / "verbose" and "a b" were ignored: \w+ has no such argument\.$/,
    );
  },
);

test("a tool that only reads names an unknown argument beside a wrong one", async () => {
  const error = await errorOf(reader(getVideoStatus).call({ job_id: JOB_ID }));

  expect(error.message).toContain('jobId is missing; "job_id" is not an argument of get_video_status');
});

const ADDED = {
  task_progress: "- [x] one",
  toolCallId: "c1",
  sessionId: "s",
  action: "sendMessage",
  chatInput: "Hi",
  tool: "t",
  _meta: {},
  _x: [1, 2],
};

test.each([
  [generateVideo, { topic: "Tides" }] as const,
  [publishVideo, { jobId: JOB_ID, platforms: ["x"] }] as const,
])("what clients add to each call by themselves is dropped without a word: $name", async (tool, args) => {
  const { call, computer } = createHarness(tool);
  const { summary } = await call({ ...args, ...ADDED });

  expect(summary).not.toContain("ignored");
  expect([...computer.orders, ...computer.posts]).toEqual([args]);
});

test.each(READERS)(
  "what clients add to each call by themselves is dropped without a word: $name",
  async (tool, args) => {
    expect((await reader(tool).call({ ...args, ...ADDED }))["summary"]).not.toContain("ignored");
  },
);

test("an error about 50,000 unknown arguments is short", async () => {
  const many = Object.fromEntries(
    Array.from({ length: 50_000 }, (_, index) => [`${index}${"x".repeat(100)}`, 1]),
  );
  const { message } = await errorOf(createHarness(generateVideo).call({ topic: "Tides", ...many }));

  expect(message).toMatch(/, "4x{58}…" and 49,995 more are not arguments of generate_video/);
  expect(message.length).toBeLessThan(700);
});

test("the error for an argument nested 100,000 levels deep quotes only its beginning", async () => {
  const topic: unknown = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`);
  const { message } = await errorOf(createHarness(generateVideo).call({ topic: { topic } }));

  expect(message).toContain('topic: {"topic":[[null]]} must be a string.');
});
