// One finished video, a host that has it, and the saver with the real download and a real folder: what the tests of saved videos share.

import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { onTestFinished } from "vitest";
import type { Proxies } from "../../src/config.ts";
import { systemClock } from "../../src/jobs/clock.ts";
import { JobStore } from "../../src/jobs/job-store.ts";
import { type SavedVideo, SavedVideos } from "../../src/jobs/saved-videos.ts";
import { VideoFolder, type VideoFolderOptions } from "../../src/jobs/video-folder.ts";
import { createDownload, type DownloadLimits, type Lookup } from "../../src/service/download.ts";
import type { Job } from "../../src/service/answers.ts";
import { describeStatus } from "../../src/tools/get-video-status.ts";
import { temporaryFolder } from "../fixtures/folder.ts";

export const JOB_ID = "0f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c";
/** Of the job: what the file is named after. */
const CREATED_AT = "2026-11-20T23:59:59Z";
export const FILE_NAME = "faceless-2026-11-20-0f4b6f2e.mp4";

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
  readonly disk?: Partial<VideoFolderOptions>;
}

export interface Saving {
  readonly folder: string;
  readonly path: string;
  readonly saver: SavedVideos;
  /** Asks for the video and resolves when it is saved, or could not be. */
  save(): Promise<Outcome>;
  /** What is in the folder, by name: "the video", "folder", "link", or the content. */
  files(): Record<string, string>;
}

export interface Outcome {
  /** What the user is told, without the sentence with the link. */
  readonly said: string;
  readonly files: Record<string, string>;
}

/** Closed when the test is over. Without a pause between attempts unless the limits have one. */
export function saving(options: SavingOptions): Saving {
  const {
    link,
    folder = temporaryFolder(),
    baseUrl = "http://127.0.0.1",
    proxies = {},
    lookup,
    limits,
    disk,
  } = options;
  const store = new JobStore(systemClock);
  store.list([{ jobId: JOB_ID, status: "completed", createdAt: CREATED_AT, finalVideoUrl: link }], true);
  const job: Job = { jobId: JOB_ID, status: "completed", done: true, videoUrls: [], finalVideoUrl: link };
  store.put(job);
  const saver = new SavedVideos({
    folder: new VideoFolder({
      path: folder,
      pid: process.pid,
      isRunning: () => true,
      now: Date.now,
      ...disk,
    }),
    store,
    download: createDownload({
      service: { baseUrl: new URL(baseUrl), proxies },
      version: "1.2.3",
      limits: { pauseMs: 0, ...limits },
      ...(lookup !== undefined && { lookup }),
    }),
    watch: () => () => {},
    lookUpLinks: async () => {},
    clock: systemClock,
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  });
  onTestFinished(() => saver.close());
  const files = () => filesIn(folder);
  return {
    folder,
    path: join(folder, FILE_NAME),
    saver,
    files,
    async save() {
      saver.want(JOB_ID);
      let saved: SavedVideo | undefined = saver.stateOf(JOB_ID);
      while (saved === undefined || saved.state === "saving") {
        await nextTurn();
        saved = saver.stateOf(JOB_ID);
      }
      const { summary } = describeStatus(job, {
        ageMs: undefined,
        canPublish: false,
        publishedTo: [],
        saved,
      });
      return { said: summary.replace(`Your video is ready: ${link} `, ""), files: files() };
    },
  };
}

/** Empty where no folder is. A file that goes meanwhile is left out. */
export function filesIn(folder: string): Record<string, string> {
  if (!existsSync(folder) || !lstatSync(folder).isDirectory()) return {};
  return Object.fromEntries(
    readdirSync(folder).flatMap((name) => {
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
