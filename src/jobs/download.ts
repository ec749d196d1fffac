// Downloads a finished video from its link to a file, through redirects. Never sends the key.
// Knows nothing of jobs. Loaded on first use: it needs undici.

// Not from node:fs/promises, which would be loaded at the start and takes a millisecond.
import { promises as fs } from "node:fs";
import type { Dispatcher } from "undici";
import type { ServiceConfig } from "../config.ts";
import { flush } from "../disk.ts";
import { isLoopback } from "../settings/loopback.ts";
import { createDispatcher } from "../service/proxy.ts";
import { explainNetworkError } from "../service/transport-failure.ts";
import { VERSION } from "../version.ts";
import { DownloadFailure } from "./save-video.ts";

const MAX_BYTES = 500 * 1024 * 1024;
/** A box's length and name, or the mark of WebM. */
const START_BYTES = 8;
const MAX_REDIRECTS = 5;
/** A connection that brings no byte for this long is given up. */
const STALL_MS = 30_000;
const DEADLINE_MS = 30 * 60_000;
/** The statuses of storage before the file has arrived, and of a busy host. */
const NOT_THERE_YET = new Set([403, 404, 408, 425, 429]);
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** The headers of any visitor, with neither key nor cookie. */
const HEADERS = {
  accept: "video/*, */*;q=0.5",
  "accept-encoding": "identity",
  "user-agent": `faceless-video-mcp/${VERSION}`,
};

export interface DownloadOptions {
  /** True if plain http is allowed on this computer, because the service runs here too. */
  readonly service: Pick<ServiceConfig, "baseUrl" | "proxies">;
  readonly signal: AbortSignal;
}

/** Writes a new file. Throws a DownloadFailure, or the file system's error; what was written then stays. */
export async function download(
  link: string,
  path: string,
  { service: { proxies, baseUrl }, ...options }: DownloadOptions,
): Promise<void> {
  const dispatcher = createDispatcher(proxies, { headersTimeout: STALL_MS, bodyTimeout: STALL_MS });
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  const signal = AbortSignal.any([options.signal, deadline]);
  try {
    const isLocal = isLoopback(baseUrl.hostname);
    const answer = await follow(link, isLocal, (request) => dispatcher.request({ ...request, signal }));
    checkVideo(answer);
    // Some mounts take a file only once, from front to back: none of it is opened or written again.
    const file = await fs.open(path, "wx");
    try {
      await fs.writeFile(file, checkedBytes(answer.body), { signal });
      await flush(file);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (deadline.aborted) throw new DownloadFailure("it took too long");
    const isOfFile = /^(?:open|write|fsync|close)$/.test(String(Reflect.get(Object(error), "syscall")));
    throw error instanceof DownloadFailure || isOfFile
      ? error
      : new DownloadFailure(explainNetworkError(error).reason, true);
  } finally {
    void dispatcher.destroy().catch(() => {});
  }
}

/** Requests the link and what it redirects to. */
async function follow(
  link: string,
  isLocal: boolean,
  request: (options: Dispatcher.RequestOptions) => Promise<Dispatcher.ResponseData>,
): Promise<Dispatcher.ResponseData> {
  let url = checkedUrl(link, isLocal);
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const path = `${url.pathname}${url.search}`;
    const answer = await request({ origin: url.origin, path, method: "GET", headers: HEADERS });
    if (!REDIRECTS.has(answer.statusCode)) return answer;
    await answer.body.dump();
    url = checkedUrl(headerOf(answer, "location"), isLocal, url);
  }
  throw new DownloadFailure(`its link redirects more than ${MAX_REDIRECTS} times`);
}

/** Throws unless it is https, or http on this computer for a service that runs here too. */
function checkedUrl(text: string, isLocal: boolean, base?: URL): URL {
  if (!URL.canParse(text, base?.href)) throw new DownloadFailure("its link is not a URL");
  const url = new URL(text, base);
  const isSafe =
    url.protocol === "https:" || (url.protocol === "http:" && isLocal && isLoopback(url.hostname));
  if (!isSafe) throw new DownloadFailure("its link does not stay on https");
  return url;
}

function checkVideo(answer: Dispatcher.ResponseData): void {
  const { statusCode } = answer;
  if (statusCode !== 200)
    throw new DownloadFailure(
      `its host answered HTTP ${statusCode}`,
      statusCode < 300 || statusCode >= 500 || NOT_THERE_YET.has(statusCode),
    );
  // A connection that breaks would look like the end of the file.
  const isFramed = headerOf(answer, "content-length") !== "" || headerOf(answer, "transfer-encoding") !== "";
  if (!isFramed) throw new DownloadFailure("its host does not say how long the file is");
  checkSize(Number(headerOf(answer, "content-length")));
}

/** The bytes of a video that isn't too long. undici throws if less arrives than Content-Length says. */
async function* checkedBytes(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  let start = Buffer.alloc(0); // held back until they prove to be a video's
  for await (const chunk of chunks) {
    bytes += chunk.length;
    checkSize(bytes);
    if (bytes - chunk.length >= START_BYTES) {
      yield chunk;
      continue;
    }
    start = Buffer.concat([start, chunk]);
    if (bytes < START_BYTES) continue;
    checkStart(start);
    yield start;
  }
  if (bytes === 0) throw new DownloadFailure("the file is empty", true);
  if (bytes < START_BYTES) throw notAVideo();
}

/** Throws for a page, HLS segments, or what was compressed on its way: no player could play the file. */
function checkStart(start: Buffer): void {
  const isWebm = start.readUInt32BE(0) === 0x1a45dfa3;
  // The first box of an MP4 is nearly always the first of these.
  const isMp4 = /^(?:ftyp|styp|moov|mdat|free|skip|wide)$/.test(start.toString("latin1", 4, START_BYTES));
  if (!isWebm && !isMp4) throw notAVideo();
}

/** Some hosts answer with a page until the file has arrived. */
function notAVideo(): DownloadFailure {
  return new DownloadFailure("its link does not lead to a video", true);
}

function checkSize(bytes: number): void {
  if (bytes > MAX_BYTES) throw new DownloadFailure(`the file is larger than ${MAX_BYTES / 1024 / 1024} MB`);
}

/** The first value; empty if there is none. */
function headerOf({ headers }: Dispatcher.ResponseData, name: string): string {
  return [headers[name]].flat()[0] ?? "";
}
