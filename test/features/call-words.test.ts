// What `call` prints, as a person reads it. ALOUD=FILE also writes all of it into a file, to be read aloud.

import { writeFileSync } from "node:fs";
import { afterAll, afterEach, expect, test } from "vitest";
import { TOOL_SCHEMAS } from "../../src/tools/tool-schemas.ts";
import { callingComputer, ORDER, POST, READY, RENDERING, STARTED, TOPIC } from "../fixtures/call.ts";
import { GENERATE, JOB_ID, OTHER_JOB_ID, PUBLISH, STATUS, VIDEOS } from "../fixtures/constants.ts";
import { journalFolder } from "../fixtures/journal-folder.ts";
import type { Ran } from "../fixtures/run.ts";
import { envelope, type Reply, type Scripts } from "../fixtures/scripted-service.ts";

const FILE = process.env["ALOUD"];
const NAMES = Object.keys(TOOL_SCHEMAS).join("|");

/** What speaks to a model, or of its calls. */
const FOR_MODELS: readonly RegExp[] = [
  /\bthe user\b/i,
  /\btell (?:the user|them)\b/i,
  // A command is meant.
  new RegExp(String.raw`(?<!\bcall )\b(?:${NAMES})\b`),
  // An option is meant.
  /(?<!--)\b(?:confirm|platforms|topic|duration|voice|language|style|music|pacing|limit|cursor): /,
  /\b(?:waitSeconds|nextCursor|alreadyPublished)\b/,
  /\[object Object\]|\bundefined\b|\.\.(?!\.)/,
  // A sentence that lost its beginning.
  /[.?!] (?:ask|call|look|repeat|tell|then)\b/,
];

interface Told {
  readonly title: string;
  readonly text: string;
}

let told: Told[] = [];
const all: Told[] = [];

function read(title: string, { code, stdout, stderr }: Ran): void {
  // The name of the tool stands in a fault of the command line as it was typed.
  const text = (stderr + stdout).replace(/^faceless-video-mcp: .*$/gm, "");
  told.push({ title: `${title} [${code}]`, text });
}

/** What was read in this test that speaks to a model. */
function wordsForModels(): string[] {
  return told.flatMap(({ title, text }) =>
    FOR_MODELS.flatMap((pattern) => {
      const found = pattern.exec(text);
      return found === null ? [] : `${title}: ${text.slice(Math.max(0, found.index - 60), found.index + 40)}`;
    }),
  );
}

afterEach(() => {
  all.push(...told);
  told = [];
});

afterAll(() => {
  if (FILE === undefined) return;
  writeFileSync(FILE, all.map(({ title, text }) => `## ${title}\n${text}\n`).join(""));
});

const codeIn = ({ stdout, stderr }: Ran) => /--confirm (\w+)/.exec(stdout + stderr)?.[1] ?? "none";

type Started = ReturnType<Awaited<ReturnType<typeof callingComputer>>["start"]>;

/** Presses Ctrl-C once the call says that it waits, and again if that makes it wait for the answer. */
async function leave({ written, interrupt, ended }: Started): Promise<Ran> {
  await expect.poll(() => written.stderr).toMatch(/is awaited|not answered yet/);
  interrupt();
  await expect.poll(() => /Ctrl-C again|cancelled|interrupted/.test(written.stderr)).toBe(true);
  interrupt();
  return ended;
}

test("an order, the same order again and a repeat are explained to a person", async () => {
  const { call, rest, folder } = await callingComputer({
    [GENERATE]: [STARTED, { json: { jobId: OTHER_JOB_ID, status: "processing" } }],
    [STATUS]: RENDERING,
  });
  const status = ["get_video_status", "--job-id", JOB_ID];
  read("order", await call(ORDER));
  read("same order, rendering", await call(ORDER));
  rest.on(STATUS, READY);
  const again = await call(ORDER);
  read("same order, ready", again);
  const coded = [...ORDER, "--confirm", codeIn(again)];
  read("repeat, without --yes", await call(coded));
  read("repeat, answered y", await call(coded, { answer: "y" }));
  read("old code", await call([...ORDER, "--confirm", "zzzzzz"]));
  rest.on(STATUS, { status: 503, json: {} });
  read("same order, unreadable", await call(ORDER));
  read("status 503", await call(status));
  rest.on(STATUS, envelope(404, "not_found", "No."));
  read("same order, 404 young", await call(ORDER));
  read("status 404 young", await call(status));
  journalFolder(folder).makeOlder(30);
  read("same order, 404 old", await call(ORDER));
  read("status 404 old", await call(status));

  expect(wordsForModels()).toEqual([]);
});

