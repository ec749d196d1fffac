// Ordering a video as a user sees it: the checks before, the questions, the payment and the texts. Real
// clients of both protocols, against a service that the test scripts.

import { describe, expect, test } from "vitest";
import { CHOICES, DEFAULTS } from "../../src/service/options.ts";
import {
  type ClientStart,
  connectLegacy,
  lateAnswer,
  type Question,
  TEST_CLIENTS,
  textOf,
  type UsersAnswer,
} from "../fixtures/clients.ts";
import { GENERATE, JOB_ID, KEY, OTHER_JOB_ID, STATUS, VIDEOS } from "../fixtures/constants.ts";
import { journalFolder } from "../fixtures/journal-folder.ts";
import { envelope, type Reply, type Script, scriptedService } from "../fixtures/scripted-service.ts";

const LINK = "https://media.example/1.mp4";
const FOLLOW = "Follow it with get_video_status.";
const TIDES = { topic: "[waves at night, a beach] Tides turn." };
const ORDERED = "30 s, 2 words, English, story, voice charlotte, no music, normal pacing";
const started = (jobId: string, more: object = {}) => ({ json: { jobId, status: "processing", ...more } });
const statusOf = (status: string, more: object = {}) => ({ json: { status, videoUrls: [], ...more } });
const listed = (...videos: readonly (readonly [string, string])[]) => ({
  json: { videos: videos.map(([jobId, status]) => ({ jobId, status })) },
});

interface World extends Omit<ClientStart, "user"> {
  readonly connect?: (typeof TEST_CLIENTS)[number][1];
  /** The user's answers one after the other. Without any, the client can't ask. */
  readonly answers?: readonly (UsersAnswer | Promise<UsersAnswer>)[];
  readonly generate?: Script;
  readonly job?: Reply;
  readonly videos?: Script;
}

async function world({ connect = connectLegacy, answers, generate, job, videos, ...start }: World = {}) {
  const rest = await scriptedService({
    [GENERATE]: generate ?? [started(JOB_ID), started(OTHER_JOB_ID)],
    [STATUS]: job ?? statusOf("processing"),
    [VIDEOS]: videos ?? listed(),
  });
  const journal = journalFolder();
  const questions: Question[] = [];
  const user = async (question: Question) =>
    answers?.[questions.push(question) - 1] ?? { action: "cancel" as const };
  /** Another server process of the same user. */
  const open = () =>
    connect({
      ...start,
      env: {
        FACELESS_API_KEY: KEY,
        FACELESS_BASE_URL: rest.url,
        FACELESS_STATE_DIR: journal.folder,
        ...start.env,
      },
      ...(answers !== undefined && { user }),
    });
  const client = await open();
  const call = (args: object = TIDES, from = client) => from.call("generate_video", { ...args });
  /** The call this many minutes later, from a new server process. */
  const callLater = async (minutes: number, args: object = TIDES) => {
    journal.makeOlder(minutes);
    return call(args, await open());
  };
  const orders = () => rest.requests.filter(({ path }) => path.endsWith("/generate")).map(({ json }) => json);
  return { rest, journal, questions, client, open, call, callLater, orders };
}

type Result = Awaited<ReturnType<Awaited<ReturnType<typeof world>>["call"]>>;
const errorIn = (result: Result) => result._meta?.["faceless/error"];
/** The code in a result or an error. */
const codeIn = (result: Result) => /confirm: "(\w+)"/.exec(textOf(result))?.[1] ?? "no code";

test("an order is sent as it was given, and the result names all of it and how to follow it", async () => {
  const { call, orders } = await world({ generate: started(JOB_ID, { cost: 2 }) });
  const order = {
    topic: " Tides ",
    duration: 20,
    language: "French",
    voice: "clone:vx_9f2",
    music: "cinematic",
  };

  expect((await call(order)).structuredContent).toEqual({
    summary:
      "The video was started: 20 s, 1 word, French, story, voice clone:vx_9f2, cinematic music, normal pacing.",
    nextStep: "Follow it with get_video_status and waitSeconds 50.",
    jobId: JOB_ID,
    status: "processing",
    resourceUri: `faceless://jobs/${JOB_ID}`,
    cost: 2,
  });
  expect(orders()).toEqual([{ ...order, topic: "Tides", language: "fr" }]);
});

