// Which videos are saved, when, and under which name: the real store and poller on a virtual clock, a folder and downloads in memory.

import { onTestFinished, describe, expect, test } from "vitest";
import type { SavedVideo, SavedVideosOptions } from "../../src/jobs/saved-videos.ts";
import { SavedVideos } from "../../src/jobs/saved-videos.ts";
import type { DownloadRequest, DownloadResult } from "../../src/service/download.ts";
import { job, PolledWorld } from "./polled-service.ts";

const JOB_ID = "0f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c";
const OTHER_ID = "7a4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c";
const LINK = "https://media.example.com/final.mp4";
const PATH = "/videos/faceless-2026-11-20-0f4b6f2e.mp4";

class SavingWorld extends PolledWorld {
  /** Links in the order in which they were downloaded. */
  readonly downloads: string[] = [];
  /** Names of the files. */
  readonly files = new Set<string>();
  lookups = 0;
  download: (request: DownloadRequest) => Promise<DownloadResult> = async () => ({});
  readonly saver: SavedVideos;

  constructor(options: Partial<SavedVideosOptions> = {}) {
    super();
    this.saver = new SavedVideos({
      folder: {
        names: async () => [...this.files],
        pathOf: (name) => `/videos/${name}`,
        write: async (name, fill) => {
          await fill({ write: async () => {}, clear: async () => {} });
          this.files.add(name);
        },
      },
      store: this.store,
      download: (request) => {
        this.downloads.push(request.url);
        return this.download(request);
      },
      watch: (jobId) => this.poller.watch(jobId),
      lookUpLinks: async () => {
        this.lookups += 1;
        this.store.updateFromPage(this.list, { isFirstPage: true });
      },
      clock: this.clock,
      log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
      ...options,
    });
    onTestFinished(() => this.saver.close());
  }

  /** The job ends within the next minute. */
  complete(jobId: string, finalVideoUrl?: string): void {
    const link = finalVideoUrl === undefined ? {} : { finalVideoUrl };
    this.jobs.set(jobId, job(jobId, { status: "completed", ...link }));
  }

