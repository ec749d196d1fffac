// Nothing is published without the person's word where the client can ask for it: over real stdio, with real clients of both
// protocol eras whose person is the test.

import { setTimeout as sleep } from "node:timers/promises";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, test } from "vitest";
import { type Elicitation, ERAS, type PersonsAnswer, type TestClient, textOf } from "./fixtures/clients.ts";
import {
  envelope,
  type ScriptedService,
  scriptedService,
  type Scripts,
} from "./fixtures/scripted-service.ts";

const KEY = "fl_test_key_0123456789";
const JOB = "0f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c";
const PUBLISH = "POST /api/v1/publish";
const ON_TIKTOK = { jobId: JOB, platforms: ["tiktok"] };
const POSTED = { json: { results: [{ platform: "tiktok", ok: true }] } };
/** Nobody turns a question down faster: what is faster, the client did by itself. */
const TO_READ_MS = 1_100;

const YES: PersonsAnswer = { action: "accept", content: { publish: true } };
const DECLINED = { code: "declined", outcome: "not_sent", retryable: false };
const NO_TEXT =
  "The person was asked and did not agree to publish. No request was carried out, so nothing was published. Calling again unchanged will fail again. Ask them what they would like instead. Publish only if they ask for it again.";

interface Scene {
  readonly client: TestClient;
  readonly rest: ScriptedService;
  /** What the person was asked. */
  readonly questions: readonly string[];
  publish(args?: Record<string, unknown>): Promise<CallToolResult>;
  /** How many times the service was told to post. */
  posts(): number;
}

interface SceneOptions {
  readonly scripts?: Scripts;
  readonly env?: Record<string, string>;
  /** What the client declares of asking. */
  readonly elicitation?: Elicitation;
}

