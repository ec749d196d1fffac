import { describe, expect, test } from "vitest";
import { createJobStore } from "../../src/jobs/job-store.ts";
import type { Job } from "../../src/service/schemas.ts";
import { job } from "./polled-service.ts";

const NOW = Date.UTC(2026, 10, 20);
const CLIP = "https://cdn.example/1.mp4";
const FINAL = "https://cdn.example/final.mp4";

function video(jobId: string, status = "completed") {
  return { jobId, status };
}

function page(first: number, count: number) {
  return Array.from({ length: count }, (_, index) => video(`j${first + index}`));
}

/** A store at a time that the test sets, with everything that it announces. */
function setup() {
  const clock = { now: NOW };
  const store = createJobStore(() => clock.now);
  const changed: string[] = [];
  const started: string[] = [];
  store.changes.listen((jobId) => changed.push(jobId));
  store.starts.listen((jobId) => started.push(jobId));
  return { clock, store, changed, started };
}

describe("the jobs that this process knows", () => {
  test("are none at first", () => {
    expect(createJobStore(() => NOW).recent(10)).toEqual([]);
  });

  test("are the ones it started, the latest first, with their topics and times", () => {
    const { clock, store } = setup();
    store.start("a", "Salt");
    clock.now += 1_000;
    store.start("b", "Moon");

    const [a, b] = [
      { jobId: "a", status: "processing", topic: "Salt", createdAtMs: NOW },
      { jobId: "b", status: "processing", topic: "Moon", createdAtMs: NOW + 1_000 },
    ];
    expect(store.recent(10)).toEqual([b, a]);
    expect(store.recent(1)).toEqual([b]);
    expect(store.recent(0)).toEqual([]);
    expect(store.get("a")).toEqual(a);
    expect(store.get("c")).toBeUndefined();
  });

  test("are told of when this process starts them", () => {
    const { store, changed, started } = setup();
    store.start("a", "Salt");
    store.put(job("b"));
    store.list([video("c")], true);

    expect({ changed, started }).toEqual({ changed: [], started: ["a"] });
  });

  test("get a new state where they are, and keep topic and time", () => {
    const { clock, store } = setup();
    store.start("a", "Salt");
    store.start("b", "Moon");
    clock.now += 5_000;
    const state = job("a", { status: "completed", videoUrls: [CLIP] });

    expect(store.put(state)).toEqual(state);
    expect(store.recent(10)).toEqual([
      { jobId: "b", status: "processing", topic: "Moon", createdAtMs: NOW },
      {
        jobId: "a",
        status: "completed",
        topic: "Salt",
        createdAtMs: NOW,
        job: state,
        fetchedAtMs: NOW + 5_000,
      },
    ]);
  });

  test("come first when they were asked for and not known", () => {
    const { store } = setup();
    store.start("a", "Salt");
    store.put(job("b"));

    expect(store.recent(10).map(({ jobId }) => jobId)).toEqual(["b", "a"]);
  });

  test("are in the order of the service's newest page, each once, and nothing but what is needed is kept", () => {
    const { store } = setup();
    store.start("a", "Salt");
    store.start("b", "Moon");
    store.list(
      [{ ...video("c"), finalVideoUrl: FINAL, title: "Sea" }, video("b"), video("d", "failed")],
      true,
    );

    expect(store.recent(10)).toEqual([
      { jobId: "c", status: "completed", finalVideoUrl: FINAL },
      { jobId: "b", status: "completed", topic: "Moon", createdAtMs: NOW },
      { jobId: "d", status: "failed" },
      { jobId: "a", status: "processing", topic: "Salt", createdAtMs: NOW },
    ]);
  });

  test("of a later page come after all others", () => {
    const { store } = setup();
    store.list([video("d"), video("c")], true);
    store.list([video("b"), video("a")], false);
    store.start("e", "Salt");

    expect(store.recent(10).map(({ jobId }) => jobId)).toEqual(["e", "d", "c", "b", "a"]);
  });

  test("stay as they are when a page is empty", () => {
    const { store } = setup();
    store.start("a", "Salt");
    const before = store.recent(10);
    store.list([], true);
    store.list([], false);

    expect(store.recent(10)).toEqual(before);
  });

  test("are two thousand at most, and the oldest are forgotten", () => {
    const { store } = setup();
    store.list(page(0, 2_500), true);
    store.list(page(2_500, 10), false);
    store.start("new", "Salt");

    const jobs = store.recent(10_000).map(({ jobId }) => jobId);
    expect({ count: jobs.length, first: jobs[0], last: jobs.at(-1) }).toEqual({
      count: 2_000,
      first: "new",
      last: "j1998",
    });
  });

  test("are not the next store's", () => {
    createJobStore(() => NOW).start("a", "Salt");

    expect(createJobStore(() => NOW).recent(10)).toEqual([]);
  });

  test("are those of earlier processes too, who are recalled once and not before a job is needed", () => {
    let recalled = 0;
    const store = createJobStore(
      () => NOW,
      () => {
        recalled += 1;
        return [{ jobId: "old", topic: "Salt", createdAtMs: NOW - 60_000 }];
      },
    );
    store.changes.listen(() => {});
    expect(recalled).toBe(0);

    store.start("new", "Moon");

    expect(store.recent(10)).toEqual([
      { jobId: "new", status: "processing", topic: "Moon", createdAtMs: NOW },
      { jobId: "old", status: "processing", topic: "Salt", createdAtMs: NOW - 60_000 },
    ]);
    expect(recalled).toBe(1);
  });
});

