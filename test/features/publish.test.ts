// Posting a video as a user sees it: the checks before, the questions, the requests and the texts. Real
// clients of both protocols, against a service that the test scripts.

import { describe, expect, test } from "vitest";
import * as z from "zod";
import { type Clock, systemClock } from "../../src/clock.ts";
import {
  type ClientStart,
  connectLegacy,
  lateAnswer,
  type Question,
  TEST_CLIENTS,
  textOf,
  type UsersAnswer,
} from "../fixtures/clients.ts";
import {
  DOCUMENT,
  GENERATE,
  JOB_ID,
  KEY,
  ON_TIKTOK,
  OTHER_JOB_ID,
  OTHER_STATUS,
  PUBLISH,
  STATUS,
} from "../fixtures/constants.ts";
import { journalFolder } from "../fixtures/journal-folder.ts";
import { envelope, type Reply, type Script, scriptedService } from "../fixtures/scripted-service.ts";

const ACCOUNTS = "GET /api/v1/platforms";
const TOLD = { paths: { "/api/v1/platforms": { get: { operationId: "list_connected_platforms" } } } };
/** As long as signed links are. */
const LINK = `https://media.example/f.mp4?signature=${"s".repeat(900)}`;
const BOTH = { jobId: JOB_ID, platforms: ["tiktok", "youtube"] };
const TIKTOK = { platform: "tiktok", ok: true, url: "https://tiktok.example/1" };
const YES: UsersAnswer = { action: "accept", content: { decision: "Publish on TikTok" } };
const LABEL =
  "Tell them to mark it as AI-made in the platform's app if it asks for that: the service sets no label.";

const statusOf = (status: string, more: object = {}) => ({ json: { status, videoUrls: [], ...more } });
const READY = statusOf("completed", { finalVideoUrl: LINK });
const posted = (...results: readonly object[]) => ({ json: { results } });

/** The platforms of a post. */
const platformsIn = (json: unknown) => z.object({ platforms: z.array(z.string()) }).parse(json).platforms;

interface World extends Omit<ClientStart, "user"> {
  readonly connect?: (typeof TEST_CLIENTS)[number][1];
  /** The user's answers one after the other. Without any, the client can't ask. */
  readonly answers?: readonly (UsersAnswer | Promise<UsersAnswer>)[];
  readonly job?: Reply;
  /** The platforms of the connected accounts, or the accounts; without them, they can't be read. */
  readonly accounts?: readonly (string | object)[];
  /** How the service answers a post. Default: it posts everywhere. */
  readonly publish?: Script;
}

async function world({
  connect = connectLegacy,
  answers,
  job = READY,
  accounts,
  publish,
  ...start
}: World = {}) {
  const postAll: Script = ({ json }) => {
    return posted(
      ...platformsIn(json).map((platform) => ({ platform, ok: true, url: `https://${platform}.example/1` })),
    );
  };
  const platforms = accounts?.map((account) =>
    typeof account === "string" ? { platform: account } : account,
  );
  const rest = await scriptedService({
    [STATUS]: job,
    [OTHER_STATUS]: READY,
    [PUBLISH]: publish ?? postAll,
    [GENERATE]: { json: { jobId: JOB_ID } },
    ...(platforms !== undefined && { [DOCUMENT]: { json: TOLD }, [ACCOUNTS]: { json: { platforms } } }),
  });
  const journal = journalFolder();
  const questions: Question[] = [];
  const user = async (question: Question) => {
    const answer = answers?.[questions.push(question) - 1];
    if (answer === undefined) throw new Error("no window to ask in");
    return answer;
  };
  const client = await connect({
    ...start,
    env: {
      FACELESS_API_KEY: KEY,
      FACELESS_BASE_URL: rest.url,
      FACELESS_STATE_DIR: journal.folder,
      FACELESS_CONFIRM_GENERATE: "off",
      ...start.env,
    },
    ...(answers !== undefined && { user }),
  });
  const call = (args: object = ON_TIKTOK) => client.call("publish_video", { ...args });
  /** The platforms of each post. */
  const posts = () =>
    rest.requests.filter(({ path }) => path.endsWith("/publish")).map(({ json }) => platformsIn(json));
  return { client, rest, journal, questions, call, posts };
}

type Result = Awaited<ReturnType<Awaited<ReturnType<typeof world>>["call"]>>;
const errorIn = (result: Result) => result._meta?.["faceless/error"];
const guidanceOf = ({ structuredContent = {} }: Result) => [
  structuredContent["summary"],
  structuredContent["nextStep"],
];
/** The code in a result or an error. */
const codeIn = (result: Result) => /confirm: "(\w+)"/.exec(textOf(result))?.[1] ?? "no code";

