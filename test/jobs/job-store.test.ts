import { expect, test } from "vitest";
import { JobStore } from "../../src/jobs/job-store.ts";
import { MAX_JOB_BYTES, memoryOf } from "../../src/result-size.ts";
import { type Job, responseSchemas, type Video } from "../../src/service/responses.ts";
import { createVirtualClock } from "../checks/bench/virtual-clock.ts";
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

/** What the store knows of a job that this process has just started. */
function begun(jobId: string, topic: string) {
  return { jobId, status: "processing", topic, createdAtMs: NOW, job: job(jobId) };
}

/** What the store knows of a job whose status was answered now. */
function answered(state: Job) {
  return { jobId: state.jobId, status: state.status, job: state, fetchedAtMs: NOW, updatedAtMs: NOW };
}

/** A store on a virtual clock, with everything that it emits. */
function setup() {
  const clock = createVirtualClock(NOW);
  const store = new JobStore(clock);
  const changed: string[] = [];
  const started: string[] = [];
  store.on("change", (jobId) => changed.push(jobId));
  store.on("start", (jobId) => started.push(jobId));
  const list = (videos: Video[]) => store.updateFromPage(videos, { isFirstPage: true });
  return { clock, store, changed, started, list };
}

test("the known jobs are those that this process started, the latest first", async () => {
  const { clock, store, changed, started } = setup();
  store.addStarted("a", "Salt");
  await clock.runFor(1_000);
  store.addStarted("b", "Moon");

  const a = begun("a", "Salt");
  const b = { ...begun("b", "Moon"), createdAtMs: NOW + 1_000 };
  expect(store.recent(10)).toEqual([b, a]);
  expect(store.recent(1)).toEqual([b]);
  expect(store.get("a")).toEqual(a);
  expect(store.get("c")).toBeUndefined();
  expect({ changed, started }).toEqual({ changed: [], started: ["a", "b"] });
});

test("the known jobs keep topic, time and place when their state is updated", async () => {
  const { clock, store } = setup();
  store.addStarted("a", "Salt");
  store.addStarted("b", "Moon");
  await clock.runFor(5_000);
  const state = job("a", { status: "completed", videoUrls: [CLIP] });

  expect(store.put(state)).toEqual(state);
  expect(store.recent(10)).toEqual([
    begun("b", "Moon"),
    { ...begun("a", "Salt"), ...answered(state), fetchedAtMs: NOW + 5_000, updatedAtMs: NOW + 5_000 },
  ]);
});

test("the known jobs follow the order of the service's newest page, each once", () => {
  const { store, list } = setup();
  store.put(job("a"));
  list([{ ...video("c"), finalVideoUrl: FINAL, title: "Sea" }, video("b"), video("d", "failed")]);

  expect(store.recent(10)).toEqual([
    { jobId: "c", status: "completed", finalVideoUrl: FINAL, linkAtMs: expect.any(Number) },
    { jobId: "b", status: "completed" },
    { jobId: "d", status: "failed" },
    answered(job("a")),
  ]);
});

test("the known jobs are at most two thousand: the oldest are removed", () => {
  const { store, list } = setup();
  list(page(0, 2_500));
  store.updateFromPage(page(2_500, 10), { isFirstPage: false });
  store.addStarted("new", "Salt");

  const jobs = store.recent(10_000).map(({ jobId }) => jobId);
  expect({ count: jobs.length, first: jobs[0], last: jobs.at(-1) }).toEqual({
    count: 2_000,
    first: "new",
    last: "j1998",
  });
});

const restored = (jobId: string) => ({ jobId, topic: `Topic ${jobId}`, createdAtMs: NOW - 60_000 });

test("the jobs of earlier processes come after the known ones, and nothing is emitted", () => {
  const { store, changed, started } = setup();
  store.put(job("new"));

  store.restore([restored("old"), restored("older")]);

  expect(store.recent(10)).toEqual([
    answered(job("new")),
    { ...restored("old"), status: "unknown" },
    { ...restored("older"), status: "unknown" },
  ]);
  expect({ changed, started }).toEqual({ changed: [], started: [] });
});

test("the jobs of earlier processes add only topic and time to a known job that lacks them", () => {
  const { store, changed } = setup();
  store.put(job("b"));
  store.put(job("a", { status: "completed" }));
  store.addStarted("c", "Salt");
  changed.length = 0;

  store.restore([restored("b"), restored("a"), restored("c")]);

  expect(store.recent(10)).toEqual([
    begun("c", "Salt"),
    { ...restored("a"), ...answered(job("a", { status: "completed" })) },
    { ...restored("b"), ...answered(job("b")) },
  ]);
  expect(changed).toEqual([]);
});

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
])("a change of a job is emitted: %s", (_, more) => {
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
])("what says nothing new of a job is kept but not emitted: %s", (_, more) => {
  const { store, changed } = setup();
  store.put(running);

  store.put(job("a", { ...running, ...more }));

  expect(changed).toEqual([]);
  expect(store.get("a")?.job).toEqual(job("a", { ...running, ...more }));
});

