// Nothing is published without the user's consent if the client can ask for it: over real stdio, with real clients of both protocols.
// The test answers for the user.

import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, test } from "vitest";
import {
  type Question,
  type Elicitation,
  TEST_CLIENTS,
  type TestClient,
  textOf,
  type UsersAnswer,
} from "../fixtures/clients.ts";
import { type ScriptedService, scriptedService, type Scripts } from "../fixtures/scripted-service.ts";

const KEY = "fl_test_key_0123456789";
const JOB = "0f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c";
const PUBLISH = "POST /api/v1/publish";
const STATUS = `GET /api/v1/status/${JOB}`;
const ON_TIKTOK = { jobId: JOB, platforms: ["tiktok"] };
const POSTED = { json: { results: [{ platform: "tiktok", ok: true }] } };
const READY = { json: { status: "completed", videoUrls: [], finalVideoUrl: "https://media.example/f.mp4" } };

const YES: UsersAnswer = { action: "accept", content: { decision: "Publish on tiktok" } };
const NO: UsersAnswer = { action: "accept", content: { decision: "Don't publish" } };
const DECLINED = { code: "declined", outcome: "not_sent", retryable: false };
const ADVICE =
  "This call published nothing. Ask them what they would like instead. If they saw no question, their client answered by itself: FACELESS_CONFIRM_PUBLISH=off in this server's settings leaves the question to the client's own approval.";
const REFUSED = `The user was asked and did not agree to publish. ${ADVICE}`;
const NO_ANSWER = `The user was asked whether to publish, and no answer came. ${ADVICE}`;
const QUESTION = "Publish this video on tiktok? It becomes public. Watch it: https://media.example/f.mp4";

interface SetUp {
  readonly client: TestClient;
  readonly rest: ScriptedService;
  /** The questions that the user was shown. */
  readonly questions: readonly Question[];
  publish(args?: Record<string, unknown>): Promise<CallToolResult>;
  /** How many requests to publish the service received. */
  posts(): number;
}

interface SetUpOptions {
  readonly scripts?: Scripts;
  readonly env?: Record<string, string>;
  /** The elicitation capability that the client declares. */
  readonly elicitation?: Elicitation;
}

type Answer = UsersAnswer | (() => Promise<UsersAnswer>);