test("each post has the id of its journal entry as Idempotency-Key, and a confirmed repeat has its own", async () => {
  const { call, rest, journal } = await world();

  await call();
  await call({ ...ON_TIKTOK, confirm: codeIn(await call()) });

  const keysOf = (end: string) =>
    rest.requests.filter(({ path }) => path.endsWith(end)).map(({ headers }) => headers["idempotency-key"]);
  expect(journal.quotedIds()).toHaveLength(2);
  expect(keysOf("/publish")).toEqual(journal.quotedIds());
  // Reading the accounts is a POST that records and changes nothing.
  expect(new Set(keysOf("/mcp"))).toEqual(new Set([undefined]));
});

describe("before a post", () => {
  const ASKING: [string, World] = ["a client that asks", { answers: [YES] }];
  const OTHERS: [string, World][] = [
    ["a client that can't ask", {}],
    [
      "a client whose user turned the question off",
      { answers: [YES], env: { FACELESS_CONFIRM_PUBLISH: "off" } },
    ],
  ];
  const OBSTACLES: [string, World, object, string][] = [
    [
      "renders",
      { job: statusOf("processing") },
      { code: "not_ready", retryable: true },
      "The video is still rendering. This call published nothing. Calling again is safe. Wait with get_video_status and waitSeconds 50 until it is done, then publish once.",
    ],
    [
      "has an unknown status",
      { job: statusOf("queued") },
      { code: "not_ready", retryable: true },
      'The video is not ready: the service gives its status as "queued". This call published nothing. Calling again is safe. Tell the user. Look again with get_video_status, and publish only when the video is completed.',
    ],
    [
      "failed",
      { job: statusOf("failed") },
      { code: "not_ready", retryable: false },
      "The render of this video failed. This call published nothing. The same call would fail again. Tell the user. The video can be generated again if they still want it.",
    ],
    [
      "is unknown",
      { job: envelope(404, "not_found", "No.") },
      { code: "not_found", retryable: false },
      "The service knows no job with this id. This call published nothing. The same call would fail again. Use a jobId that list_videos shows, unchanged.",
    ],
    [
      "has no account",
      { accounts: ["youtube"] },
      { code: "not_connected", retryable: false },
      "No TikTok account is connected. This call published nothing. The same call would fail again. Connected: youtube. Tell the user to connect TikTok on the service's website if they want the video there.",
    ],
    [
      "has no account at all",
      { accounts: [] },
      { code: "not_connected", retryable: false },
      "No TikTok account is connected. This call published nothing. The same call would fail again. Tell the user to connect an account on the service's website first. None is connected yet.",
    ],
  ];
  test.each([
    ...OBSTACLES.map(
      ([video, ...rest]) => [video, ASKING[0], { ...ASKING[1], ...rest[0] }, ...rest] as const,
    ),
    ...OTHERS.flatMap(([client, options]) =>
      OBSTACLES.slice(0, 1).map(
        ([video, ...rest]) => [video, client, { ...options, ...rest[0] }, ...rest] as const,
      ),
    ),
  ])("a video that %s is neither asked about nor sent by %s", async (_, __, options, ___, facts, text) => {
    const { call, questions, posts } = await world(options);
    const refused = await call();

    expect(errorIn(refused)).toEqual({ outcome: "not_sent", ...facts });
    expect(textOf(refused)).toBe(text);
    expect([questions, posts()]).toEqual([[], []]);
  });
});

test.each<[string, World]>([
  ["its job and the accounts can't be read", { job: { status: 500 } }],
  ["it has a link, whatever its status", { job: statusOf("published", { finalVideoUrl: LINK }) }],
  ["another field of an account names the platform", { accounts: [{ id: "acc_1", type: "TikTok" }] }],
  ["a nested field does", { accounts: [{ id: "acc_1", name: "clips", on: { network: "tiktok" } }] }],
  [
    "another account on the platform can be posted to",
    { accounts: [{ platform: "tiktok", expired: true }, "tiktok"] },
  ],
])("a video is posted if %s", async (_, more) => {
  const { call, posts } = await world(more);
  await call();

  expect(posts()).toEqual([["tiktok"]]);
});

test.each([
  [
    "insta",
    ["instagram", "tiktok"],
    "Connected: instagram and tiktok. insta is probably instagram: call again",
  ],
  ["twitter", ["x"], "Connected: x. twitter is probably x: call again"],
  ["vimeo", ["tiktok"], "Connected: tiktok. Tell the user to connect vimeo on the service's website"],
  [
    "all",
    ["tiktok", "X"],
    "platforms: \"all\" can't be a platform's id. This call published nothing. The same call would fail again. Connected: tiktok and x. Call again with the ids the user means.",
  ],
  [
    "Instagram Reels",
    ["tiktok"],
    "No Instagram account is connected. This call published nothing. The same call would fail again. Connected: tiktok. Tell the user to connect Instagram on the service's website if they want the video there.",
  ],
])("a post on %s is never sent while %j are connected", async (platform, accounts, text) => {
  const { call, posts } = await world({ accounts });

  expect(textOf(await call({ jobId: JOB_ID, platforms: [platform] }))).toContain(text);
  expect(posts()).toEqual([]);
});

