// The tools in this process, for commands that call them without a client.

import { once, setMaxListeners } from "node:events";
import type * as z from "zod";
import { pause } from "../clock.ts";
import type { Config } from "../config.ts";
import { BridgeError, mayPass, toBridgeError } from "../errors.ts";
import { lastStatus } from "../jobs/job-record.ts";
import { openLog } from "../log.ts";
import { stateOf } from "../service/job.ts";
import { notConfiguredError } from "../service/client.ts";
import { createRedact } from "../redact.ts";
import { inSentences } from "../sentences.ts";
import type { Job } from "../service/responses.ts";
import { describeProgress } from "../tools/describe.ts";
import { getVideoStatus } from "../tools/get-video-status.ts";
import { USUAL_WAIT_SECONDS } from "../tools/listing.ts";
import type { Question } from "../tools/question.ts";
import { describeUnrecorded, runTool, type Tool, type ToolContext, type ToolResult } from "../tools/tool.ts";
import { VERSION } from "../version.ts";
import { openApplication, type OpenOptions } from "./create-application.ts";
import type { Host } from "./host.ts";
import type { TerminalUi } from "./terminal-ui.ts";

export type LocalTools = ReturnType<typeof openTools>;

interface LocalOptions extends Pick<OpenOptions, "onWait"> {
  readonly askUser: ToolContext["askUser"];
  /** Gets the id of each job that is started. */
  readonly onStarted?: (jobId: string) => void;
}

/** The pause after a failed read, or after the poller has given up a job. */
const RETRY_PAUSE_MS = 10_000;
const MAX_WAIT_MS = 15 * 60_000;

/** The failed read of an ordered job. Its state isn't known, and the same call reads it again. */
export function afterOrder({ facts, cause }: BridgeError): BridgeError {
  const { failsAgain: _, ...others } = facts;
  return new BridgeError({ ...others, outcome: "unknown", retryable: true }, cause);
}

export function exitCodeOf({ facts: { code, outcome } }: BridgeError): number {
  if (code === "invalid_input") return 2;
  return outcome === "unknown" ? 3 : 1;
}

