// When a refused file of a video is requested again, on a virtual clock.

import { chownSync, existsSync, promises, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { DownloadFailure, VideoSaver } from "../../src/jobs/save-video.ts";
import { JobBook } from "../../src/jobs/job-book.ts";
import { JOB_ID } from "../fixtures/constants.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { until } from "../fixtures/until.ts";
import { createVirtualClock } from "../fixtures/virtual-clock.ts";

const START_MS = Date.UTC(2026, 10, 28);
const MINUTE_MS = 60_000;

/** A job that has become ready, whose file `download` writes or refuses. */
function setUp(
  download: (attempt: number) => Error | undefined,
  { ageMs = 4 * MINUTE_MS, folder = temporaryFolder() } = {},
) {
  const clock = createVirtualClock(START_MS);
  const warnings: string[] = [];
  const log = { debug() {}, info() {}, warn: (line: string) => void warnings.push(line), error() {} };
  const order = { arguments: { topic: "Tides" }, atMs: START_MS - ageMs };
  const book = new JobBook({
    clock,
    log,
    readJournal: async () => ({ orders: [], jobs: new Map([[JOB_ID, { order, posts: [] }]]) }),
  });
  const startedMs = clock.monotonicMs();
  const seconds = () => (clock.monotonicMs() - startedMs) / 1_000;
  /** The seconds from the start to each attempt, and to each read of the list. */
  const attempts: number[] = [];
  const looks: number[] = [];
  const saver = new VideoSaver({
    folder,
    book,
    poller: { follow: () => () => {} },
    reader: {
      async refreshFromList() {
        looks.push(seconds());
        return true;
      },
    },
    async download(_link, path) {
      attempts.push(seconds());
      const failure = download(attempts.length);
      if (failure !== undefined) throw failure;
      writeFileSync(path, "a video");
    },
    clock,
    log,
  });
  onTestFinished(() => saver.close());
  const saved = () => book.get(JOB_ID).saved;
  /** Lets time pass while nothing happens on disk, until the video is saved or given up. */
  const end = async () => {
    await book.restore();
    const finalVideoUrl = "https://cdn.test/final.mp4";
    book.update({ jobId: JOB_ID, status: "completed", done: true, videoUrls: [], finalVideoUrl });
    const hasEnded = () => saved() !== undefined && saved()?.state !== "saving";
    while (!hasEnded()) {
      // eslint-disable-next-line no-await-in-loop -- one second after the other
      await until(() => hasEnded() || clock.pending() > 0);
      // eslint-disable-next-line no-await-in-loop -- as above
      if (!hasEnded()) await clock.runFor(250);
    }
    return saved();
  };
  return { clock, folder, book, attempts, looks, warnings, seconds, end };
}

const refused = () => new DownloadFailure("its host answered HTTP 403", true);

test("a new video's file that is refused is requested for five minutes, and then given up in a sentence", async () => {
  const { attempts, looks, warnings, end } = setUp(() => refused());

  expect(await end()).toEqual({ state: "failed", problem: "its host answered HTTP 403" });
  expect(attempts).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183, 243]);
  // Its link may have expired.
  expect(looks).toEqual(attempts.slice(1));
  expect(warnings).toEqual([`The video of job ${JOB_ID} was not saved: its host answered HTTP 403.`]);
});

test("a new video's file that comes later is saved", async () => {
  const { attempts, warnings, end } = setUp((attempt) => (attempt < 7 ? refused() : undefined));

  expect(await end()).toMatchObject({ state: "saved" });
  expect(attempts).toHaveLength(7);
  expect(warnings).toEqual([]);
});

test("an older video's file that is refused is requested three times", async () => {
  const { attempts, end } = setUp(() => refused(), { ageMs: 31 * MINUTE_MS });

  expect(await end()).toMatchObject({ state: "failed" });
  expect(attempts).toEqual([0, 1, 3]);
});

test("a job that was ordered elsewhere is new if this process saw it run and end in the last half hour", async () => {
  const seen = setUp(() => refused(), { ageMs: 31 * MINUTE_MS });
  seen.book.update({ jobId: JOB_ID, status: "processing", done: false, videoUrls: [] });
  await seen.clock.runFor(1_000);
  expect(await seen.end()).toMatchObject({ state: "failed" });
  expect(seen.attempts.length).toBeGreaterThan(3);

  const listed = setUp(() => refused(), { ageMs: 31 * MINUTE_MS });
  listed.book.updateFromPage([{ jobId: JOB_ID, status: "processing" }], { isFirstPage: true });
  await listed.clock.runFor(1_000);
  expect(await listed.end()).toMatchObject({ state: "failed" });
  expect(listed.attempts.length).toBeGreaterThan(3);
});

test("a save fails if another program holds the file for ten seconds", async () => {
  vi.spyOn(promises, "rename").mockRejectedValue(Object.assign(new Error("held"), { code: "EBUSY" }));
  onTestFinished(() => void vi.restoreAllMocks());
  const { attempts, seconds, end } = setUp(() => undefined);

  expect(await end()).toEqual({ state: "failed", problem: "another program holds the file (EBUSY)" });
  expect({ attempts, seconds: seconds() }).toEqual({ attempts: [0], seconds: 10 });
});

test("a list of saved files that another program holds makes nothing else fail", async () => {
  vi.spyOn(promises, "appendFile").mockRejectedValue(Object.assign(new Error("held"), { code: "EBUSY" }));
  onTestFinished(() => void vi.restoreAllMocks());
  const { folder, warnings, end } = setUp(() => undefined);

  expect(await end()).toEqual({
    state: "saved",
    path: expect.stringContaining(join(folder, "faceless-2026")),
  });
  expect(warnings).toEqual([expect.stringContaining("another program holds the file (EBUSY)")]);
});

test.runIf(process.getuid?.() === 0)("root makes no folder in another user's home", async () => {
  const home = temporaryFolder();
  chownSync(home, 65_534, 65_534);
  const { end } = setUp(() => undefined, { folder: join(home, "Videos", "faceless") });

  expect(await end()).toEqual({
    state: "failed",
    problem: "root would own it in the home folder of another user",
  });
  expect(readdirSync(home)).toEqual([]);
});

test.runIf(process.getuid?.() === 0)(
  "root saves in another user's folder that is there, as in a container",
  async () => {
    const folder = temporaryFolder();
    chownSync(folder, 65_534, 65_534);

    expect(await setUp(() => undefined, { folder }).end()).toMatchObject({ state: "saved" });
  },
);

test.runIf(existsSync("/proc/self"))(
  "a folder that nobody can make is named once, and not tried for ever",
  async () => {
    const { end } = setUp(() => undefined, { folder: "/proc/faceless/videos" });

    expect(await end()).toEqual({ state: "failed", problem: "the folder is missing (ENOENT)" });
  },
);
