// The files behind the sandbox's links: four clips that come in turn, one voiceover and one final video for
// all jobs, made by scripts/pictures/sandbox-media.ts. A file exists once its job is that far. Players have
// no key, so none is needed.

import { readFile } from "node:fs/promises";
import type { Account } from "./account.ts";
import type { Route } from "./app.ts";
import { ServiceError } from "./service-error.ts";

const CLIPS = ["river.mp4", "rain.mp4", "cloud.mp4", "deep.mp4"] as const;

export function mediaRoute(account: Account): Route {
  return {
    methods: ["GET", "HEAD"],
    path: /^\/media\//,
    async handle({ incoming, url }) {
      const name = findFile(account, url.pathname);
      if (name === undefined) throw new ServiceError(404, "not_found", "No such file.");
      const file = await readFile(new URL(`./media/${name}`, import.meta.url));
      return serve(file, name.endsWith(".wav") ? "audio/wav" : "video/mp4", incoming.headers.range);
    },
  };
}

function findFile(account: Account, path: string): string | undefined {
  const [, kind, jobId = "", clip] =
    /^\/media\/(clips|voice|final|posts\/[\w-]+)\/([^/]+?)(?:\/([1-9]\d*))?\.\w+$/.exec(path) ?? [];
  const { clipsDone = 0, voiceDone = false, status } = account.state(jobId) ?? {};
  if (kind === "clips" && Number(clip) <= clipsDone) return CLIPS[(Number(clip) - 1) % CLIPS.length];
  if (kind === "voice" && voiceDone) return "voice.wav";
  const isWhole = kind === "final" || kind?.startsWith("posts/") === true;
  return isWhole && status === "completed" ? "final.mp4" : undefined;
}

/** Players ask for one range. Any other Range is ignored, which HTTP allows. */
function serve(file: Buffer, type: string, range = ""): Response {
  const [, from = "", to = ""] = /^bytes=(\d*)-(\d*)$/i.exec(range.trim()) ?? [];
  // "-500" means the last 500 bytes.
  const first = from === "" ? Math.max(0, file.length - Number(to)) : Number(from);
  const end = from === "" || to === "" ? file.length : Math.min(Number(to) + 1, file.length);
  const isPart = from + to !== "" && first < end;
  const body = isPart ? file.subarray(first, end) : file;
  const headers = {
    "Content-Type": type,
    "Content-Length": String(body.length),
    "Accept-Ranges": "bytes",
    ...(isPart && { "Content-Range": `bytes ${first}-${end - 1}/${file.length}` }),
  };
  return new Response(body, { status: isPart ? 206 : 200, headers });
}