const ROSA = { platform: "tiktok", username: "@rosa" };
const THREE = [ROSA, { platform: "TikTok", username: "@ben" }, { platform: "tiktok", username: "@cleo" }];
const ONLY_ROSA =
  'The only TikTok account that is connected is "@rosa": call again with tiktok only if the user means that one.';
const ONE_OF_THREE =
  "The service decides on which of the 3 TikTok accounts it posts. Tell the user, and publish on tiktok only if any of them will do.";

test.each([
  ["@rosa", THREE, `"@rosa" is an account on TikTok`, ONE_OF_THREE],
  ["Rosa", [ROSA], '"rosa" is an account on TikTok', ONLY_ROSA],
  [
    "@Rosa",
    [{ ...ROSA, expired: true }],
    '"@rosa" is an account on TikTok',
    "Tell the user to connect TikTok again on the service's website.",
  ],
  ["acc_1", [{ ...ROSA, id: "acc_1" }], '"acc_1" is an account on TikTok', ONLY_ROSA],
  [
    "Rosa's Kitchen",
    [{ ...ROSA, profile: { title: "Rosa's Kitchen" } }],
    `"rosa's kitchen" is an account on TikTok`,
    ONLY_ROSA,
  ],
  [
    "https://tiktok.example/@rosa",
    [{ ...ROSA, link: "https://tiktok.example/@rosa" }],
    "is an account on TikTok",
    ONLY_ROSA,
  ],
  ["tiktok:@rosa", [ROSA], '"tiktok:@rosa" names more than a platform', ONLY_ROSA],
  ["tiktok:@rosa", THREE, '"tiktok:@rosa" names more than a platform', ONE_OF_THREE],
  ["tiktok/@ben", [ROSA], '"tiktok/@ben" names more than a platform', ONLY_ROSA],
  ["tiktok (@rosa)", [ROSA], '"tiktok (@rosa)" names more than a platform', ONLY_ROSA],
  ["@rosa on TikTok", [ROSA], '"@rosa on tiktok" names more than a platform', ONLY_ROSA],
  ["Rosa's TikTok", [ROSA], `"rosa's tiktok" names more than a platform`, ONLY_ROSA],
  ["https://www.tiktok.com/@rosa", [ROSA], "names more than a platform", ONLY_ROSA],
  ["tiktok.com/@rosa", [ROSA], '"tiktok.com/@rosa" names more than a platform', ONLY_ROSA],
  [{ ...ROSA, connected: true }, [ROSA], '"tiktok @rosa" names more than a platform', ONLY_ROSA],
  [{ platform: "tiktok", account: { id: 7 } }, [ROSA], "names more than a platform", ONLY_ROSA],
  [{ account: "@rosa" }, [ROSA], '"@rosa" is an account on TikTok', ONLY_ROSA],
  [
    "@nobody",
    [ROSA],
    '"@nobody" names an account',
    "Connected: tiktok. Call again with the ids the user means.",
  ],
  ["https://rosa.example", [ROSA], '"https://rosa.example" names an account', "Connected: tiktok."],
])("no account can be chosen by %j while %j are connected", async (name, accounts, message, nextStep) => {
  const { call, posts } = await world({ accounts });
  const refused = await call({ jobId: JOB_ID, platforms: [name] });

  expect(textOf(refused)).toContain("No account can be chosen: ");
  expect(textOf(refused)).toContain(message);
  expect(textOf(refused)).toContain(nextStep);
  expect(posts()).toEqual([]);
});

test("an account name that is also a platform's name means the platform", async () => {
  const { call, posts } = await world({ accounts: [{ platform: "tiktok", name: "YouTube" }] });

  expect(textOf(await call({ jobId: JOB_ID, platforms: ["youtube"] }))).toContain(
    "No YouTube account is connected.",
  );
  expect(posts()).toEqual([]);
});

test.each([
  ["yt", "youtube"],
  ["shorts", "youtube"],
  ["YouTube Shorts", "youtube"],
  ["tik tok", "tiktok"],
  ["insta", "instagram"],
])("%s is told to be %s, which is connected, and nothing is posted", async (name, id) => {
  const { call, posts } = await world({ accounts: ["tiktok", "youtube", "instagram"] });
  const refused = textOf(await call({ jobId: JOB_ID, platforms: [name] }));

  expect(refused).not.toContain("account is connected");
  expect(refused).toMatch(new RegExp(` is probably ${id}: call again with the ids the user means\\.$`));
  expect(posts()).toEqual([]);
});

test("if a platform has several accounts, the result names the one with the post only if the service does", async () => {
  const unnamed = await world({ accounts: THREE });
  const named = await world({ accounts: THREE, publish: posted({ ...TIKTOK, username: "@ben" }) });

  expect(guidanceOf(await unnamed.call())[0]).toBe(
    "Posted to TikTok. The service doesn't say which of the TikTok accounts has it.",
  );
  expect(guidanceOf(await named.call())[0]).toBe('Posted to TikTok ("@ben").');
});

