// The one account of the sandbox: its jobs, credits, posts and connected platforms, and the operations on them.
// Knows nothing of HTTP or MCP: it takes parsed requests, returns the documented objects and throws ServiceError.

import { randomUUID } from "node:crypto";
import { planRender, renderEndsAfterMs, renderStateAt } from "./render.ts";
import type { RenderPlan, RenderState } from "./render.ts";
import type { GenerateRequest, PublishRequest, VideosRequest } from "./request-schemas.ts";
import { rateLimited, ServiceError } from "./service-error.ts";
import type { RenderEnd } from "./webhook-sender.ts";

export interface AccountOptions {
  /** The sandbox's own address, for the links in its answers. */
  readonly url: string;
  readonly renderSeconds: number;
  /** The credits at the start. A video costs one. */
  readonly credits: number;
  readonly now: () => number;
  /** Called when a render starts. */
  readonly onStart: (end: RenderEnd) => void;
}

interface Generation {
  readonly jobId: string;
  readonly status: "processing";
}

interface JobStatus {
  readonly status: RenderState["status"];
  readonly videoUrls: readonly string[];
  readonly audioUrl?: string;
  readonly progress: { readonly total: number; readonly completed: number; readonly failed: number };
}

interface VideoItem {
  readonly jobId: string;
  readonly status: RenderState["status"];
  readonly topic: string;
  readonly createdAt: string;
  readonly finalVideoUrl?: string;
}

interface VideoPage {
  readonly videos: readonly VideoItem[];
  readonly nextCursor: string | null;
}

interface ConnectedPlatform {
  readonly platform: string;
  readonly account: string;
  readonly connectedAt: string;
}

type PublishResult =
  | { readonly platform: string; readonly ok: true; readonly url: string }
  | { readonly platform: string; readonly ok: false; readonly error: string };

export interface Post {
  readonly jobId: string;
  readonly platform: string;
  readonly url: string;
  readonly publishedAt: string;
}

interface Job {
  readonly jobId: string;
  readonly topic: string;
  /** The ordered length. */
  readonly durationSeconds: number;
  readonly startedAtMs: number;
  /** Strictly increasing from job to job, so that a page's last createdAt is a cursor that skips and repeats nothing. */
  readonly createdAtMs: number;
  readonly plan: RenderPlan;
}

const CONNECTED_PLATFORMS: readonly ConnectedPlatform[] = [
  { platform: "tiktok", account: "@sandbox.clips", connectedAt: "2026-01-12T09:00:00.000Z" },
  { platform: "youtube", account: "Sandbox Clips", connectedAt: "2026-01-12T09:05:00.000Z" },
  { platform: "instagram", account: "@sandbox.reels", connectedAt: "2026-01-12T09:10:00.000Z" },
];
/** Listed as connected, but every post to it fails. */
const EXPIRED_PLATFORM = "instagram";

/** How long a topic with [rate_limit] is refused. */
const TOPIC_REFUSAL_MS = 2000;

export class Account {
  readonly #url: string;
  readonly #renderSeconds: number;
  readonly #credits: number; // at the start; jobs that have not failed are subtracted
  readonly #now: () => number;
  readonly #onStart: (end: RenderEnd) => void;
  readonly #jobs = new Map<string, Job>(); // by jobId, oldest first
  readonly #posts: Post[] = []; // oldest first
  readonly #topicsRefusedUntilMs = new Map<string, number>();

  constructor({ url, renderSeconds, credits, now, onStart }: AccountOptions) {
    this.#url = url;
    this.#renderSeconds = renderSeconds;
    this.#credits = credits;
    this.#now = now;
    this.#onStart = onStart;
  }