test("each order has the id of its journal entry as Idempotency-Key, and a confirmed repeat has its own", async () => {
  const { call, rest, journal } = await world();

  await call();
  await call({ ...TIDES, confirm: codeIn(await call()) });

  const posts = rest.requests.filter(({ method }) => method === "POST");
  expect(posts).toHaveLength(2);
  expect(posts.map(({ headers }) => headers["idempotency-key"])).toEqual(journal.quotedIds());
});

test.each(Object.entries(CHOICES))(
  "%s: each value but the default is sent, said, and makes another order",
  async (name, values) => {
    const { call, orders } = await world({ generate: started(JOB_ID) });
    const standard = new Map<string, string | number>(Object.entries(DEFAULTS)).get(name);
    const given: Record<string, string>[] = [TIDES, ...values.map((value) => ({ ...TIDES, [name]: value }))];
    const said = new Set<unknown>();
    // eslint-disable-next-line no-await-in-loop -- the second is the same order as the first
    for (const order of given) said.add((await call(order)).structuredContent?.["summary"]);

    expect(orders()).toEqual(given.filter((order) => order[name] !== standard));
    expect(said.size).toBe(given.length);
  },
);

test.each([
  ["queued", `The video was started: ${ORDERED}. The service gives its status as "queued".`],
  ["failed", `The video was started: ${ORDERED}. The service gives its status as "failed".`],
])("a start that the service calls %s is described as that", async (status, summary) => {
  const { call } = await world({ generate: started(JOB_ID, { status }) });

  expect((await call()).structuredContent).toMatchObject({ summary, status });
});

const EARLIER =
  "No new video was started or paid for: a video of the same words was ordered 3 minutes ago, and";
test.each<[string, Reply, number, string, string, object]>([
  [
    "renders",
    statusOf("processing"),
    3,
    `${EARLIER} it is still rendering.`,
    FOLLOW,
    { status: "processing" },
  ],
  [
    "is ready, and not linked",
    statusOf("completed"),
    3,
    `${EARLIER} it is ready.`,
    "Get its link with get_video_status.",
    { status: "completed", done: true },
  ],
  [
    "can't be read",
    { status: 500 },
    3,
    `${EARLIER} its status could not be read just now.`,
    FOLLOW,
    { status: "unknown" },
  ],
  [
    "isn't known yet",
    envelope(404, "no", "No."),
    3,
    `${EARLIER} the service does not list it yet, or not with this key.`,
    FOLLOW,
    { status: "unknown" },
  ],
  [
    "a gateway says that it doesn't find",
    { status: 404, body: "<html>" },
    20,
    `${EARLIER.replace("3", "20")} its status could not be read just now.`,
    FOLLOW,
    { status: "unknown" },
  ],
  [
    "is forgotten",
    envelope(404, "no", "No."),
    20,
    `${EARLIER.replace("3", "20")} the service does not know it with this key.`,
    "Tell the user.",
    { status: "unknown" },
  ],
  [
    "is ready",
    statusOf("completed", { finalVideoUrl: LINK }),
    3,
    `No new video was started or paid for: a video of the same words is ready: ${LINK} It was ordered 3 minutes ago.`,
    "Show the user the link.",
    { status: "completed", finalVideoUrl: LINK, arguments: TIDES },
  ],
])("an identical order returns the job that %s", async (_, job, minutes, summary, step, known) => {
  const { call, callLater, orders } = await world({ job });
  await call();
  const again = await callLater(minutes, {
    ...TIDES,
    style: "story",
    topic: "[Waves at night, a beach] “TIDES turn”",
  });

  expect(again.structuredContent).toMatchObject({
    summary,
    nextStep: `${step} Only if the user wants another like it, call generate_video again with confirm: "${codeIn(again)}".`,
    ...known,
    jobId: JOB_ID,
    resourceUri: `faceless://jobs/${JOB_ID}`,
    alreadyStarted: true,
  });
  expect(orders()).toHaveLength(1);
});

