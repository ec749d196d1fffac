// The files behind the sandbox's links: three looks for clips and voiceovers, shared among the jobs by a hash of the jobId,
// and one final video, as long as the job ordered. A file exists once its job is that far. No key is needed: players have none.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import type { Account } from "./account.ts";
import type { Reply } from "./reply.ts";
import { ServiceError } from "./service-error.ts";
import { stretchVideo } from "./video-length.ts";

/** Answers GET and HEAD of a path under /media/. */
export type Media = (incoming: IncomingMessage, path: string) => Promise<Reply>;

const LOOKS = ["dusk", "tide", "grove"] as const;
const CONTENT_TYPES = { mp4: "video/mp4", wav: "audio/wav" } as const;

interface Asset {
  /** Without the extension. */
  readonly name: (typeof LOOKS)[number] | "final";
  readonly kind: keyof typeof CONTENT_TYPES;
  /** Present if the file is stretched to this length. */
  readonly seconds?: number;
}

export function createMedia(account: Account): Media {
  const files = new Map<string, Promise<Buffer>>();

  function read(name: string): Promise<Buffer> {
    const known = files.get(name);
    if (known !== undefined) return known;
    const file = readFile(new URL(`./media/${name}`, import.meta.url));
    files.set(name, file);
    return file;
  }

  return async (incoming, path) => {
    const asset = findAsset(account, path);
    if (asset === undefined) throw new ServiceError(404, "not_found", "No such file.");
    const file = await read(`${asset.name}.${asset.kind}`);
    const body = asset.seconds === undefined ? file : stretchVideo(file, asset.seconds);
    return serve(body, CONTENT_TYPES[asset.kind], incoming.headers.range);
  };
}

function findAsset(account: Account, path: string): Asset | undefined {
  const [, , folder, ...rest] = path.split("/");
  const file = /^(.+)\.(mp4|wav)$/.exec(rest.at(-1) ?? "");
  const name = file?.[1] ?? "";
  const kind = file?.[2] === "wav" ? "wav" : "mp4";
  const jobId = folder === "clips" && rest.length === 2 ? (rest[0] ?? "") : name;
  const render = account.render(jobId);
  if (render === undefined) return undefined;
  const { state, durationSeconds } = render;
  const firstLook = createHash("sha256").update(jobId).digest().readUInt32BE(0);

  switch (`${folder}/${rest.length}/${kind}`) {
    case "clips/2/mp4": {
      const ready = /^[1-9]\d*$/.test(name) && Number(name) <= state.clipsDone;
      // Neighbouring clips of one job look different.
      return ready ? { name: lookAt(firstLook + Number(name) - 1), kind } : undefined;
    }
    case "voice/1/wav":
      return state.voiceDone ? { name: lookAt(firstLook), kind } : undefined;
    case "final/1/mp4":
      return state.status === "completed" ? { name: "final", kind, seconds: durationSeconds } : undefined;
    case "posts/2/mp4": {
      const posted = account.posts().some((post) => post.jobId === jobId && post.platform === rest[0]);
      return posted ? { name: "final", kind, seconds: durationSeconds } : undefined;
    }
    default:
      return undefined;
  }
}

function lookAt(index: number): (typeof LOOKS)[number] {
  return LOOKS[index % LOOKS.length] ?? LOOKS[0];
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

/**
 * The bytes that a Range header (RFC 9110) asks for in a file of `size` bytes: a range, "unsatisfiable" (a 416), or undefined if
 * the header is ignored, because it is absent, malformed, in another unit, or asks for several ranges.
 */
function parseRange(
  header: string | undefined,
  size: number,
): { readonly first: number; readonly last: number } | "unsatisfiable" | undefined {
  const match = /^bytes=(\d*)-(\d*)$/i.exec(header?.trim() ?? "");
  const [from, to] = [match?.[1] ?? "", match?.[2] ?? ""];
  if (from === "" && to === "") return undefined;
  if (from === "") {
    const length = Math.min(Number(to), size);
    return length > 0 ? { first: size - length, last: size - 1 } : "unsatisfiable";
  }
  const first = Number(from);
  const last = to === "" ? size - 1 : Number(to);
  if (last < first && to !== "") return undefined;
  return first < size ? { first, last: Math.min(last, size - 1) } : "unsatisfiable";
}
