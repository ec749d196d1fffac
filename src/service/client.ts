// The service's documented operations, one method each. Knows nothing of tools or polling.

import { setImmediate as nextTurn } from "node:timers/promises";
import { inSentences, say, toolOrCommand } from "../sentences.ts";
import { pause } from "../clock.ts";
import type { ConfigProblem, ServiceConfig } from "../config.ts";
import { BridgeError, notSent, toBridgeError } from "../errors.ts";
import { isEnded } from "./job.ts";
import { lazy } from "../lazy.ts";
import { IN_CLIENT } from "../settings/form.ts";
import { READ_MS } from "./time-budget.ts";
import {
  type ConnectedPlatform,
  jobStatusSchema,
  type ParsedResponse,
  publicationSchema,
  startedJobSchema,
  type StartedJob,
  videoPageSchema,
  type Order,
  type Job,
  type Publication,
  type PublishRequest,
  type VideoPage,
  type VideosQuery,
} from "./responses.ts";
import { type Operation, pagingLoopError } from "./errors.ts";
import { DISCOVERED_NOTHING, type Discovery, readOpenApi } from "./openapi.ts";
import { type CallOptions, RequestSender, type SenderOptions } from "./request-sender.ts";

/** The client's interface to the rest of this server. */
export type Service = Pick<ServiceClient, keyof ServiceClient>;

export interface ServiceOptions extends Omit<SenderOptions, "config"> {
  /** Finds the service. Called by the first operation, and after a failure by the next one. */
  readonly connect: () => Promise<ServiceConfig>;
}

/** How long calls wait for the OpenAPI document, which only improves a guess. */
const DOCUMENT_PATIENCE_MS = 2_000;
const MAX_NEWEST_VIDEOS = 100;

const VIDEO_LIST = toolOrCommand("list_videos");
const ACCOUNT_LIST = toolOrCommand("list_connected_platforms");

export const OPERATIONS = {
  generate: {
    verb: "start the video",
    method: "POST",
    whenUnknown: inSentences(
      say`Look for the video with ${VIDEO_LIST}.`,
      say`If it is there, follow it with ${toolOrCommand("get_video_status", "--job-id ID --wait")}.`,
      "Don't start it again, not even in other words or with other settings.",
    ),
  },
  getJob: {
    verb: "read the job's status",
    method: "GET",
    notFound: {
      message: "The service knows no job with this id",
      nextStep: inSentences(
        say`Use a [jobId|job's id] that ${VIDEO_LIST} shows, unchanged.`,
        "Calling again is safe, but helps only if the video was started a moment ago.",
      ),
    },
  },
  publish: {
    verb: "publish the video",
    method: "POST",
    whenUnknown: inSentences(
      say`The video may already be public: [ask the user to |]look at the accounts.`,
      say`Publish it again only if it is not there and [the user still wants|you still want] it.`,
    ),
    notFound: {
      message: "The service refused to publish the video: it found no such job or account",
      nextStep: say`[Tell the user what the service says|Check the job with ${VIDEO_LIST}, and the account with ${ACCOUNT_LIST}].`,
    },
  },
  listVideos: { verb: "list the videos", method: "GET" },
  readOpenApi: { verb: "read the service's OpenAPI document", method: "GET" },
  listConnectedPlatforms: {
    verb: "list the connected platforms",
    method: "GET",
    notFound: {
      message: "The service offers no list of the connected platforms",
      nextStep: say`[Ask the user|Look up] which accounts are connected: the service's website shows them.`,
    },
  },
} as const satisfies Record<string, Operation>;

/** Sends nothing before the first operation. Every operation throws BridgeErrors and nothing else. */
export class ServiceClient {
  readonly #options: ServiceOptions;
  #requests: RequestSender | undefined; // set once connected
  #isClosed = false;

  constructor(options: ServiceOptions) {
    this.#options = options;
  }

  /** Costs credits. Sent once: see retry.ts for what may be sent again. */
  async generate(order: Order, options: CallOptions = {}): Promise<StartedJob> {
    const requests = await this.#connect();
    const parts = { url: requests.address("/api/v1/generate"), body: JSON.stringify(order) };
    return requests.fetch(OPERATIONS.generate, parts, startedJobSchema, options);
  }

  async getJob(jobId: string, options: CallOptions = {}): Promise<Job> {
    const requests = await this.#connect();
    const url = requests.address(`/api/v1/status/${encodeURIComponent(jobId)}`);
    const job = await requests.fetch(OPERATIONS.getJob, { url }, jobStatusSchema, options);
    // Not a copy: fields that follow a spread are slow on Node.js 20.
    return Object.assign(job, { jobId, done: isEnded(job.status) });
  }

  /** Makes the video public. Sent once, like `generate`. */
  async publish(request: PublishRequest, options: CallOptions = {}): Promise<Publication> {
    const requests = await this.#connect();
    const operation = { ...OPERATIONS.publish, platforms: request.platforms.length };
    const parts = { url: requests.address("/api/v1/publish"), body: JSON.stringify(request) };
    return requests.fetch(operation, parts, publicationSchema, options);
  }

