// What the journal tells of earlier jobs: which there are, how they were ordered, and where they were posted.

import { expect, test } from "vitest";
import { jobHistories, ordersOf } from "../../src/idempotency/history.ts";
import { Computer, errorOf, fails, JOB, MINUTE_MS, NOW, TIDES } from "./computer.ts";

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

  expect(ordersOf(entries, NOW + MINUTE_MS)).toMatchObject([
    { jobId: "job-1", topic: "Tides rise", createdAtMs: NOW, ageMs: MINUTE_MS },
    { jobId: "job-2", topic: "Moons", ageMs: 0 },
    { jobId: undefined, topic: "Stars", ageMs: 0 },
  ]);
  expect(ordersOf(entries, NOW)[1]?.ageMs).toBe(0);
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
  expect(jobHistories(await process.journal.entries()).get(JOB)?.publishedTo).toEqual([
    { platform: "tiktok", at },
  ]);
});

test("Each post is told: a confirmed second one, and one on a platform that only the answer names", async () => {
  const computer = new Computer();
  const process = computer.process();
  await process.publish(["tiktok"]);
  const { code } = await process.publish(["tiktok"]);
  await process.publish(["tiktok"], { confirmDuplicate: code });
  computer.onPublish = async () => ({ results: [{ platform: "YouTube_Shorts", ok: true }] });
  await process.publish(["youtube"]);

  expect(jobHistories(await process.journal.entries()).get(JOB)?.publishedTo).toMatchObject([
    { platform: "tiktok", url: "https://tiktok.example/1" },
    { platform: "tiktok", url: "https://tiktok.example/2" },
    { platform: "youtube", unknown: true },
    { platform: "youtube_shorts" },
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

  expect([...jobHistories(await computer.process().journal.entries())]).toEqual([
    [
      JOB,
      {
        arguments: { topic: "Tides rise", duration: 20, style: "story", music: "upbeat" },
        createdAtMs: NOW,
        publishedTo: [
          { platform: "tiktok", url: "https://tiktok.example/1", at },
          { platform: "youtube", at, unknown: true },
        ],
      },
    ],
  ]);
});