  generate(request: GenerateRequest): Generation {
    const { topic, duration } = request;
    if (topic.includes("[rate_limit]")) this.#refuseForAWhile(topic);
    if (topic.includes("[out_of_credits]") || this.#creditsLeft() < 1)
      throw new ServiceError(402, "out_of_credits", "No credits remain on this account.");
    const startedAtMs = this.#now();
    const newest = [...this.#jobs.values()].at(-1);
    const job: Job = {
      jobId: randomUUID(),
      topic,
      durationSeconds: duration,
      startedAtMs,
      createdAtMs: Math.max(startedAtMs, (newest?.createdAtMs ?? 0) + 1),
      plan: planRender(request, this.#renderSeconds),
    };
    this.#jobs.set(job.jobId, job);
    this.#onStart({
      jobId: job.jobId,
      endsAtMs: startedAtMs + renderEndsAfterMs(job.plan),
      ...(!job.plan.fails && {
        video: { url: this.#finalVideoUrl(job.jobId), durationSeconds: duration },
      }),
    });
    return { jobId: job.jobId, status: "processing" };
  }

  status(jobId: string): JobStatus {
    const job = this.#find(jobId);
    const { status, clipsDone, clipsFailed, voiceDone } = this.#stateOf(job);
    return {
      status,
      videoUrls: Array.from(
        { length: clipsDone },
        (_, index) => `${this.#url}/media/clips/${jobId}/${index + 1}.mp4`,
      ),
      ...(voiceDone && { audioUrl: `${this.#url}/media/voice/${jobId}.wav` }),
      progress: { total: job.plan.clips, completed: clipsDone, failed: clipsFailed },
    };
  }

  publish({ jobId, platforms }: PublishRequest): { readonly results: readonly PublishResult[] } {
    const { status } = this.#stateOf(this.#find(jobId));
    if (status !== "completed")
      throw new ServiceError(409, "not_ready", `The video can't be published: its status is ${status}.`);
    return { results: [...new Set(platforms)].map((platform) => this.#post(jobId, platform)) };
  }

  videos({ limit, cursor }: VideosRequest): VideoPage {
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

  platforms(): { readonly platforms: readonly ConnectedPlatform[] } {
    return { platforms: CONNECTED_PLATFORMS };
  }

  posts(): readonly Post[] {
    return [...this.#posts];
  }

  /** What media files a job has so far, and its ordered length; undefined for an unknown job. */
  render(jobId: string): { readonly state: RenderState; readonly durationSeconds: number } | undefined {
    const job = this.#jobs.get(jobId);
    return job && { state: this.#stateOf(job), durationSeconds: job.durationSeconds };
  }

  #find(jobId: string): Job {
    const job = this.#jobs.get(jobId);
    if (job === undefined) throw new ServiceError(404, "not_found", "No video with this jobId.");
    return job;
  }

  #finalVideoUrl(jobId: string): string {
    return `${this.#url}/media/final/${jobId}.mp4`;
  }

  #stateOf(job: Job): RenderState {
    return renderStateAt(job.plan, this.#now() - job.startedAtMs);
  }

  /** A failed render refunds its credit: it is not counted. */
  #creditsLeft(): number {
    const charged = [...this.#jobs.values()].filter((job) => this.#stateOf(job).status !== "failed");
    return this.#credits - charged.length;
  }

  #refuseForAWhile(topic: string): void {
    const nowMs = this.#now();
    const untilMs = this.#topicsRefusedUntilMs.get(topic) ?? nowMs + TOPIC_REFUSAL_MS;
    this.#topicsRefusedUntilMs.set(topic, untilMs);
    if (nowMs < untilMs) throw rateLimited(Math.ceil((untilMs - nowMs) / 1000));
  }

  #post(jobId: string, platform: string): PublishResult {
    if (!CONNECTED_PLATFORMS.some((connected) => connected.platform === platform))
      return { platform, ok: false, error: `No ${platform} account is connected.` };
    if (platform === EXPIRED_PLATFORM)
      return {
        platform,
        ok: false,
        error: `The ${platform} access token has expired. Reconnect the account.`,
      };
    const url = `${this.#url}/media/posts/${platform}/${jobId}.mp4`;
    this.#posts.push({ jobId, platform, url, publishedAt: new Date(this.#now()).toISOString() });
    return { platform, ok: true, url };
  }
}