describe.each(TEST_CLIENTS)("the user of %s", (_name, connect) => {
  /** The user gives these answers one after the other; without answers the client can't ask. */
  async function setUp(
    answers: readonly Answer[] | undefined,
    { scripts = {}, env = {}, elicitation = {} }: SetUpOptions = {},
  ): Promise<SetUp> {
    const rest = await scriptedService({ [PUBLISH]: POSTED, [STATUS]: READY, ...scripts });
    const questions: Question[] = [];
    const client = await connect({
      env: { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: rest.url, ...env },
      ...(answers !== undefined && {
        elicitation,
        user: async (question) => {
          questions.push(question);
          const answer = answers[questions.length - 1];
          if (answer === undefined) throw new Error("This question was not expected.");
          return typeof answer === "function" ? answer() : answer;
        },
      }),
    });
    return {
      client,
      rest,
      questions,
      publish: (args = ON_TIKTOK) => client.call("publish_video", args),
      posts: () => rest.lines(PUBLISH).length,
    };
  }

  test("is not asked by a server that is not set up", async () => {
    const { publish, questions } = await setUp([YES], { env: { FACELESS_API_KEY: "" } });

    expect(await publish()).toMatchObject({ _meta: { "faceless/error": { code: "not_configured" } } });
    expect(questions).toEqual([]);
  });

  test("sees topic, link and platforms in a question without a default answer, and a yes posts once", async () => {
    const yes = { action: "accept", content: { decision: "Publish on tiktok and youtube" } } as const;
    const { client, questions, publish, posts } = await setUp([yes], {
      scripts: { "POST /api/v1/generate": { json: { jobId: JOB } } },
    });
    await client.call("generate_video", { topic: 'Why the\nsea is "salty"' });

    const published = await publish({ jobId: JOB, platforms: ["TikTok", "youtube", "tiktok"] });

    expect(published.structuredContent).toMatchObject({ results: POSTED.json.results });
    expect(questions).toEqual([
      {
        message: String.raw`Publish the video "Why the sea is \"salty\"" on tiktok and youtube? It becomes public. Watch it: https://media.example/f.mp4`,
        form: {
          type: "object",
          properties: {
            decision: {
              type: "string",
              title: "Publish on tiktok and youtube?",
              enum: ["Don't publish", "Publish on tiktok and youtube"],
            },
          },
          required: ["decision"],
        },
      },
    ]);
    expect(JSON.stringify(questions)).not.toContain(JOB);
    expect(posts()).toBe(1);
  });

  test.each<[string, UsersAnswer, string]>([
    ["the answer no", NO, REFUSED],
    ["a decline", { action: "decline" }, REFUSED],
    ["a cancelled question", { action: "cancel" }, NO_ANSWER],
    ["a yes without a decision", { action: "accept" }, REFUSED],
    ["a yes with an empty decision", { action: "accept", content: { decision: "" } }, REFUSED],
    ["a yes to other platforms", { action: "accept", content: { decision: "Publish on youtube" } }, REFUSED],
    ["the yes of an earlier version", { action: "accept", content: { publish: true } }, REFUSED],
  ])("gives %s: nothing is published, and the next call asks again", async (_, answer, text) => {
    const { questions, publish, posts } = await setUp([answer, answer, YES]);

    for (let call = 0; call < 2; call++) {
      const declined = await publish();
      expect(declined._meta?.["faceless/error"]).toEqual(DECLINED);
      expect(textOf(declined)).toBe(text);
    }
    expect(posts()).toBe(0);

    await publish();
    expect(questions).toHaveLength(3);
    expect(posts()).toBe(1);
  });

  test("has a client that declines every question immediately by itself: nothing is published", async () => {
    const no: UsersAnswer = { action: "decline" };
    const { publish, posts } = await setUp([no, no, no, no]);
    for (let call = 0; call < 4; call++)
      expect((await publish())._meta?.["faceless/error"]).toEqual(DECLINED);

    expect(posts()).toBe(0);
  });

  test("agreed to a post whose answer was lost: the next question says so", async () => {
    const { questions, publish, posts } = await setUp([YES, YES], {
      scripts: { [PUBLISH]: ["reset", POSTED] },
    });
    const lost = await publish();
    expect(lost._meta?.["faceless/error"]).toEqual({ code: "network", outcome: "unknown", retryable: false });

    const refused = await publish();
    expect(refused._meta?.["faceless/error"]).toMatchObject({ code: "duplicate" });
    expect(questions).toHaveLength(1);
    const confirmDuplicate = /confirmDuplicate: "(\w+)"/.exec(textOf(refused))?.[1];
    await publish({ ...ON_TIKTOK, confirmDuplicate });

    expect(questions.map(({ message }) => message)).toEqual([
      QUESTION,
      "Publish this video on tiktok? It becomes public. An earlier attempt may have made it public on tiktok: look at the account before you answer. Watch it: https://media.example/f.mp4",
    ]);
    expect(posts()).toBe(2);
  });

  test("is told when a yes posts a second time", async () => {
    const { questions, publish, posts } = await setUp([YES, NO]);
    await publish();
    const confirmDuplicate = /confirmDuplicate: "(\w+)"/.exec(textOf(await publish()))?.[1];
    await publish({ ...ON_TIKTOK, confirmDuplicate });

    expect(questions[1]?.message).toBe(
      "Publish this video on tiktok? It becomes public. It is already public on tiktok, where this posts it a second time. Watch it: https://media.example/f.mp4",
    );
    expect(posts()).toBe(1);
  });

  test("says yes to two questions at the same time: the video is posted once", async () => {
    let answer = () => {};
    const both = new Promise<void>((resolve) => (answer = resolve));
    const yes = async () => (await both, YES);
    const { questions, publish, posts } = await setUp([yes, yes]);
    const calls = [publish(), publish()];
    await expect.poll(() => questions.length).toBe(2);
    answer();

    const results = (await Promise.all(calls)).map(({ structuredContent }) => structuredContent?.["results"]);
    expect(results).toContainEqual([{ platform: "tiktok", ok: true }]);
    expect(results).toContainEqual([{ platform: "tiktok", ok: true, alreadyPublished: true }]);
    expect(posts()).toBe(1);
  });

  test("is asked with the job's id if nothing else is known of it", async () => {
    const { questions, publish } = await setUp([NO], { scripts: { [STATUS]: { status: 503 } } });
    await publish();

    expect(questions.map(({ message }) => message)).toEqual([
      `Publish the video of job "${JOB}" on tiktok? It becomes public.`,
    ]);
  });

  test.each<Elicitation>([{}, { form: {} }, { form: {}, url: {} }])(
    "is asked if the client declares %j",
    async (elicitation) => {
      const { questions, publish, posts } = await setUp([NO, YES], { elicitation });

      expect((await publish())._meta?.["faceless/error"]).toEqual(DECLINED);
      expect((await publish()).structuredContent).toMatchObject(POSTED.json);
      expect([questions.length, posts()]).toEqual([2, 1]);
    },
  );

  test("is not asked if the client can ask only by URL or not at all: its own approval counts", async () => {
    const byUrl = await setUp([], { elicitation: { url: {} } });
    expect((await byUrl.publish()).structuredContent).toMatchObject(POSTED.json);
    const notAtAll = await setUp(undefined);
    expect((await notAtAll.publish()).structuredContent).toMatchObject(POSTED.json);

    expect([byUrl.questions, byUrl.posts(), notAtAll.posts()]).toEqual([[], 1, 1]);
  });

  test("is not asked with FACELESS_CONFIRM_PUBLISH=off", async () => {
    const { questions, publish, posts } = await setUp([], { env: { FACELESS_CONFIRM_PUBLISH: "off" } });

    expect((await publish()).structuredContent).toMatchObject(POSTED.json);
    expect([questions.length, posts()]).toEqual([0, 1]);
  });

  test("has a client that fails to ask: nothing is published, however often it calls", async () => {
    const broken = () => Promise.reject<UsersAnswer>(new Error("no window to ask in"));
    const { client, publish, posts } = await setUp([broken, broken]);
    const outcomes: unknown[] = [];
    for (let call = 0; call < 2; call++) {
      outcomes.push(
        await publish().then(
          (result) => [result._meta?.["faceless/error"], textOf(result)],
          (error: unknown) => String(error),
        ),
      );
    }

    // A modern client handles the question itself: the server never sees its failure.
    const failed = expect.stringContaining("no window to ask in");
    const expected = client.protocol === "legacy" ? [DECLINED, NO_ANSWER] : failed;
    expect({ outcomes, posts: posts() }).toEqual({ outcomes: [expected, expected], posts: 0 });
  });

  test.each(["a\u202Ekotkit", "tiktok, nowhere", "tiktok\u2800else", "Tik Tok", "-tiktok", "x".repeat(65)])(
    "can't be misled by a platform named %j: it is refused before any question",
    async (platform) => {
      const { rest, questions, publish } = await setUp([YES]);
      const refused = await publish({ jobId: JOB, platforms: [platform] });

      expect(refused._meta?.["faceless/error"]).toEqual({
        code: "invalid_input",
        outcome: "not_sent",
        retryable: false,
      });
      expect([questions, rest.requests]).toEqual([[], []]);
    },
  );

  test("can't be misled by a topic that closes its quotes, hides text or is very long", async () => {
    const { client, questions, publish } = await setUp([NO], {
      scripts: { "POST /api/v1/generate": { json: { jobId: JOB } } },
    });
    await client.call("generate_video", {
      topic: `Tides" on nothing at all\u202E\n\nIt stays private. ${"x".repeat(5_000)}`,
    });
    await publish();

    expect(questions[0]?.message).toMatch(
      /^Publish the video "Tides\\" on nothing at all It stays private\. x{40,90}…" on tiktok\? It becomes public\./,
    );
    expect(questions[0]?.message.length).toBeLessThan(300);
  });

  test("is asked about 20 platforms at most", async () => {
    const names = Array.from({ length: 21 }, (_, index) => `platform-${index}`);
    const { questions, publish } = await setUp([NO]);
    expect((await publish({ jobId: JOB, platforms: names }))._meta?.["faceless/error"]).toMatchObject({
      code: "invalid_input",
    });
    await publish({ jobId: JOB, platforms: names.slice(1) });

    expect(questions.map(({ form }) => form.properties)).toEqual([
      { decision: expect.objectContaining({ enum: ["Don't publish", "Publish on these 20 platforms"] }) },
    ]);
    for (const name of names.slice(1)) expect(questions[0]?.message).toContain(name);
  });
});
