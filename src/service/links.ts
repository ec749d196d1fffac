// Which links of the service are handed on: https, or plain http within this machine where the service itself is there;
// never with user info. Its documented links must be that; of all else it says, what is no link passes untouched.

import { isLoopback } from "../loopback.ts";
import type { ConnectedPlatforms, Generation, Job, Publication, Video, VideoPage } from "./schemas.ts";

/** Each answer without links that are not safe. Ids, states and cursors are no links, whatever they look like. */
export interface Links {
  ofGeneration(generation: Generation): Generation;
  /** With the number of what was left out, where there was anything. */
  ofJob(job: Job): Job;
  ofPublication(publication: Publication): Publication;
  ofPage(page: VideoPage): VideoPage;
  ofPlatforms(connected: ConnectedPlatforms): ConnectedPlatforms;
}

type Fields = Readonly<Record<string, unknown>>;

// A whole text that leads somewhere, or runs, when it is opened. With a blank in it, it is prose, except where what follows
// is a script or a document; after the colon a blank makes it prose in any case ("Data: 5 clips").
const LINK = /^(?:[a-z][a-z\d+.-]*:\/\/\S*|(?:https?|ftp|file):\S+|(?:javascript|vbscript|data):\S.*)$/is;

export function createLinks(baseUrl: URL): Links {
  const local = isLoopback(baseUrl.hostname);
  const isSafe = (link: string): boolean => {
    const url = parseUrl(link);
    if (url === undefined || url.username !== "" || url.password !== "") return false;
    return url.protocol === "https:" || (url.protocol === "http:" && local && isLoopback(url.hostname));
  };

  /** Takes out of what passes through, however deep, the texts that are links and not safe. */
  const createSieve = () => {
    let leftOut = 0;
    const safe = (link: string | undefined): link is string => {
      if (link === undefined) return false;
      const isFine = isSafe(link);
      if (!isFine) leftOut += 1;
      return isFine;
    };
    const passes = (value: unknown): boolean =>
      typeof value !== "string" || !LINK.test(asOpened(value)) || safe(value);
    const sift = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.filter(passes).map(sift);
      return isFields(value) ? among(value) : value;
    };
    // A loop, which takes less of the stack than what tidied the answer: nesting must not cost it now.
    const among = (fields: Fields): Record<string, unknown> => {
      const kept: [string, unknown][] = [];
      for (const [name, value] of Object.entries(fields)) if (passes(value)) kept.push([name, sift(value)]);
      return Object.fromEntries(kept);
    };
    return { safe, among, leftOut: () => leftOut };
  };

  const ofVideo = ({ jobId, status, finalVideoUrl, ...rest }: Video): Video => {
    const { safe, among } = createSieve();
    return { jobId, status, ...among(rest), ...(safe(finalVideoUrl) && { finalVideoUrl }) };
  };

  return {
    ofGeneration: ({ jobId, status, ...rest }) => ({ jobId, status, ...createSieve().among(rest) }),

    ofJob({ jobId, status, done, videoUrls, audioUrl, finalVideoUrl, ...rest }) {
      const { safe, among, leftOut } = createSieve();
      return {
        jobId,
        status,
        done,
        ...among(rest),
        videoUrls: videoUrls.filter(safe),
        ...(safe(audioUrl) && { audioUrl }),
        ...(safe(finalVideoUrl) && { finalVideoUrl }),
        // Counted by now.
        ...(leftOut() > 0 && { unsafeLinksLeftOut: leftOut() }),
      };
    },

    ofPublication({ results, ...rest }) {
      const { among } = createSieve();
      return {
        ...among(rest),
        results: results.map(({ platform, ok, ...more }) => ({ platform, ok, ...among(more) })),
      };
    },

    ofPage({ videos, nextCursor, ...rest }) {
      const page = { ...createSieve().among(rest), videos: videos.map(ofVideo) };
      return nextCursor === undefined ? page : { ...page, nextCursor };
    },

    ofPlatforms({ platforms }) {
      const { among } = createSieve();
      return { platforms: platforms.map(({ platform, ...more }) => ({ platform, ...among(more) })) };
    },
  };
}

/** As whoever opens a link reads it: without the tabs, line breaks and outer blanks that hide its scheme. */
function asOpened(text: string): string {
  return text.replace(/[\t\n\r]+/g, "").trim();
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