test("an order that fails, or whose outcome isn't known, is explained to a person", async () => {
  const { call, start, rest, folder } = await callingComputer({
    [GENERATE]: "hang up",
    [VIDEOS]: { json: { videos: [] } },
  });
  read("order lost", await call(ORDER));
  read("same order, under way", await leave(start(ORDER)));
  journalFolder(folder).makeOlder(7);
  read("same order, unknown", await call(ORDER));
  read("list with lost order", await call(["list_videos"]));
  const replies: readonly Reply[] = [
    envelope(402, "out_of_credits", "None."),
    envelope(400, "bad", "Topic too long."),
    { status: 400, json: {} },
    envelope(401, "unauthorized", "Bad key."),
    { status: 401, json: {} },
    envelope(403, "forbidden", "No."),
    { status: 404, json: {} },
    { ...envelope(429, "rate_limited", "Slow."), headers: { "retry-after": "300" } },
    { status: 302, json: {}, headers: { location: "https://other.example/" } },
    { json: { nothing: 1 } },
  ];
  for (const [index, reply] of replies.entries()) {
    rest.on(GENERATE, reply);
    const topic = `Number ${index} of the tides comes in.`;
    read(`order answered ${JSON.stringify(reply)}`, await call(["generate_video", "--topic", topic]));
  }

  expect(wordsForModels()).toEqual([]);
});

const SIXTY = Array.from({ length: 60 }, () => "the tide comes in").join(" ");

test.each<readonly string[]>([
  ["--duration", "20"],
  ["--topic", TOPIC, "--duration", "500"],
  ["--topic", TOPIC, "--style", "horror"],
  ["--topic", TOPIC, "--language", "kauderwelsch"],
  ["--topic", TOPIC, "--voice", "none"],
  ["--json-args", JSON.stringify({ topic: TOPIC, subtitles: true })],
  ["--json-args", JSON.stringify({ topic: 5, duration: "x" })],
  ["--topic", TOPIC, "--voice", "german"],
  ["--topic", SIXTY, "--duration", "20"],
  ["--topic", "Narrator: The tide comes in. #sea"],
  ["--topic", "Die Flut kommt zweimal am Tag und niemand weiß warum."],
  ["--topic", "The tide comes in twice a day, and nobody knows why.", "--language", "ru"],
  ["--topic", "Jwaar din mein do baar aata hai aur kisi ko nahin pata kyon.", "--language", "hi"],
  ["--topic", "The tide \uFFFD comes."],
])("a mistake in an order is explained to a person: %s %s %s %s", async (...args) => {
  const { call } = await callingComputer({ [GENERATE]: STARTED });

  read(args.join(" ").slice(0, 80), await call(["generate_video", ...args]));

  expect(wordsForModels()).toEqual([]);
});

test.each<readonly string[]>([
  ["get_video_status", "--job-id", "abc"],
  ["list_videos", "--limit", "1000"],
  ["list_videos", "--json-args", JSON.stringify({ offset: 3 })],
  ["list_videos", "--no-such-option"],
  ["publish_video", "--job-id", JOB_ID, "--platforms", "all", "--yes"],
])("a mistake in a call is explained to a person: %s %s %s", async (...args) => {
  const { call } = await callingComputer({});

  read(args.join(" "), await call(args));

  expect(wordsForModels()).toEqual([]);
});

test("limits, questions and missing settings are explained to a person", async () => {
  const limited = await callingComputer({ [GENERATE]: STARTED }, { FACELESS_MAX_GENERATIONS: "1" });
  await limited.call(ORDER);
  read("limit", await limited.call(["generate_video", "--topic", "Another thing of the sea."]));
  const on = await callingComputer({ [GENERATE]: STARTED }, { FACELESS_CONFIRM_GENERATE: "" });
  read("no terminal", await on.call(ORDER));
  read("no", await on.call(ORDER, { answer: "n" }));
  read("yes", await on.call(ORDER, { answer: "y" }));
  const always = await callingComputer({ [GENERATE]: STARTED }, { FACELESS_CONFIRM_GENERATE: "always" });
  read("always, --yes", await always.call([...ORDER, "--yes"]));
  const unset = await callingComputer({}, { FACELESS_API_KEY: "", FACELESS_BASE_URL: "" });
  read("unset", await unset.call(ORDER));
  const gone = await callingComputer({}, { FACELESS_STATE_DIR: "/nowhere/at/all" });
  read("journal", await gone.call(ORDER));

  expect(wordsForModels()).toEqual([]);
});

const STATUS_OF = ["get_video_status", "--job-id", JOB_ID];
const UNLINKED: Reply = { json: { status: "completed", videoUrls: [] } };
const NO_VIDEOS: Reply = { json: { videos: [] } };
const UNSAFE: Reply = { json: { status: "completed", videoUrls: [], finalVideoUrl: "http://x.example/a" } };

