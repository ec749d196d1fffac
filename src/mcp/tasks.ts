// generate_video as a task, in both protocols that know tasks: the extension of 2026-07-28 and the experimental tasks of 2025-11-25. A
// task is a job under the job's own id: how it stands is in the job store, which the poller keeps fresh. Kept here is only which jobs a
// client waits for, or has cancelled waiting for.

import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type JSONRPCMessage,
  type McpServer,
  MissingRequiredClientCapabilityError,
  type ProtocolEra,
  ProtocolError,
  ProtocolErrorCode,
  RELATED_TASK_META_KEY,
  type ServerContext,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import { type BridgeError, describeFailure, toBridgeError } from "../errors.ts";
import type { Unsubscribe } from "../jobs/emitter.ts";
import type { KnownJob } from "../jobs/job-store.ts";
import type { Job } from "../service/schemas.ts";
import { isJobId } from "../tools/arguments.ts";
import { generateVideo } from "../tools/generate-video.ts";
import { describeStatus } from "../tools/get-video-status.ts";
import type { Application } from "./application.ts";
import { describeKnownJob } from "./resources.ts";
import { errorMeta, successResult } from "./tool-result.ts";

type McpRequest = Pick<ServerContext["mcpReq"], "envelope" | "_meta">;

/** A task, as far as both protocols have the same words for it. */
interface Task {
  readonly taskId: string;
  readonly status: "working" | "completed" | "cancelled";
  readonly statusMessage: string;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
}

/** A client's waiting for a job. */
interface Wait {
  readonly unwatch: Unsubscribe;
  /** Aborted by tasks/cancel. The task stays cancelled then, whatever becomes of its job. */
  readonly cancellation: AbortController;
}

const EXTENSION = "io.modelcontextprotocol/tasks";
/** The answers come from the job store, so a client may ask more often than the service is polled. */
const POLL_INTERVAL_MS = 2_000;
const PAGE_SIZE = 100;
/** Marks a legacy call that asks for a task: the SDK shows a tool the `_meta` of its call, but not its `task`. */
const TASK_REQUESTED = "faceless/task-requested";
const CANCELLED =
  "Nothing waits for this video any more. Its render goes on and was paid for: get_video_status shows it, and it need not be generated again.";

/** What tasks need of the application. */
export type TasksOptions = Pick<
  Application,
  | "jobs"
  | "reader"
  | "poller"
  | "savedVideos"
  | "waitForEnd"
  | "recallJobs"
  | "history"
  | "canPublish"
  | "log"
> & { readonly config: Pick<Application["config"], "readOnly" | "sandbox"> };

/** The tasks of one connection. */
export class Tasks {
  readonly #application: TasksOptions;
  /** By job. */
  readonly #waits = new Map<string, Wait>();
  /** A legacy client declares tasks once, at initialize; a modern one with each request. */
  #legacyClientHasTasks = false;

  constructor(application: TasksOptions) {
    this.#application = application;
  }

