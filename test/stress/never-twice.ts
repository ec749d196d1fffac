// Two real server processes on one journal: random calls of both paid tools, cancellations, lost answers, kill -9 and sleeps of hours. The
// service must see no request twice that the caller did not confirm with a code.
//
//   npx tsx test/stress/never-twice.ts [ROUNDS]      SEED=… replays a run, one round with ROUNDS 1

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import manifest from "../../package.json" with { type: "json" };
import { type Random, seededRandom } from "../fixtures/durations.ts";
import { makeFolder, removeFolder } from "../fixtures/folder.ts";
import { type Charge, startPayingService } from "./paying-service.ts";

const SERVER = fileURLToPath(new URL(`../../${manifest.bin["faceless-video-mcp"]}`, import.meta.url));
const CLOCK = fileURLToPath(new URL("jumping-clock.cjs", import.meta.url));
const STEPS = 14;
const GUARD_MS = 10 * 60_000;
/** Between the service's clock reading and the server's. */
const SLACK_MS = 2_000;
const JOBS = ["0f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c", "1f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c"];
const TOPICS = ["Tides", "Moons"];
const PLATFORMS = ["tiktok", "youtube", "x"];

interface Confirmation {
  readonly what: string;
  readonly atMs: number;
}

/** Returns what the service should never have seen. */
async function round(seed: number): Promise<string[]> {
  const random = seededRandom(seed);
  const folder = makeFolder();
  const clockFile = join(folder, "clock");
  let aheadMs = 0;
  const nowMs = () => Date.now() + aheadMs;
  writeFileSync(clockFile, "0");
  const service = await startPayingService(random, nowMs);
  const confirmations: Confirmation[] = [];
  const codes: { tool: string; args: Record<string, unknown>; what: string[] }[] = [];
  const servers = [await startServer(), await startServer()];
  const calls: Promise<unknown>[] = [];

  async function startServer() {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: ["--require", CLOCK, SERVER],
      env: {
        PATH: process.env["PATH"] ?? "",
        CLOCK_FILE: clockFile,
        FACELESS_API_KEY: "fl_example",
        FACELESS_BASE_URL: service.url,
        FACELESS_STATE_DIR: join(folder, "state"),
      },
      stderr: "ignore",
    });
    const client = new Client({ name: "stress", version: "1" });
    await client.connect(transport);
    return { client, transport };
  }

  async function call(
    tool: string,
    args: Record<string, unknown>,
    cancelAfterMs: number | undefined,
  ): Promise<void> {
    const { client } = pick(random, servers);
    const signal = cancelAfterMs === undefined ? undefined : AbortSignal.timeout(cancelAfterMs);
    const result = await client
      .callTool({ name: tool, arguments: args }, undefined, {
        timeout: 60_000,
        ...(signal !== undefined && { signal }),
      })
      .then((answer) => CallToolResultSchema.parse(answer))
      .catch(() => undefined);
    const text = result?.content.map((block) => (block.type === "text" ? block.text : "")).join("") ?? "";
    const code = /confirmDuplicate: "(\w+)"/.exec(text)?.[1];
    if (code === undefined) return;
    const named = /with platforms (\[[^\]]*\]) and confirmDuplicate/.exec(text)?.[1];
    const platforms = named === undefined ? undefined : z.array(z.string()).parse(JSON.parse(named));
    const { confirmDuplicate: _, ...rest } = args;
    const again = { ...rest, ...(platforms !== undefined && { platforms }), confirmDuplicate: code };
    const what =
      platforms === undefined
        ? [String(args["topic"])]
        : platforms.map((name) => `${String(args["jobId"])} on ${name}`);
    codes.push({ tool, args: again, what });
  }

  const step = async (): Promise<void> => {
    const at = random();
    const cancelAfterMs = random() < 0.2 ? Math.ceil(random() * 60) : undefined;
    if (at < 0.3) return call("generate_video", { topic: pick(random, TOPICS) }, cancelAfterMs);
    if (at < 0.65) {
      const platforms = PLATFORMS.filter(() => random() < 0.5);
      const args = { jobId: pick(random, JOBS), platforms: platforms.length > 0 ? platforms : ["tiktok"] };
      return call("publish_video", args, cancelAfterMs);
    }
    if (at < 0.75) {
      const confirmed = codes.length === 0 ? undefined : pick(random, codes);
      if (confirmed === undefined) return;
      for (const what of confirmed.what) confirmations.push({ what, atMs: nowMs() });
      return call(confirmed.tool, confirmed.args, cancelAfterMs);
    }
    if (at < 0.87) {
      const index = Math.floor(random() * servers.length);
      const { pid } = servers[index]?.transport ?? {};
      if (pid !== null && pid !== undefined) process.kill(pid, "SIGKILL");
      servers[index] = await startServer();
      return;
    }
    aheadMs += random() < 0.5 ? random() * GUARD_MS : random() * 5 * 3_600_000;
    writeFileSync(clockFile, String(Math.round(aheadMs)));
  };

  try {
    for (let index = 0; index < STEPS; index++) {
      const running = step();
      calls.push(running);
      if (random() < 0.5) await Promise.race([running, sleep(200)]);
      else await sleep(random() * 20);
    }
    // Requests that hang hold their calls for long: their servers are killed, as a user would.
    await Promise.race([Promise.allSettled(calls), sleep(400)]);
    return violations(service.charges, confirmations);
  } finally {
    for (const { transport } of servers) if (transport.pid !== null) process.kill(transport.pid, "SIGKILL");
    service.cutOff();
    await Promise.allSettled(calls);
    await Promise.allSettled(servers.map(({ client }) => client.close()));
    await service.close();
    removeFolder(folder);
  }
}

/** A charge is right if it is the first, if the guard of every earlier one was over, or if a confirmation of its own came before it. */
function violations(charges: readonly Charge[], confirmations: readonly Confirmation[]): string[] {
  const found: string[] = [];
  const unused = [...confirmations];
  for (const [index, charge] of charges.entries()) {
    const guarded = charges.slice(0, index).some((earlier) => {
      if (earlier.what !== charge.what) return false;
      const isPost = charge.what.includes(" on ");
      return isPost || charge.atMs + SLACK_MS < earlier.endedAtMs + GUARD_MS;
    });
    if (!guarded) continue;
    const own = unused.findIndex(({ what, atMs }) => what === charge.what && atMs <= charge.atMs);
    if (own === -1) found.push(`${charge.what} at ${new Date(charge.atMs).toISOString()}`);
    else unused.splice(own, 1);
  }
  return found;
}

function pick<Item>(random: Random, items: readonly Item[]): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error("There is nothing to pick from.");
  return item;
}

const rounds = Number(process.argv[2] ?? 200);
const seed = Number(process.env["SEED"] ?? Date.now() % 1_000_000);
process.stderr.write(`seed ${seed}\n`);
let failed = 0;
for (let index = 0; index < rounds; index++) {
  const found = await round(seed + index);
  if (found.length === 0) continue;
  failed += 1;
  process.stdout.write(`SEED=${seed + index}: sent twice: ${found.join(", ")}\n`);
}
process.stdout.write(`${JSON.stringify({ rounds, seed, failed })}\n`);
process.exitCode = failed === 0 ? 0 : 1;
