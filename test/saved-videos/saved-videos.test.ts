// Which videos are saved, when, and under which name: the real store and poller on a virtual clock, with a
// folder and downloads in memory.

import { expect, onTestFinished, test } from "vitest";
import { DownloadFailure, type SavedVideo, SavedVideos } from "../../src/saved-videos/saved-videos.ts";
import { waitForEnd } from "../../src/jobs/wait.ts";
import { JOB_ID, OTHER_JOB_ID } from "../fixtures/constants.ts";
import { job, PolledWorld } from "../jobs/polled-service.ts";

const LINK = "https://media.example.com/final.mp4";
const PATH = "/videos/faceless-2026-11-20-0f4b6f2e.mp4";

class SavingWorld extends PolledWorld {
  /** Links in the order in which they were downloaded. */
  readonly downloads: string[] = [];
  /** Names of the files. */
  readonly files = new Set<string>();
  lookups = 0;
  /** What a download waits for. */
  download: () => Promise<void> = async () => {};
  /** What reading the folder waits for, after it has looked. */
  reading = Promise.resolve();
  readonly saver: SavedVideos;

  constructor() {
    super();
    this.saver = new SavedVideos({
      folder: {
        names: async () => {
          const names = [...this.files];
          await this.reading;
          return names;
        },
        pathOf: (name) => `/videos/${name}`,
        write: async (name, chunks) => {
          for await (const _ of chunks);
          this.files.add(name);
        },
      },
      store: this.store,
      download: (url) => this.#download(url),
      untilEnded: (jobId, signal) =>
        waitForEnd(this, { job: this.store.lastSeen(jobId), forMs: Infinity, signal, onChange() {} }),
      lookUpLinks: async () => {
        this.lookups += 1;
        this.store.updateFromPage(this.list, { isFirstPage: true });
      },
      // It is the same day in every time zone.
      clock: { ...this.clock, now: () => new Date(2026, 10, 20, 23, 59).getTime() },
      log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    });
    onTestFinished(() => this.saver.close());
  }

  async *#download(url: string) {
    this.downloads.push(url);
    await this.download();
    yield new Uint8Array(1);
  }

  /** The job ends within the next minute. */
  complete(jobId: string, finalVideoUrl?: string): void {
    const link = finalVideoUrl === undefined ? {} : { finalVideoUrl };
    this.jobs.set(jobId, job(jobId, { status: "completed", ...link }));
  }

  /** Does what a call does that waited for a video, which is there. */
  saveFinished(jobId = JOB_ID): void {
    this.store.put(job(jobId, { status: "completed", finalVideoUrl: LINK }));
    this.saver.saveWhenFinished(jobId);
  }

  /** Looks as a user's call does. */
  async look(jobId = JOB_ID): Promise<SavedVideo | undefined> {
    const refreshed = this.saver.refresh(jobId);
    await this.clock.runFor(0);
    await refreshed;
    await this.clock.runFor(0);
    return this.saver.stateOf(jobId);
  }
}

const start = (world: SavingWorld, jobId = JOB_ID) => {
  world.jobs.set(jobId, job(jobId));
  world.store.addStarted(jobId, "The sea");
};

test("a video that this process started is saved, though nobody looks at it again", async () => {
  const world = new SavingWorld();
  start(world);
  await world.clock.runFor(60_000);
  expect(world.downloads).toEqual([]);

  world.complete(JOB_ID, LINK);
  await world.clock.runFor(60_000);

  expect(world.downloads).toEqual([LINK]);
  expect(world.saver.stateOf(JOB_ID)).toEqual({ state: "saved", path: PATH });
  expect(world.clock.pending()).toBe(0);
});

test("a video that finished after its polling ended is saved by a user's call", async () => {
  const world = new SavingWorld();
  start(world);
  await world.clock.runFor(3_700_000);
  expect(world.clock.pending()).toBe(0);

  world.store.put(job(JOB_ID, { status: "completed", finalVideoUrl: LINK }));

  expect(await world.look()).toEqual({ state: "saved", path: PATH });
});

