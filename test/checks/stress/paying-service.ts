// A service that records what it carries out, and answers, refuses, breaks the connection or hangs at random.

import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { Random } from "../../fixtures/durations.ts";
import {
  envelope,
  type Handler,
  type RecordedRequest,
  type ScriptedAnswer,
  type ScriptedService,
  startScriptedService,
} from "../../fixtures/scripted-service.ts";

/** One thing that was carried out. Times are milliseconds of performance.now(). */
export interface Charge {
  /** The thing that must not be charged twice: a topic, or a job on a platform. */
  readonly what: string;
  readonly status: "processing" | "completed" | "failed" | "posted";
  /** Absent for a post. */
  readonly jobId?: string;
  readonly receivedAtMs: number;
  /** When the service answered what became of it; Infinity until then. */
  endedAtMs: number;
}

export interface PayingService extends Pick<ScriptedService, "url" | "close"> {
  readonly charges: readonly Charge[];
}

/** Videos that can be posted. */
export const JOBS = ["0f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c", "1F4B6F2E-3C1D-4E5A-9B7C-8D6E5F4A3B2C"];
const MAX_LATE_MS = 60;
/** Half of all exchanges are answered at once, the others go on in one of these ways. */
const BEHAVIOURS = [
  "answer late",
  "answer and break off",
  "lose the answer",
  "lose the connection first",
  "fail",
  "refuse",
  "ask to wait",
  "hang",
] as const;
const STATUSES = ["processing", "processing", "completed", "failed"] as const;

const bodySchema = z.object({
  topic: z.string().default(""),
  jobId: z.string().default(""),
  platforms: z.array(z.string()).default([]),
});

/** The charge for a topic, however it is written. */
export function videoOf(topic: string): string {
  return topic
    .normalize("NFC")
    .replace(/[\s\u200B.]/g, "")
    .toLowerCase();
}

export function postOf(jobId: string, platform: string): string {
  return `${jobId.toLowerCase()} on ${platform}`;
}

export function pick<Item>(random: Random, items: readonly Item[]): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error("There is nothing to pick from.");
  return item;
}

export async function startPayingService(random: Random): Promise<PayingService> {
  const charges: Charge[] = [];
  const charge = (made: Pick<Charge, "what" | "status" | "jobId">) =>
    charges.push({ ...made, receivedAtMs: performance.now(), endedAtMs: Infinity });

  const generate = ({ json }: RecordedRequest) => {
    const jobId = `00000000-0000-4000-8000-${String(charges.length).padStart(12, "0")}`;
    const status = pick(random, STATUSES);
    charge({ what: videoOf(bodySchema.parse(json).topic), status, jobId });
    service.on(`GET /api/v1/status/${jobId}`, { json: { status, videoUrls: [] } });
    return { json: { jobId, status: "processing" } };
  };
  const publish = ({ json }: RecordedRequest) => {
    const { jobId, platforms } = bodySchema.parse(json);
    // Posted to the first, and refused because of a later one.
    if (platforms.length > 1 && random() < 0.2) {
      charge({ what: postOf(jobId, platforms[0] ?? ""), status: "posted" });
      return envelope(pick(random, [400, 401, 402, 403, 404, 429]), "no", "Not on the second.");
    }
    const refused = random() < 0.2 ? pick(random, platforms) : undefined;
    const results = platforms.map((platform) => ({ platform, ok: platform !== refused }));
    for (const { platform, ok } of results)
      if (ok) charge({ what: postOf(jobId, platform), status: "posted" });
    // A post counts, whatever the status of the answer.
    return { status: refused === undefined ? 200 : pick(random, [200, 409, 503]), json: { results } };
  };
  const atRandom =
    (carryOut: (request: RecordedRequest) => ScriptedAnswer): Handler =>
    async (request, { outgoing }) => {
      const behaviour = random() < 0.5 ? "answer" : pick(random, BEHAVIOURS);
      if (behaviour === "refuse") return envelope(422, "no", "No.");
      if (behaviour === "ask to wait")
        return { ...envelope(429, "slow_down", "Not now."), headers: { "retry-after": "0" } };
      if (behaviour === "lose the connection first") {
        void sleep(random() * MAX_LATE_MS).then(() => carryOut(request));
        return "reset";
      }
      const before = charges.length;
      const answer = carryOut(request);
      const own = charges.slice(before);
      if (behaviour === "hang") return "hang";
      if (behaviour === "answer late" || behaviour === "lose the answer") await sleep(random() * MAX_LATE_MS);
      if (behaviour === "lose the answer") return "reset";
      if (behaviour === "fail") return envelope(pick(random, [408, 499, 503]), "failed", "Failed.");
      const isTold = answer.status === undefined || /"(jobId|results)"/.test(JSON.stringify(answer.json));
      for (const each of own) if (isTold) each.endedAtMs = performance.now();
      if (behaviour !== "answer and break off") return answer;
      const text = JSON.stringify(answer.json);
      outgoing.writeHead(answer.status ?? 200, { "content-length": text.length + 1 });
      return void outgoing.write(text, () => outgoing.socket?.end());
    };
  const finished = { json: { status: "completed", videoUrls: [] } };
  const service = await startScriptedService({
    ...Object.fromEntries(JOBS.map((jobId) => [`GET /api/v1/status/${jobId.toLowerCase()}`, finished])),
    "GET /api/v1/videos": { json: { videos: [] } },
    "POST /api/v1/generate": atRandom(generate),
    "POST /api/v1/publish": atRandom(publish),
  });
  return { ...service, charges };
}
