// A service that records each paid and public request, and answers, refuses, loses its answer or hangs at random. Its clock jumps with
// those of the servers.

import { createServer } from "node:http";
import * as z from "zod";
import type { Random } from "../fixtures/durations.ts";

export type Behaviour =
  | "answer"
  | "answer late"
  | "lose the answer"
  | "reject"
  | "fail"
  | "ask to wait"
  | "hang";

/** One request that was or may have been carried out. */
export interface Charge {
  /** What must not be charged twice: a topic, or a job on a platform. */
  readonly what: string;
  /** By the jumping clock. */
  readonly atMs: number;
  /** By performance.now(). */
  readonly receivedAtMs: number;
  /** By the jumping clock, when its connection was answered or closed; Infinity while it is in flight. */
  endedAtMs: number;
}

export interface PayingService {
  readonly url: string;
  readonly charges: readonly Charge[];
  close(): Promise<void>;
}

const MAX_LATE_MS = 60;

const bodySchema = z.object({
  topic: z.string().optional(),
  jobId: z.string().optional(),
  platforms: z.array(z.string()).default([]),
});

export async function startPayingService(random: Random, nowMs: () => number): Promise<PayingService> {
  const charges: Charge[] = [];
  let jobs = 0;
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      const json = (status: number, value: unknown, headers: Record<string, string> = {}) =>
        response
          .writeHead(status, { "content-type": "application/json", ...headers })
          .end(JSON.stringify(value));
      const path = request.url ?? "";
      if (path.includes("/status/")) {
        json(200, { status: "processing", videoUrls: [] });
        return;
      }
      if (request.method !== "POST") {
        json(200, { videos: [] });
        return;
      }
      const asked = bodySchema.parse(JSON.parse(body));
      const whats =
        asked.topic === undefined
          ? asked.platforms.map((platform) => `${asked.jobId} on ${platform}`)
          : [asked.topic];
      const behaviour = drawBehaviour(random);
      const refusal = { error: { code: "no", message: "No." } };
      if (behaviour === "reject" || behaviour === "ask to wait") {
        json(behaviour === "reject" ? 422 : 429, refusal, { "retry-after": "0" });
        return;
      }
      const own = whats.map((what) => ({
        what,
        atMs: nowMs(),
        receivedAtMs: performance.now(),
        endedAtMs: Infinity,
      }));
      charges.push(...own);
      response.on("close", () => {
        for (const charge of own) charge.endedAtMs = nowMs();
      });
      const answer =
        asked.topic === undefined
          ? { results: asked.platforms.map((platform) => ({ platform, ok: true })) }
          : {
              jobId: `00000000-0000-4000-8000-${String((jobs += 1)).padStart(12, "0")}`,
              status: "processing",
            };
      if (behaviour === "answer") json(200, answer);
      if (behaviour === "answer late") setTimeout(() => json(200, answer), random() * MAX_LATE_MS);
      if (behaviour === "lose the answer")
        setTimeout(() => response.socket?.resetAndDestroy(), random() * MAX_LATE_MS);
      if (behaviour === "fail") json(503, refusal);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The service has no port.");
  return {
    url: `http://127.0.0.1:${address.port}`,
    charges,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function drawBehaviour(random: Random): Behaviour {
  const at = random();
  if (at < 0.4) return "answer";
  if (at < 0.6) return "answer late";
  if (at < 0.75) return "lose the answer";
  if (at < 0.83) return "reject";
  if (at < 0.88) return "ask to wait";
  if (at < 0.95) return "fail";
  return "hang";
}
