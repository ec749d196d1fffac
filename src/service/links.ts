// Which links of the service are handed on: https, or plain http within this machine where the service itself is there;
// never with user info.

import { isLoopback } from "../loopback.ts";
import type { Job, Video } from "./schemas.ts";

export interface Links {
  /** The job without links that are not safe, and with their number where there were any. */
  ofJob(job: Job): Job;
  ofVideo(video: Video): Video;
}

export function createLinks(baseUrl: URL): Links {
  const local = isLoopback(baseUrl.hostname);
  const isSafe = (link: string): boolean => {
    const url = parseUrl(link);
    if (url === undefined || url.username !== "" || url.password !== "") return false;
    return url.protocol === "https:" || (url.protocol === "http:" && local && isLoopback(url.hostname));
  };

  return {
    ofJob({ videoUrls, audioUrl, finalVideoUrl, ...rest }) {
      let leftOut = 0;
      const safe = (link: string | undefined): link is string => {
        if (link === undefined) return false;
        const isFine = isSafe(link);
        if (!isFine) leftOut += 1;
        return isFine;
      };
      return {
        ...rest,
        videoUrls: videoUrls.filter(safe),
        ...(safe(audioUrl) && { audioUrl }),
        ...(safe(finalVideoUrl) && { finalVideoUrl }),
        // Counted by now.
        ...(leftOut > 0 && { unsafeLinksLeftOut: leftOut }),
      };
    },
    ofVideo({ finalVideoUrl, ...rest }) {
      return finalVideoUrl !== undefined && isSafe(finalVideoUrl) ? { ...rest, finalVideoUrl } : rest;
    },
  };
}

function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