test("a video is saved as soon as the list names its link, which may be late", async () => {
  const world = new SavingWorld();
  start(world);
  world.complete(JOB_ID);
  await world.clock.runFor(60_000);
  expect(world.saver.stateOf(JOB_ID)).toBeUndefined();
  const { lookups } = world;
  expect(lookups).toBeGreaterThan(1);

  world.list = [{ jobId: JOB_ID, status: "completed", finalVideoUrl: LINK }];
  await world.clock.runFor(60_000);

  expect(world.saver.stateOf(JOB_ID)).toEqual({ state: "saved", path: PATH });
  expect(world.lookups).toBe(lookups + 1);
});

test("a video is saved at once when a user's call has found its link", async () => {
  const world = new SavingWorld();
  world.store.put(job(JOB_ID, { status: "completed" }));
  world.saver.saveWhenFinished(JOB_ID);
  await world.clock.runFor(0);

  world.store.updateFromPage([{ jobId: JOB_ID, status: "completed", finalVideoUrl: LINK }], {
    isFirstPage: true,
  });

  expect(await world.look()).toEqual({ state: "saved", path: PATH });
  await world.clock.runFor(60_000);
  expect(world.lookups).toBe(0);
});

test("a video counts as saved though the folder was being read when it came", async () => {
  const world = new SavingWorld();
  let [finishDownload, finishReading] = [() => {}, () => {}];
  world.download = () => new Promise((resolve) => (finishDownload = resolve));
  world.saveFinished();
  await world.clock.runFor(0);
  world.reading = new Promise((resolve) => (finishReading = resolve));
  void world.saver.refresh();
  finishDownload();
  await world.clock.runFor(0);

  world.reading = Promise.resolve();
  finishReading();
  await world.clock.runFor(0);

  expect(world.saver.stateOf(JOB_ID)).toEqual({ state: "saved", path: PATH });
});

test("a file that the user has removed no longer counts as saved, and is not saved again", async () => {
  const world = new SavingWorld();
  world.saveFinished();
  expect(await world.look()).toEqual({ state: "saved", path: PATH });

  world.files.clear();

  expect(await world.look()).toBeUndefined();
  expect(world.downloads).toHaveLength(1);
});

test("a look during the download says where the video will be", async () => {
  const world = new SavingWorld();
  let finish = () => {};
  world.download = () => new Promise((resolve) => (finish = resolve));
  world.saveFinished();
  expect(await world.look()).toEqual({ state: "saving", path: PATH });

  finish();

  expect(await world.look()).toEqual({ state: "saved", path: PATH });
  expect(world.downloads).toHaveLength(1);
});

test("a finished video is saved by a call that asks for it, and not by a list", async () => {
  const world = new SavingWorld();
  const done = { jobId: JOB_ID, status: "completed", finalVideoUrl: LINK };
  world.store.updateFromPage([done, { ...done, jobId: OTHER_JOB_ID }], { isFirstPage: true });
  await world.saver.refresh();
  await world.clock.runFor(600_000);
  expect(world.downloads).toEqual([]);

  expect(await world.look()).toEqual({ state: "saved", path: PATH });
  expect([...world.files]).toHaveLength(1);
});

test("nothing is saved of a render that failed, or that the service no longer knows", async () => {
  const world = new SavingWorld();
  start(world);
  start(world, OTHER_JOB_ID);
  world.jobs.set(JOB_ID, job(JOB_ID, { status: "failed", finalVideoUrl: LINK }));
  world.jobs.delete(OTHER_JOB_ID);
  await world.clock.runFor(600_000);

  expect(world.downloads).toEqual([]);
  expect(world.clock.pending()).toBe(0);
});

test("a link that never comes is not looked up for ever", async () => {
  const world = new SavingWorld();
  start(world);
  world.complete(JOB_ID);
  await world.clock.runFor(3_600_000);

  expect(world.lookups).toBe(12);
  expect(world.clock.pending()).toBe(0);
});

test("nothing is saved after the shutdown", async () => {
  const world = new SavingWorld();
  start(world);
  await world.saver.close();
  world.complete(JOB_ID, LINK);
  world.saver.saveWhenFinished(JOB_ID);
  await world.clock.runFor(600_000);

  expect({ downloads: world.downloads, timers: world.clock.pending() }).toEqual({ downloads: [], timers: 0 });
});

