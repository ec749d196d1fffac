// The files behind the sandbox's links: three looks that clips take in turn, one voiceover and one final
// video for all jobs, made by scripts/sandbox-media.ts. A file exists once its job is that far. No key is needed:
// players have none.

import { readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import type { Account } from "./account.ts";
import type { Reply } from "./reply.ts";
import { ServiceError } from "./service-error.ts";

/** Answers GET and HEAD of a path under /media/. */
export async function mediaReply(
  account: Account,
  { headers }: IncomingMessage,
  path: string,
): Promise<Reply> {
  const name = findFile(account, path);
  if (name === undefined) throw new ServiceError(404, "not_found", "No such file.");
  const file = await readFile(new URL(`./media/${name}`, import.meta.url));
  return serve(file, name.endsWith(".wav") ? "audio/wav" : "video/mp4", headers.range);
}

const LOOKS = ["sea.mp4", "rain.mp4", "deep.mp4"] as const;

function findFile(account: Account, path: string): string | undefined {
  const [, clipJob, clip] = /^\/media\/clips\/([^/]+)\/([1-9]\d*)\.mp4$/.exec(path) ?? [];
  if (clipJob !== undefined) {
    const isReady = Number(clip) <= (account.state(clipJob)?.clipsDone ?? 0);
    return isReady ? LOOKS[Number(clip) % LOOKS.length] : undefined;
  }
  const [, voiceJob] = /^\/media\/voice\/([^/]+)\.wav$/.exec(path) ?? [];
  if (voiceJob !== undefined) return account.state(voiceJob)?.voiceDone === true ? "voice.wav" : undefined;
  const [, finalJob] = /^\/media\/final\/([^/]+)\.mp4$/.exec(path) ?? [];
  const isFinal = finalJob !== undefined && account.state(finalJob)?.status === "completed";
  return isFinal || account.hasPost(path) ? "final.mp4" : undefined;
}

function serve(file: Buffer, type: string, rangeHeader: string | undefined): Reply {
  const range = parseRange(rangeHeader, file.length);
  const { first, last } = range ?? { first: 0, last: file.length - 1 };
  return {
    status: range === undefined ? 200 : 206,
    headers: {
      "Content-Type": type,
      "Content-Length": String(last - first + 1),
      "Accept-Ranges": "bytes",
      ...(range !== undefined && { "Content-Range": `bytes ${first}-${last}/${file.length}` }),
    },
    body: file.subarray(first, last + 1),
  };
}

/** What players ask for: bytes from one place on, or up to another. A server may ignore any other Range. */
function parseRange(header = "", size: number): { first: number; last: number } | undefined {
  const [, from, to] = /^bytes=(\d+)-(\d*)$/i.exec(header.trim()) ?? [];
  if (from === undefined) return undefined;
  const last = to === undefined || to === "" ? size - 1 : Math.min(Number(to), size - 1);
  return Number(from) <= last ? { first: Number(from), last } : undefined;
}
