// The one account of the sandbox: its jobs, credits, posts and platforms, and the operations on them. Knows
// no HTTP and no MCP: it takes parsed requests, returns the documented objects and throws ServiceError.

import { randomUUID } from "node:crypto";
import { rateLimited, ServiceError } from "./service-error.ts";
import type { RenderEnd } from "./webhook-sender.ts";

export interface AccountOptions {
  /** The sandbox's own address, for the links in its answers. */
  readonly url: string;
  readonly renderSeconds: number;
  /** The credits at the start. A video costs one, unless it fails. */
  readonly credits: number;
  readonly now: () => number;
  /** Called when a render starts. */
  readonly onStart: (end: RenderEnd) => void;
}

interface Job {
  readonly jobId: string;
  readonly topic: string;
  /** Strictly increasing, so that a page's last createdAt is a cursor that skips and repeats nothing. */
  readonly createdAtMs: number;
  readonly plan: RenderPlan;
}

const CONNECTED_PLATFORMS = [
  { platform: "tiktok", account: "@sandbox.clips", connectedAt: "2026-01-12T09:00:00.000Z" },
  { platform: "youtube", account: "Sandbox Clips", connectedAt: "2026-01-12T09:05:00.000Z" },
  { platform: "instagram", account: "@sandbox.reels", connectedAt: "2026-01-12T09:10:00.000Z" },
];
/** Listed as connected, but every post to it fails. */
const EXPIRED_PLATFORM = "instagram";

const NO_CREDITS = "No credits remain on this account. A restarted sandbox has new ones.";

export class Account {
  readonly #options: AccountOptions;
  readonly #jobs = new Map<string, Job>(); // by jobId, oldest first
  readonly #refusedTopics = new Set<string>(); // those with [rate_limit], each refused once

  constructor(options: AccountOptions) {
    this.#options = options;
  }