test("a third order with the same topic says how many there are, even if an answer was lost", async () => {
  const { call, callLater } = await world({ generate: [started(JOB_ID), "reset"] });
  await call();
  await call({ ...TIDES, confirm: codeIn(await call()) });
  const third = await callLater(7);

  expect(textOf(third)).toContain("ordered 7 minutes ago (the newest of 2)");
});

test.each<[string, Reply, number]>([
  ["failed", statusOf("failed"), 0],
  ["was ordered 20 hours ago", statusOf("completed"), 20 * 60],
  ["was ordered 20 hours ago and still renders", statusOf("processing"), 20 * 60],
])("an identical order starts a new video if the last one %s", async (_, job, minutes) => {
  const { call, callLater } = await world({ job });
  await call();

  expect((await callLater(minutes)).structuredContent).toMatchObject({ jobId: OTHER_JOB_ID });
});

test("an order whose answer is nested 100,000 levels deep is started, listed and followed", async () => {
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  const answer = (text: string) => () =>
    new Response(text, { headers: { "content-type": "application/json" } });
  const job = `{"jobId":"${JOB_ID}","status":"processing","deep":${deep}}`;
  const { rest, client, call } = await world({
    generate: answer(job),
    videos: answer(`{"videos":[${job}]}`),
  });
  rest.on(STATUS, answer(job));

  expect((await call()).structuredContent).toMatchObject({ jobId: JOB_ID });
  expect((await client.call("list_videos")).structuredContent).toMatchObject({ videos: [{ jobId: JOB_ID }] });
  expect((await client.call("get_video_status", { jobId: JOB_ID })).structuredContent).toMatchObject({
    status: "processing",
  });
});

test("an invalid code is named as such and pays nothing", async () => {
  const { call, orders } = await world();
  await call();

  expect(textOf(await call({ ...TIDES, confirm: "000000" }))).toContain("code of this call is not valid.");
  expect(textOf(await call({ ...TIDES, confirm: "" }))).not.toContain("not valid");
  expect(orders()).toHaveLength(1);
});

describe("a lost answer", () => {
  const lost = { generate: "reset", videos: [listed([JOB_ID, "processing"])] } as const;

  test("is an error that lists the candidate jobs and warns against ordering in other words", async () => {
    const { call } = await world(lost);
    const failed = await call();

    expect(errorIn(failed)).toMatchObject({ outcome: "unknown", retryable: false });
    expect(textOf(failed)).toContain(
      `It is not known whether a video was started and credits were spent. Don't call again before you have checked. The newest jobs that could be it: ${JOB_ID} (processing). Look for the video with list_videos. If it is there, follow it with get_video_status. Don't start it again, not even in other words or with other settings.`,
    );
  });

  test("is given up after six minutes, with a code and the candidate jobs, even ended ones", async () => {
    const OURS = "3f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c";
    const OLD = "4f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c";
    const { call, callLater, orders } = await world({
      generate: [started(JOB_ID), "reset", started(OTHER_JOB_ID)],
      videos: listed([OURS, "completed"], [JOB_ID, "completed"], [OLD, "completed"]),
    });
    await call({ topic: "Moons" });
    await callLater(10);
    const refused = await callLater(13);
    const code = codeIn(refused);

    expect(errorIn(refused)).toEqual({ code: "duplicate", outcome: "not_sent", retryable: false });
    expect(textOf(refused)).toBe(
      `Not sent: a video of the same words was ordered 13 minutes ago and its answer never came, so it may have been made. This call started no video and spent no credits. The newest jobs that could be it: ${OURS} (completed). Check list_videos for it. Only if it isn't there, and the user still wants it, call generate_video again with confirm: "${code}". Don't order it in other words or with other settings instead.`,
    );
    expect((await call({ ...TIDES, confirm: code })).structuredContent).toMatchObject({
      jobId: OTHER_JOB_ID,
    });
    expect(orders()).toHaveLength(3);
  });
});

