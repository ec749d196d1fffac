// What has arrived of a file that is downloaded, and whether the next answer fits it. Knows nothing of links and connections.

import type { AnswerHeaders } from "./rate-limiter.ts";

/** Where the bytes go. What it rejects with ends the download, which then rejects with the same. */
export interface DownloadTarget {
  /** Appends. */
  write(chunk: Uint8Array): Promise<void>;
  /** Drops all that was written. */
  clear(): Promise<void>;
}

/** Why a download ends, or begins anew. The message is a clause. */
export class DownloadFailure extends Error {
  override readonly name = "DownloadFailure";
  /** What to do: give up, continue where it ended, or ask for the whole file again. */
  readonly next: "give up" | "continue" | "begin anew";

  constructor(reason: string, next: DownloadFailure["next"] = "give up") {
    super(reason);
    this.next = next;
  }
}

/** The target's own failure, such as a full disk, apart from those of the network. */
export class TargetFailure extends Error {}

/** What has arrived of the file, over all requests for it. */
export class ReceivedFile {
  bytes = 0;
  /** ETag or date of the version that the bytes are of, if it can be asked for. */
  validator: string | undefined;
  /** Length of the whole file, where the host has named one. */
  totalBytes: number | undefined;
  readonly #target: DownloadTarget;

  constructor(target: DownloadTarget) {
    this.#target = target;
  }

  async write(chunk: Uint8Array): Promise<void> {
    await ofTarget(this.#target.write(chunk));
    this.bytes += chunk.length;
  }

  async clear(): Promise<void> {
    if (this.bytes > 0) await ofTarget(this.#target.clear());
    this.bytes = 0;
    this.validator = undefined;
    this.totalBytes = undefined;
  }
}

/** Prepares `received` for the body of an answer. Throws where there is no file in it, or another part than is missing. */
export async function beginAnswer(
  status: number,
  headers: AnswerHeaders,
  received: ReceivedFile,
): Promise<void> {
  if (status === 416) throw new DownloadFailure("the host refused to continue the download", "begin anew");
  if (status !== 200 && status !== 206) {
    const mayPass = status >= 500 || status === 408 || status === 429;
    throw new DownloadFailure(`its host answered HTTP ${status}`, mayPass ? "continue" : "give up");
  }
  if (/^(text|image|audio|font)\/|json|xml/i.test(singleHeader(headers, "content-type") ?? ""))
    throw new DownloadFailure("its link leads to something else than a video");
  if (!/^(identity)?$/i.test(singleHeader(headers, "content-encoding") ?? ""))
    throw new DownloadFailure("its host compresses the file");
  if (status === 206) return checkRange(headers, received);
  await received.clear();
  received.validator = validatorOf(headers);
  received.totalBytes = countOf(singleHeader(headers, "content-length"));
}

/** Some hosts look at Range and not at If-Range: without this a file would be put together from two. */
function checkRange(headers: AnswerHeaders, { bytes, totalBytes, validator }: ReceivedFile): void {
  const range = /^bytes (\d{1,15})-\d{1,15}\/(\d{1,15}|\*)$/.exec(
    singleHeader(headers, "content-range") ?? "",
  );
  const isMissingPart = bytes > 0 && Number(range?.[1]) === bytes;
  const isSameLength = totalBytes === undefined || range?.[2] === "*" || Number(range?.[2]) === totalBytes;
  const isSameVersion = [undefined, validator].includes(validatorOf(headers));
  if (!isMissingPart || !isSameLength || !isSameVersion)
    throw new DownloadFailure("its host sent another part of it than was asked for", "begin anew");
}

/** What can follow If-Range: a strong ETag, else the date. */
function validatorOf(headers: AnswerHeaders): string | undefined {
  if (singleHeader(headers, "accept-ranges") === "none") return undefined;
  const etag = singleHeader(headers, "etag");
  if (etag !== undefined && /^"[^"]*"$/.test(etag)) return etag;
  return singleHeader(headers, "last-modified");
}

export function singleHeader(headers: AnswerHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function countOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

async function ofTarget(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    throw new TargetFailure("The target failed", { cause: error });
  }
}
