// Nothing is published without the user's consent if the client can ask for it: real clients of both
// protocols, for whose user the test answers.

import { describe, expect, test } from "vitest";
import {
  type ClientStart,
  type Question,
  TEST_CLIENTS,
  textOf,
  type UsersAnswer,
} from "../fixtures/clients.ts";
import { GENERATE, JOB_ID, KEY, ON_TIKTOK, PUBLISH, STATUS } from "../fixtures/constants.ts";
import { scriptedService, type Scripts } from "../fixtures/scripted-service.ts";

/** As long as signed links are. */
const LINK = `https://media.example/f.mp4?signature=${"s".repeat(900)}`;
const POSTED = { json: { results: [{ platform: "tiktok", ok: true }] } };
const READY = { json: { status: "completed", videoUrls: [], finalVideoUrl: LINK } };
const TIDES = { topic: "Tides" };

const YES: UsersAnswer = { action: "accept", content: { decision: "Publish on tiktok" } };
const NO: UsersAnswer = { action: "accept", content: { decision: "Don't publish" } };
const DECLINED = { code: "declined", outcome: "not_sent", retryable: false };
const NOT_AGREED = "The user was asked and did not agree to publish. This call published nothing.";
const BY_USER = `${NOT_AGREED} Don't ask again unless the user brings it up.`;
const BY_CLIENT = `${NOT_AGREED} If the user saw no question, their client answered by itself: docs/ERRORS.md of this server tells them what to do. Otherwise don't ask again unless the user brings it up.`;
/** By the server's clock, more than 2 s pass with the first and fewer with the second on any machine. */
const [SLOWLY, QUICKLY] = [{ clockSpeed: 100_000 }, { clockSpeed: 0.001 }];

const ALWAYS = { env: { FACELESS_CONFIRM_PUBLISH: "always" } };

interface SetUpOptions extends Omit<ClientStart, "elicitation"> {
  readonly scripts?: Scripts;
  /** How the client declares that it can ask; undefined if it can't. */
  readonly elicitation?: ClientStart["elicitation"] | undefined;
}

