// State that outlives connections. commands/create-application.ts makes it once; the servers share it.

import type { Config } from "../config.ts";
import type { Clock } from "../clock.ts";
import type { JobReader } from "../jobs/job-reader.ts";
import type { JobStore } from "../jobs/job-store.ts";
import type { Poller } from "../jobs/poller.ts";
import type { Wait } from "../jobs/wait.ts";
import type { Log } from "../log.ts";
import type { SavedVideos } from "../saved-videos/saved-videos.ts";
import type { Job } from "../service/responses.ts";
import type { Service } from "../service/client.ts";
import type { ToolContext } from "../tools/tool.ts";
import type { Elicitation } from "./elicitation.ts";

export interface Application extends Omit<ToolContext, "signal" | "client" | "askUser" | "waitForEnd"> {
  readonly config: Config;
  readonly service: Service;
  readonly jobs: JobStore;
  readonly reader: JobReader;
  readonly poller: Poller;
  readonly savedVideos: Pick<SavedVideos, keyof SavedVideos>;
  readonly waitForEnd: (wait: Wait) => Promise<Job>;
  /** Sends nothing paid or public any more. Resolves when the outcomes of what was sent are known. */
  readonly finishPaidRequests: () => Promise<void>;
  /** Resolves when the jobs of earlier processes are in the store, as far as the journal can be read. */
  readonly restoreJobs: () => Promise<void>;
  readonly elicitation: Elicitation;
  readonly clock: Clock;
  readonly log: Log;
}
