import { describe, expect, test } from "vitest";
import type { Outcome } from "../../src/errors.ts";
import type { Publication } from "../../src/service/schemas.ts";
import {
  ARGS,
  type Desk,
  desk,
  duplicate,
  fail,
  failure,
  job,
  MINUTE_MS,
  never,
  NOW,
  POST,
  PUBLISHED,
  video,
} from "./paid-desk.ts";

async function sendUnknown({ paid }: Desk): Promise<void> {
  await expect(paid.generate.once(video(fail("unknown")))).rejects.toEqual(failure("unknown"));
}

describe("the same request again", () => {
  test("after one that is done gives the job that it started, and is not sent", async () => {
    const { paid, clock } = desk();
    await paid.generate.once(video(job("job-1")));
    clock.ms += 3 * MINUTE_MS;

    const again = await paid.generate.once(video(never));

    expect(again).toEqual({ kind: "earlier", jobId: "job-1", ageMs: 3 * MINUTE_MS });
  });

  test("after one of unknown outcome is refused, and says how to go on", async () => {
    const opened = desk();
    await sendUnknown(opened);
    opened.clock.ms += 4 * MINUTE_MS;

    await expect(opened.paid.generate.once(video(never))).rejects.toMatchObject(duplicate(4));
  });

  test("after one that another process began and never ended is refused", async () => {
    const { paid, journal, another } = desk();
    void another().generate.once(video(() => new Promise(() => {})));
    expect(journal.entries().map(({ outcome }) => outcome)).toEqual(["open"]);

    await expect(paid.generate.once(video(never))).rejects.toMatchObject(duplicate(1));
  });

  test.each<Outcome>(["rejected", "not_sent"])("after one that was %s is sent", async (outcome) => {
    const { paid } = desk();
    await expect(paid.generate.once(video(fail(outcome)))).rejects.toEqual(failure(outcome));

    expect(await paid.generate.once(video(job("job-1")))).toMatchObject({ kind: "sent" });
  });

  test("after a fault of the bridge itself counts as unknown", async () => {
    const { paid } = desk();
    await expect(paid.generate.once(video(() => Promise.reject(new TypeError("bug"))))).rejects.toThrow(
      "bug",
    );

    await expect(paid.generate.once(video(never))).rejects.toMatchObject(duplicate(1));
  });

  test("is the same in whatever order its arguments stand", async () => {
    const { paid } = desk();
    await paid.generate.once(video(job("job-1"), { args: { a: 1, b: { c: 2, d: [1, 2] } } }));

    const again = await paid.generate.once(video(never, { args: { b: { d: [1, 2], c: 2 }, a: 1 } }));
    const another = await paid.generate.once(video(job("job-2"), { args: { b: { d: [2, 1], c: 2 }, a: 1 } }));

    expect([again.kind, another.kind]).toEqual(["earlier", "sent"]);
  });

  test("is free after ten minutes, whatever became of the first", async () => {
    const opened = desk();
    await sendUnknown(opened);
    opened.clock.ms += 10 * MINUTE_MS - 1;
    await expect(opened.paid.generate.once(video(never))).rejects.toMatchObject(duplicate(10));
    opened.clock.ms += 1;

    expect(await opened.paid.generate.once(video(job("job-1")))).toMatchObject({ kind: "sent" });
  });

  test("is not free because the clock was set back, and no odd times are told", async () => {
    const opened = desk();
    await sendUnknown(opened);
    await expect(
      opened.paid.publish.once({ args: POST, label: "x", confirmed: false, send: fail("unknown") }),
    ).rejects.toEqual(failure("unknown"));
    opened.clock.ms -= 60 * MINUTE_MS;

    await expect(opened.paid.generate.once(video(never))).rejects.toMatchObject(duplicate(1));
    await expect(
      opened.paid.publish.once({ args: POST, label: "x", confirmed: false, send: never }),
    ).rejects.toMatchObject({ facts: { retryAfterSeconds: 600 } });
    expect(opened.paid.publish.latest(POST)).toMatchObject({ ageMs: 0, isDone: false });
  });

  test("goes through when it is confirmed, and is what counts from then on", async () => {
    const opened = desk();
    await sendUnknown(opened);

    const second = await opened.paid.generate.once(video(job("job-2"), { confirmed: true }));
    const third = await opened.paid.generate.once(video(never));

    expect([second.kind, third]).toEqual(["sent", { kind: "earlier", jobId: "job-2", ageMs: 0 }]);
  });

  test("goes through when the job of the first has ended", async () => {
    const { paid } = desk();
    await paid.generate.once(video(job("job-1")));

    const ended = new Set(["job-1"]);
    const second = await paid.generate.once(video(job("job-2"), { ended }));
    const third = await paid.generate.once(video(never, { ended }));

    expect([second.kind, third]).toEqual(["sent", { kind: "earlier", jobId: "job-2", ageMs: 0 }]);
  });

  test("of another account or another operation is another request", async () => {
    const opened = desk();
    await sendUnknown(opened);

    const other = await opened.another("service other-key").generate.once(video(job("job-2")));
    const post = await opened.paid.publish.once({
      args: ARGS,
      label: "x",
      confirmed: false,
      send: async () => PUBLISHED,
    });

    expect([other.kind, post.kind]).toEqual(["sent", "sent"]);
  });
});

test("The latest publication that counts is known, and how sure it is", async () => {
  const { paid, journal, clock } = desk();
  const publish = (send: () => Promise<Publication>) =>
    paid.publish.once({ args: POST, label: "x", confirmed: true, send }).catch(() => {});
  const known = [paid.publish.latest(POST)];
  for (const send of [fail("rejected"), fail("unknown"), async () => PUBLISHED]) {
    await publish(send);
    clock.ms += MINUTE_MS;
    known.push(paid.publish.latest(POST));
  }

  const [, second, third] = journal.entries().map(({ id }) => id);
  expect(known).toEqual([
    undefined,
    undefined,
    { id: second, ageMs: MINUTE_MS, isDone: false },
    { id: third, ageMs: MINUTE_MS, isDone: true },
  ]);
});

test("Jobs of this account that were started are known by their topics, the latest first", async () => {
  const { paid, clock, another } = desk();
  await paid.generate.once(video(job("job-1")));
  clock.ms += MINUTE_MS;
  await another("other").generate.once(video(job("job-x"), { label: "Of another account" }));
  await another().generate.once(video(job("job-2"), { args: POST, label: "Moons" }));
  await paid.generate.once(video(fail("unknown"), { args: { lost: true } })).catch(() => {});
  await paid.publish.once({
    args: POST,
    label: "Moons on tiktok",
    confirmed: false,
    send: async () => PUBLISHED,
  });

  expect(paid.started()).toEqual([
    { jobId: "job-2", topic: "Moons", createdAtMs: NOW + MINUTE_MS },
    { jobId: "job-1", topic: "Tides", createdAtMs: NOW },
  ]);
});

test("The journal holds neither the key nor the address of the service", async () => {
  const { journal, another } = desk();
  await another("https://videos.example fl_key").generate.once(video(job("job-1")));

  expect(JSON.stringify(journal.entries())).not.toMatch(/videos\.example|fl_/);
});
