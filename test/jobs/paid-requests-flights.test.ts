import { describe, expect, test } from "vitest";
import type { Journal } from "../../src/jobs/journal.ts";
import { createPaidRequests } from "../../src/jobs/paid-requests.ts";
import type { Generation, Publication } from "../../src/service/schemas.ts";
import { desk, duplicate, fail, failure, job, never, POST, video } from "./paid-desk.ts";

/** A promise that is settled from outside. */
function deferred<Result>() {
  let resolve: (result: Result) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<Result>((...settle) => ([resolve, reject] = settle));
  return { promise, resolve, reject };
}

describe("requests at the same time", () => {
  test("share one flight if they are the same, and its failure too", async () => {
    const { paid, journal } = desk();
    const { promise, resolve } = deferred<Generation>();
    const first = paid.generate.once(video(() => promise));
    const second = paid.generate.once(video(never));
    resolve({ jobId: "job-1", status: "processing" });

    expect((await Promise.all([first, second])).map(({ kind }) => kind)).toEqual(["sent", "shared"]);
    const failing = [video(fail("unknown"), { args: POST }), video(never, { args: POST })];
    const failed = await Promise.allSettled(failing.map((request) => paid.generate.once(request)));
    expect(failed.map((result) => result.status === "rejected" && result.reason)).toEqual([
      failure("unknown"),
      failure("unknown"),
    ]);
    expect(journal.entries().map(({ outcome }) => outcome)).toEqual(["done", "unknown"]);
  });

  test("don't share one that is confirmed", async () => {
    const { paid } = desk();
    const { promise, resolve } = deferred<Generation>();
    const first = paid.generate.once(video(() => promise));
    const confirmed = await paid.generate.once(video(job("job-2"), { confirmed: true }));
    const third = paid.generate.once(video(never));
    resolve({ jobId: "job-1", status: "processing" });

    expect(confirmed).toMatchObject({ kind: "sent", result: { jobId: "job-2" } });
    expect(await first).toMatchObject({ kind: "sent", result: { jobId: "job-1" } });
    expect(await third).toMatchObject({ kind: "shared", result: { jobId: "job-1" } });
  });

  test("of two processes don't both go, though neither saw the other when it looked", async () => {
    const { journal, clock, another } = desk();
    let rival: Promise<unknown> | undefined;
    const slow: Journal = {
      ...journal,
      begin(intent) {
        // The other process comes in between the look and the line.
        rival ??= another().generate.once(video(job("job-1")));
        return journal.begin(intent);
      },
    };
    const paid = createPaidRequests({ journal: slow, account: "service key", now: () => clock.ms });

    await expect(paid.generate.once(video(never))).rejects.toMatchObject(duplicate(1));
    expect(await rival).toMatchObject({ kind: "sent" });
    expect(journal.entries().map(({ outcome }) => outcome)).toEqual(["done", "not_sent"]);
  });
});

test("What can't be written to the journal because that fails is not sent", async () => {
  const { journal, clock } = desk();
  const broken: Journal = {
    ...journal,
    begin() {
      throw new Error("The journal is broken.");
    },
  };
  const paid = createPaidRequests({ journal: broken, account: "service key", now: () => clock.ms });
  let sent = 0;

  await expect(paid.generate.once(video(() => (sent++, job("job-1")())))).rejects.toThrow("is broken");
  expect(sent).toBe(0);
});

describe("the end of the process", () => {
  test("waits for what is on its way, and tells of the jobs that start meanwhile", async () => {
    const { paid } = desk();
    const answers = deferred<Generation>();
    const first = paid.generate.once(video(() => answers.promise));
    const lost = deferred<Publication>();
    const second = paid.publish.once({ args: POST, label: "x", confirmed: false, send: () => lost.promise });
    const told: string[] = [];
    let finished = false;

    const finish = paid.finish((jobId) => told.push(jobId)).then(() => (finished = true));
    answers.resolve({ jobId: "job-1", status: "processing" });
    await first;
    expect({ told, finished }).toEqual({ told: ["job-1"], finished: false });
    lost.reject(failure("unknown"));

    await expect(second).rejects.toEqual(failure("unknown"));
    await finish;
    expect(told).toEqual(["job-1"]);
  });

  test("waits for nothing where nothing is on its way", async () => {
    const { paid } = desk();
    await paid.generate.once(video(job("job-1")));

    await expect(paid.finish(() => {})).resolves.toBeUndefined();
  });
});
