// The service's documented operations, one method each, with domain types in and out. It knows nothing of tools or polling.

import { setTimeout as sleep } from "node:timers/promises";
import { BridgeError, toBridgeError } from "../errors.ts";
import { lazy } from "../lazy.ts";
import { cancelledError, type Operation, pagingLoopError } from "./errors.ts";
import { createLinks } from "./links.ts";
import { DISCOVERED_NOTHING, type Discovery, readOpenApi } from "./openapi.ts";
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

interface PaidOptions<Result> extends CallOptions {
  readonly onLate?: (answer: Promise<Result>) => void;
}

/** Every method throws a BridgeError and nothing else. */
export interface Service {
  /** Costs credits. Sent once: see retry.ts for what may be sent again. */
  generate(request: GenerationRequest, options?: PaidOptions<Generation>): Promise<Generation>;
  getJob(jobId: string, options?: CallOptions): Promise<Job>;
  /** Makes the video public. Sent once, as `generate`. */
  publish(request: PublishRequest, options?: PaidOptions<Publication>): Promise<Publication>;
  listVideos(query: VideosQuery, options?: CallOptions): Promise<VideoPage>;
  /** The first page of the video list, with as many videos as the service allows up to 100. */
  listNewestVideos(options?: CallOptions): Promise<VideoPage>;
  listConnectedPlatforms(options?: CallOptions): Promise<ConnectedPlatforms>;
  /** Where the service is, as a URL's origin. */
  origin(): Promise<string>;
  /** Milliseconds until a background request may be made; 0 for now. */
  backgroundWaitMs(): number;
  /** Whether requests that can be left out may be made: not while little of the rate limit is left. */
  hasSpareRequests(): boolean;
  /** Closes every connection at once. */
  close(): void;
}

/** Longest that calls wait for the OpenAPI document, which only improves a guess. */
const DOCUMENT_PATIENCE_MS = 2_000;
const MAX_NEWEST_VIDEOS = 100;

const UNKNOWN_JOB = {
  message: "The service knows no job with this jobId.",
  nextStep: "Use a jobId from generate_video or list_videos, unchanged.",
};

export const OPERATIONS = {
  generate: {
    verb: "start the video",
    activity: "start videos",
    method: "POST",
    whenUnknown:
      "Look for the video with list_videos. If it is there, follow it with get_video_status and do not start it again.",
  },
  getJob: {
    verb: "read the job's status",
    activity: "read the status of jobs",
    method: "GET",
    notFound: UNKNOWN_JOB,
  },
  publish: {
    verb: "publish the video",
    activity: "publish videos",
    method: "POST",
    whenUnknown:
      "The video may already be public: ask the user to look at the accounts. Publish it again only if it is not there and the user still wants it.",
    notFound: UNKNOWN_JOB,
  },
  listVideos: { verb: "list the videos", activity: "list videos", method: "GET" },
  readOpenApi: {
    verb: "read the service's OpenAPI document",
    activity: "read the service's OpenAPI document",
    method: "GET",
  },
  listConnectedPlatforms: {
    verb: "list the connected platforms",
    activity: "list the connected platforms",
    method: "GET",
    notFound: {
      message: "The service offers no list of the connected platforms.",
      nextStep: "Ask the user which accounts are connected: the service's website shows them.",
    },
  },
} as const satisfies Record<string, Operation>;

