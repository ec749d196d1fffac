// What the journal tells of earlier jobs: which there are, how they were ordered, and where they were posted.

import { expect, test } from "vitest";
import { jobHistories, startedJobs } from "../../src/idempotency/history.ts";
import { fingerprintOf } from "../../src/idempotency/same-request.ts";
import type { Publication } from "../../src/service/answers.ts";
import { Computer, errorOf, fails, JOB, MINUTE_MS, NOW, TIDES } from "./computer.ts";

test("The journal names the jobs of an account to a new process, the latest first", async () => {
  const computer = new Computer();
  await computer.process().generate(TIDES);
  computer.pass(MINUTE_MS);
  const process = computer.process();
  await process.generate({ topic: "Moons" });
  await computer.process({ accountName: "two" }).generate({ topic: "Stars" });

  expect(startedJobs(await process.journal.entries(), fingerprintOf("one"))).toEqual([
    { jobId: "job-2", topic: "Moons", createdAtMs: NOW + MINUTE_MS },
    { jobId: "job-1", topic: "Tides rise", createdAtMs: NOW },
  ]);
});

test("A post that is under way is no part of a job's history yet", async () => {
  const computer = new Computer();
  await computer.process().publish(["tiktok"]);
  let answer: ((publication: Publication) => void) | undefined;
  computer.onPublish = () => new Promise((resolve) => (answer = resolve));
  const process = computer.process();
  const posting = process.publish(["youtube"]);
  await expect.poll(() => answer).toBeDefined();
  const histories = jobHistories(await process.journal.entries());
  answer?.({ results: [] });
  await posting;

  expect(histories.get(JOB)?.publishedTo).toMatchObject([{ platform: "tiktok" }]);
});

test("This computer knows how its jobs were ordered, and where and when they were posted", async () => {
  const computer = new Computer();
  computer.onGenerate = async () => ({ jobId: JOB.toUpperCase(), status: "processing" });
  await computer.process().generate({ ...TIDES, style: "story", music: "upbeat" });
  computer.pass(MINUTE_MS);
  await computer.process({ accountName: "two" }).publish(["tiktok"]);
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
