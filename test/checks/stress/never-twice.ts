// Two server processes share one journal, under random calls of both paid tools with two keys, cancellations,
// lost answers, kill -9, passing time and set wall clocks. law.ts says what must hold. SEED=… ROUNDS=1
// replays the steps of a round; the timing of processes still varies.

import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { SERVER_NODE } from "../../fixtures/clients.ts";
import { seededRandom } from "../../fixtures/durations.ts";
import { makeFolder, removeFolder } from "../../fixtures/folder.ts";
import { type ClockSetting, type Offer, violations } from "./law.ts";
import { JOBS, type PayingService, pick, postOf, startPayingService, videoOf } from "./paying-service.ts";
import { createServer, type Server } from "./server.ts";

const CLOCK = fileURLToPath(new URL("jumping-clock.cjs", import.meta.url));
const STEPS = 14;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Nothing happens for this long before the clocks are set. */
const QUIET_MS = 1_000;
const KEYS = ["fl_example", "fl_example", "fl_example", "fl_example_of_another"];
/** Two videos, each written in several ways. */
const TOPICS = ["Tides", " tides.", "Ti\u200Bdes", "Café au lait", "Cafe\u0301 au lait", "CAFÉ  AU LAIT"];
const PLATFORMS = ["tiktok", "youtube", "x"];
const PASSING_MS = [2 * MINUTE_MS, 7 * MINUTE_MS, 7 * MINUTE_MS, 25 * HOUR_MS];
const SETTINGS_MS = [6 * HOUR_MS, -6 * HOUR_MS, 25 * HOUR_MS, -25 * HOUR_MS, 100 * 24 * HOUR_MS];

interface NamedServer extends Server {
  readonly name: string;
}

interface ToolCall {
  readonly tool: "generate_video" | "publish_video";
  readonly args: Readonly<Record<string, unknown>>;
  /** The charges that it may cause. */
  readonly whats: readonly string[];
}

/** A call that an answer offers. */
interface ConfirmedCall extends ToolCall {
  readonly offer: Offer;
}

const errorSchema = z.object({ code: z.string(), outcome: z.string(), retryable: z.boolean() });

