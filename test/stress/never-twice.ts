// Stress test: two server processes share one journal, under random calls of both paid tools, cancellations, lost answers, kill -9 and
// clocks that jump by hours. The service must receive no request twice that the caller did not confirm with a code.
//
//   npx tsx test/stress/never-twice.ts [ROUNDS]      SEED=… replays the steps of a run; the timing of processes still varies

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { BUILT_FILE, SERVER_NODE } from "../fixtures/clients.ts";
import { type Random, seededRandom } from "../fixtures/durations.ts";
import { makeFolder, removeFolder } from "../fixtures/folder.ts";
import { type Charge, type PayingService, startPayingService } from "./paying-service.ts";

const CLOCK = fileURLToPath(new URL("jumping-clock.cjs", import.meta.url));
const STEPS = 14;
const GUARD_MS = 10 * 60_000;
/** Between the clock readings of the service and a server. */
const SLACK_MS = 2_000;
/** Far above what a round needs on a busy machine. */
const MAX_ROUND_MS = 60_000;
const JOBS = ["0f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c", "1f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c"];
const TOPICS = ["Tides", "Moons"];
const PLATFORMS = ["tiktok", "youtube", "x"];

interface Server {
  readonly name: string;
  readonly client: Client;
  readonly transport: StdioClientTransport;
}

/** A call that a tool's answer offers, with the code that confirms a repeat. */
interface ConfirmedCall {
  readonly tool: string;
  readonly args: Record<string, unknown>;
  readonly code: string;
  /** What it may charge: a topic, or a job on a platform. */
  readonly whats: readonly string[];
}

/** One use of a code. */
interface Confirmation {
  readonly code: string;
  readonly what: string;
  /** By performance.now(). */
  readonly calledAtMs: number;
  /** The call was refused or rejected, so that it confirmed nothing. */
  isVoid: boolean;
}

