// The service's documented operations, one method each, with domain types in and out. It knows nothing of tools or of
// watching.

import { setTimeout as sleep } from "node:timers/promises";
import { BridgeError } from "../errors.ts";
import { DISCOVERED_NOTHING, type Discovery, readOpenApi } from "./discovery.ts";
import { limitError, type Operation, pagingLoopError } from "./failures.ts";
import {
  type CallOptions,
  createRequests,
  GET_DEADLINE_MS,
  readJson,
  type RequestsOptions,
} from "./requests.ts";
import {
  type ConnectedPlatforms,
  type Generation,
  type GenerationRequest,
  generationSchema,
  isTerminal,
  type Job,
  jobStatusSchema,
  type Publication,
  type PublishRequest,
  publicationSchema,
  type VideoPage,
  videoPageSchema,
  type VideosQuery,
} from "./schemas.ts";

/** Every method throws a BridgeError and nothing else. */
export interface Service {
  generate(request: GenerationRequest, options?: CallOptions): Promise<Generation>;
  getJob(jobId: string, options?: CallOptions): Promise<Job>;
  publish(request: PublishRequest, options?: CallOptions): Promise<Publication>;
  listVideos(query: VideosQuery, options?: CallOptions): Promise<VideoPage>;
  listConnectedPlatforms(options?: CallOptions): Promise<ConnectedPlatforms>;
  /** Ends every connection at once. */
  close(): void;
}

/** Longest that a call waits for the OpenAPI document, which only betters a guess. */
const DISCOVERY_PATIENCE_MS = 2_000;

const UNKNOWN_JOB = {
  message: "The service knows no job with this jobId.",
  nextStep: "Take the jobId from generate_video or list_videos, unchanged.",
};
const GENERATE: Operation = {
  what: "the new video",
  method: "POST",
  check:
    "Look with list_videos whether the video was started: if it is there, follow it with get_video_status.",
};
const STATUS: Operation = { what: "the status of the job", method: "GET", notFound: UNKNOWN_JOB };
const PUBLISH: Operation = {
  what: "publishing the video",
  method: "POST",
  check: "Look at the accounts themselves whether the video was posted there.",
  notFound: UNKNOWN_JOB,
};
const LIST: Operation = { what: "the video list", method: "GET" };
const OPENAPI: Operation = { what: "its OpenAPI document", method: "GET" };
const PLATFORMS: Operation = {
  what: "the connected platforms",
  method: "GET",
  notFound: {
    message: "The service offers no list of the connected platforms.",
    nextStep: "Ask the person which accounts are connected: the service's website shows them.",
  },
};

/** A client of the service that the settings name. Nothing is loaded or sent before the first call. */
export function createService(options: RequestsOptions): Service {
  const { settings, version, now } = options;
  const requests = createRequests(options);
  const { address, ask, perform } = requests;
  let discovering: Promise<Discovery> | undefined;

  const discover = (): Promise<Discovery> => {
    discovering ??= perform(OPENAPI, { url: address("/api/v1/openapi.json") }, {})
      .then((answer) => readOpenApi(readJson(OPENAPI, answer), settings.baseUrl))
      .catch(() => DISCOVERED_NOTHING);
    const patience = sleep(DISCOVERY_PATIENCE_MS, DISCOVERED_NOTHING, { ref: false });
    return Promise.race([discovering, patience]);
  };

  return {
    generate: (request, options = {}) =>
      ask(GENERATE, generationSchema, { url: address("/api/v1/generate"), body: request }, options),

    async getJob(jobId, options = {}) {
      const url = address(`/api/v1/status/${encodeURIComponent(jobId)}`);
      const status = await ask(STATUS, jobStatusSchema, { url }, options);
      return { ...status, jobId, done: isTerminal(status.status) };
    },

    publish: (request, options = {}) =>
      ask(PUBLISH, publicationSchema, { url: address("/api/v1/publish"), body: request }, options),

    async listVideos({ limit, cursor }, options = {}) {
      const asked = limit !== undefined || cursor !== undefined;
      const { pagingParameter, limit: bounds } = asked ? await discover() : DISCOVERED_NOTHING;
      if (limit !== undefined && (limit < (bounds.min ?? limit) || limit > (bounds.max ?? limit)))
        throw limitError(limit, bounds.min, bounds.max);
      const url = address("/api/v1/videos", { limit: limit?.toString(), [pagingParameter]: cursor });
      const page = await ask(LIST, videoPageSchema, { url }, options);
      if (cursor !== undefined && page.nextCursor === cursor) throw pagingLoopError(pagingParameter);
      const { nextCursor, ...rest } = page;
      return nextCursor === undefined || nextCursor === "" ? rest : { ...rest, nextCursor };
    },

    async listConnectedPlatforms(options = {}) {
      const end = now() + (options.deadlineMs ?? GET_DEADLINE_MS);
      const { platformsUrl } = await discover();
      // Loaded here: the SDK's client behind it is needed for this one operation.
      const { listThroughMcp, readPlatforms } = await import("./platforms.ts");
      if (platformsUrl !== undefined) {
        const platforms = await perform(
          PLATFORMS,
          { url: platformsUrl },
          { ...options, deadlineMs: end - now() },
        )
          .then((answer) => readPlatforms(readJson(PLATFORMS, answer)))
          .catch((error: unknown) => {
            const status = error instanceof BridgeError ? error.facts.status : undefined;
            // A path that the document promised and the service doesn't have: the MCP endpoint is left.
            if (status === 404 || status === 405 || status === 501) return undefined;
            throw error;
          });
        if (platforms !== undefined) return platforms;
      }
      return listThroughMcp({
        operation: PLATFORMS,
        endpoint: address("/api/mcp"),
        requests,
        version,
        deadlineMs: Math.max(1, end - now()),
        signal: options.signal,
      });
    },

    close() {
      requests.close();
    },
  };
}
