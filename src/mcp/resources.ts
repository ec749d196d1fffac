// The resources: each job, the most recent of them by name, and the catalog of documented options.

import { type McpServer, ResourceNotFoundError } from "@modelcontextprotocol/server";
import { jobIdOf, jobUri } from "../service/job.ts";
import * as options from "../service/options.ts";
import { hasEnded, type JobRecord, lastStatus, jobTitle } from "../jobs/job-record.ts";
import { cleanServiceText, quote } from "../text.ts";
import { describeJob } from "../tools/describe.ts";
import { toResult } from "../tools/tool.ts";
import type { Application } from "./application.ts";
import { CARD_URI, readCard } from "./card/card.ts";
import type { ConnectedClient } from "./connected-client.ts";
import { readError } from "./results.ts";
import { JOB_RESOURCE } from "./server.ts";

export const CATALOG_URI = "faceless://catalog";
const CATALOG = {
  uri: CATALOG_URI,
  name: "catalog",
  title: "Options of a video",
  description: "What can be chosen for a video: values, limits and defaults.",
  mimeType: JOB_RESOURCE.mimeType,
};
const LISTED_JOBS = 20;
/** Clients read after each update, and cards every 3 s. */
const FRESH_MS = 10_000;

export function registerResources(
  { server }: McpServer,
  application: Application,
  client: ConnectedClient,
): void {
  const { reader, jobs, config } = application;
  server.setRequestHandler("resources/list", async () => {
    await reader.refreshFromList(FRESH_MS);
    const recent = jobs.recent(LISTED_JOBS).map(toListing);
    return { resources: [CATALOG, ...recent] };
  });
  server.setRequestHandler("resources/read", async ({ params: { uri } }, { mcpReq }) => {
    if (uri === CATALOG_URI) return jsonContents(uri, catalog(config));
    // It isn't listed: clients show what they list to users and models, who have no use for it.
    if (uri === CARD_URI && !config.readOnly) return readCard(application, client.canAsk(mcpReq));
    const jobId = jobIdOf(uri);
    if (jobId === undefined) throw new ResourceNotFoundError(uri);
    try {
      await reader.readRecent(jobId, FRESH_MS, mcpReq.signal);
      return jsonContents(uri, await jobFields(jobId, application, { wholeTopic: true }));
    } catch (error) {
      throw readError(error, new ResourceNotFoundError(uri), application, { uri });
    }
  });
}

function jsonContents(uri: string, value: object) {
  return { contents: [{ uri, mimeType: JOB_RESOURCE.mimeType, text: JSON.stringify(value) }] };
}

function toListing(record: JobRecord) {
  const title = cleanServiceText(jobTitle(record) ?? `Video ${record.jobId}`, 80);
  const status = lastStatus(record);
  const description = status === undefined ? "Video job." : `Video job, last seen as ${quote(status, 60)}.`;
  return { ...JOB_RESOURCE, uri: jobUri(record.jobId), name: title, title, description };
}

/** Describes a job as get_video_status does. */
export async function jobFields(
  jobId: string,
  { jobs, videoSaver, config, clock }: Pick<Application, "jobs" | "videoSaver" | "config" | "clock">,
  options: { readonly wholeTopic?: boolean } = {},
): Promise<Record<string, unknown>> {
  if (hasEnded(jobs.get(jobId))) await jobs.readJournal();
  await videoSaver.refresh([jobId]);
  const { result, ...guidance } = describeJob(jobs.get(jobId), { config, nowMs: clock.now(), ...options });
  return toResult(guidance, result).fields;
}

function catalog({ sandbox, sandboxSeconds }: Application["config"]) {
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
    typicalRenderSeconds: sandbox ? { min: sandboxSeconds, max: sandboxSeconds } : RENDER_SECONDS,
  };
}
