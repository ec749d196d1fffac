// The state that outlives connections, made once by cli.ts and lent to each connection's server.

import type { JobStore } from "../jobs/store.ts";
import type { Log } from "../log.ts";
import type { Service } from "../service/client.ts";
import type { Settings } from "../settings.ts";
import type { GenerationLimit } from "../tools/generation-limit.ts";

export interface Application {
  readonly version: string;
  readonly settings: Settings;
  readonly service: Service;
  readonly jobs: JobStore;
  readonly generationLimit: GenerationLimit;
  readonly log: Log;
}
