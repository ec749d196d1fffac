// What a tool is given, for tests of one tool: the real guard of one process and nothing else.

import { systemClock } from "../../src/clock.ts";
import { JobStore } from "../../src/jobs/job-store.ts";
import { NOTHING_SAVED } from "../../src/saved-videos/saved-videos.ts";
import type { Job } from "../../src/service/responses.ts";
import { type Question, runTool, type Tool, type ToolContext } from "../../src/tools/tool.ts";
import { Computer } from "../idempotency/computer.ts";

const notUsed = () => Promise.reject(new Error("This tool must not use that."));

export interface ToolHarness {
  readonly computer: Computer;
  readonly context: ToolContext;
  readonly jobs: JobStore;
  /** What the user was asked; they agree to everything. */
  readonly questions: Question[];
  call(args: unknown): Promise<Readonly<Record<string, unknown>>>;
}

/** A reader that sends a request for every read. */
export function readerOf(read: () => Promise<Job>): ToolContext["reader"] {
  return { read, readRecent: read, isLinkUnread: () => false, explainNotFound: async (_, error) => error };
}

type Changes = Omit<Partial<ToolContext>, "service"> & {
  /** The operations that the tool may use. */
  readonly service?: Partial<ToolContext["service"]>;
};

export function createHarness(tool: Tool, { service, ...more }: Changes = {}): ToolHarness {
  const questions: Question[] = [];
  const jobs = new JobStore(systemClock);
  const computer = new Computer();
  const process = computer.process({ jobs });
  const context: ToolContext = {
    config: {
      sandbox: false,
      readOnly: false,
      confirmGenerate: "off",
      confirmPublish: "on",
      problems: [],
      saveDir: "/videos",
    },
    service: { listVideos: notUsed, listConnectedPlatforms: notUsed, ...service },
    jobs,
    reader: readerOf(notUsed),
    poller: { watchEnded: () => undefined },
    generateOnce: process.generateOnce,
    publishOnce: process.publishOnce,
    savedVideos: NOTHING_SAVED,
    signal: new AbortController().signal,
    clock: { after: systemClock.after, monotonicMs: () => computer.clock.machineMs },
    client: "test-client 1.0.0",
    canPublish: true,
    suggested: new Set(),
    history: async () => ({ jobs: new Map(), orders: [], nowMs: 0 }),
    tryReadJob: async () => undefined,
    waitForEnd: notUsed,
    askUser: async (question) => questions.push(await question()) > 0,
    ...more,
  };
  return { computer, context, jobs, questions, call: (args) => runTool(tool, args, context) };
}