/** A client of the service that the configuration names. Nothing is loaded or sent before the first call. */
export function createService(options: RequestsOptions): Service {
  const { config, version, now } = options;
  const requests = createRequests(options);
  const links = createLinks(config.baseUrl);
  const { address, ask, perform, monotonicMs } = requests;
  let documentAwaitedUntilMs: number | undefined;

  const readDocument = lazy(() =>
    perform(OPERATIONS.readOpenApi, { url: address("/api/v1/openapi.json") }, {})
      .then((answer) => readOpenApi(readJson(OPERATIONS.readOpenApi, answer), config.baseUrl))
      .catch((error: unknown) => {
        // A request that was not sent has told nothing: the next call asks again. Every other answer stands.
        if (error instanceof BridgeError && error.facts.outcome === "not_sent") throw error;
        return DISCOVERED_NOTHING;
      }),
  );

  /** What the OpenAPI document says, if it arrives while the call can wait. Only the first calls wait at all. */
  const discover = async (
    operation: Operation,
    endsAtMs: number,
    signal?: AbortSignal,
  ): Promise<Discovery> => {
    const document = readDocument().catch(() => DISCOVERED_NOTHING);
    const nowMs = monotonicMs();
    documentAwaitedUntilMs ??= nowMs + DOCUMENT_PATIENCE_MS;
    const patienceMs = Math.max(0, Math.min(documentAwaitedUntilMs - nowMs, (endsAtMs - nowMs) / 2));
    const patience = sleep(patienceMs, DISCOVERED_NOTHING, { ref: false, signal }).catch(
      () => DISCOVERED_NOTHING,
    );
    const discovery = await Promise.race([document, patience]);
    if (signal?.aborted === true) throw cancelledError(operation);
    return discovery;
  };

  const endOf = ({ deadlineMs = GET_DEADLINE_MS }: CallOptions) => monotonicMs() + deadlineMs;
  const until = (endsAtMs: number, options: CallOptions): CallOptions => ({
    ...options,
    deadlineMs: endsAtMs - monotonicMs(),
  });

  const readPage = async (query: Record<string, string | undefined>, options: CallOptions) => {
    const url = address("/api/v1/videos", query);
    const { nextCursor, ...page } = links.ofPage(
      await ask(OPERATIONS.listVideos, videoPageSchema, { url }, options),
    );
    return { ...page, ...(nextCursor !== undefined && nextCursor !== "" && { nextCursor }) };
  };

  return {
    generate: (request, options = {}) =>
      guarded(OPERATIONS.generate, async () => {
        const url = address("/api/v1/generate");
        return links.ofGeneration(
          await ask(OPERATIONS.generate, generationSchema, { url, body: request }, options),
        );
      }),

    getJob: (jobId, options = {}) =>
      guarded(OPERATIONS.getJob, async () => {
        const url = address(`/api/v1/status/${encodeURIComponent(jobId)}`);
        const status = await ask(OPERATIONS.getJob, jobStatusSchema, { url }, options);
        return links.ofJob({ ...status, jobId, done: isTerminal(status.status) });
      }),

    publish: (request, options = {}) =>
      guarded(OPERATIONS.publish, async () => {
        const url = address("/api/v1/publish");
        return links.ofPublication(
          await ask(OPERATIONS.publish, publicationSchema, { url, body: request }, options),
        );
      }),

    listVideos: ({ limit, cursor }, options = {}) =>
      guarded(OPERATIONS.listVideos, async () => {
        if (limit === undefined && cursor === undefined) return readPage({}, options);
        const endsAtMs = endOf(options);
        const { pagingParameter, limit: bounds } = await discover(
          OPERATIONS.listVideos,
          endsAtMs,
          options.signal,
        );
        // As many as the service allows, instead of an error: the rest follows with nextCursor.
        const size =
          limit === undefined
            ? undefined
            : Math.max(bounds.min ?? -Infinity, Math.min(bounds.max ?? Infinity, limit));
        const query = { limit: size?.toString(), [pagingParameter]: cursor };
        const page = await readPage(query, until(endsAtMs, options));
        if (cursor !== undefined && page.nextCursor === cursor) throw pagingLoopError(pagingParameter);
        return page;
      }),

    listNewestVideos: (options = {}) =>
      guarded(OPERATIONS.listVideos, async () => {
        const endsAtMs = endOf(options);
        const { limit } = await discover(OPERATIONS.listVideos, endsAtMs, options.signal);
        // The documentation names neither bounds nor default of limit. A limit of ours could be refused with 400 or 422, and the
        // poller would lose the list for good; without one the service chooses a page that it allows.
        const size =
          limit.max === undefined
            ? undefined
            : Math.max(limit.min ?? 1, Math.min(MAX_NEWEST_VIDEOS, limit.max));
        return readPage({ limit: size?.toString() }, until(endsAtMs, options));
      }),

    listConnectedPlatforms: (options = {}) =>
      guarded(OPERATIONS.listConnectedPlatforms, async () => {
        const operation = OPERATIONS.listConnectedPlatforms;
        const endsAtMs = endOf(options);
        const { platformsUrl } = await discover(operation, endsAtMs, options.signal);
        // Loaded here: the MCP client behind it is needed for this operation alone.
        const { listThroughMcp, readPlatforms } = await import("./connected-platforms.ts");
        if (platformsUrl !== undefined) {
          const platforms = await perform(operation, { url: platformsUrl }, until(endsAtMs, options))
            .then((answer) => readPlatforms(readJson(operation, answer)))
            .catch((error: unknown) => {
              const status = error instanceof BridgeError ? error.facts.status : undefined;
              // The document promised a path that the service doesn't have: the MCP endpoint is left.
              if (status === 404 || status === 405 || status === 501) return undefined;
              throw error;
            });
          if (platforms !== undefined) return links.ofPlatforms(platforms);
        }
        const { signal } = options;
        return links.ofPlatforms(
          await listThroughMcp({
            operation,
            endpoint: address("/api/mcp"),
            requests,
            version,
            now,
            endsAtMs,
            signal,
          }),
        );
      }),

    origin: () => Promise.resolve(config.baseUrl.origin),
    backgroundWaitMs: () => requests.limiter.waitMs("background"),
    hasSpareRequests: () => requests.limiter.hasSpare(),
    close: () => requests.close(),
  };
}

/** Keeps the promise that a method throws a BridgeError and nothing else. */
async function guarded<Result>({ method }: Operation, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    throw toBridgeError(error, method === "GET" ? "rejected" : "unknown");
  }
}
