// When a video is posted to a platform, and when an earlier post answers instead.

import { expect, test } from "vitest";
import type { Publication } from "../../src/service/responses.ts";
import { codeIn, Computer, DAY_MS, errorOf, failure, fails, JOB, MINUTE_MS } from "../fixtures/computer.ts";

const sentTo = ({ posts }: Computer) => posts.map(({ platforms }) => platforms);
const TIKTOK = { platform: "tiktok", ok: true, url: "https://tiktok.example/1" };

/** A computer that has posted the video to tiktok. */
async function afterFirst(): Promise<Computer> {
  const computer = new Computer();
  expect(await computer.process().publish(["tiktok"])).toEqual({
    results: [TIKTOK],
    answer: {},
    missingResults: [],
    code: undefined,
  });
  return computer;
}

/** A computer on which the answer for tiktok was lost. */
async function afterLost(platforms: readonly string[] = ["tiktok"]): Promise<Computer> {
  const computer = new Computer();
  computer.onPublish = fails("unknown");
  await errorOf(computer.process().publish(platforms));
  computer.onPublish = new Computer().onPublish;
  computer.pass(6 * MINUTE_MS);
  return computer;
}

test("a platform that has the video comes back with the earlier result, from every process, 89 days later too", async () => {
  const computer = await afterFirst();
  computer.pass(89 * DAY_MS);

  expect(await computer.process().publish(["tiktok"])).toEqual({
    results: [{ ...TIKTOK, alreadyPublished: true }],
    answer: {},
    missingResults: [],
    code: expect.stringMatching(/^[0-9a-f]{6}$/),
  });
  expect(sentTo(computer)).toEqual([["tiktok"]]);
});

test.each([
  ["tiktok", [" TikTok "], "tiktok"],
  ["youtube", ["threads"], "threads"],
  ["all", ["tiktok", "youtube"], "youtube"],
  ["tiktok", ["tiktok", "youtube"], "youtube"],
])("a post on %s whose answer names %j counts as one on %s", async (asked, named, platform) => {
  const computer = new Computer();
  const failed = { platform: asked, ok: false };
  computer.onPublish = async () => ({
    results: [...named.map((name) => ({ platform: name, ok: true })), failed],
  });
  await computer.process().publish([asked]);

  expect(await computer.process().publish([platform])).toMatchObject({
    results: [{ platform, ok: true, alreadyPublished: true }],
  });
  expect(computer.posts).toHaveLength(1);
});

test("the journal keeps of the service's answer what the guard and a history need", async () => {
  const computer = new Computer();
  computer.onPublish = async () => ({
    results: [
      { ...TIKTOK, message: "posted", views: 0 },
      { platform: "youtube", ok: false, error: { message: `no ${"o".repeat(300)}` } },
    ],
    more: "words",
  });
  const { journal, ...process } = computer.process();
  await process.publish(["tiktok", "youtube"], { client: "Claude 1.0" });

  expect(await journal.entries()).toMatchObject([
    {
      client: "Claude 1.0",
      results: [TIKTOK, { platform: "youtube", ok: false, reason: `no ${"o".repeat(196)}…` }],
    },
  ]);
  expect(JSON.stringify(await journal.entries())).not.toMatch(/views|posted|words/);
});

test("only a platform that failed is posted to again", async () => {
  const computer = new Computer();
  computer.onPublish = async () => ({ results: [TIKTOK, { platform: "youtube", ok: false }] });
  await computer.process().publish(["tiktok", "youtube"]);
  await computer.process().publish(["tiktok", "youtube"]);

  expect(sentTo(computer)).toEqual([["tiktok", "youtube"], ["youtube"]]);
});

test.each(["rejected", "not_sent"] as const)("A request that was %s is sent again", async (outcome) => {
  const computer = new Computer();
  computer.onPublish = fails(outcome);
  await errorOf(computer.process().publish(["tiktok"]));
  await errorOf(computer.process().publish(["tiktok"]));

  expect(computer.posts).toHaveLength(2);
});

