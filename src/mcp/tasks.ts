// generate_video as a task in both protocols: the extension of 2026-07-28 and the experimental tasks
// of 2025-11-25. A task is a job under the job's own id: the job book has its state, which the poller keeps fresh.

import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type McpServer,
  MissingRequiredClientCapabilityError,
  type ProtocolEra,
  RELATED_TASK_META_KEY,
  type Result,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import { hasEnded, lastState, startedAtMs } from "../jobs/job-record.ts";
import { JOB_ID, jobIdFrom, jobUri } from "../service/job.ts";
import { textFor } from "../sentences.ts";
import { describeJob } from "../tools/describe.ts";
import type { Application } from "./application.ts";
import type { ConnectedClient, McpRequest } from "./connected-client.ts";
import { Progress, waitWithProgress } from "./progress.ts";
import { jobFields } from "./resources.ts";
import { invalidParams, readError, successResult } from "./results.ts";
import { TASKS_EXTENSION } from "./server.ts";
import { valueAt } from "../value-at.ts";

/** The fields of a task that have the same names in both protocols. */
type Task = Readonly<
  Record<"taskId" | "statusMessage" | "createdAt" | "lastUpdatedAt", string> & {
    status: "working" | "completed" | "cancelled";
  }
>;

/** The answers come from the job book, so a client may ask more often than the service is polled. */
const POLL_INTERVAL_MS = 2_000;
const CANCELLED =
  "Nothing waits for this video any more. Its render goes on and was paid for: get_video_status shows it, and it need not be generated again.";

/** The tasks of one connection. */
export class Tasks {
  readonly #application: Application;
  /** Ends the polling of each job, by its id. A task that was cancelled this way stays cancelled, whatever its job does. */
  readonly #followed = new Map<string, AbortController>();
  readonly #client: ConnectedClient;

  constructor(application: Application, client: ConnectedClient) {
    this.#application = application;
    this.#client = client;
  }

