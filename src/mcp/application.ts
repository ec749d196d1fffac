// State that outlives connections. commands/create-application.ts makes it once; the servers share it.

import type { Config } from "../config.ts";
import type { Clock } from "../clock.ts";
import type { Guard } from "../idempotency/guard.ts";
import type { JobBook } from "../jobs/job-book.ts";
import type { Poller } from "../jobs/poller.ts";
import type { JobReader } from "../jobs/reader.ts";
import type { VideoSaver } from "../jobs/save-video.ts";
import type { Wait } from "../jobs/wait.ts";
import type { Log } from "../log.ts";
import type { Job } from "../service/responses.ts";
import type { Service } from "../service/client.ts";
import type { ToolContext } from "../tools/tool.ts";

export interface Application extends Pick<ToolContext, "generateOnce" | "publishOnce" | "unrecorded"> {
  readonly config: Config;
  readonly service: Service;
  readonly jobs: JobBook;
  readonly reader: JobReader;
  readonly poller: Poller;
  readonly videoSaver: VideoSaver;
  readonly waitForEnd: (wait: Wait) => Promise<Job>;
  /** Stops sending paid and public requests. Resolves when the outcomes of what was sent are known. */
  readonly finishPaidRequests: () => Promise<void>;
  /** Says how far this process's paid and public requests are. */
  readonly guard: Pick<Guard, "isBusy" | "awaitsAnswer" | "hasSent">;
  readonly clock: Clock;
  readonly log: Log;
}