test("a platform with an unknown outcome is refused with a code, however long ago it was sent", async () => {
  const computer = await afterLost();
  computer.pass(80 * DAY_MS);
  const error = await errorOf(computer.process().publish(["tiktok"]));

  expect(error).toEqual({
    code: "duplicate",
    message:
      "Not sent: 80 days ago this video was sent to TikTok and the outcome is not known, so it may already be public there.",
    nextStep: `Ask the user to look at the TikTok account. Only if they have looked since, the video isn't there, and they still want it, call publish_video again with platforms ["tiktok"] and confirm: "${codeIn(error)}".`,
    outcome: "not_sent",
    retryable: false,
  });
  expect(computer.posts).toHaveLength(1);
});

test("a post of one video neither answers nor holds back another video's", async () => {
  const computer = await afterFirst();
  const { publishOnce } = computer.process();
  const other = { jobId: "11111111-3c1d-4e5a-9b7c-8d6e5f4a3b2c", platforms: ["tiktok"] };

  expect(await publishOnce.run(other, async () => ({ userMs: 0 }))).toMatchObject({
    results: [{ platform: "tiktok", ok: true, url: "https://tiktok.example/2" }],
    code: undefined,
  });
  expect(computer.posts.map(({ jobId }) => jobId)).toEqual([JOB, other.jobId]);
});

test("the results come in the order in which the platforms were named, posted earlier or now", async () => {
  const computer = await afterFirst();
  const { results } = await computer.process().publish(["youtube", "tiktok", "x"]);

  expect(results.map(({ platform }) => platform)).toEqual(["youtube", "tiktok", "x"]);
});

test("a code for posts with unknown outcomes leaves out a platform that has the video", async () => {
  const computer = await afterLost();
  computer.pass(MINUTE_MS);
  computer.onPublish = fails("unknown");
  await errorOf(computer.process().publish(["youtube"]));
  computer.onPublish = new Computer().onPublish;
  computer.pass(6 * MINUTE_MS);
  await computer.process().publish(["x"]);
  const error = await errorOf(computer.process().publish(["x", "tiktok", "youtube"], { confirm: "123456" }));

  expect(error.message).toMatch(
    /^The confirm code .+ 6 minutes ago this video was sent to TikTok and YouTube /,
  );
  expect(error.nextStep).toContain('platforms ["tiktok","youtube"]');
  await computer.process().publish(["tiktok", "youtube"], { confirm: codeIn(error) });
  expect(sentTo(computer).at(-1)).toEqual(["tiktok", "youtube"]);
});

test("a platform with an unknown outcome holds back the call, with a way to post to others", async () => {
  const computer = await afterLost();

  expect(await errorOf(computer.process().publish(["youtube", "tiktok"]))).toMatchObject({
    nextStep: expect.stringMatching(
      /with platforms \["youtube","tiktok"\] and confirm: "\w+"\. To publish on YouTube alone, call with platforms \["youtube"\]\.$/,
    ),
  });
});

test("a platform that the service's answer does not mention has an unknown outcome", async () => {
  const computer = new Computer();
  computer.onPublish = async () => ({ results: [TIKTOK], note: "partial" });
  expect(await computer.process().publish(["tiktok", "x"])).toMatchObject({
    missingResults: ["x"],
    answer: { note: "partial" },
  });

  expect(await errorOf(computer.process().publish(["x"]))).toMatchObject({ code: "duplicate" });
});

test("a platform with an unknown outcome stays unknown after a confirmed attempt that failed, and is posted after one that succeeded", async () => {
  const computer = await afterLost();
  const confirmed = async () => {
    const confirm = codeIn(await errorOf(computer.process().publish(["tiktok"])));
    return computer.process().publish(["tiktok"], { confirm });
  };
  computer.onPublish = async () => ({ results: [{ platform: "tiktok", ok: false }] });
  await confirmed();
  computer.onPublish = async () => ({ results: [TIKTOK] });
  await confirmed();

  expect(await computer.process().publish(["tiktok"])).toMatchObject({
    results: [{ alreadyPublished: true }],
  });
  expect(computer.posts).toHaveLength(3);
});

test("a platform whose confirmed repeat got no answer has an unknown outcome", async () => {
  const computer = await afterFirst();
  const { code } = await computer.process().publish(["tiktok"]);
  computer.onPublish = fails("unknown");
  await errorOf(computer.process().publish(["tiktok"], { confirm: code }));
  computer.pass(6 * MINUTE_MS);

  expect(await errorOf(computer.process().publish(["tiktok"]))).toMatchObject({ code: "duplicate" });
});