  /** As a user's call looks. */
  async look(jobId = JOB_ID): Promise<SavedVideo | undefined> {
    const refreshed = this.saver.refresh();
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

describe("a video is saved", () => {
  test("when this process started it, though nobody looks at it again", async () => {
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

  test("when it was wanted only after it was finished", async () => {
    const world = new SavingWorld();
    world.store.put(job(JOB_ID, { status: "completed", finalVideoUrl: LINK }));
    expect(await world.look()).toBeUndefined();

    world.saver.want(JOB_ID);

    expect(await world.look()).toEqual({ state: "saved", path: PATH });
  });

  test("when polling ended before it was finished, as soon as a user's call sees it", async () => {
    const world = new SavingWorld();
    start(world);
    await world.clock.runFor(3_700_000);
    expect(world.clock.pending()).toBe(0);

    world.store.put(job(JOB_ID, { status: "completed", finalVideoUrl: LINK }));

    expect(await world.look()).toEqual({ state: "saved", path: PATH });
  });

  test("as soon as the list names its link, which may be late", async () => {
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

  test("at once when a user's call has found its link", async () => {
    const world = new SavingWorld();
    world.store.put(job(JOB_ID, { status: "completed" }));
    world.saver.want(JOB_ID);
    await world.clock.runFor(0);

    world.store.updateFromPage([{ jobId: JOB_ID, status: "completed", finalVideoUrl: LINK }], {
      isFirstPage: true,
    });

    expect(await world.look()).toEqual({ state: "saved", path: PATH });
    expect(world.lookups).toBe(0);
  });

  test("and until it is, a look says where it will be", async () => {
    const world = new SavingWorld();
    let finish = () => {};
    world.download = () => new Promise((resolve) => (finish = () => resolve({})));
    world.store.put(job(JOB_ID, { status: "completed", finalVideoUrl: LINK }));
    world.saver.want(JOB_ID);
    expect(await world.look()).toEqual({ state: "saving", path: PATH });

    finish();

    expect(await world.look()).toEqual({ state: "saved", path: PATH });
    expect(world.downloads).toHaveLength(1);
  });

  test("two at a time, and all of them", async () => {
    const world = new SavingWorld();
    const finish: (() => void)[] = [];
    world.download = () => new Promise((resolve) => finish.push(() => resolve({})));
    const ids = [1, 2, 3].map((n) => `${n}0000000-0000-4000-8000-000000000000`);
    for (const id of ids) {
      world.store.put(job(id, { status: "completed", finalVideoUrl: `${LINK}?${id}` }));
      world.saver.want(id);
    }
    await world.clock.runFor(0);
    expect(world.downloads).toHaveLength(2);
    expect(ids.map((id) => world.saver.stateOf(id)?.state)).toEqual(["saving", "saving", "saving"]);

    finish.shift()?.();
    await world.clock.runFor(0);
    for (const end of finish) end();
    await world.clock.runFor(0);

    expect(ids.map((id) => world.saver.stateOf(id)?.state)).toEqual(["saved", "saved", "saved"]);
  });
});

describe("nothing is saved of", () => {
  test("a job that was only listed or looked at", async () => {
    const world = new SavingWorld();
    const done = { jobId: JOB_ID, status: "completed", finalVideoUrl: LINK };
    world.store.updateFromPage([done, { ...done, jobId: OTHER_ID }], { isFirstPage: true });
    world.store.put(job(JOB_ID, { status: "completed", finalVideoUrl: LINK }));
    await world.look();
    await world.clock.runFor(600_000);

    expect(world.downloads).toEqual([]);
  });

  test("a render that failed, or that the service no longer knows", async () => {
    const world = new SavingWorld();
    start(world);
    start(world, OTHER_ID);
    world.jobs.set(JOB_ID, job(JOB_ID, { status: "failed", finalVideoUrl: LINK }));
    world.jobs.delete(OTHER_ID);
    await world.clock.runFor(600_000);

    expect(world.downloads).toEqual([]);
    expect(world.clock.pending()).toBe(0);
    expect(world.clock.pending()).toBe(0);
  });

  test("a video whose link never comes, which is not looked up for ever", async () => {
    const world = new SavingWorld();
    start(world);
    world.complete(JOB_ID);
    await world.clock.runFor(3_600_000);

    expect(world.lookups).toBe(12);
    expect(world.clock.pending()).toBe(0);
  });

  test("any job while no folder is set", async () => {
    const world = new SavingWorld({ folder: undefined });
    start(world);
    world.complete(JOB_ID, LINK);
    world.saver.want(JOB_ID);
    await world.clock.runFor(600_000);

    expect(await world.look()).toBeUndefined();
    expect({ downloads: world.downloads, requests: world.requests() }).toEqual({
      downloads: [],
      requests: [],
    });
  });

  test("any job after the end", async () => {
    const world = new SavingWorld();
    start(world);
    await world.saver.close();
    world.complete(JOB_ID, LINK);
    world.saver.want(JOB_ID);
    await world.clock.runFor(600_000);

    expect({ downloads: world.downloads, timers: world.clock.pending() }).toEqual({
      downloads: [],
      timers: 0,
    });
  });
});

test("a download that failed is tried again by a look after half a minute, with the link that the list has then", async () => {
  const world = new SavingWorld();
  world.download = async () => ({ problem: "its host answered HTTP 403" });
  world.store.put(job(JOB_ID, { status: "completed", finalVideoUrl: LINK }));
  world.saver.want(JOB_ID);
  const failed = { state: "failed", problem: "its host answered HTTP 403" };
  expect(await world.look()).toEqual(failed);
  await world.clock.runFor(29_000);
  expect(await world.look()).toEqual(failed);
  expect(world.downloads).toEqual([LINK]);

  world.download = async () => ({});
  world.list = [{ jobId: JOB_ID, status: "completed", finalVideoUrl: `${LINK}?signed=anew` }];
  await world.clock.runFor(2_000);

  expect(await world.look()).toEqual({ state: "saved", path: PATH });
  expect(world.downloads).toEqual([LINK, `${LINK}?signed=anew`]);
});

test("a folder that can't be read in time holds up no call", async () => {
  const world = new SavingWorld({
    folder: { names: () => new Promise(() => {}), pathOf: (name) => name, write: async () => {} },
  });
  let looked = false;
  void world.saver.refresh().then(() => (looked = true));
  await world.clock.runFor(1_000);
  await world.clock.runFor(0);

  expect(looked).toBe(true);
});

describe("a file's name", () => {
  const nameOf = async (jobId: string, createdAt?: string) => {
    const world = new SavingWorld();
    if (createdAt !== undefined)
      world.store.updateFromPage([{ jobId, status: "completed", createdAt }], { isFirstPage: true });
    world.store.put(job(jobId, { status: "completed", finalVideoUrl: LINK }));
    world.saver.want(jobId);
    await world.look(jobId);
    return [...world.files][0];
  };

  test("has the job's day, else today", async () => {
    expect(await nameOf(JOB_ID, "2026-11-18T23:59:59Z")).toBe("faceless-2026-11-18-0f4b6f2e.mp4");
    expect(await nameOf(JOB_ID)).toBe("faceless-2026-11-20-0f4b6f2e.mp4");
  });

  test.each([
    ["0F4B6F2E-3C1D-4E5A-9B7C-8D6E5F4A3B2C", "0f4b6f2e"],
    // Begins with the time: all of one minute begin alike.
    ["0199a6f2-3c1d-7e5a-9b7c-8d6e5f4a3b2c", "0199a6f2-3c1d-7e5a-9b7c-8d6e5f4a3b2c"],
    ["job-1", "job-1"],
    ["../../etc/passwd", "[0-9a-f]{6,100}"],
    ["C:\\x", "[0-9a-f]{6,100}"],
    ["a".repeat(300), "[0-9a-f]{6,100}"],
    ["con\u0000.exe", "[0-9a-f]{6,100}"],
  ])("of the job %j has only digits and small letters of its id: %s", async (jobId, part) => {
    expect(await nameOf(jobId)).toMatch(new RegExp(`^faceless-2026-11-20-${part}\\.mp4$`));
  });
});
