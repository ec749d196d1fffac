// The tools in this process, for commands that call them without a client.

import { type Clock, pause } from "../clock.ts";
import type { Config } from "../config.ts";
import { BridgeError } from "../errors.ts";
import { createLog } from "../log.ts";
import type { Application } from "../mcp/application.ts";
import { createRedact } from "../redact.ts";
import type { Job } from "../service/responses.ts";
import { stripUnsafeCharacters } from "../text.ts";
import { describeProgress } from "../tools/describe.ts";
import { getVideoStatus } from "../tools/get-video-status.ts";
import { runTool, USUAL_WAIT_SECONDS, type Tool, type ToolContext } from "../tools/tool.ts";
import { VERSION } from "../version.ts";
import { createApplication } from "./create-application.ts";
import { createService } from "./create-service.ts";
import type { TerminalUi } from "./terminal-ui.ts";

/** The structured result of a tool. */
export type Result = Readonly<Record<string, unknown>>;

export interface LocalToolsOptions extends Pick<ToolContext, "askUser" | "signal"> {
  readonly config: Config;
  readonly clock: Clock;
  /** The name of the command. */
  readonly command: string;
  /** Shows the progress of a job that is followed. */
  readonly ui: TerminalUi;
  readonly writeLog: (line: string) => void;
}

const SAVE_STEP_MS = 200;

export class LocalTools {
  readonly #application: Application;
  readonly #context: ToolContext;
  readonly #ui: TerminalUi;

  constructor({ config, clock, command, ui, writeLog, askUser, signal }: LocalToolsOptions) {
    const redact = createRedact(config.service?.apiKey);
    const log = createLog(config.logLevel, redact, writeLog);
    for (const { variable, problem, fix } of config.warnings) log.warn(`${variable} ${problem}. ${fix}.`);
    const service = createService(config, clock);
    this.#application = createApplication({ config, service, clock, log, redact });
    this.#ui = ui;
    this.#context = {
      ...this.#application,
      signal,
      askUser,
      client: `faceless-video-mcp ${command} ${VERSION}`,
      maxWaitSeconds: USUAL_WAIT_SECONDS,
      waitForEnd: (job, forMs) => this.#waitForEnd(job, forMs, () => {}),
    };
  }

  /** Throws a BridgeError for bad input, and whatever the tool throws. */
  async run(tool: Tool, args: object): Promise<Result> {
    await this.#application.jobs.restore();
    return runTool(tool, args, this.#context);
  }

  /** The same, but waits as long as the service's answer may still come. The journal has it then. */
  async runPatiently(tool: Tool, args: object): Promise<Result> {
    try {
      return await this.run(tool, args);
    } catch (error) {
      const facts = error instanceof BridgeError ? error.facts : undefined;
      if (facts?.code !== "timeout" || facts.outcome !== "unknown") throw error;
      this.#ui.print("The service has not answered yet. Its answer is awaited for five minutes.");
      // From here on, nothing is sent.
      await this.#application.finishPaidRequests();
      return this.run(tool, args).catch(() => Promise.reject(error));
    }
  }

  /** Shows the job's progress until it ends, the time is over or the signal fires, then reads it. */
  follow(jobId: string, forMs: number): Promise<Result> {
    const onChange = (job: Job) => {
      const { completed = 0, failed = 0, total = 0 } = job.progress ?? {};
      this.#ui.progress(completed + failed, total, describeProgress(job));
    };
    const waitForEnd = (job: Job) => {
      onChange(job);
      return this.#waitForEnd(job, forMs, onChange);
    };
    return runTool(getVideoStatus, { jobId, waitSeconds: 1 }, { ...this.#context, waitForEnd });
  }

  /** The job again once its file is there: it is written in the background, which ends with this process. */
  async whenSaved(job: Result): Promise<Result> {
    const { jobId } = job;
    if (typeof jobId !== "string") return job;
    const { signal, jobs } = this.#context;
    const isSaving = () => jobs.get(jobId).saved?.state === "saving" && !signal.aborted;
    if (!isSaving()) return job;
    while (isSaving()) await pause(this.#application.clock, SAVE_STEP_MS, signal);
    return { ...job, ...(await this.run(getVideoStatus, { jobId })) };
  }

  #waitForEnd(job: Job, forMs: number, onChange: (job: Job) => void): Promise<Job> {
    return this.#application.waitForEnd({ job, forMs, signal: this.#context.signal, onChange });
  }
}

/** Summary and next step, and a line for each item of a list. */
export function asText({ summary, nextStep, ...rest }: Result): string {
  const items: unknown[] = Object.values(rest).filter(Array.isArray).flat();
  const lines = items.filter((item) => item instanceof Object).map(asLine);
  return [summary, nextStep, ...lines].filter(Boolean).join("\n");
}

function asLine(item: object): string {
  const values: unknown[] = Object.values(item).filter((value) => typeof value !== "object");
  return `  ${stripUnsafeCharacters(values.join("  "))}`;
}