/** `command`: its name. `ui`: shows the progress of a job that is followed. */
export function openTools(
  command: string,
  config: Config,
  { clock, errors, interrupted: signal, interruptedAgain: leave }: Host,
  ui: TerminalUi,
  { askUser, onWait, onStarted = () => {} }: LocalOptions,
) {
  const application = openApplication(
    config,
    clock,
    openLog(config, (line) => errors.write(line)),
    { onWait, leave },
  );
  const { jobs, videoSaver, waitForEnd, publishOnce } = application;
  const redact = createRedact(config.service?.apiKey);
  jobs.on("start", onStarted);
  // Each job that is followed listens.
  setMaxListeners(0, signal);
  const isInterrupted = once(signal, "abort");
  /** The platforms of the last post that the service's answer did not mention. */
  let missingResults: readonly string[] = [];
  const context: ToolContext = {
    ...application,
    signal,
    askUser,
    client: `faceless-video-mcp ${command} ${VERSION}`,
    maxWaitSeconds: USUAL_WAIT_SECONDS,
    waitForEnd: (job, forMs) => waitForEnd({ job, forMs, signal, onChange() {} }),
    publishOnce: {
      async run(...request) {
        const published = await publishOnce.run(...request);
        missingResults = published.missingResults;
        return published;
      },
    },
    // A file is written in the background, which ends with this process, so the call waits until the file is complete.
    videoSaver: {
      async refresh(jobIds, patienceMs = 0) {
        const isSaved = videoSaver.refresh(jobIds, patienceMs > 0 ? Infinity : 0);
        await Promise.race([isSaved, isInterrupted]);
      },
    },
  };
  const showProgress = (job: Job) => {
    const { completed = 0, failed = 0, total = 0 } = job.progress ?? {};
    ui.progress(completed + failed, total, describeProgress(job));
  };
  /** Throws a BridgeError for bad input, and whatever the tool throws. */
  const run = async <Output extends z.ZodObject>(
    tool: Tool<z.ZodObject, Output>,
    args: object,
    changes: Partial<ToolContext> = {},
  ) => {
    await jobs.restore();
    // The key must not be cut with what quotes an argument.
    const given: unknown = JSON.parse(redact(JSON.stringify(args)));
    return runTool(tool, given, { ...context, ...changes });
  };
  /** True if nobody knows whether the service has the final video's link: the look for it failed. */
  const isLinkUnread = ({ jobId, finalVideoUrl }: Job) =>
    finalVideoUrl === undefined && jobs.get(jobId).isLinkUnread === true;
  return {
    run,
    finishPaidRequests: application.finishPaidRequests,
    guard: application.guard,
    unrecorded: application.unrecorded,
    /** Undefined if the finished video is saved as it should be. `explained`: the result says why it isn't. */
    unsaved(jobId: unknown): "explained" | "unexplained" | undefined {
      if (config.saveDir === undefined || typeof jobId !== "string") return undefined;
      const record = jobs.get(jobId);
      const { saved } = record;
      const isReady = stateOf(lastStatus(record) ?? "") === "ready";
      // One that the user has removed is not saved again.
      if (!isReady || saved?.state === "saved" || saved?.state === "removed") return undefined;
      return saved?.state === "failed" ? "explained" : "unexplained";
    },
    /** The result of an earlier order, or the question about one that can be sent. Sends nothing. */
    async check(
      tool: Tool,
      args: object,
    ): Promise<{ readonly result: ToolResult } | { readonly question: Question }> {
      if (config.problems.length > 0) throw notConfiguredError(config.problems);
      let question: Question | undefined;
      const noteQuestion: ToolContext["askUser"] = async (describe) => {
        question = await describe();
        return "agreed";
      };
      const generateOnce: ToolContext["generateOnce"] = {
        run: (order, options) => application.generateOnce.run(order, { ...options, onlyChecks: true }),
      };
      try {
        return { result: await run(tool, args, { askUser: noteQuestion, generateOnce }) };
      } catch (error) {
        if (question === undefined) throw error;
        return { question };
      }
    },
    /**
     * Follows the job, in spite of failed reads, until it has ended and its link was looked up, the time is over
     * or the signal fires.
     */
    async follow(jobId: unknown, forMs = MAX_WAIT_MS, onChange = showProgress) {
      const endsMs = clock.monotonicMs() + forMs;
      const leftMs = () => endsMs - clock.monotonicMs();
      const isOver = () => signal.aborted || leftMs() <= 0;
      for (;;) {
        const waitAndShow: ToolContext["waitForEnd"] = (job) => {
          onChange(job);
          return waitForEnd({ job, forMs: leftMs(), signal, onChange });
        };
        const look = run(getVideoStatus, { jobId, waitSeconds: 1 }, { waitForEnd: waitAndShow });
        const result = await look.catch((error: unknown) => {
          if (isOver() || !mayPass(error)) throw error;
        });
        const hasEnded = result?.fields.done === true && !isLinkUnread(result.fields);
        if (result !== undefined && (hasEnded || isOver())) return result;
        await pause(clock, Math.min(RETRY_PAUSE_MS, leftMs()), signal);
      }
    },
    /** The end of the order's job if `waits` is true. The order itself once the signal fires. */
    async followed(order: ToolResult, waits: boolean, onChange?: (job: Job) => void): Promise<ToolResult> {
      const { jobId, done, alreadyStarted } = order.fields;
      if (!waits || done === true) return order;
      const ended = await this.follow(jobId, MAX_WAIT_MS, onChange).catch((error: unknown) => {
        if (!signal.aborted) throw afterOrder(toBridgeError(error, "unknown"));
      });
      if (ended === undefined) return order;
      const summary = inSentences(ended.summary, describeUnrecorded(application.unrecorded()));
      return {
        ...ended,
        summary,
        fields: { ...ended.fields, ...(alreadyStarted === true && { alreadyStarted }) },
      };
    },
    exitCodeOf({ jobId, status, done, results }: ToolResult["fields"], waits: boolean): number {
      if (stateOf(String(status)) === "refunded" || this.unsaved(jobId) !== undefined) return 1;
      if ((waits && done !== true) || missingResults.length > 0) return 3;
      const hasFailed = Array.isArray(results) && results.some(({ ok }: { ok?: unknown }) => ok !== true);
      return hasFailed ? 1 : 0;
    },
  };
}