test("a look half a minute after a failed download tries again, with the list's newest link", async () => {
  const world = new SavingWorld();
  world.download = () => Promise.reject(new DownloadFailure("its host answered HTTP 403"));
  world.saveFinished();
  const failed = { state: "failed", problem: "its host answered HTTP 403" };
  expect(await world.look()).toEqual(failed);
  await world.clock.runFor(29_000);
  expect(await world.look()).toEqual(failed);
  expect(world.downloads).toEqual([LINK]);

  world.download = async () => {};
  world.list = [{ jobId: JOB_ID, status: "completed", finalVideoUrl: `${LINK}?signed=anew` }];
  await world.clock.runFor(2_000);

  expect(await world.look()).toEqual({ state: "saved", path: PATH });
  expect(world.downloads).toEqual([LINK, `${LINK}?signed=anew`]);
});

test("a download that is cut begins anew twice, after one and two seconds", async () => {
  const world = new SavingWorld();
  world.download = () => Promise.reject(new DownloadFailure("it was cut", { mayPass: true }));
  world.saveFinished();

  const downloads: number[] = [];
  for (const ms of [0, 999, 1, 1_999, 1, 20_000]) {
    await world.clock.runFor(ms);
    downloads.push(world.downloads.length);
  }

  expect(downloads).toEqual([1, 1, 2, 2, 3, 3]);
  expect(world.saver.stateOf(JOB_ID)).toEqual({ state: "failed", problem: "it was cut" });
});

test("a shutdown between two attempts ends at once, without another", async () => {
  const world = new SavingWorld();
  world.download = () => Promise.reject(new DownloadFailure("it was cut", { mayPass: true }));
  world.saveFinished();
  await world.clock.runFor(0);

  await world.saver.close();

  expect(world.downloads).toHaveLength(1);
});

test("a folder that can't be read in time holds up no call", async () => {
  const world = new SavingWorld();
  world.reading = new Promise(() => {});
  let looked = false;
  void world.saver.refresh().then(() => (looked = true));
  await world.clock.runFor(1_000);
  await world.clock.runFor(0);

  expect(looked).toBe(true);
});

const nameOf = async (jobId: string, createdAt?: string) => {
  const world = new SavingWorld();
  if (createdAt !== undefined)
    world.store.updateFromPage([{ jobId, status: "completed", createdAt }], { isFirstPage: true });
  world.saveFinished(jobId);
  await world.look(jobId);
  return [...world.files][0];
};

test("a file's name has this computer's day, whatever the service says of the job", async () => {
  expect(await nameOf(JOB_ID, "2026-11-18T23:59:59Z")).toBe("faceless-2026-11-20-0f4b6f2e.mp4");
});

test("of two jobs that begin alike the younger one is saved under its whole id", async () => {
  const world = new SavingWorld();
  const younger = `${JOB_ID.slice(0, 8)}-0000-4000-8000-000000000000`;
  world.saveFinished(JOB_ID);
  expect(await world.look(JOB_ID)).toEqual({ state: "saved", path: PATH });

  world.store.addStarted(younger, "The moon");
  world.saveFinished(younger);

  const path = `/videos/faceless-2026-11-20-${younger}.mp4`;
  expect(await world.look(younger)).toEqual({ state: "saved", path });
  expect(await world.look(JOB_ID)).toEqual({ state: "saved", path: PATH });
  expect(world.downloads).toHaveLength(2);
});

test.each([
  ["0F4B6F2E-3C1D-4E5A-9B7C-8D6E5F4A3B2C", "0f4b6f2e"],
  // Begins with the time: all of one minute begin alike.
  ["0199a6f2-3c1d-7e5a-9b7c-8d6e5f4a3b2c", "0199a6f2-3c1d-7e5a-9b7c-8d6e5f4a3b2c"],
  ["../../etc/passwd", "[0-9a-f]{6,100}"],
  ["a".repeat(300), "[0-9a-f]{6,100}"],
])("the name of the file of job %j has only digits and small letters of its id: %s", async (jobId, part) => {
  expect(await nameOf(jobId)).toMatch(new RegExp(`^faceless-2026-11-20-${part}\\.mp4$`));
});