describe("a change of a job", () => {
  const running = job("a", {
    videoUrls: [`${CLIP}?signature=1`],
    audioUrl: "https://cdn.example/a.mp3?signature=1",
    progress: { total: 3, completed: 1, failed: 0 },
  });

  test.each<[string, Partial<Job>]>([
    ["its status", { status: "rendering" }],
    ["its clips", { videoUrls: [CLIP, "https://cdn.example/2.mp4"] }],
    ["the order of its clips", { videoUrls: ["https://cdn.example/0.mp4"] }],
    ["its voiceover", { audioUrl: "https://cdn.example/b.mp3" }],
    ["its final video", { finalVideoUrl: FINAL }],
    ["its count of finished clips", { progress: { total: 3, completed: 2, failed: 0 } }],
    ["its count of failed clips", { progress: { total: 3, completed: 1, failed: 1 } }],
    ["its end", { status: "failed" }],
  ])("is announced: %s", (_, more) => {
    const { store, changed } = setup();
    store.put(running);

    store.put(job("a", { ...running, ...more }));

    expect(changed).toEqual(["a"]);
  });

  test.each<[string, Partial<Job>]>([
    ["nothing else at all", {}],
    ["a link that is signed anew", { videoUrls: [`${CLIP}?signature=2`] }],
    ["a fragment of a link", { audioUrl: "https://cdn.example/a.mp3#t=1" }],
    ["a stamp that the documentation doesn't know", { updatedAt: "2026-11-20T00:00:01Z" }],
    ["an undocumented count", { progress: { total: 3, completed: 1, failed: 0, percent: 33.4 } }],
  ])("is not %s", (_, more) => {
    const { store, changed } = setup();
    store.put(running);

    store.put(job("a", { ...running, ...more }));

    expect(changed).toEqual([]);
    expect(store.get("a")?.job).toEqual(job("a", { ...running, ...more }));
  });

  test("is not what is learnt first, unless it is the end", () => {
    const { store, changed } = setup();
    store.start("a", "Salt");
    store.put(running);
    store.put(job("b", { status: "completed" }));

    expect(changed).toEqual(["b"]);
  });

  test("is announced when the store has it already", () => {
    const { store } = setup();
    const states: unknown[] = [];
    store.put(running);
    store.changes.listen((jobId) => states.push(store.get(jobId)?.job));
    const ended = job("a", { status: "completed" });

    store.put(ended);

    expect(states).toEqual([ended]);
  });

  test("is not what is learnt after the end, unless the service takes the end back", () => {
    const { store, changed } = setup();
    store.put(job("a", { status: "completed" }));
    store.put(job("a", { status: "completed", videoUrls: [CLIP] }));
    expect(changed).toEqual(["a"]);

    store.put(running);
    expect(changed).toEqual(["a", "a"]);
  });

  test("reaches the other listeners when one throws", () => {
    const store = createJobStore(() => NOW);
    const changed: string[] = [];
    store.changes.listen(() => {
      throw new Error("its own affair");
    });
    store.changes.listen((jobId) => changed.push(jobId));

    store.put(job("a", { status: "failed" }));

    expect(changed).toEqual(["a"]);
  });
});

