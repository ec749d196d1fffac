// The service behind one situation, over HTTP, with a ledger of what was paid for and posted.

import { GENERATE, PUBLISH, VIDEOS } from "../../fixtures/constants.ts";
import { type Handler, type Reply, startScriptedService } from "../../fixtures/scripted-service.ts";
import type { Charge, Situation } from "./situations.ts";

interface Video {
  readonly jobId: string;
  readonly topic: string;
  status: string;
  /** How often its status is asked for before its render ends. */
  looksLeft: number;
}

const ACCOUNTS = ["tiktok", "youtube", "instagram"].map((platform) => ({ platform }));
const PLATFORMS = "GET /api/v1/platforms";
const DOCUMENT = {
  openapi: "3.1.0",
  paths: { "/api/v1/platforms": { get: { operationId: "list_connected_platforms" } } },
};

/** `call` serves the agent's own calls, beside the service's. */
export async function openAccount(
  { fault, listed = [], isUntitled = false, credits = Infinity, accounts = ACCOUNTS }: Situation,
  call: Handler,
) {
  const videos: Video[] = [];
  const charges: Charge[] = [];
  let before = 0; // the charges of the conversation so far
  let isBusy = fault === "busy";
  const endOf = ({ jobId }: Video) =>
    fault === "renders fail" || (fault === "second render fails" && jobId.endsWith("2"))
      ? "failed"
      : "completed";
  const service = await startScriptedService({ "GET /api/v1/openapi.json": { json: DOCUMENT } });
  const add = (topic: string, looksLeft: number): Video => {
    const number = String(videos.length + 1).padStart(12, "0");
    const jobId = `0f4b6f2e-3c1d-4e5a-9b7c-${number}`;
    const video = { jobId, topic, status: looksLeft > 0 ? "processing" : "completed", looksLeft };
    videos.unshift(video);
    service.on(`GET /api/v1/status/${jobId}`, () => ({ json: look(video) }));
    return video;
  };
  const look = (video: Video) => {
    if (video.status === "processing" && --video.looksLeft <= 0) video.status = endOf(video);
    const videoUrls = video.status === "completed" ? [linkOf(video)] : [];
    return {
      status: video.status,
      videoUrls,
      progress: { total: 4, completed: videoUrls.length * 4, failed: 0 },
    };
  };
  const generate: Handler = ({ json }): Reply => {
    const request = Object(json);
    const { topic, duration = 30 } = request;
    if (duration > credits)
      return refusal(402, "out_of_credits", `${credits} credits left, ${duration} needed.`);
    if (isBusy && charges.length === 1) {
      isBusy = false;
      return { ...refusal(429, "rate_limited", "Too many requests."), headers: { "Retry-After": "2" } };
    }
    const { jobId, status } = add(String(topic), 3);
    charges.push({ operation: "generate", request, jobId });
    const number = charges.length === 1 ? "first" : "second";
    return charges.length <= 2 && fault === `${number} answer lost` ? "reset" : { json: { jobId, status } };
  };
  const publish: Handler = ({ json }): Reply => {
    const request = Object(json);
    const platforms: string[] = request.platforms;
    if (platforms.some((platform) => !accounts.some((account) => account.platform === platform)))
      return refusal(400, "unknown_platform", "No such account.");
    const isTaken = (platform: string) => fault !== "Instagram refuses" || platform !== "instagram";
    const taken = platforms.filter(isTaken);
    charges.push({ operation: "publish", request: { platforms: taken }, jobId: request.jobId });
    const resultOf = (platform: string) => {
      if (!isTaken(platform)) return { ok: false, error: "The login of this account has expired." };
      // TikTok gives no link, as it may keep a post in the app's inbox.
      return platform === "tiktok" ? { ok: true } : { ok: true, url: `https://${platform}.example/p1` };
    };
    if (fault === "posts unanswered") return "reset";
    return { json: { results: platforms.map((platform) => ({ platform, ...resultOf(platform) })) } };
  };
  service.on("POST /call", call);
  service.on(GENERATE, generate);
  service.on(PUBLISH, publish);
  service.on(PLATFORMS, { json: { platforms: accounts } });
  service.on(VIDEOS, () => ({
    json: {
      videos: videos.map((video) => ({
        jobId: video.jobId,
        status: video.status,
        ...(!isUntitled && { topic: video.topic }),
        ...(video.status === "completed" && { finalVideoUrl: linkOf(video) }),
      })),
    },
  }));
  for (const topic of listed) add(topic, 0);
  return {
    url: service.url,
    /** The payments and posts since the agent took over. */
    charges: () => charges.slice(before),
    /** Ends the renders so far: `statuses` from the oldest on; the last one counts for the rest. */
    end(statuses: readonly string[]) {
      for (const [index, video] of videos.toReversed().entries())
        video.status = statuses[index] ?? statuses.at(-1) ?? "completed";
    },
    /** The agent takes over. */
    takeOver() {
      before = charges.length;
      const reply = READS[fault ?? "busy"];
      if (reply === undefined) return;
      for (const { jobId } of videos) service.on(`GET /api/v1/status/${jobId}`, reply);
      service.on(VIDEOS, fault === "slow" ? reply : { json: { videos: [] } });
    },
    close: () => service.close(),
  };
}

const refusal = (status: number, code: string, message: string) => ({
  status,
  json: { error: { code, message } },
});

/** How reads are answered from the take-over on. */
const READS: Partial<Record<NonNullable<Situation["fault"]>, Reply>> = {
  slow: "hang",
  forgotten: refusal(404, "job_not_found", "No such job."),
};

const linkOf = ({ jobId }: Video) => `https://media.example/${jobId}/final.mp4`;