test.each([
  [400, "refused", "rejected", 2],
  [402, "out_of_credits", "rejected", 2],
  [429, "rate_limited", "rejected", 2],
  [408, "service_failed", "unknown", 1],
  [409, "service_failed", "unknown", 1],
  [423, "service_failed", "unknown", 1],
  [425, "service_failed", "unknown", 1],
  [499, "service_failed", "unknown", 1],
  [503, "service_failed", "unknown", 1],
])(
  "a refusal with %i is %s and %s, and the same order is sent %i times",
  async (status, code, outcome, times) => {
    const { call, journal, orders } = await world({
      generate: { ...envelope(status, "the_code", "Its message."), headers: { "retry-after": "0" } },
    });
    const failed = await call();
    journal.makeOlder(6);
    await call();

    expect(errorIn(failed)).toMatchObject({ code, outcome, status });
    expect(orders()).toHaveLength(times);
  },
);

test("the error for a reached limit says how many failed renders don't count against it", async () => {
  const videos = listed([JOB_ID, "failed"], [OTHER_JOB_ID, "processing"]);
  const { call, orders } = await world({ videos, env: { FACELESS_MAX_GENERATIONS: "1" } });
  await call({ topic: "One" });
  await call({ topic: "Two" });

  expect(textOf(await call({ topic: "Three" }))).toBe(
    "The limit of 1 video in 24 hours is reached: 2 were ordered, of which 1 is known to have failed and doesn't count. This call started no video and spent no credits. Tell the user: the limit is set in this server's settings, which only they can change.",
  );
  expect(orders()).toEqual([{ topic: "One" }, { topic: "Two" }]);
});

describe("an order that looks like a mistake", () => {
  const DOUBTED = { topic: "キツネは毎晩ひとつずつ靴下を盗んでいく。".repeat(24), voice: "german" };

  test("is not sent: the error states all doubts with figures, and gives a code that any process accepts", async () => {
    const { call, open, orders } = await world();
    const doubted = await call(DOUBTED);
    const again = await call(DOUBTED, await open());
    const code = codeIn(doubted);

    expect(errorIn(doubted)).toEqual({ code: "check_order", outcome: "not_sent", retryable: false });
    expect(textOf(doubted)).toBe(
      `Not sent, since it may not be what the user means. The voice would speak English, but 240 of the topic's 240 words are in another script. About 456 characters of the topic would be spoken, and 30 seconds hold 132 to 150. 90 seconds, the most, hold 396 to 450. The service may not have the voice "german": it is not in the catalog (adam, charlotte, will, audrey, bryan, jett, amber, vanessa, kai), it is not clone:<id> with the id of a cloned voice, and no video was started with it from here. This call started no video and spent no credits. Call again with the topic's language, or write the topic in English. Shorten it with the user, or plan several videos, each paid for. Tell the user, and let them choose one of these or give the id that the service's website shows. Only if you have told the user this, and they then want the order as it is, call generate_video again with confirm: "${code}".`,
    );
    expect(textOf(again)).toBe(textOf(doubted));
    expect(orders()).toEqual([]);

    const ordered = await call({ ...DOUBTED, confirm: code }, await open());
    expect(ordered.structuredContent).toMatchObject({ jobId: JOB_ID });
    expect(orders()).toEqual([DOUBTED]);
  });

  test("is sent once, however often its code comes, and then is a repeat with a code of its own", async () => {
    const { call, orders } = await world();
    const confirm = codeIn(await call(DOUBTED));
    await Promise.all([call({ ...DOUBTED, confirm }), call({ ...DOUBTED, confirm })]);
    const again = await call({ ...DOUBTED, confirm });
    expect(again.structuredContent).toMatchObject({ alreadyStarted: true });
    expect(orders()).toHaveLength(1);

    await call({ ...DOUBTED, confirm: codeIn(again) });
    expect(orders()).toHaveLength(2);
  });

  test("is not doubted again if the journal has it", async () => {
    const { call, callLater, orders } = await world();
    await call({ ...DOUBTED, confirm: codeIn(await call(DOUBTED)) });

    expect((await callLater(21 * 60, DOUBTED)).structuredContent).toMatchObject({ jobId: OTHER_JOB_ID });
    expect(orders()).toHaveLength(2);
  });

  test("is not doubted for a voice that the service has accepted in an earlier order", async () => {
    const { call, open, orders } = await world();
    const native = { ...TIDES, voice: "fr-amelie" };
    const doubted = await call(native);
    expect(textOf(doubted)).toContain('The service may not have the voice "fr-amelie"');
    await call({ ...native, confirm: codeIn(doubted) });

    await call({ topic: "Moons", voice: "fr-amelie" }, await open());
    expect(textOf(await call({ topic: "Moons", voice: "fr-amelia" }))).toContain("is not in the catalog");
    expect(orders()).toEqual([native, { topic: "Moons", voice: "fr-amelie" }]);
  });

  test("is doubted for a voice that the service has rejected in an earlier order", async () => {
    const { call, orders } = await world({ generate: () => ({ status: 422 }) });
    const native = { ...TIDES, voice: "fr-amelie" };
    await call({ ...native, confirm: codeIn(await call(native)) });

    expect(errorIn(await call({ topic: "Moons", voice: "fr-amelie" }))).toMatchObject({
      code: "check_order",
    });
    expect(orders()).toHaveLength(1);
  });

  test("can't be ordered with another order's code or an invented one", async () => {
    const { call, orders } = await world();
    const confirm = codeIn(await call({ ...DOUBTED, duration: 90 }));

    for (const code of [confirm, "true"]) {
      const refused = await call({ ...DOUBTED, confirm: code });
      expect(textOf(refused)).toMatch(/^The confirm code of this call is not valid\. Not sent, since /);
    }
    expect(orders()).toEqual([]);
  });
});

