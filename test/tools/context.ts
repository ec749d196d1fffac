// What a tool is given, with everything but paid and public requests left out: for tests of one tool at a time.

import { systemClock } from "../../src/jobs/clock.ts";
import { JobStore } from "../../src/jobs/job-store.ts";
import type { SendOnce } from "../../src/once/send-once.ts";
import type { Job } from "../../src/service/answers.ts";
import { type Question, runTool, type Tool, type ToolContext } from "../../src/tools/tool.ts";

const notUsed = () => Promise.reject(new Error("This tool must not use that."));

export interface ToolBench {
  readonly context: ToolContext;
  readonly jobs: JobStore;
  /** What the user was asked; they agree to everything. */
  readonly questions: Question[];
  call(args: unknown): Promise<Readonly<Record<string, unknown>>>;
}

/** A reader that sends a request for every read. */
export function readerOf(read: () => Promise<Job>): ToolContext["reader"] {
  return { read, readRecent: read };
}

export function benchFor(tool: Tool, once: SendOnce, more: Partial<ToolContext> = {}): ToolBench {
  const questions: Question[] = [];
  const jobs = new JobStore(systemClock);
  const context: ToolContext = {
    service: { listVideos: notUsed, listConnectedPlatforms: notUsed },
    jobs,
    reader: readerOf(notUsed),
    once,
    savedVideos: { want: () => {}, refresh: async () => {}, stateOf: () => undefined },
    signal: new AbortController().signal,
    canPublish: true,
    isSandbox: false,
    history: async () => new Map(),
    lookAtJob: async () => undefined,
    waitForEnd: notUsed,
    askUser: async (question) => void questions.push(await question()),
    ...more,
  };
  return { context, jobs, questions, call: (args) => runTool(tool, args, context) };
}
