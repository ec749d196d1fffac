// generate_video as a task in the words of both protocols: the extension of 2026-07-28 and the experimental
// tasks of 2025-11-25. job-tasks.ts knows what a task is and how it stands.

import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type McpServer,
  MissingRequiredClientCapabilityError,
  type ProtocolEra,
  ProtocolError,
  ProtocolErrorCode,
  RELATED_TASK_META_KEY,
  type Result,
  type ServerContext,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import type { Tool } from "../../tools/tool.ts";
import { successResult, TASK_REQUESTED } from "../tools.ts";
import type { Hook } from "../transport.ts";
import { valueAt } from "../value-at.ts";
import type { Application } from "../application.ts";
import { JobTasks, type Task } from "./job-tasks.ts";

type McpRequest = Pick<ServerContext["mcpReq"], "envelope" | "_meta" | "notify" | "signal">;

const EXTENSION = "io.modelcontextprotocol/tasks";
/** The answers come from the job store, so a client may ask more often than the service is polled. */
const POLL_INTERVAL_MS = 2_000;
/** Both protocols say this in words of their own. */
const MODERN = { ttlMs: null, pollIntervalMs: POLL_INTERVAL_MS };
const LEGACY = { ttl: null, pollInterval: POLL_INTERVAL_MS };

/** The tasks of one connection. */
export class Tasks {
  readonly #jobTasks: JobTasks;
  readonly #application: Application;
  /** A legacy client declares tasks once, at initialize; a modern one with each request. */
  #legacyClientHasTasks = false;

  constructor(application: Application) {
    this.#application = application;
    this.#jobTasks = new JobTasks(application);
  }

  /** Hooks for the transport. The key is the method. */
  readonly hooks: Readonly<Record<string, Hook>> = {
    initialize: {
      inbound: (message) => {
        this.#legacyClientHasTasks = valueAt(message, "params", "capabilities", "tasks") !== undefined;
        return undefined;
      },
    },
  };

  /** True if a client of this version of the protocol may call a tool as a task. */
  areOffered(era: ProtocolEra): boolean {
    return !this.#application.config.readOnly && (era === "modern" || this.#legacyClientHasTasks);
  }

  /** True if tools/list says that a call of the tool may be a task; only the legacy protocol does. */
  isOptionalFor({ startsJob }: Tool): boolean {
    return this.#legacyClientHasTasks && startsJob === true;
  }

  /** Serves tasks/… on a server of this connection, and declares them. */
  attach(server: McpServer, era: ProtocolEra): void {
    if (!this.areOffered(era)) return;
    if (era === "modern") this.#attachModern(server);
    else this.#attachLegacy(server);
  }

  /** The answer to a call that has started a job: a task if the client takes one. */
  answer(structured: Readonly<Record<string, unknown>>, request: McpRequest): CallToolResult {
    const result = successResult(structured);
    const { jobId } = structured;
    if (typeof jobId !== "string") return result;
    const isModern = request.envelope !== undefined;
    if (isModern ? !declaresExtension(request) : valueAt(request, "_meta", TASK_REQUESTED) === undefined)
      return result;
    const task = this.#jobTasks.start(jobId);
    if (task === undefined) return result;
    // A legacy call's progress token is good until its task ends. The extension knows no progress of tasks.
    if (!isModern && request._meta?.progressToken !== undefined)
      void this.#jobTasks.untilEnded(jobId, request);
    // The SDK wants the usual result beside the task, since the tool has an output schema.
    return isModern
      ? { ...result, resultType: "task", ...task, ...MODERN }
      : { ...result, task: { ...task, ...LEGACY } };
  }

  close(): void {
    this.#jobTasks.close();
  }

  /** tasks/result and tasks/list are not in the extension: the SDK refuses them. */
  #attachModern({ server }: McpServer): void {
    const tasks = this.#jobTasks;
    server.registerCapabilities({ extensions: { [EXTENSION]: {} } });
    const serve = this.#servesOn(server, requireExtension);
    serve("tasks/get", async (task) => ({
      ...task,
      ...MODERN,
      ...(task.status === "completed" && { result: await tasks.result(task.taskId) }),
    }));
    serve("tasks/cancel", ({ taskId }) => {
      tasks.cancel(taskId);
      return { statusMessage: tasks.get(taskId).statusMessage };
    });
    // No task ever asks for input.
    serve("tasks/update", () => ({}));
  }

  #attachLegacy({ server }: McpServer): void {
    const tasks = this.#jobTasks;
    server.registerCapabilities({ tasks: { cancel: {}, requests: { tools: { call: {} } } } });
    const serve = this.#servesOn(server);
    serve("tasks/get", (task) => ({ ...task, ...LEGACY }));
    serve("tasks/result", async ({ taskId }, request) => {
      await tasks.untilEnded(taskId, request);
      return { ...(await tasks.result(taskId)), _meta: { [RELATED_TASK_META_KEY]: { taskId } } };
    });
    serve("tasks/cancel", ({ taskId, status }) => {
      if (status !== "working")
        throw new ProtocolError(
          ProtocolErrorCode.InvalidParams,
          `The task can't be cancelled: it is ${status}.`,
        );
      tasks.cancel(taskId);
      return { ...tasks.get(taskId), ...LEGACY };
    });
  }

  /** Serves methods that name a task. `answer` gets it brought up to date, if the request is allowed. */
  #servesOn(server: McpServer["server"], check: (request: McpRequest) => void = () => {}) {
    const params = z.looseObject({ taskId: z.string() });
    return (method: string, answer: (task: Task, request: McpRequest) => Result | Promise<Result>) =>
      server.setRequestHandler(method, { params }, async ({ taskId }, { mcpReq }) => {
        check(mcpReq);
        return answer(await this.#jobTasks.refresh(taskId, mcpReq.signal), mcpReq);
      });
  }
}

function declaresExtension({ envelope }: McpRequest): boolean {
  return valueAt(envelope, CLIENT_CAPABILITIES_META_KEY, "extensions", EXTENSION) !== undefined;
}

function requireExtension(request: McpRequest): void {
  if (declaresExtension(request)) return;
  throw new MissingRequiredClientCapabilityError(
    { requiredCapabilities: { extensions: { [EXTENSION]: {} } } },
    `This method is for clients that declare the extension ${EXTENSION} with the request.`,
  );
}