test.each(["none", "Off", "silent", "mute", "no"])(
  "a voice that means silence is refused as a wish: %s",
  async (voice) => {
    const { call, orders } = await world();
    const refused = await call({ ...TIDES, voice });

    expect(errorIn(refused)).toEqual({ code: "invalid_input", outcome: "not_sent", retryable: false });
    expect(textOf(refused)).toBe(
      `voice: "${voice}" would mean a video without a voice, which is not possible here. This call started no video and spent no credits. The same call would fail again. Tell the user, and call without the argument voice only if they still want the video.`,
    );
    expect(orders()).toEqual([]);
  },
);

test("a voice whose name contains the word none or off is ordered", async () => {
  const { call, orders } = await world();
  await call({ ...TIDES, voice: "clone:none-7f2" });
  await call({ topic: "Moons", voice: "clone:off-beat-4f2a" });

  expect(orders()).toHaveLength(2);
  expect(textOf(await call({ topic: "Suns", voice: "nova" }))).not.toContain("without a voice");
});

test("in the sandbox, the question says that nothing is charged", async () => {
  const questions: Question[] = [];
  const user = async (question: Question) => (questions.push(question), { action: "cancel" as const });
  const client = await connectLegacy({
    args: ["--sandbox"],
    env: { FACELESS_STATE_DIR: journalFolder().folder },
    user,
  });
  await client.call("generate_video", TIDES);

  expect(questions.map(({ message }) => message)).toEqual([
    `Make a video, "Tides turn." (${ORDERED})? This is a sandbox, so nothing is charged.`,
  ]);
});

const PAY = "Pay for this video";
const PAY_FOR_ALL = "Pay for this and further videos in this conversation";
const SPENDS = "It spends your credits.";
const choose = (decision: string): UsersAnswer => ({ action: "accept", content: { decision } });
const SERIES = ["Tides turn.", "Rivers run.", "Clouds drift.", "Rains fall.", "Snow melts."];
/** Each order gets a job of its own. */
const EACH = SERIES.map((_, index) => started(`${index}${JOB_ID.slice(1)}`));

