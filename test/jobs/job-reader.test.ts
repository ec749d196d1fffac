import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import type { BridgeErrorFacts } from "../../src/errors.ts";
import { failureOf } from "../service/bridge.ts";
import { createWatching, failure, job } from "./polled-service.ts";

const BACKGROUND = { background: true };
const PERSON = { background: false };
const FINAL = "https://cdn.example/final.mp4";

function withFinalInList() {
  const world = createWatching();
  world.start("a");
  world.become("a", { status: "completed" });
  world.service.list = [{ jobId: "a", status: "completed", finalVideoUrl: FINAL }];
  return world;
}

const completed = job("a", { status: "completed" });
const whole = job("a", { status: "completed", finalVideoUrl: FINAL });

describe("reading a job", () => {
  it("asks the service and keeps what it says", async () => {
    const { reader, store, start, until, asked, clock } = createWatching();
    start("a");
    const answer = reader.read("a", PERSON);
    await until(1);

    expect(await answer).toEqual(job("a"));
    expect(store.get("a")?.job).toEqual(job("a"));
    expect(asked()).toEqual(["0 a person"]);
    expect(clock.pending()).toBe(0);
  });

  it("is one flight, however many ask, and another when it is over", async () => {
    const { reader, service, start, until, asked } = createWatching();
    start("a", "b");
    service.answerMs = 1_000;
    const answers = [
      reader.read("a", PERSON),
      reader.read("a", BACKGROUND),
      reader.read("b", BACKGROUND),
      reader.read("a", PERSON),
    ];
    await until(1);
    await Promise.all(answers);
    void reader.read("a", BACKGROUND);
    await until(3);

    expect(asked()).toEqual(["0 a person", "0 b", "1 a"]);
  });

  it("fails as the service does, for all who asked, and can be tried again", async () => {
    const { reader, service, start, until, asked } = createWatching();
    start("a");
    service.failing.set("a", failure("service_failed", { status: 503 }));
    const failures = Promise.all([
      failureOf(reader.read("a", PERSON)),
      failureOf(reader.read("a", BACKGROUND)),
    ]);
    await until(1);
    expect((await failures).map(({ code }) => code)).toEqual(["service_failed", "service_failed"]);

    service.failing.clear();
    const answer = reader.read("a", PERSON);
    await until(2);

    expect(await answer).toEqual(job("a"));
    expect(asked()).toEqual(["0 a person", "1 a person"]);
  });

  it("of a person who joined a poll that failed is asked again, once for all such", async () => {
    const { reader, service, start, until, asked } = createWatching();
    start("a");
    service.answerMs = 1_000;
    service.failing.set("a", failure("timeout"));
    const poll = failureOf(reader.read("a", BACKGROUND));
    const people = [reader.read("a", PERSON), reader.read("a", PERSON)];
    await until(0.5);
    await until(1);
    service.failing.clear();
    await until(2);

    expect((await poll).code).toBe("timeout");
    expect(await Promise.all(people)).toEqual([job("a"), job("a")]);
    expect(asked()).toEqual(["0 a", "1 a person"]);
  });

  it.each<BridgeErrorFacts["code"]>(["not_found", "unauthorized"])(
    "of a person who joined a poll is not asked again where that changes nothing: %s",
    async (code) => {
      const { reader, service, start, until, asked } = createWatching();
      start("a");
      service.failing.set("a", failure(code));
      const poll = failureOf(reader.read("a", BACKGROUND));
      const person = failureOf(reader.read("a", PERSON));
      await until(1);

      expect([(await poll).code, (await person).code]).toEqual([code, code]);
      expect(asked()).toEqual(["0 a"]);
    },
  );
});

describe("a reader who leaves", () => {
  it("is told so at once, while the flight goes on for the others", async () => {
    const { reader, service, store, start, until } = createWatching();
    start("a");
    service.answerMs = 1_000;
    const leaving = new AbortController();
    const left = failureOf(reader.read("a", { ...PERSON, signal: leaving.signal }));
    const stays = reader.read("a", { ...PERSON, signal: new AbortController().signal });
    leaving.abort();

    expect((await left).code).toBe("cancelled");
    await until(1);
    expect(await stays).toEqual(job("a"));
    expect(store.get("a")?.job).toEqual(job("a"));
  });

  it("before anything was asked has nothing asked", async () => {
    const { reader, start, asked } = createWatching();
    start("a");

    expect((await failureOf(reader.read("a", { ...PERSON, signal: AbortSignal.abort() }))).code).toBe(
      "cancelled",
    );
    expect(asked()).toEqual([]);
  });

  it("has nobody ask again for them when the poll that they joined fails", async () => {
    const { reader, service, start, until, asked } = createWatching();
    start("a");
    service.answerMs = 1_000;
    service.failing.set("a", failure("timeout"));
    const poll = failureOf(reader.read("a", BACKGROUND));
    const leaving = new AbortController();
    const left = failureOf(reader.read("a", { ...PERSON, signal: leaving.signal }));
    await until(0.5);
    leaving.abort();
    await until(3);

    expect([(await poll).code, (await left).code]).toEqual(["timeout", "cancelled"]);
    expect(asked()).toEqual(["0 a"]);
  });

  it("leaves no listener on their signal", async () => {
    const { reader, start, until } = createWatching();
    start("a");
    const { signal } = new AbortController();
    const answer = reader.read("a", { ...PERSON, signal });
    const during = getEventListeners(signal, "abort").length;
    await until(1);
    await answer;

    expect([during, getEventListeners(signal, "abort").length]).toEqual([1, 0]);
  });
});