class Round {
  readonly #random: () => number;
  readonly #folder = makeFolder();
  readonly #servers: NamedServer[] = [];
  readonly #started: NamedServer[] = [];
  readonly #calls: Promise<void>[] = [];
  readonly #offered: ConfirmedCall[] = [];
  readonly #uses: { offer: Offer; calledAtMs: number }[] = [];
  readonly #clocks: ClockSetting[] = [{ atMs: 0, passedMs: 0, setMs: 0 }];
  readonly #wrongAnswers: string[] = [];
  /** The events of the round, for the report of a violation. */
  readonly events: string[] = [];
  /** How often what the test is about happened. */
  readonly tally = { carriedOut: 0, withCode: 0, inProgress: 0 };
  #service: PayingService | undefined;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  /** Returns what should not have happened. */
  async run(seed: number): Promise<string[]> {
    const service = await startPayingService(seededRandom(-1 - seed));
    this.#service = service;
    this.#servers.push(...(await Promise.all([this.#startServer(), this.#startServer()])));
    for (let index = 0; index < STEPS; index++) await this.#step();
    // Calls that hang or wait now would take 38 s: their servers are killed instead.
    await this.#quiet();
    this.tally.carriedOut = service.charges.length;
    this.tally.withCode = this.#uses.length;
    const offers = this.#offered.map(({ offer }) => offer);
    const [uses, clocks] = [this.#uses, this.#clocks];
    return [...violations({ charges: service.charges, offers, uses, clocks }), ...this.#wrongAnswers];
  }

  async close(): Promise<void> {
    for (const server of this.#started) server.kill();
    await Promise.allSettled(this.#started.map((server) => server.close()));
    await Promise.allSettled(this.#calls);
    await this.#service?.close();
    removeFolder(this.#folder);
  }

  async #step(): Promise<void> {
    const at = this.#random();
    if (at < 0.75) {
      const running = this.#callAtRandom();
      this.#calls.push(running);
      await (this.#random() < 0.5
        ? Promise.race([running, sleep(200)])
        : sleep(Math.ceil(this.#random() * 20)));
    } else if (at < 0.85) await this.#restart();
    else await this.#setClocks();
  }

  /** Makes a random call of one server, or the same call of both. */
  async #callAtRandom(): Promise<void> {
    const cancelAfterMs = this.#random() < 0.2 ? Math.ceil(this.#random() * 60) : undefined;
    const servers = this.#random() < 0.3 ? [...this.#servers] : [pick(this.#random, this.#servers)];
    const confirmed =
      this.#random() < 0.35 && this.#offered.length > 0 ? pick(this.#random, this.#offered) : undefined;
    const call = confirmed ?? (this.#random() < 0.5 ? this.#randomVideo() : this.#randomPost());
    await Promise.all(
      servers.map((server) => {
        if (confirmed !== undefined)
          this.#uses.push({ offer: confirmed.offer, calledAtMs: performance.now() });
        return this.#call(server, call, cancelAfterMs);
      }),
    );
  }

  #randomVideo(): ToolCall {
    const topic = pick(this.#random, TOPICS);
    return { tool: "generate_video", args: { topic }, whats: [videoOf(topic)] };
  }

  #randomPost(): ToolCall {
    const jobId = pick(this.#random, JOBS);
    const drawn = PLATFORMS.filter(() => this.#random() < 0.5);
    return postsOf(jobId, drawn.length > 0 ? drawn : PLATFORMS);
  }

  async #call(
    { call, name }: NamedServer,
    { tool, args, whats }: ToolCall,
    cancelAfterMs: number | undefined,
  ): Promise<void> {
    const described = `${name} ${tool} ${JSON.stringify(args)}`;
    this.#note(`${described}${cancelAfterMs === undefined ? "" : `, cancelled after ${cancelAfterMs} ms`}`);
    const signal = cancelAfterMs === undefined ? undefined : AbortSignal.timeout(cancelAfterMs);
    const calledAtMs = performance.now();
    try {
      const { content, _meta } = await call(tool, args, signal);
      const text = content.map((block) => (block.type === "text" ? block.text : "")).join("");
      this.#note(`${described} → ${text.slice(0, 300)}`);
      const answeredAtMs = performance.now();
      const code = /confirm: "(\w+)"/.exec(text)?.[1];
      this.#checkError(tool, _meta?.["faceless/error"], code);
      if (code === undefined) return;
      const named = /with platforms (\[[^\]]*\]) and confirm/.exec(text)?.[1];
      const again =
        named === undefined
          ? { tool, args, whats }
          : postsOf(String(args["jobId"]), z.array(z.string()).parse(JSON.parse(named)));
      this.#offered.push({
        ...again,
        args: { ...again.args, confirm: code },
        offer: { code, asked: whats, whats: again.whats, calledAtMs, answeredAtMs },
      });
    } catch (error) {
      // It was cancelled, or its server was killed.
      this.#note(`${described} → ${String(error)}`);
    }
  }

  #checkError(tool: ToolCall["tool"], facts: unknown, code: string | undefined): void {
    const error = errorSchema.safeParse(facts).data;
    if (error?.code === "internal") this.#wrongAnswers.push("a call failed by itself");
    if (error?.code !== "in_progress") return;
    this.tally.inProgress += 1;
    if (code !== undefined || error.outcome !== "not_sent")
      this.#wrongAnswers.push(`in_progress with ${JSON.stringify({ ...error, code })}`);
  }

  async #restart(): Promise<void> {
    const index = Math.floor(this.#random() * this.#servers.length);
    const killed = this.#servers[index];
    if (killed === undefined) return;
    killed.kill();
    this.#note(`${killed.name} killed`);
    this.#servers[index] = await this.#startServer();
  }

  async #startServer(): Promise<NamedServer> {
    const key = pick(this.#random, KEYS);
    const server = {
      name: `server ${this.#started.length + 1} (${key})`,
      ...createServer([SERVER_NODE, "--require", CLOCK], {
        CLOCK_FILE: join(this.#folder, "clock"),
        FACELESS_API_KEY: key,
        FACELESS_BASE_URL: this.#service?.url ?? "",
        FACELESS_STATE_DIR: this.#folder,
      }),
    };
    this.#started.push(server);
    await server.connect();
    return server;
  }

  /** Lets time pass on all clocks, or sets the wall clock. */
  async #setClocks(): Promise<void> {
    const { passedMs = 0, setMs = 0 } = this.#clocks.at(-1) ?? {};
    const isSet = this.#random() < 0.4;
    const byMs = pick(this.#random, isSet ? SETTINGS_MS : PASSING_MS);
    await this.#quiet();
    const clock = isSet ? { passedMs, setMs: setMs + byMs } : { passedMs: passedMs + byMs, setMs };
    this.#clocks.push({ atMs: performance.now(), ...clock });
    const file = join(this.#folder, "clock");
    writeFileSync(`${file}.new`, `${clock.passedMs} ${clock.setMs}`);
    // A server must never read half of it.
    renameSync(`${file}.new`, file);
    this.#note(`${isSet ? "the wall clock is set by" : "there pass"} ${byMs / HOUR_MS} h`);
  }

  /** Resolves when nothing happens any more but waiting. */
  async #quiet(): Promise<void> {
    let known = -1;
    const happened = () => this.events.length + (this.#service?.charges.length ?? 0);
    while (known !== happened()) {
      known = happened();
      await sleep(QUIET_MS);
    }
  }

  #note(event: string): void {
    this.events.push(`${Math.round(performance.now())} ${event}`);
  }
}

function postsOf(jobId: string, platforms: readonly string[]): ToolCall {
  const whats = platforms.map((platform) => postOf(jobId, platform));
  return { tool: "publish_video", args: { jobId, platforms }, whats };
}

/** Prints what happened in each round in which something should not have. */
export async function neverTwice(rounds: number, seed: number) {
  const total = { carriedOut: 0, withCode: 0, inProgress: 0 };
  let failed = 0;
  for (let index = 0; index < rounds; index++) {
    const round = new Round(seed + index);
    const found = await round.run(seed + index).catch((error: unknown) => [String(error)]);
    await round.close();
    for (const name of ["carriedOut", "withCode", "inProgress"] as const) total[name] += round.tally[name];
    if (found.length === 0) continue;
    failed += 1;
    const report = [`SEED=${seed + index} ROUNDS=1: ${found.join("; ")}`, ...round.events];
    process.stderr.write(`${report.join("\n  ")}\n`);
  }
  const { carriedOut, withCode, inProgress } = total;
  return [
    {
      test: "two processes with lost answers, kill -9, time that passes and clocks that are set",
      promised:
        "nothing carried out twice without a code that knew of it, and none given while it is under way",
      measured: `SEED=${seed} ROUNDS=${rounds}, ${failed} rounds failed; ${carriedOut} requests carried out, ${withCode} calls with a code, ${inProgress} told in_progress`,
      met: failed === 0,
    },
  ];
}
