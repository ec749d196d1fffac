// What the journal tells of earlier jobs: which there are, how they were ordered, and where they were posted.

import { expect, test } from "vitest";
import { generationFingerprint, generationsOf, jobHistories } from "../../src/idempotency/same-request.ts";
import { describePost } from "../../src/tools/describe-job.ts";
import { Computer, errorOf, fails, JOB, MINUTE_MS, NOW, type Process, TIDES } from "./computer.ts";

/** Where the job was posted, as results say it. */
async function publishedTo({ journal }: Process) {
  return jobHistories(await journal.entries())
    .get(JOB)
    ?.posts.map(describePost);
}

test.each([
  ["1,5 m", "15 m", false],
  ["1, 5 m", "1.5 m", false],
  ["1  5 m", "1\n5 m", true],
  ["1\u200B5 m", "15 m", true],
  // In Adlam's digits.
  ["\u{1E951}.\u{1E955} m", "\u{1E951}\u{1E955} m", false],
  ["wave 1, then", "wave 1 then", true],
  ["wave, 1 m", "wave 1 m", true],
  ["1 [wave] 5", "1 wave 5", false],
  ["Straße", "STRASSE", true],
  ["[a](b)", "[a] (b)", true],
  ["(a) [b]", "[a] (b)", false],
])("Whether %j and %j are the same topic: %j", (one, other, isSame) => {
  expect(generationFingerprint({ topic: one }) === generationFingerprint({ topic: other })).toBe(isSame);
});

test("A post is told by the name that was asked for, else by the service's", async () => {
  const computer = new Computer();
  const process = computer.process();
  const results = ["X", " Threads "].map((platform) => ({ platform, ok: true }));
  computer.onPublish = async () => ({ results });
  await process.publish(["twitter"]);

  expect(await publishedTo(process)).toMatchObject([{ platform: "twitter" }, { platform: "threads" }]);
});

test("The journal names all earlier jobs and orders to a new process", async () => {
  const computer = new Computer();
  await computer.process().generate(TIDES);
  computer.pass(MINUTE_MS);
  const process = computer.process();
  await process.generate({ topic: "Moons" });
  await process.publish(["tiktok"]);
  for (const [topic, outcome] of [["Suns", "rejected"] as const, ["Stars", "unknown"] as const]) {
    computer.onGenerate = fails(outcome);
    await errorOf(process.generate({ topic }));
  }
  const entries = await process.journal.entries();

  expect(generationsOf(entries)).toMatchObject([
    { jobId: "job-1", arguments: { topic: "Tides rise" }, atMs: NOW },
    { jobId: "job-2", arguments: { topic: "Moons" }, atMs: NOW + MINUTE_MS },
    { arguments: { topic: "Stars" }, fingerprint: generationFingerprint({ topic: "Stars" }) },
  ]);
});

test("A platform on which a post failed is no part of a job's history, and neither is a link that is none", async () => {
  const computer = new Computer();
  const results = [
    { platform: "x", ok: false },
    { platform: "tiktok", ok: true, url: 7 },
  ];
  computer.onPublish = async () => ({ results });
  const process = computer.process();
  await process.publish(["x", "tiktok"]);

  const at = new Date(NOW).toISOString();
  expect(await publishedTo(process)).toEqual([{ platform: "tiktok", at }]);
});

test("Each post is told: a confirmed second one, and one on a platform that only the answer names", async () => {
  const computer = new Computer();
  const process = computer.process();
  await process.publish(["tiktok"]);
  const { code } = await process.publish(["tiktok"]);
  await process.publish(["tiktok"], { confirmDuplicate: code });
  computer.onPublish = async () => ({ results: [{ platform: "Threads", ok: true }] });
  await process.publish(["youtube"]);

  expect(await publishedTo(process)).toMatchObject([
    { platform: "tiktok", url: "https://tiktok.example/1" },
    { platform: "tiktok", url: "https://tiktok.example/2" },
    { platform: "youtube", unknown: true },
    { platform: "threads" },
  ]);
});

test("This computer knows how its jobs were ordered, and where and when they were posted", async () => {
  const computer = new Computer();
  computer.onGenerate = async () => ({ jobId: JOB.toUpperCase(), status: "processing" });
  await computer.process().generate({ ...TIDES, style: "story", music: "upbeat" });
  computer.pass(MINUTE_MS);
  await computer.process().publish(["tiktok"]);
  computer.onPublish = fails("unknown");
  await errorOf(computer.process().publish(["youtube"]));
  computer.onPublish = fails("rejected");
  await errorOf(computer.process().publish(["x"]));
  const at = new Date(NOW + MINUTE_MS).toISOString();

  const process = computer.process();
  const histories = jobHistories(await process.journal.entries());
  expect([...histories.keys()]).toEqual([JOB]);
  expect(histories.get(JOB)?.order).toMatchObject({
    arguments: { topic: "Tides rise", duration: 20, style: "story", music: "upbeat" },
    atMs: NOW,
  });
  expect(await publishedTo(process)).toEqual([
    { platform: "tiktok", url: "https://tiktok.example/1", at },
    { platform: "youtube", at, unknown: true },
  ]);
});
