// The service's documented operations, one method each, with domain types in and out. It knows nothing of tools or polling.

import { setTimeout as sleep } from "node:timers/promises";
import { BridgeError, toBridgeError } from "../errors.ts";
import { lazy } from "../lazy.ts";
import {
  type AnswerSchemas,
  answerSchemas,
  type ConnectedPlatforms,
  type Generation,
  type GenerationRequest,
  hasResults,
  type Job,
  type Publication,
  type PublishRequest,
  type VideoPage,
  type VideosQuery,
} from "./answers.ts";
import { cancelledError, type Operation, pagingLoopError } from "./errors.ts";
import { isEnded } from "./options.ts";
import { DISCOVERED_NOTHING, type Discovery, readOpenApi } from "./openapi.ts";
import {
  type CallOptions,
  DEADLINE_MS,
  type PostOptions,
  readJson,
  RequestSender,
  type SenderOptions,
} from "./request-sender.ts";

/** What the rest of this server knows of the client. */
export type Service = Pick<ServiceClient, keyof ServiceClient>;

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
    dependsOnJob: true,
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

/**
 * A client of the service that the configuration names. Nothing is loaded or sent before the first call. Every method throws a
 * BridgeError and nothing else.
 */
export class ServiceClient {
  readonly #options: SenderOptions;
  readonly #requests: RequestSender;
  readonly #schemas: AnswerSchemas;
  #documentAwaitedUntilMs: number | undefined; // set by the first call that waits for the OpenAPI document

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#requests = new RequestSender(options);
    this.#schemas = answerSchemas(options.config.baseUrl);
  }

  /** Costs credits. Sent once: see retry.ts for what may be sent again. */
  generate(request: GenerationRequest, options: PostOptions<Generation> = {}): Promise<Generation> {
    const operation = OPERATIONS.generate;
    const url = this.#requests.address("/api/v1/generate");
    const { generation } = this.#schemas;
    return guarded(operation, () =>
      this.#requests.ask(operation, generation, { url, body: request }, options),
    );
  }

  getJob(jobId: string, options: CallOptions = {}): Promise<Job> {
    const operation = OPERATIONS.getJob;
    return guarded(operation, async () => {
      const url = this.#requests.address(`/api/v1/status/${encodeURIComponent(jobId)}`);
      const answer = await this.#requests.ask(operation, this.#schemas.jobStatus, { url }, options);
      return { ...answer, jobId, done: isEnded(answer.status) };
    });
  }

  /** Makes the video public. Sent once, as `generate`. */
  publish(request: PublishRequest, options: PostOptions<Publication> = {}): Promise<Publication> {
    const operation = OPERATIONS.publish;
    const url = this.#requests.address("/api/v1/publish");
    const { publication } = this.#schemas;
    return guarded(operation, () =>
      this.#requests.ask(operation, publication, { url, body: request, isAnswer: hasResults }, options),
    );
  }

  listVideos({ limit, cursor }: VideosQuery, options: CallOptions = {}): Promise<VideoPage> {
    return guarded(OPERATIONS.listVideos, async () => {
      if (limit === undefined && cursor === undefined) return this.#readPage({}, options);
      const { discovery, rest } = await this.#discover(OPERATIONS.listVideos, options);
      const {
        pagingParameter,
        limit: { min = -Infinity, max = Infinity },
      } = discovery;
      // As many as the service allows, instead of an error: the rest follows with nextCursor.
      const size = limit === undefined ? undefined : Math.max(min, Math.min(max, limit));
      const query = { limit: size?.toString(), [pagingParameter]: cursor };
      const page = await this.#readPage(query, rest);
      if (cursor !== undefined && page.nextCursor === cursor) throw pagingLoopError(pagingParameter);
      return page;
    });
  }

  /** The first page of the video list, with as many videos as the service allows up to 100. */
  listNewestVideos(options: CallOptions = {}): Promise<VideoPage> {
    return guarded(OPERATIONS.listVideos, async () => {
      const { discovery, rest } = await this.#discover(OPERATIONS.listVideos, options);
      const { min = 1, max } = discovery.limit;
      // The documentation names neither bounds nor default of limit. A limit of ours could be refused with 400 or 422, and the
      // poller would lose the list for good; without one the service chooses a page that it allows.
      const size = max === undefined ? undefined : Math.max(min, Math.min(MAX_NEWEST_VIDEOS, max));
      return this.#readPage({ limit: size?.toString() }, rest);
    });
  }

  listConnectedPlatforms(options: CallOptions = {}): Promise<ConnectedPlatforms> {
    const operation = OPERATIONS.listConnectedPlatforms;
    return guarded(operation, async () => {
      const { discovery, rest, endsAtMs } = await this.#discover(operation, options);
      // Loaded here: the MCP client behind it is needed for this operation alone.
      const { listThroughMcp, readPlatforms } = await import("./connected-platforms.ts");
      const { platformsUrl } = discovery;
      const listed =
        platformsUrl === undefined
          ? undefined
          : await this.#requests
              .perform(operation, { url: platformsUrl }, rest)
              .then((answer) => readPlatforms(readJson(operation, answer)))
              .catch((error: unknown) => {
                const status = error instanceof BridgeError ? error.facts.status : undefined;
                // The document promised a path that the service doesn't have: the MCP endpoint is left.
                if (status === 404 || status === 405 || status === 501) return undefined;
                throw error;
              });
      const { version, now } = this.#options;
      const endpoint = this.#requests.address("/api/mcp");
      const call = {
        operation,
        endpoint,
        requests: this.#requests,
        version,
        now,
        endsAtMs,
        signal: options.signal,
      };
      return this.#schemas.connectedPlatforms(listed ?? (await listThroughMcp(call)));
    });
  }

  /** Where the service is, as a URL's origin. */
  origin(): Promise<string> {
    return Promise.resolve(this.#options.config.baseUrl.origin);
  }

  /** Milliseconds until a background request may be made; 0 for now. */
  backgroundWaitMs(): number {
    return this.#requests.limiter.waitMs("background");
  }

  /** Whether requests that can be left out may be made: not while little of the rate limit is left. */
  hasSpareRequests(): boolean {
    return this.#requests.limiter.hasSpare();
  }

  /** Closes every connection at once. */
  close(): void {
    this.#requests.close();
  }

  #readPage(query: Record<string, string | undefined>, options: CallOptions): Promise<VideoPage> {
    const url = this.#requests.address("/api/v1/videos", query);
    return this.#requests.ask(OPERATIONS.listVideos, this.#schemas.videoPage, { url }, options);
  }

  readonly #readDocument = lazy(async (): Promise<Discovery> => {
    const operation = OPERATIONS.readOpenApi;
    const url = this.#requests.address("/api/v1/openapi.json");
    try {
      const answer = await this.#requests.perform(operation, { url });
      return readOpenApi(readJson(operation, answer), this.#options.config.baseUrl);
    } catch (error) {
      // A request that was not sent has told nothing: the next call asks again. Every other answer stands.
      if (error instanceof BridgeError && error.facts.outcome === "not_sent") throw error;
      return DISCOVERED_NOTHING;
    }
  });

  /**
   * What the OpenAPI document says, if it arrives while the call can wait, and the options for the rest of the call. Only the first calls
   * wait at all.
   */
  async #discover(operation: Operation, options: CallOptions) {
    const { signal, deadlineMs = DEADLINE_MS[operation.method] } = options;
    const { monotonicMs } = this.#requests;
    const startedMs = monotonicMs();
    const document = this.#readDocument().catch(() => DISCOVERED_NOTHING);
    this.#documentAwaitedUntilMs ??= startedMs + DOCUMENT_PATIENCE_MS;
    const patienceMs = Math.max(0, Math.min(this.#documentAwaitedUntilMs - startedMs, deadlineMs / 2));
    const patience = sleep(patienceMs, DISCOVERED_NOTHING, { ref: false, signal }).catch(
      () => DISCOVERED_NOTHING,
    );
    const discovery = await Promise.race([document, patience]);
    if (signal?.aborted === true) throw cancelledError(operation);
    const endsAtMs = startedMs + deadlineMs;
    return { discovery, endsAtMs, rest: { ...options, deadlineMs: endsAtMs - monotonicMs() } };
  }
}

/** Keeps the promise that a method throws a BridgeError and nothing else. */
async function guarded<Result>({ method }: Operation, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    throw toBridgeError(error, method === "GET" ? "rejected" : "unknown");
  }
}