describe.each(TEST_CLIENTS)("With %s", (_name, connect) => {
  /** The user gives these answers one after the other. */
  async function setUp(
    answers: readonly (UsersAnswer | Promise<UsersAnswer>)[],
    { scripts = {}, env = {}, ...options }: SetUpOptions = {},
  ) {
    const { elicitation, ...start } = { elicitation: {}, ...options };
    const rest = await scriptedService({ [PUBLISH]: POSTED, [STATUS]: READY, ...scripts });
    /** What the user was shown. */
    const questions: Question[] = [];
    const user = async (question: Question) => {
      const answer = answers[questions.push(question) - 1];
      if (answer === undefined) throw new Error("no window to ask in");
      return answer;
    };
    const client = await connect({
      ...start,
      env: { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: rest.url, ...env },
      ...(elicitation !== undefined && { elicitation, user }),
    });
    const publish = (args: Record<string, unknown> = ON_TIKTOK) => client.call("publish_video", args);
    const posts = () => rest.lines(PUBLISH).length;
    return { client, questions, publish, posts, starts: () => rest.lines(GENERATE).length };
  }

  test("the question shows the video, its platforms and link, and a yes posts once", async () => {
    const [no, yes] = ["Don't publish", "Publish on tiktok and youtube"];
    const scripts = { [GENERATE]: { json: { jobId: JOB_ID } } };
    const answer: UsersAnswer = { action: "accept", content: { decision: yes } };
    const { client, questions, publish, posts } = await setUp([answer], { scripts });
    await client.call("generate_video", { topic: 'Tides" on nothing\u202E\n\nIt stays private.' });

    const published = await publish({ jobId: JOB_ID, platforms: ["TikTok", "youtube", "tiktok"] });

    expect(published.structuredContent).toMatchObject({ results: POSTED.json.results });
    const name = String.raw`the video "Tides\" on nothing It stays private."`;
    const decision = { type: "string", title: "Publish on tiktok and youtube?", enum: [no, yes] };
    expect(questions).toEqual([
      {
        message: `Publish ${name} on tiktok and youtube? It is posted at once, without a caption, and becomes public. Watch it: ${LINK}`,
        form: { type: "object", properties: { decision }, required: ["decision"] },
      },
    ]);
    expect(posts()).toBe(1);
  });

  test("the user is asked nothing by a server that is not set up", async () => {
    const { questions, publish, posts } = await setUp([], { env: { FACELESS_API_KEY: "" } });

    expect((await publish())._meta?.["faceless/error"]).toMatchObject({ code: "not_configured" });
    expect([questions, posts()]).toEqual([[], 0]);
  });

  test.each<[string, UsersAnswer, string, SetUpOptions?]>([
    ["the answer no", NO, BY_USER],
    ["a yes without a decision", { action: "accept" }, BY_USER],
    ["a yes to other platforms", { action: "accept", content: { decision: "Publish on youtube" } }, BY_USER],
    ["a decline within 2 s", { action: "decline" }, BY_CLIENT],
    ["a cancel within 2 s", { action: "cancel" }, BY_CLIENT],
    ["a decline after more than 2 s", { action: "decline" }, BY_USER, SLOWLY],
    ["a cancel after more than 2 s", { action: "cancel" }, BY_USER, SLOWLY],
    ["a decline within 2 s under always", { action: "decline" }, BY_USER, { ...QUICKLY, ...ALWAYS }],
  ])("%s publishes nothing, and the next call asks again", async (_, answer, text, options = QUICKLY) => {
    const { questions, publish, posts } = await setUp([answer, answer], options);
    for (let call = 0; call < 2; call++) {
      const declined = await publish();
      expect(declined._meta?.["faceless/error"]).toEqual(DECLINED);
      expect(textOf(declined)).toBe(text);
    }

    expect([questions.length, posts()]).toEqual([2, 0]);
  });

  test("a yes to two questions at the same time posts once", async () => {
    let answer: ((given: UsersAnswer) => void) | undefined;
    const yes = new Promise<UsersAnswer>((resolve) => (answer = resolve));
    const { questions, publish, posts } = await setUp([yes, yes]);
    const calls = [publish(), publish()];
    await expect.poll(() => questions.length).toBe(2);
    answer?.(YES);

    const results = (await Promise.all(calls)).map(({ structuredContent }) => structuredContent?.["results"]);
    expect(results).toContainEqual([{ platform: "tiktok", ok: true }]);
    expect(results).toContainEqual([{ platform: "tiktok", ok: true, alreadyPublished: true }]);
    expect(posts()).toBe(1);
  });

  test.each<[string, string, SetUpOptions]>([
    ["is asked", "declares elicitation without modes", {}],
    ["is asked", "can ask with forms", { elicitation: { form: {} } }],
    ["is asked", "can ask with forms and by URL", { elicitation: { form: {}, url: {} } }],
    ["is asked", "has to ask", ALWAYS],
    ["is not asked", "can ask only by URL", { elicitation: { url: {} } }],
    ["is not asked", "can't ask", { elicitation: undefined }],
    ["is not asked", "may not ask", { env: { FACELESS_CONFIRM_PUBLISH: "off" } }],
  ])("the user %s by a client that %s, and the video is published", async (asked, _, options) => {
    const { questions, publish, posts } = await setUp([YES], options);

    expect((await publish()).structuredContent).toMatchObject(POSTED.json);
    expect([questions.length, posts()]).toEqual([asked === "is asked" ? 1 : 0, 1]);
  });

  test("a client that can't ask publishes nothing where FACELESS_CONFIRM_PUBLISH is always", async () => {
    const { publish, posts } = await setUp([], { ...ALWAYS, elicitation: undefined });

    const refused = await publish();

    expect(refused._meta?.["faceless/error"]).toEqual(DECLINED);
    expect(textOf(refused)).toMatch(
      /The same call would fail again\. Tell the user: .* Only you can change this, in this server's settings\.$/,
    );
    expect(posts()).toBe(0);
  });

  test.each<[string, SetUpOptions, UsersAnswer | undefined, string, number]>([
    ["a yes", {}, { action: "accept", content: { decision: "Pay for another video" } }, "started", 2],
    [
      "the answer no",
      {},
      { action: "accept", content: { decision: "Don't start it" } },
      "not agree to pay",
      1,
    ],
    ["no way to ask", { elicitation: undefined }, undefined, "the user was not asked", 2],
  ])("a second video of a topic after %s is paid for only if the user agrees", async (...row) => {
    const [, options, answer, said, paid] = row;
    const scripts = { [GENERATE]: { json: { jobId: JOB_ID } } };
    const { client, questions, starts } = await setUp(answer === undefined ? [] : [answer], {
      ...options,
      scripts,
    });
    const first = await client.call("generate_video", TIDES);
    const { nextStep } = (await client.call("generate_video", TIDES)).structuredContent ?? {};
    const [, confirmDuplicate] = /confirmDuplicate: "(\w+)"/.exec(String(nextStep)) ?? [];
    const second = await client.call("generate_video", { ...TIDES, confirmDuplicate });

    expect(textOf(first)).not.toContain("not asked");
    expect(textOf(second)).toContain(said);
    expect(questions).toHaveLength(answer === undefined ? 0 : 1);
    for (const { message } of questions) expect(message).toMatch(/^Pay .* "Tides" .* ordered just now\.$/);
    expect(starts()).toBe(paid);
  });

  test("a client that fails to ask publishes nothing", async () => {
    const { publish, posts } = await setUp([]);

    // A modern client handles the question itself: the server never sees its failure.
    const said = /no answer came\. .+ Don't ask again|no window to ask in/;
    expect(await publish().then(textOf, String)).toMatch(said);
    expect(posts()).toBe(0);
  });
});