  /** Sees each message of the client before the SDK, and returns the one that the SDK gets. */
  onInbound(message: JSONRPCMessage): JSONRPCMessage {
    if (!("method" in message)) return message;
    const { method, params } = message;
    if (method === "initialize") this.#legacyClientHasTasks = has(params, "capabilities", "tasks");
    if (method !== "tools/call" || !this.#legacyClientHasTasks || !has(params, "task")) return message;
    return { ...message, params: { ...params, _meta: { ...params?._meta, [TASK_REQUESTED]: true } } };
  }

  /** Whether tools/list says that a call of the tool may be a task; only the legacy protocol does. */
  isOptionalFor(tool: string): boolean {
    return this.#legacyClientHasTasks && tool === generateVideo.name;
  }

  /** Serves tasks/… on a server of this connection, and declares them. */
  attach(server: McpServer, era: ProtocolEra): void {
    if (this.#application.config.readOnly) return;
    if (era === "modern") this.#attachModern(server);
    else if (this.#legacyClientHasTasks) this.#attachLegacy(server);
  }

  /** The answer to a call of a tool: a task where it was generate_video and the client takes one. */
  answer(tool: string, structured: Readonly<Record<string, unknown>>, request: McpRequest): CallToolResult {
    const result = successResult(structured);
    const { jobId } = structured;
    if (tool !== generateVideo.name || typeof jobId !== "string") return result;
    const isModern = request.envelope !== undefined;
    if (isModern ? !declaresExtension(request) : !has(request._meta, TASK_REQUESTED)) return result;
    // An earlier video that has ended is no work in progress, and its result says that nothing was started.
    if (this.#application.jobs.get(jobId)?.job?.done === true) return result;
    try {
      // The same call after a tasks/cancel waits again.
      if (this.#isCancelled(jobId)) this.#waits.delete(jobId);
      this.#wait(jobId);
    } catch (error) {
      // Too many jobs are watched. The video was started all the same.
      this.#application.log.info(`${jobId} is no task: ${toBridgeError(error, "not_sent").message}`);
      return result;
    }
    const task = this.#taskOf(jobId);
    return isModern
      ? { ...result, resultType: "task", ...inModernWords(task) }
      : { ...result, task: inLegacyWords(task) };
  }

  /** Ends all waiting of the connection. */
  close(): void {
    for (const { unwatch } of this.#waits.values()) unwatch();
    this.#waits.clear();
  }

  /** tasks/result and tasks/list are not in the extension: the SDK refuses them. */
  #attachModern({ server }: McpServer): void {
    server.registerCapabilities({ extensions: { [EXTENSION]: {} } });
    const params = z.looseObject({ taskId: z.string() });
    server.setRequestHandler("tasks/get", { params }, async ({ taskId }, { mcpReq }) => {
      requireExtension(mcpReq);
      await this.#look(taskId, mcpReq.signal);
      const task = this.#taskOf(taskId);
      return {
        ...inModernWords(task),
        ...(task.status === "completed" && { result: await this.#resultOf(taskId) }),
      };
    });
    server.setRequestHandler("tasks/cancel", { params }, async ({ taskId }, { mcpReq }) => {
      requireExtension(mcpReq);
      await this.#look(taskId, mcpReq.signal);
      this.#cancel(taskId);
      return this.#isCancelled(taskId) ? { statusMessage: CANCELLED } : {};
    });
    // No task ever asks for input.
    server.setRequestHandler("tasks/update", { params }, async ({ taskId }, { mcpReq }) => {
      requireExtension(mcpReq);
      await this.#look(taskId, mcpReq.signal);
      return {};
    });
  }

  #attachLegacy({ server }: McpServer): void {
    server.registerCapabilities({ tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } });
    const params = z.looseObject({ taskId: z.string() });
    server.setRequestHandler("tasks/get", { params }, async ({ taskId }, { mcpReq }) => {
      await this.#look(taskId, mcpReq.signal);
      return inLegacyWords(this.#taskOf(taskId));
    });
    server.setRequestHandler("tasks/result", { params }, async ({ taskId }, { mcpReq }) => {
      const job = await this.#look(taskId, mcpReq.signal);
      await this.#untilOver(job, mcpReq.signal);
      return { ...(await this.#resultOf(taskId)), _meta: { [RELATED_TASK_META_KEY]: { taskId } } };
    });
    server.setRequestHandler("tasks/cancel", { params }, async ({ taskId }, { mcpReq }) => {
      await this.#look(taskId, mcpReq.signal);
      const { status } = this.#taskOf(taskId);
      if (status !== "working") throw invalidParams(`The task can't be cancelled: it is ${status}.`);
      this.#cancel(taskId);
      return inLegacyWords(this.#taskOf(taskId));
    });
    const page = z.looseObject({ cursor: z.string().optional() });
    server.setRequestHandler("tasks/list", { params: page }, async ({ cursor = "0" }) => {
      await this.#application.recallJobs();
      if (!/^\d{1,9}$/.test(cursor)) throw invalidParams("There is no such cursor.");
      const end = Number(cursor) + PAGE_SIZE;
      const known = this.#application.jobs.recent(end + 1);
      return {
        tasks: known.slice(Number(cursor), end).map(({ jobId }) => inLegacyWords(this.#taskOf(jobId))),
        ...(known.length > end && { nextCursor: String(end) }),
      };
    });
  }

  /** The job of a task, which is waited for from now on. Throws a ProtocolError where there is none. */
  async #look(taskId: string, signal: AbortSignal): Promise<Job> {
    if (!isJobId(taskId)) throw unknownTask(taskId);
    const { jobs, reader, recallJobs } = this.#application;
    await recallJobs();
    const known = jobs.get(taskId)?.job;
    try {
      // Asks once for what this process has not seen yet, as after a restart, and for the link of a finished video.
      const job =
        known?.done === false
          ? known
          : await reader.readRecent(taskId, Infinity, { background: false, signal });
      this.#wait(taskId);
      return job;
    } catch (error) {
      if (known?.done === true) return known;
      throw this.#protocolError(taskId, toBridgeError(error, "rejected"));
    }
  }

  /** Has the job polled. A job that has ended is not. */
  #wait(jobId: string): void {
    if (this.#waits.has(jobId)) return;
    const { poller, savedVideos } = this.#application;
    this.#waits.set(jobId, { unwatch: poller.watch(jobId), cancellation: new AbortController() });
    savedVideos.want(jobId);
  }

  #cancel(taskId: string): void {
    const wait = this.#waits.get(taskId);
    if (wait === undefined || this.#taskOf(taskId).status !== "working") return;
    wait.unwatch();
    wait.cancellation.abort();
  }

  #isCancelled(taskId: string): boolean {
    return this.#waits.get(taskId)?.cancellation.signal.aborted === true;
  }

  async #untilOver(job: Job, signal: AbortSignal): Promise<void> {
    const { cancellation } = this.#waits.get(job.jobId) ?? {};
    await this.#application.waitForEnd({
      job,
      // The poller ends it in any case.
      forMs: Infinity,
      signal: cancellation === undefined ? signal : AbortSignal.any([signal, cancellation.signal]),
      onChange() {},
    });
  }

  #taskOf(taskId: string): Task {
    const { jobs, canPublish } = this.#application;
    const known = jobs.get(taskId);
    const job = lastSeen(taskId, known);
    const { createdAtMs, fetchedAtMs, watchEnded } = known ?? {};
    const seenMs = fetchedAtMs === undefined ? createdAtMs : Date.now() - (performance.now() - fetchedAtMs);
    const common = {
      taskId,
      createdAt: isoTime(createdAtMs ?? seenMs),
      lastUpdatedAt: isoTime(seenMs),
    };
    if (this.#isCancelled(taskId)) return { ...common, status: "cancelled", statusMessage: CANCELLED };
    // What is no longer polled would be "working" for ever. Its result says why.
    if (!job.done && watchEnded !== undefined)
      return { ...common, status: "completed", statusMessage: watchEnded };
    const facts = { ageMs: jobs.ageMs(taskId), canPublish, publishedTo: [], saved: undefined };
    return {
      ...common,
      status: job.done ? "completed" : "working",
      statusMessage: describeStatus(job, facts).summary,
    };
  }

  /** What get_video_status says of the job, with the field that generate_video's output schema wants beside that. */
  async #resultOf(taskId: string): Promise<CallToolResult> {
    const { jobs } = this.#application;
    const state = await describeKnownJob(lastSeen(taskId, jobs.get(taskId)), this.#application);
    return successResult({ ...state, resourceUri: jobs.uri(taskId) });
  }

  #protocolError(taskId: string, failure: BridgeError): ProtocolError {
    if (failure.facts.code === "not_found") return unknownTask(taskId);
    this.#application.log.info(`Task ${taskId}: ${failure.message}`, failure.cause);
    return new ProtocolError(ProtocolErrorCode.InternalError, describeFailure(failure, "reads"), {
      "faceless/error": errorMeta(failure),
    });
  }
}

function declaresExtension({ envelope }: McpRequest): boolean {
  return has(envelope, CLIENT_CAPABILITIES_META_KEY, "extensions", EXTENSION);
}

function requireExtension(request: McpRequest): void {
  if (declaresExtension(request)) return;
  throw new MissingRequiredClientCapabilityError(
    { requiredCapabilities: { extensions: { [EXTENSION]: {} } } },
    `tasks/… is for clients that declare the extension ${EXTENSION} with the request.`,
  );
}

function inModernWords(task: Task) {
  return { ...task, ttlMs: null, pollIntervalMs: POLL_INTERVAL_MS };
}

function inLegacyWords(task: Task) {
  return { ...task, ttl: null, pollInterval: POLL_INTERVAL_MS };
}

/** The job's last answer, or what else is known of its status. */
function lastSeen(jobId: string, known: KnownJob | undefined): Job {
  if (known?.job !== undefined) return known.job;
  const { status = "processing" } = known ?? {};
  return { jobId, status, done: status === "completed" || status === "failed", videoUrls: [] };
}

function isoTime(epochMs = Date.now()): string {
  return new Date(epochMs).toISOString();
}

function unknownTask(taskId: string): ProtocolError {
  return invalidParams(`There is no task ${JSON.stringify(taskId.slice(0, 100))}.`);
}

function invalidParams(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

/** Whether there is an object at the end of this path. */
function has(value: unknown, ...path: readonly string[]): boolean {
  let found = value;
  for (const name of path)
    found = typeof found === "object" && found !== null ? Reflect.get(found, name) : undefined;
  return found !== undefined && found !== null;
}