describe.each(TEST_CLIENTS)("With %s", (_name, connect) => {
  test("the question lists no first and a yes to all further orders last, with nothing preselected", async () => {
    const { call, questions } = await world({ connect, answers: [choose(PAY)] });
    const started = await call();

    expect(started.structuredContent?.["summary"]).toMatch(/ The user was asked and agreed\.$/);
    expect(questions).toEqual([
      {
        message: `Pay for a video, "Tides turn." (${ORDERED})? ${SPENDS}`,
        form: {
          type: "object",
          properties: {
            decision: { type: "string", title: `${PAY}?`, enum: ["Don't start it", PAY, PAY_FOR_ALL] },
          },
          required: ["decision"],
        },
      },
    ]);
  });

  test("a yes to all further orders covers a series of five, but no repeats or doubts", async () => {
    const { call, orders, questions } = await world({
      connect,
      answers: [choose(PAY_FOR_ALL), choose("Don't start it"), choose("Don't start it")],
      generate: EACH,
    });
    // eslint-disable-next-line no-await-in-loop -- as plan_series has it, one after the other
    for (const topic of SERIES) expect((await call({ topic })).isError).toBeUndefined();
    expect([questions.length, orders().length]).toEqual([1, 5]);

    const [first = ""] = SERIES;
    await call({ topic: first, confirm: codeIn(await call({ topic: first })) });
    const doubted = { topic: "Ice grows.", voice: "german" };
    await call({ ...doubted, confirm: codeIn(await call(doubted)) });

    expect(questions.slice(1)).toMatchObject([
      { message: expect.stringMatching(/^Pay for another video of the same words, "Tides turn\."/) },
      {
        message: expect.stringMatching(/^Pay for a video, "Ice grows\." .+ the voice "german": .+ It spends/),
      },
    ]);
    for (const { form } of questions.slice(1)) expect(JSON.stringify(form)).not.toContain("further videos");
    expect(orders()).toHaveLength(5);
  });

  test("a yes to one order doesn't cover the next", async () => {
    const { call, orders, questions } = await world({
      connect,
      answers: [choose(PAY), choose("Don't start it")],
    });
    await call();
    await call({ topic: "Rivers run." });

    expect([questions.length, orders().length]).toEqual([2, 1]);
  });

  test.each([
    ["a yes", choose(PAY), "The video was started", 1],
    ["a no", choose("Don't start it"), "The user was asked and did not agree to pay for this video.", 0],
    ["no way to ask", undefined, "in spite of the doubts.", 1],
  ])(
    "with off, the user is still asked about a doubt that the code confirms: %s",
    async (_, answer, said, paid) => {
      const { call, orders, questions } = await world({
        connect,
        ...(answer && { answers: [answer] }),
        env: { FACELESS_CONFIRM_GENERATE: "off" },
      });
      const doubted = { ...TIDES, voice: "german" };
      const result = await call({ ...doubted, confirm: codeIn(await call(doubted)) });

      expect(textOf(result)).toContain(said);
      expect(questions).toHaveLength(answer === undefined ? 0 : 1);
      expect(orders()).toHaveLength(paid);
    },
  );

  test.each<[string, World, boolean]>([
    ["a client that can ask", { answers: [] }, true],
    ["a client that can't ask", {}, false],
    ["FACELESS_CONFIRM_GENERATE=off", { answers: [], env: { FACELESS_CONFIRM_GENERATE: "off" } }, false],
  ])("one yes is enough, so the model asks only if the server doesn't: %s", async (_, start, asksUser) => {
    const { client } = await world({ connect, ...start });
    const { tools } = await client.raw.listTools();
    const { messages } = await client.raw.getPrompt({
      name: "write_video_topic",
      arguments: { subject: "Tides" },
    });

    const texts = [client.raw.getInstructions(), tools[0]?.description, JSON.stringify(messages)];
    const asks = [/get their yes/, /Ask the user before/, /Ask, and wait for my answer/];
    expect(texts.map((text, index) => asks[index]?.test(text ?? ""))).toEqual(asks.map(() => !asksUser));
    const shows = [
      /show them, call .+ \(the user is asked then\)/,
      /this server asks them before/,
      /I am asked before/,
    ];
    expect(texts.map((text, index) => shows[index]?.test(text ?? ""))).toEqual(shows.map(() => asksUser));
  });

  test.each<[string, World["answers"], string, number]>([
    ["a yes", [choose("Pay for another video")], "The video was started", 2],
    [
      "the answer no",
      [choose("Don't start it")],
      "The user was asked and did not agree to pay for another video.",
      1,
    ],
    ["no way to ask", undefined, "The call confirmed this repeat.", 2],
  ])(
    "with off, another video of the same words is paid for unless the user says no: %s",
    async (_, answers, said, paid) => {
      const { call, orders, questions } = await world({
        connect,
        ...(answers && { answers }),
        env: { FACELESS_CONFIRM_GENERATE: "off" },
      });
      await call();
      const second = await call({ ...TIDES, confirm: codeIn(await call()) });

      expect(textOf(second)).toContain(said);
      expect(textOf(second)).not.toContain("not asked");
      expect(textOf(second).includes("The call confirmed")).toBe(answers === undefined);
      expect(questions.map(({ message }) => message)).toEqual(
        answers === undefined
          ? []
          : [
              `Pay for another video of the same words, "Tides turn." (${ORDERED})? One was ordered just now. ${SPENDS}`,
            ],
      );
      expect(orders()).toHaveLength(paid);
    },
  );

  test.each<[string, string, World["answers"], number, number]>([
    ["", "a yes", [choose(PAY)], 1, 1],
    ["", "a no", [choose("Don't start it")], 1, 0],
    ["", "no choice", [{ action: "decline" }], 1, 0],
    ["", "no way to ask", undefined, 0, 1],
    ["always", "no way to ask", undefined, 0, 0],
    ["off", "a way to ask", [], 0, 1],
  ])("FACELESS_CONFIRM_GENERATE=%s decides about an order with %s", async (mode, _, answers, asked, paid) => {
    const { call, orders, questions } = await world({
      connect,
      ...(answers && { answers }),
      env: { FACELESS_CONFIRM_GENERATE: mode },
    });
    const result = await call();

    expect(questions.map(({ message }) => message)).toEqual(
      Array.from({ length: asked }, () => `Pay for a video, "Tides turn." (${ORDERED})? ${SPENDS}`),
    );
    expect(orders()).toHaveLength(paid);
    expect(textOf(result)).not.toContain("repeat");
    expect(errorIn(result)).toEqual(
      paid === 1 ? undefined : { code: "declined", outcome: "not_sent", retryable: false },
    );
  });
});