test("an account with neither a platform nor a name can't be posted to", async () => {
  const { call, posts } = await world({ accounts: ["youtube", { enabled: true }] });

  expect(errorIn(await call())).toMatchObject({ code: "not_connected", outcome: "not_sent" });
  expect(posts()).toEqual([]);
});

test.each([
  [{ connected: false }, "disconnected"],
  [{ isActive: false }, "not active"],
  [{ disabled: true }, "disabled"],
  [{ expired: true }, "expired"],
  [{ tokenExpired: true }, "expired"],
  [{ needs_reauth: true }, "signed out"],
  [{ status: "needs_reauth" }, "signed out"],
  [{ connectionStatus: "Expired" }, "expired"],
])("an account with %j is not posted to", async (state, word) => {
  const accounts = [{ platform: "tiktok", username: "@rosa", ...state }, "youtube"];
  const { call, client, posts } = await world({ accounts });
  const refused = await call(BOTH);
  const listed = await client.call("list_connected_platforms", {});

  const sentence = `The TikTok account "@rosa" is ${word}, so nothing can be posted there.`;
  expect(textOf(refused)).toBe(
    `${sentence} This call published nothing. The same call would fail again. Tell the user to connect TikTok again on the service's website.`,
  );
  expect(listed.structuredContent).toMatchObject({
    summary: `Connected: YouTube. ${sentence}`,
    nextStep: "Tell the user to connect that account again on the service's website.",
  });
  expect(posts()).toEqual([]);
});

test.each([
  { connected: true },
  { status: "active" },
  { expired: false },
  { status: "draft", note: "expired" },
])("an account with %j is posted to", async (state) => {
  const { call, posts } = await world({ accounts: [{ platform: "tiktok", ...state }] });
  await call();

  expect(posts()).toEqual([["tiktok"]]);
});

test("the list and the question say that a platform has several accounts", async () => {
  const { call, client, questions } = await world({ accounts: THREE, answers: [YES] });
  const listed = await client.call("list_connected_platforms", {});
  await call();

  expect(guidanceOf(listed)).toEqual([
    "Connected: TikTok (3 accounts).",
    "The service takes a platform, not one of its accounts, and decides on which of the TikTok accounts it posts: publish there only if the user has said that any of them will do.",
  ]);
  expect(questions[0]?.message).toContain(
    'on TikTok (one or all of "@rosa", "@ben" and "@cleo": the service decides)?',
  );
});

test.each([
  [
    { account: "@a" },
    { account: "@b" },
    'Posted to TikTok ("@a"). Not posted to TikTok ("@b"): the service says "No".',
  ],
  [{}, {}, 'Posted to one TikTok account. Not posted to another TikTok account: the service says "No".'],
])("two results for one platform are told apart: %j, %j", async (first, second, text) => {
  const failed = { platform: "tiktok", ok: false, error: "No", ...second };
  const { call } = await world({ publish: posted({ ...TIKTOK, ...first }, failed) });

  expect(guidanceOf(await call())[0]).toBe(text);
});

test("names that can't be platforms are refused even if the accounts can't be read", async () => {
  const { call, posts } = await world();
  const refused = await call({ jobId: JOB_ID, platforms: ["everywhere", "both"] });

  expect(errorIn(refused)).toEqual({ code: "invalid_input", outcome: "not_sent", retryable: false });
  expect(textOf(refused)).toBe(
    "platforms: \"everywhere\" can't be a platform's id. platforms: \"both\" can't be a platform's id. This call published nothing. The same call would fail again. Use only those ids from list_connected_platforms that the user means.",
  );
  expect(textOf(await call({ jobId: JOB_ID, platforms: ["Instagram Reels"] }))).toMatch(
    /^Nothing is posted to "instagram reels": a platform is named by its id\./,
  );
  await call({ jobId: JOB_ID, platforms: ["anytube"] });
  expect(posts()).toEqual([["anytube"]]);
});

test("platforms with similar names are different", async () => {
  const { call, posts } = await world({ accounts: ["youtube", "youtube_shorts"] });
  await call({ jobId: JOB_ID, platforms: ["youtube"] });
  await call({ jobId: JOB_ID, platforms: ["youtube", "youtube_shorts"] });

  expect(posts()).toEqual([["youtube"], ["youtube_shorts"]]);
});

test("a blank link counts as missing, and the user is asked to look for the post", async () => {
  const { call } = await world({ publish: posted({ ...TIKTOK, url: "" }) });

  expect(guidanceOf(await call())).toEqual([
    expect.stringMatching(/^The service reports a post on TikTok but gave no link\./),
    expect.stringMatching(/^Tell the user to look for the post on TikTok\./),
  ]);
});