  generate(request: { readonly topic: string; readonly duration: number }) {
    const { topic, duration } = request;
    if (topic.includes("[rate_limit]") && !this.#refusedTopics.has(topic)) {
      this.#refusedTopics.add(topic);
      throw rateLimited(2_000);
    }
    if (topic.includes("[out_of_credits]") || this.creditsLeft() < 1)
      throw new ServiceError(402, "out_of_credits", NO_CREDITS);
    const newest = [...this.#jobs.values()].at(-1);
    const job: Job = {
      jobId: randomUUID(),
      topic,
      createdAtMs: Math.max(this.#options.now(), (newest?.createdAtMs ?? 0) + 1),
      plan: planRender(request, this.#options.renderSeconds),
    };
    this.#jobs.set(job.jobId, job);
    const { jobId, createdAtMs, plan } = job;
    const result = { videoUrl: this.#finalVideoUrl(jobId), durationSeconds: duration };
    this.#options.onStart({
      atMs: createdAtMs + plan.endsAfterMs,
      event: plan.fails ? { type: "render.failed", jobId } : { type: "render.completed", jobId, ...result },
    });
    return { jobId, status: "processing" as const };
  }

  status(jobId: string) {
    const job = this.#find(jobId);
    const { status, clipsDone, clipsFailed, voiceDone } = this.#stateOf(job);
    const media = `${this.#options.url}/media`;
    return {
      status,
      videoUrls: Array.from({ length: clipsDone }, (_, index) => `${media}/clips/${jobId}/${index + 1}.mp4`),
      ...(voiceDone && { audioUrl: `${media}/voice/${jobId}.wav` }),
      progress: { total: job.plan.clips, completed: clipsDone, failed: clipsFailed },
    };
  }

  publish({ jobId, platforms }: { readonly jobId: string; readonly platforms: readonly string[] }) {
    const { status } = this.#stateOf(this.#find(jobId));
    if (status !== "completed")
      throw new ServiceError(409, "not_ready", `The video can't be published: its status is ${status}.`);
    return { results: [...new Set(platforms)].map((platform) => this.#post(jobId, platform)) };
  }

  videos({ limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined }) {
    const beforeMs = cursor === undefined ? Infinity : Date.parse(cursor);
    const older = [...this.#jobs.values()].filter(({ createdAtMs }) => createdAtMs < beforeMs).reverse();
    const page = older.slice(0, limit).map((job) => {
      const { status } = this.#stateOf(job);
      return {
        jobId: job.jobId,
        status,
        topic: job.topic,
        createdAt: new Date(job.createdAtMs).toISOString(),
        ...(status === "completed" && { finalVideoUrl: this.#finalVideoUrl(job.jobId) }),
      };
    });
    return { videos: page, nextCursor: older.length > limit ? (page.at(-1)?.createdAt ?? null) : null };
  }

  platforms() {
    return { platforms: CONNECTED_PLATFORMS };
  }

  /** The state of a render; undefined for an unknown job. */
  state(jobId: string): RenderState | undefined {
    const job = this.#jobs.get(jobId);
    return job && this.#stateOf(job);
  }

  #find(jobId: string): Job {
    const job = this.#jobs.get(jobId);
    if (job === undefined) throw new ServiceError(404, "not_found", "No video with this jobId.");
    return job;
  }

  #finalVideoUrl(jobId: string): string {
    return `${this.#options.url}/media/final/${jobId}.mp4`;
  }

  #stateOf(job: Job): RenderState {
    return renderStateAt(job.plan, this.#options.now() - job.createdAtMs);
  }

  /** A failed render refunds its credit: it is not counted. */
  creditsLeft(): number {
    const charged = [...this.#jobs.values()].filter((job) => this.#stateOf(job).status !== "failed");
    return this.#options.credits - charged.length;
  }

  #post(jobId: string, platform: string) {
    if (!CONNECTED_PLATFORMS.some((connected) => connected.platform === platform))
      return { platform, ok: false, error: `No ${platform} account is connected.` };
    const expired = `The ${platform} access token has expired. Reconnect the account.`;
    if (platform === EXPIRED_PLATFORM) return { platform, ok: false, error: expired };
    return { platform, ok: true, url: `${this.#options.url}/media/posts/${platform}/${jobId}.mp4` };
  }
}

type RenderPlan = ReturnType<typeof planRender>;
type RenderState = ReturnType<typeof renderStateAt>;

// Shares of the whole render time. The last clip is ready a little before the final video.
const VOICE_DONE_AT = 0.15;
const FIRST_CLIP_BEGINS_AT = 0.2;
const LAST_CLIP_DONE_AT = 0.9;
const FAILS_AT = 0.5;

function planRender(request: { readonly topic: string; readonly duration: number }, renderSeconds: number) {
  const fails = request.topic.includes("[fail]");
  const renderMs = renderSeconds * 1000 * (request.topic.includes("[slow]") ? 5 : 1);
  return {
    clips: Math.min(6, Math.max(2, Math.round(request.duration / 7.5))),
    renderMs,
    fails,
    endsAfterMs: fails ? renderMs * FAILS_AT : renderMs,
  };
}

/** The state of a render after this time. Clips finish in order. */
function renderStateAt(plan: RenderPlan, elapsedMs: number) {
  const share = plan.renderMs > 0 ? Math.max(0, elapsedMs / plan.renderMs) : 1;
  const reached = plan.fails ? Math.min(share, FAILS_AT) : share;
  const clipsShare = (reached - FIRST_CLIP_BEGINS_AT) / (LAST_CLIP_DONE_AT - FIRST_CLIP_BEGINS_AT);
  const end = plan.fails ? ("failed" as const) : ("completed" as const);
  const hasEnded = share >= (plan.fails ? FAILS_AT : 1);
  return {
    status: hasEnded ? end : ("processing" as const),
    clipsDone: Math.min(plan.clips, Math.max(0, Math.floor(clipsShare * plan.clips))),
    clipsFailed: hasEnded && plan.fails ? 1 : 0,
    voiceDone: reached >= VOICE_DONE_AT,
  };
}
