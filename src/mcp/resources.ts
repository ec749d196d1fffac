// The resources: each job, the most recent of them by name, and the catalog of documented options.

import { type McpServer, ResourceNotFoundError, ResourceTemplate } from "@modelcontextprotocol/server";
import { JOB_URI_TEMPLATE, jobIdOf, jobUri } from "../service/job.ts";
import * as options from "../service/options.ts";
import { hasEnded, lastStatus, titleOf } from "../jobs/job-record.ts";
import { findByWords } from "../service/spoken-words.ts";
import { cleanServiceText, quote } from "../text.ts";
import { describe } from "../tools/describe.ts";
import { withGuidance } from "../tools/tool.ts";
import type { Application } from "./application.ts";
import { readError } from "./results.ts";

export const CATALOG_URI = "faceless://catalog";
const JSON_TYPE = "application/json";
const CATALOG = {
  title: "Options of a video",
  description: "Styles, music, pacing, voices, limits and defaults.",
  mimeType: JSON_TYPE,
};
const JOB = {
  title: "Video job",
  description: "A video's status and clips, as get_video_status returns them.",
  mimeType: JSON_TYPE,
};
const LISTED_JOBS = 20;
/** Clients read after each update, cards every 3 s, and completion lists with every keystroke. */
const FRESH_MS = 10_000;

export function registerResources(server: McpServer, application: Application): void {
  const { reader, jobs } = application;
  const jobContents = async (uri: string, jobId: string) => {
    const text = JSON.stringify(await describeJob(jobId, application, { wholeTopic: true }));
    return { contents: [{ uri, mimeType: JSON_TYPE, text }] };
  };

  server.registerResource("catalog", CATALOG_URI, CATALOG, ({ href }) => ({
    contents: [{ uri: href, mimeType: JSON_TYPE, text: JSON.stringify(catalog()) }],
  }));

  server.registerResource(
    "job",
    new ResourceTemplate(JOB_URI_TEMPLATE, {
      // resources/list is answered below.
      list: undefined,
      complete: {
        jobId: async (typed) => {
          await reader.refreshFromList(FRESH_MS);
          return findByWords(typed, recentVideos(application)).map(({ jobId }) => jobId);
        },
      },
    }),
    JOB,
    async ({ href }, _variables, { mcpReq }) => {
      const jobId = jobIdOf(href);
      if (jobId === undefined) throw new ResourceNotFoundError(href);
      try {
        const { signal } = mcpReq;
        await reader.readRecent(jobId, FRESH_MS, { background: false, signal });
        return await jobContents(href, jobId);
      } catch (error) {
        throw readError(error, new ResourceNotFoundError(href), application, { uri: href });
      }
    },
  );

  // The SDK would list every resource, the card too.
  server.server.setRequestHandler("resources/list", async () => {
    await reader.refreshFromList(FRESH_MS);
    return {
      resources: [
        { uri: CATALOG_URI, name: "catalog", ...CATALOG },
        ...jobs.recent(LISTED_JOBS).map((record) => {
          const title = cleanServiceText(titleOf(record) ?? `Video ${record.jobId}`, 80);
          const status = lastStatus(record);
          const description =
            status === undefined ? "Video job." : `Video job, last seen as ${quote(status, 60)}.`;
          return { ...JOB, uri: jobUri(record.jobId), name: title, title, description };
        }),
      ],
    };
  });
}

/** The recent jobs with their topics, for completions. */
export function recentVideos({ jobs }: Pick<Application, "jobs">) {
  return jobs.recent(100).map(({ jobId, order }) => ({
    jobId,
    ...(order !== undefined && { topic: String(order.arguments["topic"]) }),
  }));
}

/** Describes a job as get_video_status does. */
export async function describeJob(
  jobId: string,
  { jobs, videoSaver, config, clock }: Pick<Application, "jobs" | "videoSaver" | "config" | "clock">,
  options: { readonly wholeTopic?: boolean } = {},
): Promise<Record<string, unknown>> {
  if (hasEnded(jobs.get(jobId))) await jobs.readJournal();
  await videoSaver.refresh([jobId]);
  const { result, ...guidance } = describe(jobs.get(jobId), { config, nowMs: clock.now(), ...options });
  return withGuidance(guidance, result, { config });
}

function catalog() {
  const { CHOICES, CATALOG_VOICES, DURATION, DEFAULTS, RENDER_SECONDS } = options;
  const { style: styles, ...others } = CHOICES;
  return {
    styles,
    ...others,
    voices: CATALOG_VOICES,
    otherVoices: "native voices per language, and clone:<id> for a cloned voice",
    languages: "any BCP-47 language code",
    limits: { durationSeconds: DURATION },
    defaults: DEFAULTS,
    typicalRenderSeconds: RENDER_SECONDS,
  };
}
