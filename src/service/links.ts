// Which of the service's links are passed on: https, or plain http on this computer if the service itself runs here; never with
// user info. Its documented links must be that. Among its other fields, only texts that are links are looked at.

import { isLoopback } from "../loopback.ts";
import type { ConnectedPlatforms, Generation, Job, Publication, Video, VideoPage } from "./schemas.ts";

/** Each answer without its unsafe links. Ids, states and cursors are never treated as links. */
export interface Links {
  ofGeneration(generation: Generation): Generation;
  /** Adds `unsafeLinksLeftOut`, the number of links left out, unless it is 0. */
  ofJob(job: Job): Job;
  ofPublication(publication: Publication): Publication;
  ofPage(page: VideoPage): VideoPage;
  ofPlatforms(connected: ConnectedPlatforms): ConnectedPlatforms;
}

type Fields = Readonly<Record<string, unknown>>;

// A whole text that leads somewhere, or runs, when it is opened. A text with a blank is prose, unless it is a script or a data
// URL; right after the colon a blank always makes it prose ("Data: 5 clips").
const LINK = /^(?:[a-z][a-z\d+.-]*:\/\/\S*|(?:https?|ftp|file):\S+|(?:javascript|vbscript|data):\S.*)$/is;

/** Signed links have up to about 2,000. */
const MAX_LINK_CHARACTERS = 4_096;

export function createLinks(baseUrl: URL): Links {
  const local = isLoopback(baseUrl.hostname);
  const isSafe = (link: string): boolean => {
    // Prose after a link would reach the model as words of ours.
    if (link.length > MAX_LINK_CHARACTERS || /\s/.test(link)) return false;
    const url = parseUrl(link);
    if (url === undefined || url.username !== "" || url.password !== "") return false;
    return url.protocol === "https:" || (url.protocol === "http:" && local && isLoopback(url.hostname));
  };

  /** Removes unsafe links from fields at any depth, and counts them. */
  const createFilter = () => {
    let leftOut = 0;
    const safe = (link: string | undefined): link is string => {
      if (link === undefined) return false;
      const isFine = isSafe(link);
      if (!isFine) leftOut += 1;
      return isFine;
    };
    const passes = (value: unknown): boolean =>
      typeof value !== "string" || !LINK.test(asOpened(value)) || safe(value);
    const filter = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.filter(passes).map(filter);
      return isFields(value) ? among(value) : value;
    };
    // A loop, which uses less stack than `tidied`: what that could walk, this can.
    const among = (fields: Fields): Record<string, unknown> => {
      const kept: [string, unknown][] = [];
      for (const [name, value] of Object.entries(fields)) if (passes(value)) kept.push([name, filter(value)]);
      return Object.fromEntries(kept);
    };
    return { safe, among, leftOut: () => leftOut };
  };

  const ofVideo = ({ jobId, status, finalVideoUrl, ...rest }: Video): Video => {
    const { safe, among } = createFilter();
    return { jobId, status, ...among(rest), ...(safe(finalVideoUrl) && { finalVideoUrl }) };
  };

  return {
    ofGeneration: ({ jobId, status, ...rest }) => ({ jobId, status, ...createFilter().among(rest) }),

    ofJob({ jobId, status, done, videoUrls, audioUrl, finalVideoUrl, ...rest }) {
      const { safe, among, leftOut } = createFilter();
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
      const { among } = createFilter();
      return {
        ...among(rest),
        results: results.map(({ platform, ok, ...more }) => ({ platform, ok, ...among(more) })),
      };
    },

    ofPage({ videos, nextCursor, ...rest }) {
      const page = { ...createFilter().among(rest), videos: videos.map(ofVideo) };
      return nextCursor === undefined ? page : { ...page, nextCursor };
    },

    ofPlatforms({ platforms }) {
      const { among } = createFilter();
      return { platforms: platforms.map(({ platform, ...more }) => ({ platform, ...among(more) })) };
    },
  };
}

/** As a browser reads a link: without the tabs, line breaks and outer blanks that could hide its scheme. */
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
