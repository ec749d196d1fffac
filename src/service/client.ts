// The service's documented operations, one method each, with domain types in and out. It knows nothing of tools or of
// watching.

import { setTimeout as sleep } from "node:timers/promises";
import { BridgeError, toBridgeError } from "../errors.ts";
import { DISCOVERED_NOTHING, type Discovery, readOpenApi } from "./openapi.ts";
import { cancelledError, limitError, type Operation, pagingLoopError } from "./errors.ts";
import { createLinks } from "./links.ts";
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
  /** What the video list can do, as far as it is known by now; asking has the service's document read. */
  listing(): { readonly maxLimit: number; readonly canPage: boolean };
  /** Milliseconds until a background request may be made; 0 for now. */
  backgroundWaitMs(): number;
  /** Ends every connection at once. */
  close(): void;
}

/** Longest that a call waits for the OpenAPI document, which only betters a guess. */
const DISCOVERY_PATIENCE_MS = 2_000;

/** The largest page that a poll asks for, unless the service allows less. */
const MOST_LISTED = 100;

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
  const links = createLinks(settings.baseUrl);
  const { address, ask, perform } = requests;
  /** What the document said, once it is read. */
  let known: Discovery | undefined;
  let reading: { readonly discovery: Promise<Discovery>; readonly patienceEnd: number } | undefined;

  const readDocument = () =>
    perform(OPENAPI, { url: address("/api/v1/openapi.json") }, {})
      .then((answer) => (known = readOpenApi(readJson(OPENAPI, answer), settings.baseUrl)))
      .catch((error: unknown) => {
        // Nobody was there to say anything: the next call asks again. Every other answer stands.
        if (error instanceof BridgeError && error.facts.outcome === "not_sent") reading = undefined;
        return DISCOVERED_NOTHING;
      });

  const startReading = () =>
    (reading ??= { discovery: readDocument(), patienceEnd: now() + DISCOVERY_PATIENCE_MS });

  /** What the document says, if it says it while the call can wait. Only the first calls wait at all. */
  const discover = async (operation: Operation, end: number, signal?: AbortSignal): Promise<Discovery> => {
    const reading = startReading();
    const patienceMs = Math.min(reading.patienceEnd - now(), (end - now()) / 2);
    const patience = sleep(Math.max(0, patienceMs), DISCOVERED_NOTHING, { ref: false, signal });
    const discovery = await Promise.race([reading.discovery, patience]).catch(() => undefined);
    if (discovery === undefined || signal?.aborted === true) throw cancelledError(operation);
    return discovery;
  };

  return {
    generate: (request, options = {}) =>
      guarded(GENERATE, async () => {
        const url = address("/api/v1/generate");
        return links.ofGeneration(await ask(GENERATE, generationSchema, { url, body: request }, options));
      }),

    getJob: (jobId, options = {}) =>
      guarded(STATUS, async () => {
        const url = address(`/api/v1/status/${encodeURIComponent(jobId)}`);
        const status = await ask(STATUS, jobStatusSchema, { url }, options);
        return links.ofJob({ ...status, jobId, done: isTerminal(status.status) });
      }),

    publish: (request, options = {}) =>
      guarded(PUBLISH, async () => {
        const url = address("/api/v1/publish");
        return links.ofPublication(await ask(PUBLISH, publicationSchema, { url, body: request }, options));
      }),

    listVideos: ({ limit, cursor }, options = {}) =>
      guarded(LIST, async () => {
        const end = now() + (options.deadlineMs ?? GET_DEADLINE_MS);
        const asked = limit !== undefined || cursor !== undefined;
        const { pagingParameter, limit: bounds } = asked
          ? await discover(LIST, end, options.signal)
          : DISCOVERED_NOTHING;
        if (limit !== undefined && (limit < (bounds.min ?? limit) || limit > (bounds.max ?? limit)))
          throw limitError(limit, bounds.min, bounds.max);
        const query = { limit: limit?.toString(), [pagingParameter]: cursor };
        const page = await ask(
          LIST,
          videoPageSchema,
          { url: address("/api/v1/videos", query) },
          { ...options, deadlineMs: end - now() },
        );
        if (cursor !== undefined && page.nextCursor === cursor) throw pagingLoopError(pagingParameter);
        const { nextCursor, ...rest } = links.ofPage(page);
        return { ...rest, ...(nextCursor !== undefined && nextCursor !== "" && { nextCursor }) };
      }),

    listConnectedPlatforms: (options = {}) =>
      guarded(PLATFORMS, async () => {
        const end = now() + (options.deadlineMs ?? GET_DEADLINE_MS);
        const { platformsUrl } = await discover(PLATFORMS, end, options.signal);
        // Loaded here: the SDK's client behind it is needed for this one operation.
        const { listThroughMcp, readPlatforms } = await import("./connected-platforms.ts");
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
          if (platforms !== undefined) return links.ofPlatforms(platforms);
        }
        return links.ofPlatforms(
          await listThroughMcp({
            operation: PLATFORMS,
            endpoint: address("/api/mcp"),
            requests,
            version,
            now,
            deadlineMs: Math.max(1, end - now()),
            signal: options.signal,
          }),
        );
      }),

    listing() {
      startReading();
      const { limit, pagingConfirmed } = known ?? DISCOVERED_NOTHING;
      return { maxLimit: Math.min(MOST_LISTED, limit.max ?? MOST_LISTED), canPage: pagingConfirmed };
    },

    backgroundWaitMs: () => requests.allowance.waitMs("background"),

    close() {
      requests.close();
    },
  };
}

/** Keeps the promise that a method throws a BridgeError and nothing else. */
async function guarded<Result>(operation: Operation, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    throw toBridgeError(error, operation.method === "GET" ? "rejected" : "unknown");
  }
}
