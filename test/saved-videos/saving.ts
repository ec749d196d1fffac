// What the tests of saved videos share: one finished video, a host that has it, the real download, a real
// folder.

import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Proxies } from "../../src/config.ts";
import { type Clock, systemClock } from "../../src/clock.ts";
import { JobStore } from "../../src/jobs/job-store.ts";
import { SavedVideos } from "../../src/saved-videos/saved-videos.ts";
import { VideoFolder } from "../../src/saved-videos/video-folder.ts";
import { Downloader, type DownloadLimits, type Lookup } from "../../src/saved-videos/download.ts";
import type { Job } from "../../src/service/responses.ts";
import { describeStatus } from "../../src/tools/describe-job.ts";
import { JOB_ID } from "../fixtures/constants.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { type Handler, type Script, scriptedService } from "../fixtures/scripted-service.ts";
import { until } from "../fixtures/until.ts";

export const FILE_NAME = "faceless-2026-11-20-0f4b6f2e.mp4";
export const SAVED = { [FILE_NAME]: "the video" };

/** No two parts of it are alike. */
export const VIDEO = Buffer.from(Array.from({ length: 200_000 }, (_, index) => (index * index) % 251));

export interface SavingOptions {
  readonly link: string;
  /** Exists, and is empty unless the test put something there. */
  readonly folder?: string;
  readonly baseUrl?: string;
  readonly proxies?: Proxies;
  readonly lookup?: Lookup;
  readonly limits?: Partial<DownloadLimits>;
}

/** Answers with the video. */
export const media: Handler = () => ({ headers: { "content-type": "video/mp4" }, body: VIDEO });

/** Sends so many bytes of another version of the video, then breaks off or says nothing any more. */
export function mediaUntil(bytes: number, end: "cut" | "stall"): Handler {
  return (_, { outgoing }) => {
    outgoing.writeHead(200, { "content-type": "video/mp4", "content-length": VIDEO.length });
    outgoing.write(Buffer.alloc(bytes));
    if (end === "cut") outgoing.socket?.end();
  };
}

/** Stays on one day, and lets no test wait for a pause between two attempts. */
const impatientClock: Clock = {
  ...systemClock,
  now: () => new Date(2026, 10, 20, 23, 59).getTime(),
  after: (_delayMs, action) => systemClock.after(0, action),
};

/** Saves the video from a host with this script, and resolves when it is saved, or could not be. */
export async function saveFrom(script: Script, options: Partial<SavingOptions> = {}) {
  const host = await scriptedService({ "GET /video.mp4": script });
  const one = saving({ link: `${host.url}/video.mp4`, ...options });
  return { ...one, host, outcome: await one.save() };
}

/** The outcome of a video that could not be saved. */
export const notSaved = (problem: string, files: Record<string, string> = {}) => ({
  said: `It could not be saved on this computer: ${problem}. A later get_video_status tries again.`,
  files,
});

/** Closed when the test is over. */
export function saving({ link, baseUrl = "http://127.0.0.1", proxies = {}, ...more }: SavingOptions) {
  const { folder = temporaryFolder(), ...limitsAndLookup } = more;
  const store = new JobStore(systemClock);
  store.updateFromPage([{ jobId: JOB_ID, status: "completed", finalVideoUrl: link }], { isFirstPage: true });
  const job: Job = { jobId: JOB_ID, status: "completed", done: true, videoUrls: [], finalVideoUrl: link };
  store.put(job);
  const downloader = new Downloader({
    service: { baseUrl: new URL(baseUrl), proxies },
    version: "1.2.3",
    clock: systemClock,
    ...limitsAndLookup,
  });
  const saver = new SavedVideos({
    folder: new VideoFolder({ path: folder, now: Date.now }),
    store,
    download: (url, signal) => downloader.download(url, signal),
    topicOf: async () => undefined,
    untilEnded: async () => {},
    lookUpLinks: async () => {},
    clock: impatientClock,
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  });
  onTestFinished(() => saver.close());
  /** What the user is told, without the sentence with the link, and what is in the folder. */
  const save = async () => {
    saver.saveWhenFinished(JOB_ID);
    await until(() => /^(saved|failed)$/.test(saver.stateOf(JOB_ID)?.state ?? ""));
    const saved = saver.stateOf(JOB_ID);
    const facts = { ageMs: undefined, canPublish: false, publishedTo: [], saved };
    const said = describeStatus(job, facts).summary.replace(`Your video is ready: ${link} `, "");
    return { said, files: filesIn(folder) };
  };
  return { folder, path: join(folder, FILE_NAME), saver, save };
}

/** "the video", "folder", "link", or the content, by name; without the record. Empty without a folder. */
export function filesIn(folder: string): Record<string, string> {
  if (!existsSync(folder) || !lstatSync(folder).isDirectory()) return {};
  return Object.fromEntries(
    readdirSync(folder).flatMap((name) => {
      if (name === ".faceless-saved") return [];
      const found = contentOf(join(folder, name));
      return found === undefined ? [] : [[name, found]];
    }),
  );
}

function contentOf(path: string): string | undefined {
  try {
    const found = lstatSync(path);
    if (found.isDirectory()) return "folder";
    if (found.isSymbolicLink()) return "link";
    const content = readFileSync(path);
    return content.equals(VIDEO) ? "the video" : content.toString("latin1");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