  async listVideos({ limit, cursor }: VideosQuery, options: CallOptions = {}): Promise<VideoPage> {
    const requests = await this.#connect();
    const isPlain = limit === undefined && cursor === undefined;
    const { discovery, rest } = isPlain
      ? { discovery: DISCOVERED_NOTHING, rest: options }
      : await this.#discover(options);
    const { min = -Infinity, max = Infinity } = discovery.limit;
    // A limit out of bounds is moved into them rather than refused: nextCursor leads to the rest.
    const size = limit === undefined ? undefined : String(Math.max(min, Math.min(max, limit)));
    const url = requests.address("/api/v1/videos", { limit: size, [discovery.pagingParameter]: cursor });
    const page = await requests.fetch(OPERATIONS.listVideos, { url }, videoPageSchema, rest);
    if (cursor !== undefined && page.nextCursor === cursor) throw pagingLoopError(discovery.pagingParameter);
    return page;
  }

  /** The first page of the video list, with as many videos as the service allows up to 100. */
  async listNewestVideos(options: CallOptions = {}): Promise<VideoPage> {
    const { discovery, rest } = await this.#discover(options);
    // The bounds of limit are not documented: one of ours could be refused with 400 or 422, and the poller
    // would lose the list for good. Without one the service chooses a size that it allows.
    const limit = discovery.limit.max === undefined ? undefined : MAX_NEWEST_VIDEOS;
    return this.listVideos({ limit }, rest);
  }

  async listConnectedPlatforms(options: CallOptions = {}): Promise<readonly ConnectedPlatform[]> {
    const operation = OPERATIONS.listConnectedPlatforms;
    const requests = await this.#connect();
    const { discovery, rest, endsAtMs } = await this.#discover(options);
    // Loaded here: the MCP client behind it is needed for this operation alone.
    const { listThroughMcp, readPlatforms } = await import("./connected-platforms.ts");
    const url = discovery.platformsUrl;
    const read = (answer: ParsedResponse) => readPlatforms(requests.accept(operation, answer));
    const listed = url && (await requests.request(operation, { url }, read, rest));
    const leftMs = () => Math.max(1, endsAtMs - this.#options.clock.monotonicMs());
    return listed ?? listThroughMcp(operation, requests, leftMs, options.signal);
  }

  async origin(): Promise<string> {
    return (await this.#connect()).address("").origin;
  }

  /** Milliseconds until a background request may be made; 0 for now. */
  backgroundWaitMs(): number {
    return this.#requests?.limiter.waitMs("background") ?? 0;
  }

  close(): void {
    this.#isClosed = true;
    this.#requests?.close();
  }

  readonly #connect = lazy(async () => {
    try {
      const config = await this.#options.connect();
      const requests = await RequestSender.open({ ...this.#options, config });
      this.#requests = requests;
      if (this.#isClosed) requests.close();
      return requests;
    } catch (error) {
      throw toBridgeError(error, "not_sent");
    }
  });

  readonly #readDocument = lazy(async (): Promise<Discovery> => {
    const requests = await this.#connect();
    const operation = OPERATIONS.readOpenApi;
    const url = requests.address("/api/v1/openapi.json");
    const read = (answer: ParsedResponse) =>
      readOpenApi(requests.accept(operation, answer), requests.address(""));
    try {
      // Calls wait two seconds for it, less than a dead connection takes.
      return await requests.request(operation, { url }, read, { isFresh: true });
    } catch (error) {
      // If it was not sent, the next call asks again. Any other failure is final.
      if (error instanceof BridgeError && error.facts.outcome === "not_sent") throw error;
      return DISCOVERED_NOTHING;
    }
  });

  /** Begins with the first call that needs the document, so that later calls don't wait. */
  readonly #patience = lazy(() => pause(this.#options.clock, DOCUMENT_PATIENCE_MS));

  /** The content of the OpenAPI document, if it arrives in time, and the options for the rest of the call. */
  async #discover(options: CallOptions) {
    const { clock } = this.#options;
    const endsAtMs = clock.monotonicMs() + (options.deadlineMs ?? READ_MS);
    const document = this.#readDocument().catch(() => undefined);
    // A document that has arrived is used even if the wait is over.
    const patience = this.#patience().then(() => nextTurn());
    const discovery = (await Promise.race([document, patience])) ?? DISCOVERED_NOTHING;
    const deadlineMs = Math.max(1, endsAtMs - clock.monotonicMs());
    return { discovery, endsAtMs, rest: { ...options, deadlineMs } };
  }
}

/** The error of every call while the server is not set up: what has to be set, and how. */
export function notConfiguredError(problems: readonly ConfigProblem[]): BridgeError {
  const list = problems.map(({ variable, problem }) => `${variable} ${problem}`).join("; ");
  const fixes = problems.map(({ variable, fix }) => `${variable}: ${fix}.`);
  const needsAccount = problems.some(({ isUnset }) => isUnset);
  return notSent(
    "not_configured",
    `This server is not set up: ${list}.`,
    inSentences(
      ...fixes,
      say`[Put that into ${IN_CLIENT.settings}.|Set that in the environment of this call.]`,
      say`[Then ${IN_CLIENT.restart}.|]`,
      needsAccount && say`To try it without an account, [${IN_CLIENT.addSandbox}|add --sandbox].`,
    ),
    { isForUser: true, failsAgain: true },
  );
}
