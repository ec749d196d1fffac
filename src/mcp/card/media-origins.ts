// Which origins the card may play from: a host holds it to those that it names when it is read, and that may be before the links of its
// own video are known.

import type { JobReader } from "../../jobs/job-reader.ts";
import type { JobStore } from "../../jobs/job-store.ts";
import type { Service } from "../../service/client.ts";

const LIST_FRESH_MS = 10_000;
const MAX_ORIGINS = 12;
const RECENT_JOBS = 50;
/** Stands in a policy: a host name with a ; or a * in it would say more than it should. */
const ORIGIN = /^https?:\/\/([a-z0-9.-]+|\[[0-9a-f:]+\])(:\d+)?$/;

/** The service's own origin, then those of the jobs that this process knows and of the newest videos. Never rejects. */
export async function findMediaOrigins(
  service: Pick<Service, "origin">,
  jobs: Pick<JobStore, "recent">,
  reader: Pick<JobReader, "refreshFromList">,
): Promise<readonly string[]> {
  const [own] = await Promise.all([service.origin().catch(() => ""), reader.refreshFromList(LIST_FRESH_MS)]);
  const links = jobs
    .recent(RECENT_JOBS)
    .flatMap(({ job, finalVideoUrl }) => [
      ...(job?.videoUrls ?? []),
      job?.audioUrl,
      job?.finalVideoUrl,
      finalVideoUrl,
    ]);
  const origins = [own, ...links.map(originOf)].filter((origin) => ORIGIN.test(origin));
  return [...new Set(origins)].slice(0, MAX_ORIGINS);
}

function originOf(link: string | undefined): string {
  return link !== undefined && URL.canParse(link) ? new URL(link).origin : "";
}
