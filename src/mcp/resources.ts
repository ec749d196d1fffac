// The resources: each job, the most recent of them by name, and the catalog of documented options.

import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  ResourceTemplate,
} from "@modelcontextprotocol/server";
import { type BridgeError, describeFailure, toBridgeError } from "../errors.ts";
import { isJobId, JOB_URI_TEMPLATE, jobUri } from "../jobs/job.ts";
import * as options from "../service/options.ts";
import type { Job } from "../service/answers.ts";
import { cleanServiceText } from "../text.ts";
import { describeJob } from "../tools/describe-job.ts";
import { withGuidance } from "../tools/tool.ts";
import type { Application } from "./application.ts";
import { showsCards } from "./card/card.ts";
import { errorMeta } from "./tool-result.ts";

export const CATALOG_URI = "faceless://catalog";
const JSON_TYPE = "application/json";
const CATALOG = {
  title: "Options of a video",
  description: "Styles, music, pacing, voices, limits and defaults of generate_video.",
  mimeType: JSON_TYPE,
};
const JOB = {
  title: "Video job",
  description: "A video's status and clips, as get_video_status returns them.",
  mimeType: JSON_TYPE,
};
const LISTED_JOBS = 20;
/** A client reads the resource after each update: the poll that found the change has the answer. */
const FRESH_MS = 5_000;
/** Clients list the resources when they start: that never waits for the network any longer. */
const LIST_DEADLINE_MS = 2_000;
/** Completion lists with every keystroke. */
const LIST_FRESH_MS = 10_000;

export function registerResources(server: McpServer, application: Application): void {
  const { reader, cardReads, jobs, log } = application;
  const jobContents = async (uri: string, job: Job) => {
    const text = JSON.stringify(await describeKnownJob(job, application));
    return { contents: [{ uri, mimeType: JSON_TYPE, text }] };
  };
  const newestJobs = new NewestJobs(application);

  server.registerResource("catalog", CATALOG_URI, CATALOG, ({ href }) => ({
    contents: [{ uri: href, mimeType: JSON_TYPE, text: JSON.stringify(catalog()) }],
  }));

  server.registerResource(
    "job",
    new ResourceTemplate(JOB_URI_TEMPLATE, {
      // resources/list is answered below.
      list: undefined,
      complete: {
        jobId: async (prefix) => {
          await application.recallJobs();
          await newestJobs.refresh();
          return jobs
            .recent(100)
            .map(({ jobId }) => jobId)
            .filter((jobId) => jobId.startsWith(prefix.toLowerCase()));
        },
      },
    }),
    JOB,
    async ({ href }, { jobId }, { mcpReq }) => {
      if (typeof jobId !== "string" || !isJobId(jobId)) throw new ResourceNotFoundError(href);
      try {
        const { signal } = mcpReq;
        const job = showsCards(server, mcpReq)
          ? await cardReads.read(jobId, signal)
          : await reader.readRecent(jobId, FRESH_MS, { background: false, signal });
        return await jobContents(href, job);
      } catch (error) {
        // What ended the polling mostly fails this read too: the subscriber reads why, beside the last known state.
        const { job, watchEnded } = jobs.get(jobId) ?? {};
        if (job !== undefined && watchEnded !== undefined) return await jobContents(href, job);
        const failure = toBridgeError(error, "rejected");
        log.info(`${href}: ${failure.message}`, failure.cause);
        throw protocolError(failure, href);
      }
    },
  );

  // The SDK would list every resource, the card too.
  server.server.setRequestHandler("resources/list", async () => {
    await application.recallJobs();
    await newestJobs.refresh();
    return {
      resources: [
        { uri: CATALOG_URI, name: "catalog", ...CATALOG },
        ...jobs.recent(LISTED_JOBS).map(({ jobId, status, topic }) => ({
          ...JOB,
          uri: jobUri(jobId),
          name: topic === undefined ? `Video ${jobId}` : cleanServiceText(topic, 80),
          description:
            status === "unknown"
              ? "Video job."
              : `Video job, ${cleanServiceText(status, 60)} when last seen.`,
        })),
      ],
    };
  });
}

/** What get_video_status says of a job, and why it is no longer polled if it has not ended. */
export async function describeKnownJob(
  job: Job,
  application: Pick<Application, "jobs" | "history" | "savedVideos" | "canPublish"> & {
    readonly config: Pick<Application["config"], "sandbox">;
  },
): Promise<Record<string, unknown>> {
  const { result, ...guidance } = await describeJob(job, application);
  return withGuidance(guidance, result, { isSandbox: application.config.sandbox });
}

function protocolError(failure: BridgeError, uri: string): ProtocolError {
  if (failure.facts.code === "not_found") return new ResourceNotFoundError(uri);
  return new ProtocolError(ProtocolErrorCode.InternalError, describeFailure(failure, "reads"), {
    uri,
    "faceless/error": errorMeta(failure),
  });
}

/** Keeps the newest jobs in the store, as far as the service answers in time. */
class NewestJobs {
  readonly #application: Application;
  /** The last request, and until when its answer counts as fresh. */
  #last: { readonly freshUntilMs: number; readonly done: Promise<void> } | undefined;

  constructor(application: Application) {
    this.#application = application;
  }

  /** Resolves in any case: if the service doesn't answer, what this process knows has to do. */
  refresh(): Promise<void> {
    const nowMs = performance.now();
    if (this.#last === undefined || nowMs > this.#last.freshUntilMs) {
      const { service, jobs, log } = this.#application;
      const done = service.listVideos({}, { deadlineMs: LIST_DEADLINE_MS }).then(
        ({ videos }) => jobs.updateFromPage(videos, { isFirstPage: true }),
        (error: unknown) => log.debug("The newest jobs could not be listed.", error),
      );
      this.#last = { freshUntilMs: nowMs + LIST_FRESH_MS, done };
    }
    return this.#last.done;
  }
}

function catalog() {
  const { STYLES, MUSIC, PACINGS, CATALOG_VOICES, DURATION, DEFAULTS, RENDER_SECONDS } = options;
  return {
    styles: STYLES,
    music: MUSIC,
    pacing: PACINGS,
    voices: CATALOG_VOICES,
    otherVoices: "native voices per language, and clone:<id> for a cloned voice",
    languages: "any BCP-47 language code",
    limits: { durationSeconds: DURATION },
    defaults: DEFAULTS,
    typicalRenderSeconds: RENDER_SECONDS,
  };
}