class Round {
  readonly #random: Random;
  readonly #folder = makeFolder();
  readonly #servers: Server[] = [];
  readonly #started: Server[] = [];
  readonly #calls: Promise<void>[] = [];
  readonly #offers: ConfirmedCall[] = [];
  readonly #confirmations: Confirmation[] = [];
  /** What happened, for the report of a violation. */
  readonly events: string[] = [];
  #service: PayingService | undefined;
  /** How far the servers' clocks are ahead. */
  #aheadMs = 0;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  /** Returns the charges that should not have been made. */
  async run(seed: number): Promise<string[]> {
    this.#setClock(0);
    this.#service = await startPayingService(seededRandom(seed + 0.5), () => this.#nowMs());
    this.#servers.push(...(await Promise.all([this.#startServer(), this.#startServer()])));
    for (let index = 0; index < STEPS; index++) await this.#step();
    // A request that hangs holds its call for 38 s: its server is killed instead.
    await Promise.race([Promise.allSettled(this.#calls), sleep(400)]);
    return violations(this.#service.charges, this.#confirmations);
  }

  async close(): Promise<void> {
    for (const server of this.#started) kill(server);
    await Promise.allSettled(this.#started.map(({ client }) => client.close()));
    await Promise.allSettled(this.#calls);
    await this.#service?.close();
    removeFolder(this.#folder);
  }

  async #step(): Promise<void> {
    const at = this.#random();
    if (at < 0.75) {
      const running = this.#callAtRandom(at);
      this.#calls.push(running);
      await (this.#random() < 0.5
        ? Promise.race([running, sleep(200)])
        : sleep(Math.ceil(this.#random() * 20)));
    } else if (at < 0.87) await this.#restart();
    else this.#setClock(this.#aheadMs + this.#random() * (this.#random() < 0.5 ? GUARD_MS : 5 * 3_600_000));
  }

  /** Makes a random call of one server, or the same call of both. */
  async #callAtRandom(at: number): Promise<void> {
    const cancelAfterMs = this.#random() < 0.2 ? Math.ceil(this.#random() * 60) : undefined;
    const servers = this.#random() < 0.25 ? [...this.#servers] : [pick(this.#random, this.#servers)];
    const call = this.#randomCall(at);
    await Promise.all(servers.map((server) => call(server, cancelAfterMs)));
  }

  #randomCall(at: number): (server: Server, cancelAfterMs: number | undefined) => Promise<void> {
    if (at < 0.3) {
      const topic = pick(this.#random, TOPICS);
      return (server, cancelAfterMs) => this.#call(server, "generate_video", { topic }, cancelAfterMs);
    }
    if (at < 0.65 || this.#offers.length === 0) {
      const platforms = PLATFORMS.filter(() => this.#random() < 0.5);
      const args = { jobId: pick(this.#random, JOBS), platforms: platforms.length > 0 ? platforms : ["x"] };
      return (server, cancelAfterMs) => this.#call(server, "publish_video", args, cancelAfterMs);
    }
    const { tool, args, code, whats } = pick(this.#random, this.#offers);
    return (server, cancelAfterMs) => {
      const calledAtMs = performance.now();
      const uses = whats.map((what) => ({ code, what, calledAtMs, isVoid: false }));
      this.#confirmations.push(...uses);
      return this.#call(server, tool, args, cancelAfterMs, () => {
        for (const use of uses) use.isVoid = true;
      });
    };
  }

  async #call(
    { client, name }: Server,
    tool: string,
    args: Record<string, unknown>,
    cancelAfterMs: number | undefined,
    onNothingSent: () => void = () => {},
  ): Promise<void> {
    const described = `${name} ${tool} ${JSON.stringify(args)}`;
    this.#note(`${described}${cancelAfterMs === undefined ? "" : `, cancelled after ${cancelAfterMs} ms`}`);
    const signal = cancelAfterMs === undefined ? undefined : AbortSignal.timeout(cancelAfterMs);
    const options = { timeout: MAX_ROUND_MS, ...(signal !== undefined && { signal }) };
    const text = await client.callTool({ name: tool, arguments: args }, undefined, options).then(
      (answer) => {
        const result = CallToolResultSchema.parse(answer);
        if (sentNothing(result)) onNothingSent();
        return textIn(result);
      },
      (error: unknown) => String(error),
    );
    this.#note(`${described} → ${text.slice(0, 200)}`);
    const offer = offerIn(text, tool, args);
    if (offer !== undefined) this.#offers.push(offer);
  }

  async #restart(): Promise<void> {
    const index = Math.floor(this.#random() * this.#servers.length);
    const killed = this.#servers[index];
    if (killed === undefined) return;
    kill(killed);
    this.#note(`${killed.name} killed`);
    this.#servers[index] = await this.#startServer();
  }

  async #startServer(): Promise<Server> {
    const transport = new StdioClientTransport({
      command: SERVER_NODE,
      args: ["--require", CLOCK, BUILT_FILE],
      env: {
        PATH: process.env["PATH"] ?? "",
        CLOCK_FILE: join(this.#folder, "clock"),
        FACELESS_API_KEY: "fl_example",
        FACELESS_BASE_URL: this.#service?.url ?? "",
        FACELESS_STATE_DIR: join(this.#folder, "state"),
      },
      stderr: "ignore",
    });
    const client = new Client({ name: "stress", version: "1" });
    const server = { name: `server ${this.#started.length + 1}`, client, transport };
    this.#started.push(server);
    await client.connect(transport, { timeout: MAX_ROUND_MS });
    return server;
  }

  #setClock(aheadMs: number): void {
    this.#aheadMs = Math.round(aheadMs);
    writeFileSync(join(this.#folder, "clock"), String(this.#aheadMs));
    this.#note("clocks are set");
  }

  #nowMs(): number {
    return Date.now() + this.#aheadMs;
  }

  #note(event: string): void {
    this.events.push(`${new Date(this.#nowMs()).toISOString()} ${event}`);
  }
}

function kill({ transport }: Server): void {
  try {
    if (transport.pid !== null) process.kill(transport.pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
}

type Result = z.infer<typeof CallToolResultSchema>;

function sentNothing({ _meta, structuredContent }: Result): boolean {
  const outcome: unknown = Reflect.get(Object(_meta?.["faceless/error"]), "outcome");
  return outcome === "not_sent" || outcome === "rejected" || structuredContent?.["alreadyStarted"] === true;
}

function textIn({ content }: Result): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

function offerIn(text: string, tool: string, args: Record<string, unknown>): ConfirmedCall | undefined {
  const code = /confirmDuplicate: "(\w+)"/.exec(text)?.[1];
  if (code === undefined) return undefined;
  const named = /with platforms (\[[^\]]*\]) and confirmDuplicate/.exec(text)?.[1];
  const confirmed = { ...args, confirmDuplicate: code };
  if (named === undefined) return { tool, args: confirmed, code, whats: [String(args["topic"])] };
  const platforms = z.array(z.string()).parse(JSON.parse(named));
  const whats = platforms.map((platform) => `${String(args["jobId"])} on ${platform}`);
  return { tool, args: { ...confirmed, platforms }, code, whats };
}

/**
 * A charge is right if it is the first of its kind, if the guard of every earlier one was over, or if an earlier call confirmed it with
 * a code that had not been used for it before.
 */
function violations(charges: readonly Charge[], confirmations: readonly Confirmation[]): string[] {
  const found: string[] = [];
  const used = new Set<string>();
  for (const [index, charge] of charges.entries()) {
    const isPost = charge.what.includes(" on ");
    const isGuarded = charges
      .slice(0, index)
      .some(
        ({ what, endedAtMs }) =>
          what === charge.what && (isPost || charge.atMs + SLACK_MS < endedAtMs + GUARD_MS),
      );
    if (!isGuarded) continue;
    // Two requests in flight may arrive in either order, so that any earlier confirmation counts.
    const own = confirmations.find(
      ({ code, what, calledAtMs, isVoid }) =>
        what === charge.what && !isVoid && calledAtMs <= charge.receivedAtMs && !used.has(`${code} ${what}`),
    );
    if (own === undefined) found.push(`${charge.what} at ${new Date(charge.atMs).toISOString()}`);
    else used.add(`${own.code} ${own.what}`);
  }
  return found;
}

function pick<Item>(random: Random, items: readonly Item[]): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error("There is nothing to pick from.");
  return item;
}

/** Rejects instead of waiting for ever. */
function within<Result>(ms: number, what: string, promise: Promise<Result>): Promise<Result> {
  const timer = new AbortController();
  const late = sleep(ms, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`${what} took longer than ${ms} ms`);
  });
  return Promise.race([promise, late]).finally(() => timer.abort());
}

const rounds = Number(process.argv[2] ?? 200);
const seed = Number(process.env["SEED"] ?? Date.now() % 1_000_000);
process.stderr.write(`SEED=${seed}\n`);
let failed = 0;
for (let index = 0; index < rounds; index++) {
  const round = new Round(seed + index);
  const found = await within(MAX_ROUND_MS, "a round", round.run(seed + index)).catch((error: unknown) => [
    String(error),
  ]);
  await within(MAX_ROUND_MS, "closing", round.close()).catch((error: unknown) => found.push(String(error)));
  if (found.length === 0) continue;
  failed += 1;
  const report = [`SEED=${seed + index}, 1 round: sent twice: ${found.join(", ")}`, ...round.events];
  process.stderr.write(`${report.join("\n  ")}\n`);
}
process.stdout.write(`${JSON.stringify({ rounds, seed, failed })}\n`);
// A server that could not be killed must not hold this process.
process.exit(failed === 0 ? 0 : 1);
