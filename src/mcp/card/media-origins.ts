// Which origins the card may play from: a host holds it to those that it names when it is read, and that may be before the links of its
// own video are known.

import type { JobStore } from "../../jobs/job-store.ts";
import type { Log } from "../../log.ts";
import type { Service } from "../../service/client.ts";
import type { Job } from "../../service/answers.ts";

/** A card is read while a call waits for it. */
const LIST_DEADLINE_MS = 1_500;
const MAX_ORIGINS = 12;
const RECENT_JOBS = 50;
type Links = Partial<Pick<Job, "videoUrls" | "audioUrl" | "finalVideoUrl">>;
/** Stands in a policy: a host name with a ; or a * in it would say more than it should. */
const ORIGIN = /^https?:\/\/([a-z0-9.-]+|\[[0-9a-f:]+\])(:\d+)?$/;

/** The service's own origin, then those of the jobs that this process knows and of the newest videos. Never rejects. */
export async function findMediaOrigins(
  service: Pick<Service, "origin" | "listVideos">,
  jobs: Pick<JobStore, "recent">,
  log: Log,
): Promise<readonly string[]> {
  const [own, newest] = await Promise.all([
    service.origin().catch(() => ""),
    service.listVideos({}, { deadlineMs: LIST_DEADLINE_MS }).catch((error: unknown) => {
      log.debug("The newest videos could not be listed.", error);
      return { videos: [] };
    }),
  ]);
  const known = jobs.recent(RECENT_JOBS).flatMap(({ job = {}, finalVideoUrl }) => [job, { finalVideoUrl }]);
  const links = [...known, ...newest.videos].flatMap(linksOf);
  const origins = [own, ...links.map(originOf)].filter((origin) => ORIGIN.test(origin));
  return [...new Set(origins)].slice(0, MAX_ORIGINS);
}

function linksOf({ videoUrls = [], audioUrl, finalVideoUrl }: Links): string[] {
  return [...videoUrls, audioUrl, finalVideoUrl].filter((link) => link !== undefined);
}

function originOf(link: string): string {
  return URL.canParse(link) ? new URL(link).origin : "";
}
