import { describe, expect, test } from "vitest";
import { createJobStore } from "../../src/jobs/store.ts";

const NOW = Date.UTC(2026, 10, 20);

function video(jobId: string, status = "completed") {
  return { jobId, status };
}

function page(first: number, count: number) {
  return Array.from({ length: count }, (_, index) => video(`j${first + index}`));
}

describe("the jobs that this process knows", () => {
  test("are none at first", () => {
    expect(createJobStore(() => NOW).recent(10)).toEqual([]);
  });

  test("are the ones it started, the latest first, with their topics", () => {
    const store = createJobStore(() => NOW);
    store.start("a", "Salt");
    store.start("b", "Moon");

    expect(store.recent(10)).toEqual([
      { jobId: "b", status: "processing", topic: "Moon" },
      { jobId: "a", status: "processing", topic: "Salt" },
    ]);
    expect(store.recent(1)).toEqual([{ jobId: "b", status: "processing", topic: "Moon" }]);
    expect(store.recent(0)).toEqual([]);
  });

  test("get a new status where they are, and keep their topic", () => {
    const store = createJobStore(() => NOW);
    store.start("a", "Salt");
    store.start("b", "Moon");
    store.put({ jobId: "a", status: "completed", done: true, videoUrls: ["https://cdn.example/1.mp4"] });

    expect(store.recent(10)).toEqual([
      { jobId: "b", status: "processing", topic: "Moon" },
      { jobId: "a", status: "completed", topic: "Salt" },
    ]);
  });

  test("come first when they were asked for and not known", () => {
    const store = createJobStore(() => NOW);
    store.start("a", "Salt");
    store.put({ jobId: "b", status: "failed", done: true, videoUrls: [] });

    expect(store.recent(10)).toEqual([
      { jobId: "b", status: "failed" },
      { jobId: "a", status: "processing", topic: "Salt" },
    ]);
  });

  test("are in the order of the service's newest page, each once, and nothing but what is needed is kept", () => {
    const store = createJobStore(() => NOW);
    store.start("a", "Salt");
    store.start("b", "Moon");
    store.list(
      [
        { ...video("c"), finalVideoUrl: "https://cdn.example/c.mp4", title: "Sea" },
        video("b"),
        video("c", "failed"),
      ],
      true,
    );

    expect(store.recent(10)).toEqual([
      { jobId: "c", status: "failed" },
      { jobId: "b", status: "completed", topic: "Moon" },
      { jobId: "a", status: "processing", topic: "Salt" },
    ]);
  });

  test("of a later page come after all others", () => {
    const store = createJobStore(() => NOW);
    store.list([video("d"), video("c")], true);
    store.list([video("b"), video("a")], false);
    store.start("e", "Salt");

    expect(store.recent(10).map(({ jobId }) => jobId)).toEqual(["e", "d", "c", "b", "a"]);
  });

  test("stay as they are when a page is empty", () => {
    const store = createJobStore(() => NOW);
    store.start("a", "Salt");
    store.list([], true);
    store.list([], false);

    expect(store.recent(10)).toEqual([{ jobId: "a", status: "processing", topic: "Salt" }]);
  });

  test("are five hundred at most, and the oldest are forgotten", () => {
    const store = createJobStore(() => NOW);
    store.list(page(0, 600), true);
    store.list(page(600, 10), false);
    store.start("new", "Salt");

    const jobs = store.recent(10_000).map(({ jobId }) => jobId);
    expect({ count: jobs.length, first: jobs[0], last: jobs.at(-1) }).toEqual({
      count: 500,
      first: "new",
      last: "j498",
    });
  });

  test("are not the next store's", () => {
    createJobStore(() => NOW).start("a", "Salt");

    expect(createJobStore(() => NOW).recent(10)).toEqual([]);
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