describe("what the video list says", () => {
  test("of a status alone is announced, keeps what else is known, and makes it no fresh answer", () => {
    const { store, changed } = setup();
    store.put(job("a", { videoUrls: [CLIP] }));

    store.putStatus("a", "completed", true);

    expect(changed).toEqual(["a"]);
    expect(store.get("a")).toEqual({
      jobId: "a",
      status: "completed",
      job: job("a", { status: "completed", videoUrls: [CLIP] }),
    });
  });

  test("of a status alone may be all that is known", () => {
    const { store, changed } = setup();
    store.putStatus("a", "rendering", false);
    store.putStatus("b", "failed", true);

    expect(changed).toEqual(["b"]);
    expect(store.recent(10)).toEqual([
      { jobId: "b", status: "failed", job: job("b", { status: "failed" }) },
      { jobId: "a", status: "rendering", job: job("a", { status: "rendering" }) },
    ]);
  });

  test("of a status alone changes nothing where it is the same, or the job has told of its end", () => {
    const { store, changed } = setup();
    store.put(job("a"));
    store.put(job("b", { status: "completed" }));
    const before = store.recent(10);

    store.putStatus("a", "processing", false);
    store.putStatus("b", "processing", false);

    expect(store.recent(10)).toEqual(before);
    expect(changed).toEqual(["b"]);
  });

  test("on a page is not announced, and takes back no end", () => {
    const { store, changed } = setup();
    store.put(job("a"));
    store.put(job("b", { status: "completed" }));
    store.list([video("a", "completed"), video("b", "processing")], true);

    expect(changed).toEqual(["b"]);
    expect(store.recent(10)).toEqual([
      { jobId: "a", status: "completed", job: job("a"), fetchedAtMs: NOW },
      { jobId: "b", status: "completed", job: job("b", { status: "completed" }), fetchedAtMs: NOW },
    ]);
  });

  test("of a final video belongs to the completed job, whichever is known first", () => {
    const { store } = setup();
    const [completed, whole] = [
      job("a", { status: "completed" }),
      job("a", { status: "completed", finalVideoUrl: FINAL }),
    ];
    store.list([{ ...video("a"), finalVideoUrl: FINAL }], true);
    expect(store.put(completed)).toEqual(whole);

    store.put(job("b", { status: "completed" }));
    store.list([{ ...video("b"), finalVideoUrl: FINAL }], true);
    expect(store.get("b")?.job).toEqual({ ...whole, jobId: "b" });
  });

  test("of a final video is none of a job that runs or failed, and less than what the job itself says", () => {
    const { store } = setup();
    for (const jobId of ["a", "b", "c"])
      store.list([{ ...video(jobId, "processing"), finalVideoUrl: FINAL }], true);

    expect(store.put(job("a"))).toEqual(job("a"));
    expect(store.put(job("b", { status: "failed" }))).toEqual(job("b", { status: "failed" }));
    const own = job("c", { status: "completed", finalVideoUrl: "https://cdn.example/own.mp4" });
    expect(store.put(own)).toEqual(own);
  });

  test.each([
    ["2026-11-19T23:59:00Z", NOW - 60_000],
    ["2026-11-19T23:59:00.500+00:00", NOW - 59_500],
    ["2026-11-20T00:00:01Z", undefined],
    ["yesterday", undefined],
    ["2026-13-45T00:00:00Z", undefined],
    [1_700_000_000_000, undefined],
    [undefined, undefined],
  ])("of the creation %j is %j", (createdAt, createdAtMs) => {
    const { store } = setup();
    store.list([{ ...video("a"), createdAt }], true);

    expect(store.get("a")?.createdAtMs).toBe(createdAtMs);
  });

  test("of the creation is less than what this process knows by its own clock", () => {
    const { store } = setup();
    store.start("a", "Salt");
    store.list([{ ...video("a"), createdAt: "2026-11-19T23:00:00Z" }], true);

    expect(store.get("a")?.createdAtMs).toBe(NOW);
  });
});

describe("why a job is watched no more", () => {
  test("is announced, and stays with what is known of the job while it runs", () => {
    const { store, changed } = setup();
    store.put(job("a"));

    store.endWatch("a", "Watching ended.");
    store.put(job("a"));

    expect(changed).toEqual(["a"]);
    expect(store.get("a")).toEqual({
      jobId: "a",
      status: "processing",
      job: job("a"),
      fetchedAtMs: NOW,
      watchEnded: "Watching ended.",
    });
  });

  test("can be said of a job of which nothing else is known", () => {
    const { store, changed } = setup();
    store.endWatch("a", "Watching ended.");

    expect(changed).toEqual(["a"]);
    expect(store.recent(10)).toEqual([{ jobId: "a", status: "unknown", watchEnded: "Watching ended." }]);
  });

  test("is forgotten when somebody watches it again, which is not announced, or when it has ended", () => {
    const { store, changed } = setup();
    store.endWatch("a", "Watching ended.");
    store.endWatch("b", "Watching ended.");
    changed.length = 0;

    store.resumeWatch("a");
    store.resumeWatch("never heard of");
    expect(changed).toEqual([]);
    store.put(job("b", { status: "completed" }));

    expect(store.recent(10)).toEqual([
      { jobId: "b", status: "completed", job: job("b", { status: "completed" }), fetchedAtMs: NOW },
      { jobId: "a", status: "unknown" },
    ]);
  });
});

describe("the URI of a job", () => {
  test.each([
    ["3f0c2a9e-0000-4000-8000-000000000001", "faceless://jobs/3f0c2a9e-0000-4000-8000-000000000001"],
    ["a/b?c#d e%", "faceless://jobs/a%2Fb%3Fc%23d%20e%25"],
    ["../é", "faceless://jobs/..%2F%C3%A9"],
    ["x\uD800y", "faceless://jobs/x%EF%BF%BDy"],
  ])("of %j is %s", (jobId, uri) => {
    expect(createJobStore(() => NOW).uri(jobId)).toBe(uri);
  });
});
