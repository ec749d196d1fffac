// A task is a job under the job's own id: the job book has its state, which the poller keeps fresh. This
// file keeps which jobs a client follows or has cancelled. Knows no method of either protocol.

import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { JOB_ID, jobIdFrom, jobUri } from "../../service/job.ts";
import { type BridgeError, toBridgeError } from "../../errors.ts";
import { hasEnded, lastState, startedAtMs } from "../../jobs/job-record.ts";
import { describe } from "../../tools/describe.ts";
import type { Application } from "../application.ts";
import { waitWithProgress } from "../progress.ts";
import { describeJob } from "../resources.ts";
import { protocolError, successResult } from "../tools.ts";

/** A task, as far as both protocols have the same words for it. */
export interface Task {
  readonly taskId: string;
  readonly status: "working" | "completed" | "cancelled";
  readonly statusMessage: string;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
}

/** A client's request, as far as the wait for a task needs it. */
type McpRequest = Pick<ServerContext["mcpReq"], "_meta" | "notify" | "signal">;

const CANCELLED =
  "Nothing waits for this video any more. Its render goes on and was paid for: get_video_status shows it, and it need not be generated again.";

export class JobTasks {
  readonly #application: Application;
  /** Ends the polling of each job, by its id. A task that was cancelled so stays that, whatever its job does. */
  readonly #followed = new Map<string, AbortController>();

  constructor(application: Application) {
    this.#application = application;
  }

  /** The task of a job that generate_video has just named; undefined if the job has ended. */
  start(jobId: string): Task | undefined {
    if (hasEnded(this.#application.jobs.get(jobId))) return undefined;
    this.#follow(jobId);
    return this.get(jobId);
  }

  /** Brings a task up to date, and has its job polled from now on. Throws a ProtocolError if that fails. */
  async refresh(id: string, signal: AbortSignal): Promise<Task> {
    if (!JOB_ID.test(id)) throw unknownTask(id);
    const taskId = jobIdFrom(id);
    const { jobs, reader } = this.#application;
    const { state: known } = jobs.get(taskId);
    try {
      // Asks once for what this process has not seen, as after a restart, and for a finished video's link.
      if (known?.done !== false) await reader.readRecent(taskId, Infinity, { background: false, signal });
    } catch (error) {
      if (known?.done !== true) throw this.#protocolError(taskId, toBridgeError(error, "rejected"));
    }
    this.#follow(taskId);
    return this.get(taskId);
  }

  /** How the task stands, as far as this process knows. */
  get(taskId: string): Task {
    const { jobs, config, clock } = this.#application;
    const record = jobs.get(taskId);
    const { updatedAtMs = startedAtMs(record), followingEnded } = record;
    const { done } = lastState(record);
    const nowMs = clock.now();
    const common = {
      taskId,
      createdAt: new Date(startedAtMs(record) ?? updatedAtMs ?? nowMs).toISOString(),
      lastUpdatedAt: new Date(updatedAtMs ?? nowMs).toISOString(),
    };
    if (this.#followed.get(taskId)?.signal.aborted === true)
      return { ...common, status: "cancelled", statusMessage: CANCELLED };
    // A job that is no longer polled would be "working" for ever. The task's result says why it ended.
    if (!done && followingEnded !== undefined)
      return { ...common, status: "completed", statusMessage: followingEnded };
    return {
      ...common,
      status: done ? "completed" : "working",
      statusMessage: describe({ ...record, posts: [] }, { config, nowMs }).summary,
    };
  }

  /** Answers as get_video_status does, with the field that generate_video's output schema adds. */
  async result(taskId: string): Promise<CallToolResult> {
    const state = await describeJob(taskId, this.#application);
    return successResult({ ...state, resourceUri: jobUri(taskId) });
  }

  /** Resolves when the task has ended, or by the request's signal. Reports progress to the request. */
  async untilEnded(taskId: string, request: McpRequest): Promise<void> {
    const cancellation = this.#followed.get(taskId)?.signal;
    await waitWithProgress(this.#application, request, {
      job: lastState(this.#application.jobs.get(taskId)),
      // The poller ends it in any case.
      forMs: Infinity,
      signal: cancellation === undefined ? request.signal : AbortSignal.any([request.signal, cancellation]),
    });
  }

  /** Ends the waiting for the job, unless the task has ended. The job goes on. */
  cancel(taskId: string): void {
    if (this.get(taskId).status === "working") this.#followed.get(taskId)?.abort();
  }

  /** Ends all waiting. */
  close(): void {
    for (const followed of this.#followed.values()) followed.abort();
    this.#followed.clear();
  }

  /** Has the job polled. A job that has ended is not. */
  #follow(jobId: string): void {
    if (this.#followed.has(jobId)) return;
    const followed = new AbortController();
    followed.signal.addEventListener("abort", this.#application.poller.follow(jobId));
    this.#followed.set(jobId, followed);
  }

  #protocolError(taskId: string, failure: BridgeError): ProtocolError {
    if (failure.facts.code === "not_found" && !failure.facts.retryable) return unknownTask(taskId);
    this.#application.log.info(`Task ${taskId}: ${failure.message}`, failure.cause);
    return protocolError(failure, this.#application.clock.now());
  }
}

function unknownTask(taskId: string): ProtocolError {
  const message = `There is no task ${JSON.stringify(taskId.slice(0, 100))}.`;
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