test("a post that is under way is waited for by other processes, which send only what is left", async () => {
  const computer = new Computer();
  computer.waitMs = 1;
  const calls = [["a", "b"], ["b", "c"], ["c", "a"], ["a"]].map((platforms) =>
    computer.process().publish(platforms),
  );
  await Promise.all(calls);

  expect(sentTo(computer).flat().sort()).toEqual(["a", "b", "c"]);
});

test("a post that stays under way is an error without a code, even for a call that brings one", async () => {
  const both = ["tiktok", "youtube"];
  const computer = await afterLost(both);
  const confirm = codeIn(await errorOf(computer.process().publish(both)));
  const never = new Promise<Publication>(() => {});
  computer.onPublish = () => never;
  void computer.process().publish(both, { confirm });
  await expect.poll(() => computer.posts).toHaveLength(2);

  const calls = [{}, { confirm }].map((caller) => computer.process().publish(both, caller));
  for (const error of await Promise.all(calls.map(errorOf)))
    expect(error).toEqual({
      code: "in_progress",
      message: expect.stringMatching(
        /^Not sent: \d+ seconds ago this video was sent to TikTok and YouTube, and/,
      ),
      nextStep: expect.stringMatching(/^Tell the user to look at the TikTok and YouTube accounts\./),
      outcome: "not_sent",
      retryable: false,
    });
  expect(computer.posts).toHaveLength(2);
});

test("a code allows one repeat of a post, however often it is used", async () => {
  const computer = await afterFirst();
  const { code: confirm } = await computer.process().publish(["tiktok"]);
  await Promise.allSettled([
    computer.process().publish(["tiktok"], { confirm }),
    computer.process().publish(["tiktok"], { confirm }),
  ]);
  await computer.process().publish(["tiktok"], { confirm });

  expect(computer.posts).toHaveLength(2);
});

test("the code is valid for exactly the platforms that were named with it", async () => {
  const computer = new Computer();
  await computer.process().publish(["tiktok", "youtube"]);
  const { code: confirm } = await computer.process().publish(["tiktok"]);
  await computer.process().publish(["tiktok", "youtube"], { confirm });
  await computer.process().publish(["youtube"], { confirm });
  expect(computer.posts).toHaveLength(1);
  await computer.process().publish(["tiktok"], { confirm });

  expect(sentTo(computer)).toEqual([["tiktok", "youtube"], ["tiktok"]]);
});

test("the code does not change when another platform changes", async () => {
  const computer = await afterFirst();
  const { code } = await computer.process().publish(["tiktok"]);
  await computer.process().publish(["youtube"]);

  expect(await computer.process().publish(["tiktok"])).toMatchObject({ code });
});

test("no failure of a confirmed repeat says that waiting makes it safe", async () => {
  const computer = await afterFirst();
  const { code: confirm } = await computer.process().publish(["tiktok"]);
  computer.onPublish = () =>
    Promise.reject(
      Object.assign(failure("rejected"), {
        facts: { ...failure("rejected").facts, retryable: true, retryAfterSeconds: 30 },
      }),
    );

  expect(await errorOf(computer.process().publish(["tiktok"], { confirm }))).toEqual({
    ...failure("rejected").facts,
    nextStep: "Ask the user whether they still want it posted a second time before you call again.",
  });
});

test("a user who agrees after another process has posted is asked again, about the rest", async () => {
  const computer = new Computer();
  const asked: (readonly string[])[] = [];
  await computer.process().publish(["tiktok", "youtube"], {}, async ({ platforms }) => {
    asked.push(platforms);
    if (asked.length === 1) await computer.process().publish(["tiktok"]);
    return { userMs: 0 };
  });

  expect(asked).toEqual([["tiktok", "youtube"], ["youtube"]]);
  expect(sentTo(computer)).toEqual([["tiktok"], ["youtube"]]);
});

test("a user who agrees after the process began to end publishes nothing", async () => {
  const computer = new Computer();
  const process = computer.process();
  const call = process.publish(["tiktok"], {}, async () => (await process.guard.close(), { userMs: 0 }));

  expect(await errorOf(call)).toMatchObject({ code: "cancelled", outcome: "not_sent" });
  expect(computer.posts).toEqual([]);
});