test("an account that names no platform may be the one that is meant, so the post is sent", async () => {
  const { call, posts } = await world({ accounts: ["youtube", { handle: "@cats" }] });

  expect((await call()).isError).toBeUndefined();
  expect((await call({ jobId: JOB_ID, platforms: ["cats"] })).isError).toBe(true);
  expect(posts()).toEqual([["tiktok"]]);
});

test("an expired account that names no platform is ignored", async () => {
  const { call, posts } = await world({ accounts: ["youtube", { handle: "@cats", status: "expired" }] });

  expect(errorIn(await call())).toMatchObject({ code: "not_connected", outcome: "not_sent" });
  expect(posts()).toEqual([]);
});

const REFUSALS = [
  envelope(401, "youtube_token_expired", "Sign in to youtube."),
  envelope(402, "out_of_credits", "None."),
  { ...envelope(429, "rate_limited", "Slow down."), headers: { "x-ratelimit-remaining": "0" } },
];

test.each(REFUSALS.map((refusal) => [refusal.status, refusal] as const))(
  "after a refusal of two platforms with %i, either may have the video, so neither is sent again without a code",
  async (_, publish) => {
    const { call, journal, posts, rest } = await world({ publish, accounts: ["tiktok", "youtube"] });
    const refused = await call(BOTH);
    const requests = rest.lines().length;
    journal.makeOlder(6);
    const again = await call(BOTH);

    expect(errorIn(refused)).toMatchObject({ outcome: "unknown", retryable: false });
    expect(textOf(refused)).toContain("some of the platforms may already have the video");
    // No request is sent to reinterpret the refusal.
    expect(rest.lines().slice(requests)).toEqual([]);
    expect(errorIn(again)).toMatchObject({ code: "duplicate", outcome: "not_sent" });
    expect(textOf(again)).toContain("sent to TikTok and YouTube and the outcome is not known");
    expect(posts()).toEqual([["tiktok", "youtube"]]);
  },
);

test("a refusal for one platform is quoted, and the key that has just worked isn't blamed", async () => {
  const { call, posts } = await world({ publish: [REFUSALS[0] ?? {}, posted(TIKTOK)] });
  const refused = await call();
  await call();

  expect(errorIn(refused)).toEqual({
    code: "unauthorized",
    status: 401,
    outcome: "rejected",
    retryable: false,
  });
  expect(textOf(refused)).toBe(
    'The service refused to publish the video (service code "youtube_token_expired", HTTP 401). The service\'s words: "Sign in to youtube." This call published nothing. Tell the user what the service says: it may be about the API key, or about an account on the platform.',
  );
  expect(posts()).toEqual([["tiktok"], ["tiktok"]]);
});

test.each([409, 500])(
  "an answer with status %i proves nothing, not even about one platform",
  async (status) => {
    const { call, journal, posts } = await world({ publish: envelope(status, "the_code", "Words.") });
    const failed = await call();
    journal.makeOlder(6);

    expect(errorIn(failed)).toEqual({ code: "service_failed", status, outcome: "unknown", retryable: false });
    expect(errorIn(await call())).toMatchObject({ code: "duplicate" });
    expect(posts()).toEqual([["tiktok"]]);
  },
);

test("each platform's outcome is reported once, with what to do about it", async () => {
  const youtube = { platform: "youtube", ok: true };
  const x = { platform: "x", ok: false, error: { message: "The access token has expired." } };
  const vimeo = { platform: "Vimeo", ok: false };
  const { call, posts } = await world({ publish: [posted(TIKTOK), posted(youtube, x, vimeo)] });
  const first = await call();
  const second = await call({ jobId: JOB_ID, platforms: ["tiktok", "youtube", "x", "vimeo", "facebook"] });

  expect(first.structuredContent).toEqual({
    summary: "Posted to TikTok.",
    nextStep: `Give the user the links of the posts. ${LABEL}`,
    results: [TIKTOK],
  });
  expect(second.structuredContent).toEqual({
    summary:
      'The service reports a post on YouTube but gave no link. It was posted to TikTok by an earlier call, so it was not sent there again. Not posted to X: the service says "The access token has expired". Not posted to "Vimeo": the service gave no reason. The service did not say whether it was posted to Facebook.',
    nextStep: `Tell the user to look for the post on YouTube. Give the user the links of the posts. Tell the user why it was not posted to X and "Vimeo". Publish it there only if they still want it, after they have fixed that. Ask the user to look for it on Facebook before anything else. Only if the user wants it posted to TikTok a second time, call publish_video with platforms ["tiktok"] and confirm: "${codeIn(second)}".`,
    results: [{ ...TIKTOK, alreadyPublished: true }, youtube, x, vimeo],
  });
  expect(posts()).toEqual([["tiktok"], ["youtube", "x", "vimeo", "facebook"]]);
});

