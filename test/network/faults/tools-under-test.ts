// The tools as the server runs them, from a call down to the network, with a real journal and log but without
// stdio. For tests whose service fails at some point. Output is redacted as on stdio.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import tls from "node:tls";
import * as z from "zod";
import { openApplication } from "../../../src/commands/create-application.ts";
import { type Proxies, readConfig } from "../../../src/config.ts";
import { toBridgeError } from "../../../src/errors.ts";
import { openLog } from "../../../src/log.ts";
import { failureResult, successResult } from "../../../src/mcp/results.ts";
import { systemClock } from "../../../src/clock.ts";
import { createRedact } from "../../../src/redact.ts";
import type { CallOptions } from "../../../src/service/request-sender.ts";
import { ServiceClient } from "../../../src/service/client.ts";
import { generateVideo } from "../../../src/tools/generate-video.ts";
import { getVideoStatus } from "../../../src/tools/get-video-status.ts";
import { listConnectedPlatforms } from "../../../src/tools/list-connected-platforms.ts";
import { listVideos } from "../../../src/tools/list-videos.ts";
import { publishVideo } from "../../../src/tools/publish-video.ts";
import { runTool, structureOf, type Tool, type ToolContext } from "../../../src/tools/tool.ts";
import { CANARY } from "../../fixtures/canary.ts";
import { makeFolder, removeFolder } from "../../fixtures/folder.ts";
import { type ModelFacts, modelFacts } from "../../fixtures/model-words.ts";
import { type Certificate, createCertificate } from "../../fixtures/certificate.ts";

export interface ToolsOptions {
  readonly baseUrl: string;
  readonly proxies?: Proxies;
  /** The deadline of each operation, instead of its usual one. */
  readonly deadlineMs?: number;
  /** Off if time is virtual, which the disk does not know. Default: on. */
  readonly keepsJournal?: boolean;
}

export interface Called {
  readonly text: string;
  /** Undefined if the call succeeded. */
  readonly error: ModelFacts | undefined;
}

export type ToolsUnderTest = ReturnType<typeof openTools>;

/** The part of a journal's line that tests read. */
const entrySchema = z.object({ id: z.string(), outcome: z.string().default("unknown") });

/** Self-signed; `trustCertificate` makes clients accept it. */
export const CERTIFICATE: Certificate = createCertificate("127.0.0.1");

/**
 * Makes node:tls trust CERTIFICATE and returns what undoes that. The server has no setting for it, and
 * NODE_EXTRA_CA_CERTS is read before any test runs.
 */
export function trustCertificate(): () => void {
  const create = tls.createSecureContext;
  const trusting = create({ ca: CERTIFICATE.cert });
  tls.createSecureContext = (options) => (options?.cert === undefined ? trusting : create(options));
  return () => {
    tls.createSecureContext = create;
  };
}

/** The caller closes it. */
export function openTools({ baseUrl, proxies = {}, deadlineMs, keepsJournal = true }: ToolsOptions) {
  const folder = makeFolder();
  const redact = createRedact(CANARY);
  const now = () => Date.now();
  // Tests with fake timers set Date only, so all times come from it.
  const clock = { ...systemClock, now, monotonicMs: now };
  let written = "";
  const env = {
    FACELESS_API_KEY: CANARY,
    FACELESS_BASE_URL: baseUrl,
    FACELESS_STATE_DIR: keepsJournal ? folder : "off",
  };
  const config = readConfig(env, { sandbox: false, readOnly: false, noPublish: false }, "/nowhere");
  const { service: target } = config;
  if (target === undefined) throw new Error(config.problems[0]?.problem);
  const service = new QuickServiceClient(deadlineMs, {
    connect: async () => ({ ...target, proxies }),
    clock,
    random: () => 0,
  });
  const { log } = openLog({ ...config, logLevel: "debug" }, (line) => (written += line));
  const application = openApplication(config, clock, { log, redact }, { service });
  application.jobs.readJournal = async () => [];
  const journal = () =>
    readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), "utf8"))
      .join("\n");
  const { signal } = new AbortController();
  const context: ToolContext = {
    ...application,
    signal,
    client: undefined,
    maxWaitSeconds: 50,
    askUser: async () => "not asked",
    waitForEnd: (job) => Promise.resolve(job),
  };

  const call = async (tool: Tool, args: Record<string, unknown>): Promise<Called> => {
    let error: ModelFacts | undefined;
    const result = await runTool(tool, args, context).then(
      (ran) => successResult(structureOf(ran)),
      (thrown: unknown) => {
        const failure = toBridgeError(thrown, tool.effect === "reads" ? "rejected" : "unknown");
        error = modelFacts(failure.facts);
        return failureResult(failure, tool.effect, { clock, log, config: { isBundle: false } });
      },
    );
    const json = redact(JSON.stringify(result));
    written += json;
    const [block] = result.content;
    if (block?.type !== "text") throw new Error("A result without text.");
    return { text: redact(block.text), error };
  };

  /** Closes every connection and waits until the outcome of each request is in the journal. */
  const closeConnections = () => {
    service.close();
    return application.finishPaidRequests();
  };
  return {
    generate: (topic: string) => call(generateVideo, { topic }),
    publish: (jobId: string) => call(publishVideo, { jobId, platforms: ["tiktok"] }),
    status: (jobId: string) => call(getVideoStatus, { jobId }),
    list: (limit?: number) => call(listVideos, limit === undefined ? {} : { limit }),
    platforms: () => call(listConnectedPlatforms, {}),
    /** The outcomes in the journal, the oldest first. */
    outcomes() {
      const lines = journal().split("\n").filter(Boolean);
      const entries = lines.map((line) => entrySchema.parse(JSON.parse(line)));
      // The last line of an entry counts.
      return [...new Map(entries.map(({ id, outcome }) => [id, outcome])).values()];
    },
    /** Everything so far: results, log, journal. */
    written: () => written + journal(),
    closeConnections,
    async close() {
      await closeConnections();
      removeFolder(folder);
    },
  };
}

/** Gives its operations this deadline instead of the usual one. */
class QuickServiceClient extends ServiceClient {
  readonly #deadline: CallOptions;

  constructor(deadlineMs: number | undefined, options: ConstructorParameters<typeof ServiceClient>[0]) {
    super(options);
    this.#deadline = deadlineMs === undefined ? {} : { deadlineMs };
  }

  override generate(...[request, options]: Parameters<ServiceClient["generate"]>) {
    return super.generate(request, { ...options, ...this.#deadline });
  }

  override publish(...[request, options]: Parameters<ServiceClient["publish"]>) {
    return super.publish(request, { ...options, ...this.#deadline });
  }

  override getJob(...[jobId, options]: Parameters<ServiceClient["getJob"]>) {
    return super.getJob(jobId, { ...options, ...this.#deadline });
  }

  override listVideos(...[query, options]: Parameters<ServiceClient["listVideos"]>) {
    return super.listVideos(query, { ...options, ...this.#deadline });
  }
}
