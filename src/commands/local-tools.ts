// The tools in this process, for commands that call them without a client.

import { once } from "node:events";
import type * as z from "zod";
import type { Config } from "../config.ts";
import type { Job } from "../service/responses.ts";
import { describeProgress } from "../tools/describe.ts";
import { getVideoStatus } from "../tools/get-video-status.ts";
import { runTool, type Tool, type ToolContext, USUAL_WAIT_SECONDS } from "../tools/tool.ts";
import { VERSION } from "../version.ts";
import { openApplication } from "./create-application.ts";
import type { Host } from "./host.ts";
import type { TerminalUi } from "./terminal-ui.ts";

/** `command`: its name. `ui`: shows the progress of a job that is followed. */
export function openTools(
  command: string,
  config: Config,
  { clock, errors, interrupted: signal }: Host,
  ui: TerminalUi,
  askUser: ToolContext["askUser"],
) {
  const application = openApplication(config, clock, (line) => errors.write(line));
  const { jobs, videoSaver, waitForEnd } = application;
  const isInterrupted = once(signal, "abort");
  const context: ToolContext = {
    ...application,
    signal,
    askUser,
    client: `faceless-video-mcp ${command} ${VERSION}`,
    maxWaitSeconds: USUAL_WAIT_SECONDS,
    waitForEnd: (job, forMs) => waitForEnd({ job, forMs, signal, onChange() {} }),
    // A file is written in the background, which ends with this process: whoever waits for it waits until it is there.
    videoSaver: {
      async refresh(jobIds, patienceMs = 0) {
        const isSaved = videoSaver.refresh(jobIds, patienceMs > 0 ? Infinity : 0);
        await Promise.race([isSaved, isInterrupted]);
      },
    },
  };
  return {
    finishPaidRequests: application.finishPaidRequests,
    /** Throws a BridgeError for bad input, and whatever the tool throws. */
    async run<Output extends z.ZodObject>(tool: Tool<z.ZodObject, Output>, args: object) {
      await jobs.restore();
      return runTool(tool, args, context);
    },
    /** Shows the job's progress until it ends, the time is over or the signal fires, then reads it. */
    follow(jobId: string, forMs: number) {
      const onChange = (job: Job) => {
        const { completed = 0, failed = 0, total = 0 } = job.progress ?? {};
        ui.progress(completed + failed, total, describeProgress(job));
      };
      const showProgress: ToolContext["waitForEnd"] = (job) => {
        onChange(job);
        return waitForEnd({ job, forMs, signal, onChange });
      };
      return runTool(getVideoStatus, { jobId, waitSeconds: 1 }, { ...context, waitForEnd: showProgress });
    },
  };
}
