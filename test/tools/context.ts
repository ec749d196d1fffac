// What a tool is given, for tests of one tool: the real guard of one process and nothing else.

import { systemClock } from "../../src/clock.ts";
import { readFacts } from "../../src/idempotency/same-request.ts";
import { JobBook } from "../../src/jobs/job-book.ts";
import type { JobRecord } from "../../src/jobs/job-record.ts";
import type { Job } from "../../src/service/responses.ts";
import { type Question, runTool, type Tool, type ToolContext } from "../../src/tools/tool.ts";
import { Computer } from "../idempotency/computer.ts";

const notUsed = () => Promise.reject(new Error("This tool must not use that."));

export interface ToolHarness {
  readonly computer: Computer;
  readonly context: ToolContext;
  readonly jobs: JobBook;
  /** What the user was asked; they agree to everything. */
  readonly questions: Question[];
  call(args: unknown): Promise<Readonly<Record<string, unknown>>>;
}

/** A reader that sends a request for every read. */
export function readerOf(read: () => Promise<Job>): ToolContext["reader"] {
  return {
    read,
    readRecent: read,
    tryRead: async () => undefined,
    explainNotFound: async (_, error) => error,
  };
}

/** The journal's part of what is known of a job, besides what is in it. */
export function journalOf(jobs: JobBook, jobId: string, part: Pick<JobRecord, "order" | "posts">): void {
  const read = jobs.get.bind(jobs);
  jobs.get = (wanted) => ({ ...read(wanted), ...(wanted === jobId && part) });
}

type Changes = Omit<Partial<ToolContext>, "service"> & {
  /** The operations that the tool may use. */
  readonly service?: Partial<ToolContext["service"]>;
};

export function createHarness(tool: Tool, { service, ...more }: Changes = {}): ToolHarness {
  const questions: Question[] = [];
  const computer = new Computer();
  const clock = {
    ...systemClock,
    now: () => computer.clock.epochMs,
    monotonicMs: () => computer.clock.machineMs,
  };
  const jobs: JobBook = new JobBook({
    clock,
    log: { info() {} },
    readJournal: async () => readFacts(await process.journal.entries(), 0),
  });
  const process = computer.process({ jobs });
  const context: ToolContext = {
    config: {
      sandbox: false,
      sandboxSeconds: 20,
      readOnly: false,
      noPublish: false,
      confirmGenerate: "off",
      confirmPublish: "on",
      problems: [],
      saveDir: "/videos",
    },
    service: { listVideos: notUsed, listConnectedPlatforms: notUsed, ...service },
    jobs,
    reader: readerOf(notUsed),
    generateOnce: process.generateOnce,
    publishOnce: process.publishOnce,
    videoSaver: { refresh: async () => {} },
    signal: new AbortController().signal,
    clock,
    client: "test-client 1.0.0",
    maxWaitSeconds: 50,
    waitForEnd: notUsed,
    askUser: async (question) => questions.push(await question()) > 0,
    ...more,
  };
  return { computer, context, jobs, questions, call: (args) => runTool(tool, args, context) };
}