test.each<[string, Scripts]>([
  ["renders", { [STATUS]: RENDERING }],
  ["has failed", { [STATUS]: { json: { status: "failed", videoUrls: [] } } }],
  ["is ready", {}],
  ["has a status of its own", { [STATUS]: { json: { status: "queued", videoUrls: [] } } }],
  ["has no link", { [STATUS]: UNLINKED, [VIDEOS]: NO_VIDEOS }],
  ["has no link, while the list fails", { [STATUS]: UNLINKED, [VIDEOS]: { status: 400, json: {} } }],
  ["has an unsafe link", { [STATUS]: UNSAFE, [VIDEOS]: NO_VIDEOS }],
])("the status of a video that %s is explained to a person", async (state, scripts) => {
  const { call, folder } = await callingComputer({ [GENERATE]: STARTED, ...scripts });
  read(state, await call(STATUS_OF));
  await call(ORDER);
  read(`${state}, ordered here`, await call(STATUS_OF));
  journalFolder(folder).makeOlder(11);
  read(`${state}, for long`, await call(STATUS_OF));
  read(`${state}, to be posted`, await call([...POST, "--yes"]));

  expect(wordsForModels()).toEqual([]);
});

test("the pages of a list and the job of another sandbox are explained to a person", async () => {
  const { call } = await callingComputer({
    [VIDEOS]: { json: { videos: [{ jobId: JOB_ID, status: "completed" }], nextCursor: "c 2" } },
  });
  const first = await call(["list_videos"]);
  read("more videos", first);
  read("a list that never ends", await call(["list_videos", "--cursor", "c 2"]));
  read("a job of another sandbox", await call([...STATUS_OF, "--sandbox"]));

  expect(first.stdout).toContain("More: repeat the call with --cursor 'c 2'.");

  expect(wordsForModels()).toEqual([]);
});

test("posts, and posts whose outcome isn't known, are explained to a person", async () => {
  const tiktok = { platform: "tiktok", ok: true, url: "https://tiktok.example/1" };
  const youtube = { platform: "youtube", ok: false, error: "The token has expired." };
  const { call, start, rest, folder } = await callingComputer({
    [PUBLISH]: { json: { results: [tiktok, youtube] } },
  });
  const postOn = (...platforms: string[]) => [...POST.slice(0, 4), platforms.join(","), "--yes"];
  const post = (...platforms: string[]) => call(postOn(...platforms));
  read("posted, failed, missing", await post("tiktok", "youtube", "x"));
  read("posted before", await post("tiktok"));
  read("status of a posted one", await call(STATUS_OF));
  rest.on(PUBLISH, { json: { results: [{ platform: "instagram", ok: true }] } });
  read("unlinked", await post("instagram"));
  const again = await post("instagram");
  read("unlinked before", again);
  read("repeat", await call([...postOn("instagram"), "--confirm", codeIn(again)]));
  rest.on(PUBLISH, "hang up");
  read("lost", await post("vimeo"));
  read("under way", await leave(start(postOn("vimeo"))));
  journalFolder(folder).makeOlder(7);
  read("unknown", await post("vimeo"));
  read("unknown and free", await post("vimeo", "facebook"));
  read("list", await call(["list_videos"]));
  read("status of a lost one", await call(STATUS_OF));
  const refusals: readonly Reply[] = [
    envelope(401, "unauthorized", "No."),
    envelope(404, "not_found", "No."),
    { status: 500, json: {} },
  ];
  for (const [index, reply] of refusals.entries()) {
    rest.on(PUBLISH, reply);
    read(`post answered ${JSON.stringify(reply)}`, await post(`threads${index}`));
  }

  expect(wordsForModels()).toEqual([]);
});

test.each<[string, readonly object[]]>([
  ["no account", []],
  [
    "two accounts on one platform",
    [
      { platform: "tiktok", account: "@a" },
      { platform: "tiktok", account: "@b" },
    ],
  ],
  [
    "an expired account",
    [
      { platform: "instagram", account: "@rosa", status: "expired" },
      { platform: "tiktok", account: "@a" },
    ],
  ],
])("the connected accounts are explained to a person: %s", async (accounts, platforms) => {
  const operation = { operationId: "list_connected_platforms" };
  const paths = { "/api/v1/platforms": { get: operation } };
  const { call } = await callingComputer({
    "GET /api/v1/openapi.json": { json: { openapi: "3.1.0", paths } },
    "GET /api/v1/platforms": { json: { platforms: [...platforms] } },
  });
  const post = (names: string) => call([...POST.slice(0, 4), names, "--yes"]);
  read(`list: ${accounts}`, await call(["list_connected_platforms"]));
  read(`post by account: ${accounts}`, await post("@a"));
  read(`post by other names: ${accounts}`, await post("youtube,insta,tik_tok"));

  expect(wordsForModels()).toEqual([]);
});

test("a service without a list of accounts is explained to a person", async () => {
  const { call } = await callingComputer({});

  read("no list", await call(["list_connected_platforms"]));

  expect(wordsForModels()).toEqual([]);
});

test.each(["", ...Object.keys(TOOL_SCHEMAS)])("the help of call %s is written for a person", async (tool) => {
  const { call } = await callingComputer({});

  read(`help of ${tool}`, await call([tool, "--help"].filter(Boolean)));

  expect(wordsForModels()).toEqual([]);
});