describe.each(ERAS)("%s", (_name, connect) => {
  /** The person gives these answers in turn; without any the client can't ask. */
  async function scene(
    answers: readonly (() => Promise<PersonsAnswer>)[] | undefined,
    { scripts = {}, env = {}, elicitation = {} }: SceneOptions = {},
  ): Promise<Scene> {
    const rest = await scriptedService({ [PUBLISH]: POSTED, ...scripts });
    const questions: string[] = [];
    const client = await connect({
      env: { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: rest.url, ...env },
      ...(answers !== undefined && {
        elicitation,
        person: (question) => {
          questions.push(question);
          const answer = answers[questions.length - 1];
          if (answer === undefined) throw new Error("Nobody expected this question.");
          return answer();
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

  const atOnce = (answer: PersonsAnswer) => async () => answer;
  const afterReading = (answer: PersonsAnswer) => () => sleep(TO_READ_MS, answer);

  test("asks with the video's name, its link and the platforms, and a yes posts once", async () => {
    const { client, questions, publish, posts } = await scene([atOnce(YES)], {
      scripts: {
        "POST /api/v1/generate": { json: { jobId: JOB } },
        "GET /api/v1/videos": {
          json: {
            videos: [{ jobId: JOB, status: "completed", finalVideoUrl: "https://media.example/f.mp4" }],
          },
        },
      },
    });
    await client.call("generate_video", { topic: "Why the\nsea is salty" });
    await client.call("list_videos", {});

    const published = await publish({ jobId: JOB, platforms: ["TikTok", "youtube", "tiktok"] });

    expect(published.structuredContent).toEqual(POSTED.json);
    expect(questions).toEqual([
      `Publish the video "Why the sea is salty" (job ${JOB}) on tiktok, youtube? It becomes public. Watch it: https://media.example/f.mp4`,
    ]);
    expect(posts()).toBe(1);
  });

  test("asks by the job where no topic is known, and a yes without the form's answer is a yes", async () => {
    const { questions, publish, posts } = await scene([atOnce({ action: "accept" })]);

    expect((await publish()).structuredContent).toEqual(POSTED.json);
    expect(questions).toEqual([`Publish the video job ${JOB} on tiktok? It becomes public.`]);
    expect(posts()).toBe(1);
  });

  test.each<[string, (answer: PersonsAnswer) => () => Promise<PersonsAnswer>, PersonsAnswer]>([
    ["a yes with the box unticked", atOnce, { action: "accept", content: { publish: false } }],
    ["a no", afterReading, { action: "decline" }],
    ["a question closed", afterReading, { action: "cancel" }],
  ])("posts nothing after %s, and asks again when called again", async (_, when, answer) => {
    const { questions, publish, posts } = await scene([when(answer), atOnce(YES)]);

    const declined = await publish();
    expect(declined._meta?.["faceless/error"]).toEqual(DECLINED);
    expect(textOf(declined)).toBe(NO_TEXT);
    expect(posts()).toBe(0);

    await publish();
    expect([questions.length, posts()]).toEqual([2, 1]);
  });

  test.each<PersonsAnswer>([{ action: "decline" }, { action: "cancel" }])(
    "that turns the question down by itself posts nothing, and only the same call again goes through: %j",
    async (answer) => {
      const { questions, publish, posts } = await scene([atOnce(answer), atOnce(answer)]);

      const declined = await publish();
      expect(declined._meta?.["faceless/error"]).toEqual({ ...DECLINED, retryable: true });
      expect(textOf(declined)).toBe(
        "The client turned the question whether to publish down at once, so the person may never have seen it. No request was carried out, so nothing was published. Calling again is safe. If the person wants it published, call publish_video once more: the question is left out then, and the client's own approval of the tool counts.",
      );
      const elsewhere = await publish({ jobId: JOB, platforms: ["tiktok", "youtube"] });
      expect(elsewhere.isError).toBe(true);
      expect([questions.length, posts()]).toEqual([2, 0]);

      expect((await publish()).structuredContent).toEqual(POSTED.json);
      expect([questions.length, posts()]).toEqual([2, 1]);
    },
  );

  test("is spared the question once, not for good", async () => {
    const no = atOnce({ action: "decline" });
    const scripts = { [PUBLISH]: envelope(422, "not_ready", "The video is not ready.") };
    const { questions, publish, posts } = await scene([no, no], { scripts });
    for (let call = 0; call < 3; call++) await publish();

    expect([questions.length, posts()]).toEqual([2, 1]);
  });

  test("is told of an earlier attempt that may have worked, and a yes to that sends another", async () => {
    const { questions, publish, posts } = await scene([atOnce(YES), atOnce(YES)], {
      scripts: { [PUBLISH]: ["reset", POSTED] },
    });

    const lost = await publish();
    expect(lost._meta?.["faceless/error"]).toEqual({ code: "network", outcome: "unknown", retryable: false });
    expect(textOf(lost)).toBe(
      "The request to publish the video was sent, but no complete answer came back: the connection was closed (ECONNRESET). The request left, and it is not known whether the video was published. Do not call again before checking. The video may already be public: ask the user to look at the accounts. Publish it again only if it is not there and the user still wants it.",
    );
    expect(posts()).toBe(1);

    expect((await publish()).structuredContent).toEqual(POSTED.json);
    expect(questions).toEqual([
      `Publish the video job ${JOB} on tiktok? It becomes public.`,
      `Publish the video job ${JOB} on tiktok? It becomes public. An attempt about 1 min ago may have posted it already: look at the accounts first.`,
    ]);
    expect(posts()).toBe(2);
  });

  test("that says yes to a question from before the attempt got lost is asked anew", async () => {
    let lose = () => {};
    const lost = new Promise<void>((resolve) => (lose = resolve));
    const slow = async () => (await lost, YES);
    const { questions, publish, posts } = await scene([slow, atOnce(YES), atOnce({ action: "cancel" })], {
      scripts: { [PUBLISH]: "reset" },
    });

    const first = publish();
    await expect.poll(() => questions.length).toBe(1);
    expect((await publish()).isError).toBe(true);
    lose();

    expect((await first)._meta?.["faceless/error"]).toMatchObject({ code: "declined" });
    expect(questions.map((question) => question.includes("An attempt about"))).toEqual([false, false, true]);
    expect(posts()).toBe(1);
  });

  test("that asks twice at once posts once, unless the person wants it after hearing of the first", async () => {
    let answer = () => {};
    const second = new Promise<void>((resolve) => (answer = resolve));
    const { questions, publish, posts } = await scene([
      atOnce(YES),
      async () => (await second, YES),
      afterReading({ action: "decline" }),
    ]);

    const calls = [publish(), publish()];
    await Promise.race(calls);
    await expect.poll(() => questions.length).toBe(2);
    answer();

    expect((await Promise.all(calls)).filter(({ isError }) => isError)).toHaveLength(1);
    expect(questions[2]).toBe(
      `Publish the video job ${JOB} on tiktok? It becomes public. The same was published about 1 min ago already.`,
    );
    expect(posts()).toBe(1);
  });

  test("that can't ask isn't asked, and its own approval doesn't send a lost one again", async () => {
    const { publish, posts } = await scene(undefined, { scripts: { [PUBLISH]: [POSTED, "reset"] } });

    expect((await publish()).structuredContent).toEqual(POSTED.json);
    const codes = [await publish(), await publish()].map(({ _meta }) => _meta?.["faceless/error"]);

    expect(codes).toEqual([
      expect.objectContaining({ code: "network", outcome: "unknown" }),
      expect.objectContaining({
        code: "duplicate",
        outcome: "not_sent",
        retryAfterSeconds: expect.any(Number),
      }),
    ]);
    expect(posts()).toBe(2);
  });

  test("that can ask by a URL alone isn't asked, for its own approval counts", async () => {
    const { questions, publish, posts } = await scene([], { elicitation: { url: {} } });

    expect((await publish()).structuredContent).toEqual(POSTED.json);
    expect([questions, posts()]).toEqual([[], 1]);
  });

  test.each<Elicitation>([{}, { form: {} }, { form: {}, url: {} }])(
    "that declares %j is asked, and only its yes posts",
    async (elicitation) => {
      const no = atOnce({ action: "accept", content: { publish: false } });
      const { questions, publish, posts } = await scene([no, atOnce(YES)], { elicitation });

      expect((await publish())._meta?.["faceless/error"]).toEqual(DECLINED);
      expect(posts()).toBe(0);
      expect((await publish()).structuredContent).toEqual(POSTED.json);
      const question = `Publish the video job ${JOB} on tiktok? It becomes public.`;
      expect([questions, posts()]).toEqual([[question, question], 1]);
    },
  );

  test("that fails to ask posts nothing, and only the same call again goes through", async () => {
    const broken = () => Promise.reject<PersonsAnswer>(new Error("no window to ask in"));
    const { client, questions, publish, posts } = await scene([broken]);

    const outcomes: unknown[] = [];
    for (let call = 0; call < 2; call++) {
      outcomes.push(
        await publish().then(
          ({ _meta }) => _meta?.["faceless/error"] ?? "posted",
          (error: unknown) => String(error),
        ),
      );
    }

    // A client of the newer era asks by itself: what goes wrong there never gets here.
    const ofTheClient = [
      expect.stringContaining("no window to ask in"),
      expect.stringContaining("Nobody expected"),
    ];
    const isOld = client.era === "old";
    expect({ outcomes, posts: posts(), questions: questions.length }).toEqual({
      outcomes: isOld ? [{ ...DECLINED, retryable: true }, "posted"] : ofTheClient,
      posts: isOld ? 1 : 0,
      questions: isOld ? 1 : 2,
    });
  });

  test("isn't asked where the person has turned that off", async () => {
    const { questions, publish, posts } = await scene([], { env: { FACELESS_CONFIRM_PUBLISH: "off" } });

    expect((await publish()).structuredContent).toEqual(POSTED.json);
    expect([questions.length, posts()]).toEqual([0, 1]);
  });
});
