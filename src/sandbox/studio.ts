// The account behind the sandbox: its jobs, credits and posts, and the operations on them. One account for every key.
// Knows nothing of HTTP or MCP: it takes parsed requests, returns the documented objects and throws ServiceError.
import { randomUUID } from "node:crypto";
import { connectedPlatforms, publishObstacle } from "./platforms.ts";
import type { ConnectedPlatform, PublishResult } from "./platforms.ts";
import { planRender, renderStateAt } from "./render.ts";
import type { RenderPlan, RenderState } from "./render.ts";
import type { GenerateRequest, PublishRequest, VideosRequest } from "./schemas.ts";
import { rateLimited, ServiceError } from "./service-error.ts";

export interface StudioOptions {
  /** The sandbox's own address, for the links it hands out. */
  readonly url: string;
  readonly renderSeconds: number;
  readonly credits: number;
  readonly now: () => number;
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

export interface Post {
  readonly jobId: string;
  readonly platform: string;
  readonly url: string;
  readonly publishedAt: string;
}

export interface Studio {
  generate(request: GenerateRequest): { readonly jobId: string; readonly status: "processing" };
  status(jobId: string): JobStatus;
  publish(request: PublishRequest): { readonly results: readonly PublishResult[] };
  videos(request: VideosRequest): {
    readonly videos: readonly VideoItem[];
    readonly nextCursor: string | null;
  };
  platforms(): { readonly platforms: readonly ConnectedPlatform[] };
  /** How far a job's files have come; undefined for a job that isn't there. */
  renderState(jobId: string): RenderState | undefined;
  posts(): readonly Post[];
}

interface Job {
  readonly jobId: string;
  readonly topic: string;
  readonly startedAtMs: number;
  /** Grows strictly from job to job, so that a page's last createdAt is a cursor that skips and repeats nothing. */
  readonly createdAtMs: number;
  readonly plan: RenderPlan;
}

const refusalMs = 2000;

export function createStudio({ url, renderSeconds, credits, now }: StudioOptions): Studio {
  const jobs: Job[] = [];
  const byId = new Map<string, Job>();
  const posts: Post[] = [];
  const refusedUntilMs = new Map<string, number>();

  const stateOf = (job: Job): RenderState => renderStateAt(job.plan, now() - job.startedAtMs);
  // A failed render's credit comes back by not being counted.
  const creditsLeft = (): number => credits - jobs.filter((job) => stateOf(job).status !== "failed").length;

  function find(jobId: string): Job {
    const job = byId.get(jobId);
    if (job === undefined) throw new ServiceError(404, "not_found", "No video with this jobId.");
    return job;
  }

  function refuseOnce(topic: string): void {
    const until = refusedUntilMs.get(topic) ?? now() + refusalMs;
    refusedUntilMs.set(topic, until);
    if (now() < until) throw rateLimited(Math.ceil((until - now()) / 1000));
  }

  return {
    generate(request) {
      const { topic } = request;
      if (topic.includes("[rate_limit]")) refuseOnce(topic);
      if (topic.includes("[out_of_credits]") || creditsLeft() < 1) {
        throw new ServiceError(402, "out_of_credits", "No credits remain on this account.");
      }
      const startedAtMs = now();
      const job = {
        jobId: randomUUID(),
        topic,
        startedAtMs,
        createdAtMs: Math.max(startedAtMs, (jobs.at(-1)?.createdAtMs ?? 0) + 1),
        plan: planRender(request, renderSeconds),
      };
      jobs.push(job);
      byId.set(job.jobId, job);
      return { jobId: job.jobId, status: "processing" };
    },

    status(jobId) {
      const job = find(jobId);
      const { status, clipsDone, clipsFailed, voiceDone } = stateOf(job);
      return {
        status,
        videoUrls: Array.from({ length: clipsDone }, (_, i) => `${url}/media/clips/${jobId}/${i + 1}.mp4`),
        ...(voiceDone && { audioUrl: `${url}/media/voice/${jobId}.wav` }),
        progress: { total: job.plan.clips, completed: clipsDone, failed: clipsFailed },
      };
    },

    publish({ jobId, platforms }) {
      const { status } = stateOf(find(jobId));
      if (status !== "completed") {
        throw new ServiceError(409, "not_ready", `The video can't be published: its status is ${status}.`);
      }
      const results = [...new Set(platforms)].map((platform): PublishResult => {
        const error = publishObstacle(platform);
        if (error !== undefined) return { platform, ok: false, error };
        const post = { jobId, platform, url: `${url}/media/posts/${platform}/${jobId}.mp4` };
        posts.push({ ...post, publishedAt: new Date(now()).toISOString() });
        return { platform, ok: true, url: post.url };
      });
      return { results };
    },

    videos({ limit, cursor }) {
      const before = cursor === undefined ? Infinity : Date.parse(cursor);
      const older = jobs.filter((job) => job.createdAtMs < before).reverse();
      const page = older.slice(0, limit).map((job) => {
        const { status } = stateOf(job);
        return {
          jobId: job.jobId,
          status,
          topic: job.topic,
          createdAt: new Date(job.createdAtMs).toISOString(),
          ...(status === "completed" && { finalVideoUrl: `${url}/media/final/${job.jobId}.mp4` }),
        };
      });
      return { videos: page, nextCursor: older.length > limit ? (page.at(-1)?.createdAt ?? null) : null };
    },

    platforms: () => ({ platforms: connectedPlatforms }),

    renderState(jobId) {
      const job = byId.get(jobId);
      return job && stateOf(job);
    },

    posts: () => [...posts],
  };
}