test("an unreadable result for one platform doesn't affect the results for the others", async () => {
  const { call, posts } = await world({ publish: posted(TIKTOK, { platform: "youtube", ok: "queued" }) });

  expect((await call(BOTH)).structuredContent).toMatchObject({
    summary: "Posted to TikTok. The service did not say whether it was posted to YouTube.",
    results: [TIKTOK],
  });
  expect((await call()).structuredContent).toHaveProperty("results", [{ ...TIKTOK, alreadyPublished: true }]);
  expect(errorIn(await call({ jobId: JOB_ID, platforms: ["youtube"] }))).toMatchObject({
    code: "duplicate",
    outcome: "not_sent",
  });
  expect(posts()).toEqual([["tiktok", "youtube"]]);
});

test("a next step names no platform that only the service has mentioned", async () => {
  const names = ["tiktok", "then_call_publish_video", "for_each_video"];
  const { call } = await world({
    publish: posted(...names.map((platform, index) => ({ platform, ok: index < 2, message: "no" }))),
  });
  const [summary, nextStep] = guidanceOf(await call());

  expect(summary).toMatch(/then_call_publish_video.*for_each_video/);
  expect(nextStep).toBe(
    `Tell the user to look for the post on TikTok. Tell the user why it was not posted to the others named above. Publish it there only if they still want it, after they have fixed that. ${LABEL}`,
  );
});

test("a post without a link is the service's word, and is not sent again", async () => {
  const { call, posts } = await world({ publish: posted({ platform: "tiktok", ok: true }) });
  await call();
  const again = await call();

  expect(guidanceOf(again)).toEqual([
    "The service reported a post on TikTok to an earlier call but gave no link, so it was not sent there again.",
    `Tell the user to look for the post on TikTok. Only if the user wants it posted to TikTok a second time, call publish_video with platforms ["tiktok"] and confirm: "${codeIn(again)}".`,
  ]);
  expect(posts()).toEqual([["tiktok"]]);
});

test("an invalid code is named as such and posts nothing", async () => {
  const { call, posts } = await world();
  await call();

  expect(guidanceOf(await call({ ...ON_TIKTOK, confirm: "true" }))[1]).toContain(
    "code of this call is not valid.",
  );
  expect(guidanceOf(await call({ ...ON_TIKTOK, confirm: "" }))[1]).not.toContain("not valid");
  expect(posts()).toHaveLength(1);
});

test("a repeat by a client that can't ask says that the call confirmed it", async () => {
  const { call, posts } = await world();
  const first = await call();
  const second = await call({ ...ON_TIKTOK, confirm: codeIn(await call()) });

  expect(guidanceOf(first)[0]).toBe("Posted to TikTok.");
  expect(guidanceOf(second)).toEqual([
    "Posted to TikTok. The call confirmed this repeat.",
    "Give the user the links of the posts.",
  ]);
  expect(posts()).toHaveLength(2);
});