test("a yes to all further orders answers five concurrent orders with one form", async () => {
  const { call, orders, questions } = await world({ answers: [choose(PAY_FOR_ALL)], generate: EACH });

  await Promise.all(SERIES.map((topic) => call({ topic })));

  expect([questions.length, orders().length]).toEqual([1, 5]);
});

test("five concurrent orders are asked about one after the other, and only a yes pays", async () => {
  const answers = [PAY, "Don't start it", PAY, "Don't start it", PAY].map(choose);
  const { call, questions, orders } = await world({ answers, generate: EACH });

  const results = await Promise.all(SERIES.map((topic) => call({ topic })));

  expect(results.map(({ isError = false }) => isError)).toEqual([false, true, false, true, false]);
  expect([questions.length, orders().length]).toEqual([5, 3]);
});

test("a yes to an order that comes after the call has ended orders nothing, and the next result says so once", async () => {
  const yes = lateAnswer();
  const { client, call, questions, orders } = await world({
    answers: [yes.answer, choose("Don't start it")],
  });
  const ended = new AbortController();
  const given = client.call("generate_video", TIDES, { signal: ended.signal });
  await expect.poll(() => questions.length).toBe(1);
  ended.abort();
  await expect(given).rejects.toThrow(/abort/i);
  yes.give(choose(PAY_FOR_ALL));
  await yes.arrived(client);

  const said =
    'The user\'s yes to the order of "Tides turn." came after that call had ended, so no video was started for it. Ask them before you order it again.';
  const results = [await client.call("list_videos"), await client.call("list_videos")];
  expect(results.map((result) => textOf(result).includes(said))).toEqual([true, false]);
  expect(orders()).toEqual([]);

  // It counts for no later order either.
  await call({ topic: "Rivers run." });
  expect([questions.length, orders()]).toEqual([2, []]);
});

test("a failed call also reports a yes that came too late", async () => {
  const yes = lateAnswer();
  const { client, questions } = await world({ answers: [yes.answer] });
  const ended = new AbortController();
  const given = client.call("generate_video", TIDES, { signal: ended.signal });
  await expect.poll(() => questions.length).toBe(1);
  ended.abort();
  await expect(given).rejects.toThrow(/abort/i);
  yes.give(choose(PAY));
  await yes.arrived(client);

  const refused = await client.call("generate_video", { topic: "Tides", duration: 900 });
  expect(refused.isError).toBe(true);
  expect(textOf(refused)).toMatch(
    /must be a number of seconds from 10 to 90\. .* The user's yes to the order of "Tides turn\." came after/,
  );
});
