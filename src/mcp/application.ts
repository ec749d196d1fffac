// The state that outlives connections, made once by cli.ts and lent to each connection's server.

import type { JobReader } from "../jobs/job-reader.ts";
import type { PaidRequests } from "../jobs/paid-requests.ts";
import type { JobStore } from "../jobs/job-store.ts";
import type { Poller } from "../jobs/poller.ts";
import type { Wait } from "../jobs/wait.ts";
import type { Log } from "../log.ts";
import type { Service } from "../service/client.ts";
import type { Job } from "../service/schemas.ts";
import type { Settings } from "../settings.ts";
import type { GenerationLimit } from "../tools/generation-limit.ts";
import type { Confirmations } from "./confirmation.ts";

export interface Application {
  readonly version: string;
  readonly settings: Settings;
  readonly service: Service;
  readonly jobs: JobStore;
  readonly reader: JobReader;
  readonly poller: Poller;
  readonly waitForEnd: (wait: Wait) => Promise<Job>;
  readonly paid: PaidRequests;
  readonly confirmations: Confirmations;
  readonly generationLimit: GenerationLimit;
  readonly log: Log;
}
