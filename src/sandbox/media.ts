// The files that the sandbox's links lead to: three looks, shared out among the jobs by a hash of the jobId.
// A file exists once its job has come that far. Needs no key, for a player has none.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { parseRange } from "./range.ts";
import type { Reply } from "./reply.ts";
import { ServiceError } from "./service-error.ts";
import type { Studio } from "./studio.ts";

/** Answers GET and HEAD of a path under /media/. */
export type Media = (incoming: IncomingMessage, path: string) => Promise<Reply>;

const looks = ["dusk", "tide", "grove"] as const;
const contentTypes = { mp4: "video/mp4", wav: "audio/wav" } as const;

interface Asset {
  /** Which look to show, counted round from 0. */
  readonly look: number;
  readonly kind: keyof typeof contentTypes;
}

export function createMedia(studio: Studio): Media {
  const files = new Map<string, Promise<Buffer>>();

  function read({ look, kind }: Asset): Promise<Buffer> {
    const name = `${looks[look % looks.length] ?? looks[0]}.${kind}`;
    const known = files.get(name);
    if (known !== undefined) return known;
    const file = readFile(new URL(`./media/${name}`, import.meta.url));
    files.set(name, file);
    return file;
  }

  return async (incoming, path) => {
    const asset = findAsset(studio, path);
    if (asset === undefined) throw new ServiceError(404, "not_found", "No such file.");
    return serve(await read(asset), contentTypes[asset.kind], incoming.headers.range);
  };
}

function findAsset(studio: Studio, path: string): Asset | undefined {
  const [, , folder, ...rest] = path.split("/");
  const file = /^(.+)\.(mp4|wav)$/.exec(rest.at(-1) ?? "");
  const name = file?.[1] ?? "";
  const kind = file?.[2] === "wav" ? "wav" : "mp4";
  const jobId = folder === "clips" && rest.length === 2 ? (rest[0] ?? "") : name;
  const state = studio.renderState(jobId);
  if (state === undefined) return undefined;
  const look = createHash("sha256").update(jobId).digest().readUInt32BE(0);

  switch (`${folder}/${rest.length}/${kind}`) {
    case "clips/2/mp4": {
      const ready = /^[1-9]\d*$/.test(name) && Number(name) <= state.clipsDone;
      // Neighbouring clips of one job look different.
      return ready ? { look: look + Number(name) - 1, kind } : undefined;
    }
    case "voice/1/wav":
      return state.voiceDone ? { look, kind } : undefined;
    case "final/1/mp4":
      return state.status === "completed" ? { look, kind } : undefined;
    case "posts/2/mp4": {
      const posted = studio.posts().some((post) => post.jobId === jobId && post.platform === rest[0]);
      return posted ? { look, kind } : undefined;
    }
    default:
      return undefined;
  }
}

function serve(file: Buffer, type: string, rangeHeader: string | undefined): Reply {
  const range = parseRange(rangeHeader, file.length);
  if (range === "unsatisfiable") {
    throw new ServiceError(416, "range_not_satisfiable", `The file has ${file.length} bytes.`, {
      "Content-Range": `bytes */${file.length}`,
    });
  }
  const body = range === undefined ? file : file.subarray(range.first, range.last + 1);
  return {
    status: range === undefined ? 200 : 206,
    headers: {
      "Content-Type": type,
      "Content-Length": String(body.length),
      "Accept-Ranges": "bytes",
      ...(range !== undefined && { "Content-Range": `bytes ${range.first}-${range.last}/${file.length}` }),
    },
    body,
  };
}
