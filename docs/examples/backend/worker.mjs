// node worker.mjs: carries out orders. Run as many as you like, on as many machines as you like, and end them as you like.
//
// The queue runs an order at least once: again after a failure, and again if its worker is gone. That costs nothing: `call` records every
// request in the journal before it is sent, and never repeats one by itself, whichever worker asks.

import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { openQueue, ORDERS } from "./queue.mjs";

/** No repeat can change this. */
const REFUSED = new Set(["invalid_input", "check_order", "refused"]);
/** The journal keeps an unanswered request from being repeated for 20 hours. */
const MAX_AGE_MS = 18 * 3_600_000;

const PROGRAM = fileURLToPath(new URL("node_modules/.bin/faceless-video-mcp", import.meta.url));
const env = { ...process.env, FACELESS_JOURNAL_URL: process.env.DATABASE_URL };

/** Calls a tool, and follows its job with `--wait`. The arguments go through stdin: no other user sees them in a list of processes. */
async function call(tool, args, ...options) {
  const command = [PROGRAM, "call", tool, "-", "--json", ...options];
  const child = spawn(process.execPath, command, { env, stdio: ["pipe", "pipe", "ignore"] });
  child.stdin.end(JSON.stringify(args));
  const result = JSON.parse(await text(child.stdout));
  if (result.error) throw Object.assign(new Error(result.error.message), result.error);
  return result;
}

const boss = await openQueue();

/** Orders the video unless that was done, and waits for it. Returns what became of the order; where it throws, the queue tries again. */
async function carryOut([{ data, createdOn, startedOn, retryCount }]) {
  const { order: _, jobId, ...request } = data;
  const isOld = retryCount > 0 && startedOn - createdOn > MAX_AGE_MS;
  if (isOld && !jobId) return unanswered("It was tried most of a day ago.");
  try {
    const video = jobId
      ? await call("get_video_status", { jobId }, "--wait")
      : await call("generate_video", request, "--yes", "--wait");
    if (video.done) return video;
    throw new Error("The video is still rendering.");
  } catch (error) {
    if (error.code === "duplicate") return unanswered(error.message);
    // A look at a video that is paid for can be refused, too.
    const isPaid = jobId || error.outcome === "unknown";
    if (!isPaid && REFUSED.has(error.code)) return { status: "refused", problem: error.message };
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