describe.each(TEST_CLIENTS)("With %s", (_name, connect) => {
  test("the question shows the video, its accounts and its link, and a yes posts once", async () => {
    const [no, yes] = ["Don't publish", "Publish on TikTok and YouTube"];
    const { client, call, questions, posts } = await world({
      connect,
      answers: [{ action: "accept", content: { decision: yes } }],
      accounts: [
        { platform: "TikTok", account: "@clips \u202E" },
        { platform: "tiktok", account: { id: 7, display_name: 'My "Clips"' } },
        { platform: "youtube", name: "YouTube" },
      ],
    });
    await client.call("generate_video", { topic: '[a shore] Tides" on nothing\u202E\n\nIt stays private.' });
    const result = await call({ jobId: JOB_ID, platforms: ["TikTok", "youtube", "tiktok"] });

    const name = String.raw`the video "Tides\" on nothing It stays private."`;
    const accounts = String.raw`TikTok (one or all of "@clips" and "My \"Clips\"": the service decides) and YouTube`;
    const decision = { type: "string", title: `${yes}?`, enum: [no, yes] };
    expect(questions).toEqual([
      {
        message: `Publish ${name} on ${accounts}? It is posted at once, without a caption and without a label for AI-made media, and becomes public. Watch it: ${LINK}`,
        form: { type: "object", properties: { decision }, required: ["decision"] },
      },
    ]);
    expect(result.structuredContent).toMatchObject({ results: [TIKTOK, { platform: "youtube", ok: true }] });
    expect(posts()).toEqual([["tiktok", "youtube"]]);
  });

  const NOT_AGREED = "The user was asked and did not agree to publish. This call published nothing.";
  const BY_USER = `${NOT_AGREED} Don't call again unless the user now asks for it: what they said before the question doesn't count.`;
  const BY_CLIENT = `The client was told to ask the user whether to publish, and the question was closed without a yes. This call published nothing. If the user saw no question, tell them that their client may have answered by itself, and what to do then: https://github.com/faceless-video/faceless-video-mcp/blob/main/docs/ERRORS.md. Otherwise don't call again unless the user now asks for it: what they said before the question doesn't count.`;

  test.each<[string, UsersAnswer, string]>([
    ["the answer no", { action: "accept", content: { decision: "Don't publish" } }, BY_USER],
    ["a yes without a choice", { action: "accept" }, BY_CLIENT],
    ["a yes to another question", { action: "accept", content: { decision: "Publish on YouTube" } }, BY_USER],
    ["a decline without a choice", { action: "decline" }, BY_CLIENT],
    ["a cancel without a choice", { action: "cancel" }, BY_CLIENT],
  ])("%s posts nothing, and the next call asks again", async (_, answer, text) => {
    const { call, questions, posts } = await world({ connect, answers: [answer, answer] });
    for (let count = 0; count < 2; count++) {
      const declined = await call();
      expect(errorIn(declined)).toEqual({ code: "declined", outcome: "not_sent", retryable: false });
      expect(textOf(declined)).toBe(text);
    }

    expect([questions.length, posts()]).toEqual([2, []]);
  });

  test("a client that fails to ask posts nothing", async () => {
    const { call, posts } = await world({ connect, answers: [] });

    // A modern client handles the question itself, so the server never sees its failure.
    expect(await call().then(textOf, String)).toMatch(
      /no answer came\. .+ Don't call again|no window to ask in/,
    );
    expect(posts()).toEqual([]);
  });

  test("a yes to two questions at the same time posts once", async () => {
    let answer: ((given: UsersAnswer) => void) | undefined;
    const yes = new Promise<UsersAnswer>((resolve) => (answer = resolve));
    const { call, questions, posts } = await world({ connect, answers: [yes, yes] });
    const calls = [call(), call()];
    await expect.poll(() => questions.length).toBe(2);
    answer?.(YES);

    const results = (await Promise.all(calls)).map(({ structuredContent }) => structuredContent?.["results"]);
    expect(results).toContainEqual([TIKTOK]);
    expect(results).toContainEqual([{ ...TIKTOK, alreadyPublished: true }]);
    expect(posts()).toHaveLength(1);
  });

  test.each<[string, string, World]>([
    ["is asked", "declares elicitation without modes", { answers: [YES] }],
    ["is asked", "can ask with forms", { answers: [YES], elicitation: { form: {} } }],
    ["is asked", "has to ask", { answers: [YES], env: { FACELESS_CONFIRM_PUBLISH: "always" } }],
    ["is not asked", "can ask only by URL", { answers: [YES], elicitation: { url: {} } }],
    ["is not asked", "can't ask", {}],
    ["is not asked", "may not ask", { answers: [YES], env: { FACELESS_CONFIRM_PUBLISH: "off" } }],
  ])("the user %s by a client that %s, and the video is posted", async (asked, _, options) => {
    const { call, questions, posts } = await world({ connect, ...options });
    await call();

    expect([questions.length, posts().length]).toEqual([asked === "is asked" ? 1 : 0, 1]);
  });

  test("the user is always asked before a repeat, and sees what was posted before", async () => {
    const { call, questions, posts } = await world({
      connect,
      answers: [YES],
      env: { FACELESS_CONFIRM_PUBLISH: "off" },
    });
    await call();
    await call({ ...ON_TIKTOK, confirm: codeIn(await call()) });

    expect(questions).toMatchObject([
      {
        message: expect.stringContaining("It was posted to TikTok just now; this will post it there again."),
      },
    ]);
    expect(posts()).toHaveLength(2);
  });

  test("under FACELESS_CONFIRM_PUBLISH=always, a client that can't ask posts nothing", async () => {
    const { call, posts } = await world({ connect, env: { FACELESS_CONFIRM_PUBLISH: "always" } });
    const refused = await call();

    expect(errorIn(refused)).toEqual({ code: "declined", outcome: "not_sent", retryable: false });
    expect(textOf(refused)).toMatch(
      / The same call would fail again\. Tell the user: .* Only you can change this/,
    );
    expect(posts()).toEqual([]);
  });
});

test("the question names the platforms that may have the video already, and those left out", async () => {
  const answers: UsersAnswer[] = ["TikTok", "YouTube", "TikTok"].map((platform) => ({
    action: "accept",
    content: { decision: `Publish on ${platform}` },
  }));
  const noLink = posted({ platform: "tiktok", ok: true });
  const { call, questions } = await world({
    answers,
    publish: [noLink, posted({ platform: "youtube", ok: true }), noLink],
  });
  await call();
  await call(BOTH);
  await call({ ...ON_TIKTOK, confirm: codeIn(await call()) });

  const messages = questions.map(({ message }) => message);
  expect(messages[0]).not.toMatch(/before|earlier/);
  expect(messages[1]).toContain(
    "The service reported it posted to TikTok before, so it is not posted there again.",
  );
  expect(messages[2]).toContain(
    "An earlier attempt may have made it public on TikTok: look at the account before you answer.",
  );
  expect(messages[2]).not.toContain("It was posted to");
});

