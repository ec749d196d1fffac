// node worker.mjs: carries out orders. Run as many as you like, on as many machines as you like, and end them as you like.
//
// The queue runs an order at least once: again after a failure, and again if its worker is gone. That costs nothing: the server records
// every request in the journal before it is sent, and never repeats one by itself, whichever worker asks.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { fileURLToPath } from "node:url";
import { openQueue, ORDERS } from "./queue.mjs";

/** Nothing was paid for, and no repeat can change that. */
const REFUSED = new Set(["invalid_input", "check_order", "refused"]);
/** The journal keeps an unanswered request from being repeated for 24 hours. */
const MAX_AGE_MS = 20 * 3_600_000;

const boss = await openQueue();
const server = new Client({ name: "backend", version: "1.0.0" });
// The queue gives its orders to others, or to the next start.
server.onclose = () => process.exit(1);
const args = [fileURLToPath(new URL("node_modules/.bin/faceless-video-mcp", import.meta.url))];
const env = { ...process.env, FACELESS_JOURNAL_URL: process.env.DATABASE_URL };
await server.connect(new StdioClientTransport({ command: process.execPath, args, env }));

async function call(name, args) {
  const result = await server.callTool({ name, arguments: args });
  if (!result.isError) return result.structuredContent;
  throw Object.assign(new Error(result.content[0].text), { code: result._meta?.["faceless/error"]?.code });
}

/** Orders the video unless that was done, and waits for it. Returns what became of the order; where it throws, the queue tries again. */
async function carryOut([{ data, createdOn, startedOn, retryCount }]) {
  const { order: _, jobId: adopted, ...request } = data;
  const isOld = retryCount > 0 && startedOn - createdOn > MAX_AGE_MS;
  if (isOld && !adopted) return unanswered("It was tried a day ago.");
  try {
    const { jobId } = adopted ? { jobId: adopted } : await call("generate_video", request);
    for (;;) {
      const video = await call("get_video_status", { jobId, waitSeconds: 50 });
      if (video.done) return video;
    }
  } catch (error) {
    if (error.code === "duplicate") return unanswered(error.message);
    if (REFUSED.has(error.code)) return { status: "refused", problem: error.message };
    throw error;
  }
}

/** A person has to look whether one of the videos that belong to no order is this order's. */
async function unanswered(problem) {
  const { videos } = await call("list_videos", {});
  return { status: "unanswered", problem, candidates: videos.filter(({ ordered }) => !ordered) };
}

await boss.work(ORDERS, { localConcurrency: 10, pollingIntervalSeconds: 1, includeMetadata: true }, carryOut);
console.log("working");