test("the first answer about a job is no change, unless the job has ended", () => {
  const { store, changed } = setup();
  store.put(running);
  store.put(job("b", { status: "completed" }));

  expect(changed).toEqual(["b"]);
});

test.each<[Partial<Job>, string[]]>([
  [{ progress: { total: 3, completed: 0, failed: 0 } }, []],
  [{ status: "rendering" }, ["a"]],
  [{ videoUrls: [CLIP] }, ["a"]],
])("the first answer about a started job is a change unless it says the same: %j", (more, expected) => {
  const { store, changed } = setup();
  store.addStarted("a", "Salt");

  store.put(job("a", more));

  expect(changed).toEqual(expected);
});

test.each(["completed", "failed"])(
  "a job that has ended stays %s if a later answer reports it as running",
  async (status) => {
    const { clock, store, changed } = setup();
    const ended = job("a", { status, videoUrls: [CLIP] });
    store.put(ended);
    await clock.runFor(1_000);

    expect(store.put(job("a"))).toEqual(ended);
    expect(store.get("a")).toEqual(answered(ended));
    expect(changed).toEqual(["a"]);
  },
);

test("a job that has ended stays so if the list shows it as running", () => {
  const { store, changed, list } = setup();
  store.put(job("a", { status: "completed" }));
  list([video("b", "failed")]);

  list([video("a", "processing"), video("b", "processing")]);

  expect(store.recent(10)).toEqual([
    answered(job("a", { status: "completed" })),
    { jobId: "b", status: "failed" },
  ]);
  expect(changed).toEqual(["a"]);
});

test("the video list changes no job: only the job's own answer updates its state", () => {
  const { store, changed, list } = setup();
  store.put(job("a"));
  list([video("a", "completed")]);

  expect(changed).toEqual([]);
  expect(store.recent(10)).toEqual([{ ...answered(job("a")), status: "completed" }]);
});

test("the video list adds the final video to a completed job, whichever is known first", () => {
  const { store, list } = setup();
  const [completed, whole] = [
    job("a", { status: "completed" }),
    job("a", { status: "completed", finalVideoUrl: FINAL }),
  ];
  list([{ ...video("a"), finalVideoUrl: FINAL }]);
  expect(store.put(completed)).toEqual(whole);

  store.put(job("b", { status: "completed" }));
  list([{ ...video("b"), finalVideoUrl: FINAL }]);
  expect(store.get("b")?.job).toEqual({ ...whole, jobId: "b" });
});

test("the video list adds a final video only to a completed job without one", () => {
  const { store, list } = setup();
  for (const jobId of ["a", "b", "c"]) list([{ ...video(jobId, "processing"), finalVideoUrl: FINAL }]);

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
])("the creation time %j in the video list means %j", (createdAt, createdAtMs) => {
  const { store, list } = setup();
  list([{ ...video("a"), createdAt }]);

  expect(store.get("a")?.createdAtMs).toBe(createdAtMs);
});

test("What is kept of hostile answers is bounded in bytes: 2,000 jobs of 65 kB", () => {
  const store = new JobStore(createVirtualClock(NOW));
  const { jobStatus, videoPage } = responseSchemas(new URL("https://videos.example"));
  // The longest texts that are let through, of three bytes a character.
  const [id, text] = ["\u8a9e".repeat(500), "\u8a9e".repeat(2_000)];
  const link = `https://cdn.example/${"\u8a9e".repeat(4_076)}`;
  const names = "topic createdAt platform at url unknown ok platforms results videos nextCursor other";
  const texts = Object.fromEntries(names.split(" ").map((name) => [name, text]));
  const answer = { ...texts, status: id, videoUrls: [link, link], audioUrl: link, finalVideoUrl: link };
  const read = jobStatus.parse(answer);
  const idOf = (index: number) => `${index}`.padStart(4, "0") + id.slice(4);
  for (let index = 0; index < 2_100; index++) store.put({ ...read, jobId: idOf(index), done: false });
  const listed = Array.from({ length: 2_100 }, (_, index) => ({ ...answer, jobId: idOf(index) }));
  store.updateFromPage(videoPage.parse({ videos: listed }).videos, { isFirstPage: true });

  expect(memoryOf(read)).toBeLessThanOrEqual(MAX_JOB_BYTES + 100);
  expect(memoryOf(read)).toBeGreaterThan(30_000);
  const kept = store.recent(Infinity);
  expect(kept.length).toBe(2_000);
  expect(Math.max(...[kept[0], kept.at(-1)].map(memoryOf))).toBeLessThan(65_000);
});
