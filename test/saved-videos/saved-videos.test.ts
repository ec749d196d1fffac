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
  readonly files: Set<string>;
  /** Names of files that were ever saved, by the id. */
  readonly record: Map<string, string>;
  /** What this computer has ordered, by the job. */
  readonly topics = new Map<string, string>();
  /** Jobs whose topic was looked up in the journal. */
  readonly topicsAsked: string[] = [];
  lookups = 0;
  /** What a download waits for. */
  download: () => Promise<void> = async () => {};
  /** What reading the folder waits for, after it has looked. */
  reading = Promise.resolve();
  readonly saver: SavedVideos;

  /** The folder may be another process's. */
  constructor({ files = new Set<string>(), record = new Map<string, string>() } = {}) {
    super();
    this.files = files;
    this.record = record;
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
        recorded: async () => [...this.record],
        record: async (id, name) => void this.record.set(id, name),
      },
      topicOf: async (jobId) => {
        this.topicsAsked.push(jobId);
        return this.topics.get(jobId);
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
    const refreshed = this.saver.refresh([jobId]);
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

test("a saved video is neither saved nor looked up in the journal again, though its file is gone", async () => {
  const world = new SavingWorld();
  world.saveFinished();
  expect(await world.look()).toEqual({ state: "saved", path: PATH });

  world.files.clear();

  expect(await world.look()).toBeUndefined();
  expect(world.downloads).toHaveLength(1);
  expect(world.topicsAsked).toHaveLength(1);
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

test("a video that was moved away is not saved again after a restart, with or without its record", async () => {
  const before = new SavingWorld();
  before.topics.set(JOB_ID, "The sea.");
  before.saveFinished();
  await before.look();
  const [name = ""] = before.files;
  const restarted = async (folder: Pick<SavingWorld, "files" | "record">) => {
    const world = new SavingWorld(folder);
    world.topics.set(JOB_ID, "The sea.");
    world.store.put(job(JOB_ID, { status: "completed", finalVideoUrl: LINK }));
    const state = await world.look();
    return { state, downloads: world.downloads, files: [...world.files] };
  };

  const path = `/videos/${name}`;
  expect(await restarted({ files: new Set(), record: before.record })).toEqual({
    state: undefined,
    downloads: [],
    files: [],
  });
  expect((await restarted(before)).state).toEqual({ state: "saved", path });
  const older = "faceless-2026-11-18-The-sea-0f4b6f2e.mp4";
  const kept = await restarted({ files: new Set([older]), record: new Map() });
  expect(kept.state).toEqual({ state: "saved", path: `/videos/${older}` });
  expect(kept.files).toEqual([older]);
});

test("of a whole list, three videos are downloaded at once", async () => {
  const world = new SavingWorld();
  const finish: (() => void)[] = [];
  world.download = () => new Promise((resolve) => finish.push(resolve));
  const ids = Array.from({ length: 8 }, (_, index) => `${index}${JOB_ID.slice(1)}`);
  world.store.updateFromPage(
    ids.map((jobId) => ({ jobId, status: "completed", finalVideoUrl: LINK })),
    { isFirstPage: true },
  );
  void world.saver.refresh(ids);
  const counts: number[] = [];
  for (let round = 0; round < 4; round++) {
    await world.clock.runFor(0);
    counts.push(world.downloads.length);
    for (const end of finish.splice(0)) end();
  }

  expect(counts).toEqual([3, 6, 8, 8]);
  expect(world.files.size).toBe(8);
});

/** The name of a video's file, without its date. */
const nameOf = async (topic: string | undefined, jobId = JOB_ID, createdAt?: string) => {
  const world = new SavingWorld();
  if (topic !== undefined) world.topics.set(jobId, topic);
  if (createdAt !== undefined)
    world.store.updateFromPage([{ jobId, status: "completed", createdAt }], { isFirstPage: true });
  world.saveFinished(jobId);
  await world.look(jobId);
  const [name = ""] = world.files;
  expect(Buffer.byteLength(`${name}.0badcafe.part`)).toBeLessThanOrEqual(255);
  expect(name).toMatch(/^faceless-2026-11-20-.*\.mp4$/);
  return name.slice("faceless-2026-11-20-".length, -".mp4".length);
};

test("a file's name has this computer's day, whatever the service says of the job", async () => {
  expect(await nameOf(undefined, JOB_ID, "2026-11-18T23:59:59Z")).toBe("0f4b6f2e");
});

test.each(["one after the other", "at once"])(
  "of two jobs of the same words that begin alike, saved %s, one has its whole id in the name",
  async (when) => {
    const world = new SavingWorld();
    const ids = [JOB_ID, `${JOB_ID.slice(0, 8)}-0000-7000-8000-000000000000`];
    for (const jobId of ids) {
      world.topics.set(jobId, "The sea");
      world.saveFinished(jobId);
      if (when !== "at once") await world.look(jobId);
    }
    const states = [await world.look(ids[0]), await world.look(ids[1])];

    const paths = states.map((saved) => (saved?.state === "saved" ? saved.path : ""));
    expect(paths).toContain("/videos/faceless-2026-11-20-The-sea-0f4b6f2e.mp4");
    expect(ids.map((id) => `/videos/faceless-2026-11-20-The-sea-${id}.mp4`)).toContain(
      paths.find((path) => path.length > 60),
    );
    expect(world.files.size).toBe(2);
  },
);

test.each([
  ["0F4B6F2E-3C1D-4E5A-9B7C-8D6E5F4A3B2C", /^0f4b6f2e$/],
  ["job-7", /^job-7$/],
  ["../../etc/passwd", /^[0-9a-f]{6,50}$/],
  ["a".repeat(300), /^[0-9a-f]{50}$/],
])("the name of the file of job %j has only digits and small letters of its id", async (jobId, part) => {
  expect(await nameOf(undefined, jobId)).toMatch(part);
});

test.each([
  ["Why the sea is salty. [waves]\nRivers bring it.", "Why-the-sea-is-salty-Rivers-bring-it"],
  [
    "He didn’t time the sea, only the salt that passed through it",
    "He-didnt-time-the-sea-only-the-salt-that",
  ],
  ["../..\\windows\\..", "windows"],
  ["CON", "CON"],
  ['a/b:c*d?e"f<g>h|i\0j\u001bk', "a-b-c-d-e-f-g-h-i-j-k"],
  ["\u202egnp.exe\u2066 \u200bh\u200did\ufe0fden\u3164", "gnp-exe-hidden"],
  ["\ud800 . … [-] ❤️", ""],
  ["海はなぜ塩辛いのか。川は岩から塩を運ぶ。", "海はなぜ塩辛いのか-川は岩から塩を運ぶ"],
  ["समुद्र खारा क्यों है", "समुद्र-खारा-क्यों-है"],
  ["e\u0301te\u0301 1½", "été-1½"],
  ["𠀀".repeat(70), "𠀀".repeat(40)],
  [`a ${"b".repeat(60)}`, `a-${"b".repeat(38)}`],
])("the name of the file of %j has the words %j", async (topic, words) => {
  expect(await nameOf(topic)).toBe(words === "" ? "0f4b6f2e" : `${words}-0f4b6f2e`);
});