describe("the final video", () => {
  it("is looked up in the list for a person, with a short deadline, before anything is announced", async () => {
    const { reader, heard, until, asked } = withFinalInList();
    const answer = reader.read("a", PERSON);
    await until(1);

    expect(await answer).toEqual(whole);
    expect(asked()).toEqual(["0 a person", "0 videos person"]);
    expect(heard).toEqual(["0 a completed"]);
  });

  it("is not looked up by a poll, but by who then reads the job, whatever the age of the answer, once", async () => {
    const { reader, heard, until, asked } = withFinalInList();
    const poll = reader.read("a", BACKGROUND);
    await until(1);
    expect(await poll).toEqual(completed);

    const answers = [reader.readRecent("a", 5_000, PERSON), reader.readRecent("a", 5_000, PERSON)];
    await until(2);
    expect(await Promise.all(answers)).toEqual([whole, whole]);
    expect(await reader.readRecent("a", 5_000, PERSON)).toEqual(whole);

    expect(asked()).toEqual(["0 a", "1 videos person"]);
    expect(heard).toEqual(["0 a completed"]);
  });

  it("is looked up by a poll that somebody waits for, or that a person has joined", async () => {
    const waited = withFinalInList();
    const poll = waited.reader.read("a", { background: true, awaited: true });
    await waited.until(1);
    expect(await poll).toEqual(whole);
    expect(waited.asked()).toEqual(["0 a", "0 videos person"]);

    const joined = withFinalInList();
    joined.service.answerMs = 500;
    const answers = [joined.reader.read("a", BACKGROUND), joined.reader.read("a", PERSON)];
    await joined.until(2);
    expect(await Promise.all(answers)).toEqual([whole, whole]);
    expect(joined.asked()).toEqual(["0 a", "0.5 videos person"]);
  });

  it("is looked up once only where the list has none", async () => {
    const { reader, service, until, asked } = withFinalInList();
    service.list = [{ jobId: "a", status: "completed" }];
    for (const each of [1, 2]) {
      const answer = reader.read("a", PERSON);
      await until(each);
      expect(await answer).toEqual(completed);
    }

    expect(asked()).toEqual(["0 a person", "0 videos person", "1 a person"]);
  });

  it("is looked up anew after a list that failed, which costs nobody the clips", async () => {
    const { reader, service, until, asked } = withFinalInList();
    service.failing.set("videos", failure("service_failed"));
    const first = reader.read("a", PERSON);
    await until(1);
    expect(await first).toEqual(completed);

    service.failing.clear();
    const second = reader.read("a", PERSON);
    await until(2);
    expect(await second).toEqual(whole);
    expect(asked()).toEqual(["0 a person", "0 videos person", "1 a person", "1 videos person"]);
  });

  it.each([
    ["the status names one", job("a", { status: "completed", finalVideoUrl: FINAL })],
    ["the job runs", job("a")],
    ["the job failed", job("a", { status: "failed" })],
  ])("is not looked up where %s", async (_, state) => {
    const { reader, service, start, until, asked } = createWatching();
    start("a");
    service.jobs.set("a", state);
    const answer = reader.read("a", PERSON);
    await until(1);

    expect(await answer).toEqual(state);
    expect(asked()).toEqual(["0 a person"]);
  });

  it("is not looked up where a list has shown it already", async () => {
    const { reader, store, service, until, asked } = withFinalInList();
    store.list(service.list, true);
    const answer = reader.read("a", PERSON);
    await until(1);

    expect(await answer).toEqual(whole);
    expect(asked()).toEqual(["0 a person"]);
  });
});

describe("reading a job's recent state", () => {
  it("takes the last answer while it is young enough, and asks else", async () => {
    const { reader, start, become, until, asked } = createWatching();
    start("a");
    const first = reader.readRecent("a", 5_000, PERSON);
    await until(5);
    become("a", { status: "rendering" });
    expect([await first, await reader.readRecent("a", 5_000, PERSON)]).toEqual([job("a"), job("a")]);

    await until(5.1);
    const later = reader.readRecent("a", 5_000, PERSON);
    await until(6);

    expect(await later).toEqual(job("a", { status: "rendering" }));
    expect(asked()).toEqual(["0 a person", "5.1 a person"]);
  });

  it("asks where only a list has told of the job", async () => {
    const { reader, store, service, until, asked } = createWatching();
    service.jobs.set("a", job("a", { status: "failed" }));
    store.putStatus("a", "failed", true);
    void reader.readRecent("a", 5_000, PERSON);
    await until(1);

    expect(asked()).toEqual(["0 a person"]);
  });

  it("asks when the clock was set back, since nobody knows then how old the answer is", async () => {
    const { reader, clock, start, asked } = createWatching();
    start("a");
    const first = reader.read("a", PERSON);
    await clock.runFor(1_000);
    await first;
    clock.set(-3_600_000);
    void reader.readRecent("a", 5_000, PERSON);
    await clock.runFor(1_000);

    expect(asked()).toEqual(["0 a person", "-3599 a person"]);
  });
});
