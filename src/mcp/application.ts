// State that outlives connections: made once by commands/serve.ts, shared by the servers of all connections.

import type { GenerateOnce, SeenJob } from "../idempotency/generate-once.ts";
import type { PublishOnce } from "../idempotency/publish-once.ts";
import type { Clock } from "../jobs/clock.ts";
import type { JobReader } from "../jobs/job-reader.ts";
import type { JobStore } from "../jobs/job-store.ts";
import type { Poller } from "../jobs/poller.ts";
import type { SavedVideos } from "../saved-videos/saved-videos.ts";
import type { Wait } from "../jobs/wait.ts";
import type { Log } from "../log.ts";
import type { Service } from "../service/client.ts";
import type { Job } from "../service/answers.ts";
import type { Config } from "../config.ts";
import type { ToolContext } from "../tools/tool.ts";
import type { Elicitation } from "./elicitation.ts";

export interface Application extends Pick<ToolContext, "history" | "canPublish" | "publishingRaised"> {
  readonly version: string;
  readonly config: Config;
  readonly service: Service;
  readonly jobs: JobStore;
  readonly reader: JobReader;
  readonly poller: Poller;
  readonly savedVideos: Pick<SavedVideos, keyof SavedVideos>;
  readonly waitForEnd: (wait: Wait) => Promise<Job>;
  readonly generateOnce: GenerateOnce;
  readonly publishOnce: PublishOnce;
  /** Sends nothing paid or public any more. Resolves when the outcomes of what was sent are known. */
  readonly finishPaidRequests: () => Promise<void>;
  /** How the service says that a job stands, as far as that can be found out in a few seconds. */
  readonly lookAtJob: (jobId: string, signal: AbortSignal) => Promise<SeenJob>;
  /** Resolves when the jobs of earlier processes are in the store, as far as the journal can be read. */
  readonly recallJobs: () => Promise<void>;
  readonly elicitation: Elicitation;
  readonly clock: Clock;
  readonly log: Log;
}