  /** Serves tasks/… on a server of this connection, if its client may use them. */
  attach({ server }: McpServer, era: ProtocolEra): void {
    const isModern = era === "modern";
    if (this.#application.config.readOnly || !(isModern || this.#client.hasLegacyTasks)) return;
    const params = z.looseObject({ taskId: z.string() });
    /** Answers with what it returns for the task as it is now. */
    const serve = (method: string, answer: (task: Task, request: McpRequest) => Result | Promise<Result>) =>
      server.setRequestHandler(`tasks/${method}`, { params }, async ({ taskId }, { mcpReq }) => {
        if (isModern && !declaresExtension(mcpReq))
          throw new MissingRequiredClientCapabilityError(
            { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
            `This method is for clients that declare the extension ${TASKS_EXTENSION} with the request.`,
          );
        return answer(await this.#refresh(taskId, mcpReq.signal), mcpReq);
      });
    serve("get", async (task) => ({
      ...onWire(task, isModern),
      ...(isModern && task.status === "completed" && { result: await this.#result(task.taskId) }),
    }));
    serve("cancel", ({ taskId, status }) => {
      if (status === "working") this.#followed.get(taskId)?.abort();
      else if (!isModern) throw invalidParams(`The task can't be cancelled: it is ${status}.`);
      return onWire(this.#taskOf(taskId), isModern);
    });
    // No task ever asks for input.
    if (isModern) serve("update", () => ({}));
    else
      serve("result", async ({ taskId }, request) => {
        await this.#untilEnded(taskId, request, new Progress(request));
        return { ...(await this.#result(taskId)), _meta: { [RELATED_TASK_META_KEY]: { taskId } } };
      });
  }

  /**
   * The answer to a call that has started a job: a task if the client takes one and the job has not ended. A legacy
   * client requests one with the call.
   */
  answer(
    structured: Readonly<Record<string, unknown>>,
    request: McpRequest,
    progress: Progress,
    isRequested: boolean,
  ): CallToolResult {
    const result = successResult(structured);
    const jobId = String(structured["jobId"]);
    const isModern = request.envelope !== undefined;
    const isTask = isModern ? declaresExtension(request) : this.#client.hasLegacyTasks && isRequested;
    if (!isTask || hasEnded(this.#application.jobs.get(jobId))) return result;
    this.#follow(jobId);
    const task = onWire(this.#taskOf(jobId), isModern);
    // A legacy call's progress token is good until its task ends. The extension knows no progress of tasks.
    if (!isModern && request._meta?.progressToken !== undefined)
      void this.#untilEnded(jobId, request, progress);
    // The SDK wants the usual result beside the task, since the tool has an output schema.
    return isModern ? { ...result, resultType: "task", ...task } : { ...result, task };
  }

  /** Ends all waiting. */
  close(): void {
    for (const followed of this.#followed.values()) followed.abort();
    this.#followed.clear();
  }

  /** Brings a task up to date, and has its job polled from now on. Throws a ProtocolError if that fails. */
  async #refresh(id: string, signal: AbortSignal): Promise<Task> {
    const unknown = invalidParams(`There is no task ${JSON.stringify(id.slice(0, 100))}.`);
    if (!JOB_ID.test(id)) throw unknown;
    const taskId = jobIdFrom(id);
    const { jobs, reader } = this.#application;
    const isDone = jobs.get(taskId).state?.done;
    // Asks once for what this process has not seen, as after a restart, and for a finished video's link.
    if (isDone !== false)
      await reader.readRecent(taskId, Infinity, signal).catch((error: unknown) => {
        if (isDone !== true) throw readError(error, unknown, this.#application);
      });
    this.#follow(taskId);
    return this.#taskOf(taskId);
  }

  /** The task's state, as far as this process knows. */
  #taskOf(taskId: string): Task {
    const { jobs, config, clock } = this.#application;
    const record = jobs.get(taskId);
    const nowMs = clock.now();
    const { updatedAtMs = startedAtMs(record) ?? nowMs, followingEnded } = record;
    const { done } = lastState(record);
    const isCancelled = this.#followed.get(taskId)?.signal.aborted === true;
    // A job that is no longer polled would be "working" for ever. The task's result says why it ended.
    const reason = isCancelled ? CANCELLED : done ? undefined : followingEnded;
    const summary = () => describeJob({ ...record, posts: [] }, { config, nowMs }).summary;
    return {
      taskId,
      status: isCancelled ? "cancelled" : done || reason !== undefined ? "completed" : "working",
      statusMessage: reason ?? textFor("model", summary()),
      createdAt: new Date(startedAtMs(record) ?? updatedAtMs).toISOString(),
      lastUpdatedAt: new Date(updatedAtMs).toISOString(),
    };
  }

  /** Answers as get_video_status does, with the field that generate_video's output schema adds. */
  async #result(taskId: string): Promise<CallToolResult> {
    return successResult({ ...(await jobFields(taskId, this.#application)), resourceUri: jobUri(taskId) });
  }

  /** Resolves when the task has ended, or by the request's signal. Reports progress to the request. */
  async #untilEnded(taskId: string, { signal }: McpRequest, progress: Progress): Promise<void> {
    await waitWithProgress(this.#application, progress, {
      job: lastState(this.#application.jobs.get(taskId)),
      // The poller ends it in any case.
      forMs: Infinity,
      signal: AbortSignal.any([signal, this.#follow(taskId)]),
    });
  }

  /** Polls the job, unless it has ended. The signal fires when its task is cancelled. */
  #follow(jobId: string): AbortSignal {
    const known = this.#followed.get(jobId);
    if (known !== undefined) return known.signal;
    const followed = new AbortController();
    followed.signal.addEventListener("abort", this.#application.poller.follow(jobId));
    this.#followed.set(jobId, followed);
    return followed.signal;
  }
}

/** A task with the names of its protocol. */
function onWire(task: Task, isModern: boolean) {
  return isModern
    ? { ...task, ttlMs: null, pollIntervalMs: POLL_INTERVAL_MS }
    : { ...task, ttl: null, pollInterval: POLL_INTERVAL_MS };
}

function declaresExtension({ envelope }: McpRequest): boolean {
  return valueAt(envelope, CLIENT_CAPABILITIES_META_KEY, "extensions", TASKS_EXTENSION) !== undefined;
}