test("the question distinguishes posts with a link from those without one", async () => {
  const answers: UsersAnswer[] = ["TikTok and YouTube", "TikTok and YouTube"].map((names) => ({
    action: "accept",
    content: { decision: `Publish on ${names}` },
  }));
  const { call, questions } = await world({
    answers,
    publish: posted(TIKTOK, { platform: "youtube", ok: true }),
  });
  await call(BOTH);
  await call({ ...BOTH, confirm: codeIn(await call(BOTH)) });

  expect(questions[1]?.message).toContain(
    "It was posted to TikTok just now; this will post it there again. An earlier attempt may have made it public on YouTube: look at the account before you answer.",
  );
});

test("the question names an unknown video by its job's id", async () => {
  const { call, questions } = await world({ answers: [{ action: "decline" }], job: { status: 500 } });
  await call();

  expect(questions).toMatchObject([
    { message: expect.stringContaining(`Publish the video of job "${JOB_ID}" on TikTok?`) },
  ]);
});

test("a server that is not set up asks nothing", async () => {
  const { call, questions } = await world({ answers: [], env: { FACELESS_API_KEY: "" } });

  expect(errorIn(await call())).toMatchObject({ code: "not_configured" });
  expect(questions).toEqual([]);
});

// A modern client calls again with the answer, so a call that has ended leaves no question open.
test("a yes that comes after the call has ended posts nothing, and the next result about the job says so once", async () => {
  const yes = lateAnswer();
  const { client, call, questions, posts } = await world({ answers: [yes.answer] });
  const ended = new AbortController();
  const given = client.call("publish_video", ON_TIKTOK, { signal: ended.signal });
  await expect.poll(() => questions.length).toBe(1);
  ended.abort();
  await expect(given).rejects.toThrow(/abort/i);
  yes.give({ action: "accept", content: { decision: "Publish on TikTok" } });
  await yes.arrived(client);

  const ofOther = await client.call("get_video_status", { jobId: OTHER_JOB_ID });
  const next = await client.call("get_video_status", { jobId: JOB_ID });
  const later = await client.call("get_video_status", { jobId: JOB_ID });

  const said = `The user's yes to publishing the video of job "${JOB_ID}" on TikTok came after that call had ended, so nothing was posted. Ask them before you call publish_video again.`;
  expect([ofOther, next, later].map((result) => textOf(result).includes(said))).toEqual([false, true, false]);
  expect(next.structuredContent?.["summary"]).toContain(said);
  expect(posts()).toEqual([]);

  // The late answer doesn't count for a new question.
  expect(errorIn(await call())).toMatchObject({ code: "declined", outcome: "not_sent" });
  expect([questions.length, posts()]).toEqual([2, []]);
});

test.each([
  ["a no", { action: "accept", content: { decision: "Don't publish" } }],
  ["no choice", { action: "cancel" }],
] as const)("%s that comes after the call has ended is not reported", async (_, answer) => {
  const no = lateAnswer();
  const { client, questions, posts } = await world({ answers: [no.answer] });
  const ended = new AbortController();
  const given = client.call("publish_video", ON_TIKTOK, { signal: ended.signal });
  await expect.poll(() => questions.length).toBe(1);
  ended.abort();
  await expect(given).rejects.toThrow(/abort/i);
  no.give(answer);
  await no.arrived(client);

  expect(textOf(await client.call("get_video_status", { jobId: JOB_ID }))).not.toContain("The user's");
  expect(posts()).toEqual([]);
});

/** The system's clock, whose timers of whole minutes run when the test says so. */
function clockOfMinutes() {
  const timers = new Map<() => void, number>();
  const clock: Clock = {
    ...systemClock,
    after(delayMs, action) {
      if (delayMs < 60_000) return systemClock.after(delayMs, action);
      timers.set(action, delayMs);
      return () => void timers.delete(action);
    },
  };
  /** Runs the timers that are due within this many minutes. */
  const pass = (minutes: number) =>
    timers.forEach((delayMs, action) => delayMs <= minutes * 60_000 && timers.delete(action) && action());
  return { clock, pass };
}

test("a yes that comes after five minutes posts nothing, and the next result about the job says so once", async () => {
  const yes = lateAnswer();
  const { clock, pass } = clockOfMinutes();
  const { client, questions, posts } = await world({ answers: [yes.answer], clock });
  const given = client.call("publish_video", ON_TIKTOK);
  await expect.poll(() => questions.length).toBe(1);
  pass(5);
  expect(errorIn(await given)).toMatchObject({ code: "declined", outcome: "not_sent" });
  yes.give({ action: "accept", content: { decision: "Publish on TikTok" } });
  await yes.arrived(client);

  const status = () => client.call("get_video_status", { jobId: JOB_ID });
  const said = [textOf(await status()), textOf(await status())].map((text) =>
    text.includes("The user's yes"),
  );
  expect([said, posts()]).toEqual([[true, false], []]);
});
