// A host of one video over real HTTP, which can break off, and lacks what a test takes from it.

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { until } from "../fixtures/until.ts";
import type { Handler, RecordedRequest } from "../fixtures/scripted-service.ts";
import { VIDEO } from "./saving.ts";

export interface MediaHost {
  readonly video?: Buffer;
  readonly etag?: string;
  readonly lastModified?: string;
  /** Whether it looks at Range. */
  readonly ranges?: boolean;
  /** Whether it looks at If-Range. */
  readonly ifRange?: boolean;
  /** Sends no more than this of a range at a time. */
  readonly maxPart?: number;
  /** Breaks off after so many bytes of the answer. */
  readonly cutAfter?: number;
  /** Breaks off only when what it has sent is on disk there: what is still on its way gets lost. */
  readonly folder?: string;
  /** Says nothing any more, and stays there, after so many bytes of the answer. */
  readonly stallAfter?: number;
}

/** Answers one request. */
export function media(host: MediaHost = {}): Handler {
  const {
    video = VIDEO,
    etag,
    lastModified,
    ranges = true,
    ifRange = true,
    maxPart,
    cutAfter,
    folder,
    stallAfter,
  } = host;
  return async ({ headers }, { outgoing }) => {
    const validator = headers["if-range"];
    const isCurrent = validator === undefined || [etag, lastModified].includes(String(validator)) || !ifRange;
    const first = ranges && isCurrent ? Number(/^bytes=(\d+)-$/.exec(headers.range ?? "")?.[1] ?? 0) : 0;
    const body = video.subarray(first, first > 0 && maxPart !== undefined ? first + maxPart : undefined);
    outgoing.writeHead(first > 0 ? 206 : 200, {
      "content-type": "video/mp4",
      "content-length": body.length,
      ...(etag !== undefined && { etag }),
      ...(lastModified !== undefined && { "last-modified": lastModified }),
      ...(first > 0 && { "content-range": `bytes ${first}-${first + body.length - 1}/${video.length}` }),
    });
    if (cutAfter !== undefined) {
      outgoing.write(body.subarray(0, cutAfter));
      if (folder !== undefined) await until(() => writtenTo(folder) === first + cutAfter);
      outgoing.socket?.end();
    } else if (stallAfter !== undefined) outgoing.write(body.subarray(0, stallAfter));
    else outgoing.end(body);
  };
}

/** Bytes of the file that is being written. */
function writtenTo(folder: string): number {
  const name = readdirSync(folder).find((candidate) => candidate.endsWith(".part"));
  return name === undefined ? 0 : (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0);
}

/** What a download asked for with each request. */
export function rangesOf(
  requests: readonly RecordedRequest[],
): (readonly [string | undefined, string | undefined])[] {
  return requests.map(({ headers }) => [headers.range, headers["if-range"]?.toString()] as const);
}
