// A random history: four servers, one of a sandbox, two whose users are asked, and processes of `call` share one journal,
// and some are killed. The service loses answers, gives some late and refuses. With files all clocks jump ahead now and
// then, as they do while the computer sleeps, so that requests whose answer was lost become unknown. Whatever happens,
// nothing is paid or posted twice without a code, every answer names a job that the service has made for that very order,
// no answer that a call has had is forgotten, nothing is sent after a no, and waits send one request a second for a job.

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { BUILT_FILE, SERVER_NODE } from "../../fixtures/clients.ts";
import { type Random, seededRandom } from "../../fixtures/durations.ts";
import { makeFolder, removeFolder } from "../../fixtures/folder.ts";
import { type Handler, type Reply, startScriptedService } from "../../fixtures/scripted-service.ts";
import { type AskingClient, connectAskingClient } from "./asking-client.ts";
import { POSTGRES_SERVERS, startPostgres } from "../fixtures/postgres.ts";
import { createServer, type Server } from "./server.ts";

const SERVERS = 4;
/** Many, since most of them wait: for a request whose answer was lost, or for a server that starts. */
const WORKERS = 24;
const MAX_DELAY_MS = 60;
/** A request whose sender was killed stays unknown for minutes: calls that wait for it are given up. */
const PATIENCE_MS = 1_500;
/** Orders that calls choose from at a time; each is replaced after some calls. */
const OPEN_ORDERS = 48;
/** Longer than a request is under way. All jumps together stay below the 20 hours that an order is guarded. */
const JUMP_MS = 7 * 60_000;
const CALLS_PER_JUMP = 150;
const MAX_JUMPS = 150;
/** The share of calls that are made by a client that asks its user. */
const ASKED_SHARE = 0.15;
/** The share of calls that are made to two servers at once. */
const TWIN_SHARE = 0.2;
const ERAS = ["legacy", "modern"] as const;
/** A late answer comes after its call was given up. */
const LATE_MS = 2 * PATIENCE_MS;
const RENDER_MS = 3_000;
const WAIT_SECONDS = 4;
const WINDOW_MS = 10_000;
/** These orders belong to the clients that ask: nobody else makes or reads them. */
const ASKED = "The wave number";
const JUMPING_CLOCK = fileURLToPath(new URL("jumping-clock.cjs", import.meta.url));

/** What one service has carried out, by topic, and by job and platform. */
interface Ledger {
  readonly carriedOut: Map<string, number>;
  readonly jobs: Map<string, Set<string>>;
  /** How many repeats codes have confirmed. */
  readonly confirmed: Map<string, number>;
  /** When the order of each topic, and each request for the status of such an order's job, arrived. */
  readonly arrived: Map<string, number[]>;
}

const publicationSchema = z.object({ jobId: z.string(), platforms: z.array(z.string()) });

const arrive = ({ arrived }: Ledger, key: string) =>
  arrived.set(key, [...(arrived.get(key) ?? []), performance.now()]);
/** The most requests in any ten seconds. */
const busiest = (times: readonly number[]) =>
  Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + WINDOW_MS).length));
const add = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);

async function startService(random: Random) {
  const ledger: Ledger = {
    carriedOut: new Map(),
    jobs: new Map(),
    confirmed: new Map(),
    arrived: new Map(),
  };
  const answering =
    (
      keysOf: (body: Record<string, unknown>) => readonly string[],
      answer: (body: Record<string, unknown>) => object,
    ): Handler =>
    async ({ body }): Promise<Reply> => {
      const given: Record<string, unknown> = JSON.parse(body);
      arrive(ledger, String(given["topic"]));
      await sleep(random() * MAX_DELAY_MS);
      const luck = random();
      const refusal = { json: { error: { code: "out_of_credits", message: "None left." } } };
      if (luck < 0.05) return { status: 402, ...refusal };
      for (const key of keysOf(given)) add(ledger.carriedOut, key);
      const result = answer(given);
      if (luck < 0.1) return "hang up";
      if (luck < 0.13) await sleep(LATE_MS);
      return luck < 0.18 && luck > 0.13 ? { status: 503, ...refusal } : { json: result };
    };
  const service = await startScriptedService({
    "GET /api/v1/videos": { json: { videos: [] } },
    "POST /api/v1/generate": answering(
      ({ topic }) => [String(topic)],
      ({ topic }) => {
        const jobId = randomUUID();
        const jobs = ledger.jobs.get(String(topic)) ?? new Set();
        ledger.jobs.set(String(topic), jobs.add(jobId));
        const ready = {
          status: "completed",
          videoUrls: [],
          finalVideoUrl: "https://media.example/final.mp4",
        };
        const endsMs = performance.now() + RENDER_MS;
        const isAsked = String(topic).startsWith(ASKED);
        const failing = (): Reply => {
          arrive(ledger, jobId);
          if (random() < 0.6) return pickFrom(FAILURES, random);
          return { json: performance.now() < endsMs ? { status: "processing", videoUrls: [] } : ready };
        };
        service.on(`GET /api/v1/status/${jobId}`, isAsked ? failing : { json: ready });
        return { jobId, status: "processing" };
      },
    ),
    "POST /api/v1/publish": answering(
      (body) => {
        const { jobId, platforms } = publicationSchema.parse(body);
        return platforms.map((platform) => `${jobId} ${platform}`);
      },
      (body) => ({
        results: publicationSchema.parse(body).platforms.map((platform) => ({ platform, ok: true })),
      }),
    ),
  });
  return { service, ledger };
}

/** How reads of the jobs of clients that ask fail. */
const FAILURES: readonly Reply[] = [
  { status: 404, json: { error: { code: "not_found", message: "No such job." } } },
  { status: 503 },
  { body: "<html>Be right back.</html>", headers: { "content-type": "text/html" } },
  { body: Buffer.from("1f8b0800deadbeef00", "hex"), headers: { "content-encoding": "gzip" } },
];

function pickFrom(replies: readonly Reply[], random: Random): Reply {
  return replies[Math.floor(random() * replies.length)] ?? "hang up";
}

type Called =
  | {
      readonly text: string;
      readonly jobId?: unknown;
      readonly alreadyStarted?: unknown;
      readonly results?: unknown;
    }
  | undefined;

/** True if the answer says that a confirmed request was not sent, or not on this platform. */
function isRefused(answer: Called, platform: string | undefined): boolean {
  if (answer === undefined) return false;
  if (answer.alreadyStarted === true || answer.text.includes("Not sent")) return true;
  return (
    Array.isArray(answer.results) &&
    answer.results.some((result) => result.platform === platform && result.alreadyPublished === true)
  );
}

/** A process of `call`, killed after this time if it is set. */
function runCall(
  env: Readonly<Record<string, string>>,
  args: object,
  tool: string,
  killMs: number | undefined,
): Promise<Called> {
  const child = spawn(
    SERVER_NODE,
    [
      "--require",
      JUMPING_CLOCK,
      BUILT_FILE,
      "call",
      tool,
      "--yes",
      "--json",
      "--json-args",
      JSON.stringify(args),
    ],
    {
      env: { PATH: process.env["PATH"] ?? "", ...env },
      stdio: ["ignore", "pipe", "ignore"],
    },
  );
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const timer = setTimeout(() => child.kill("SIGKILL"), killMs ?? 4 * PATIENCE_MS);
  return new Promise((resolve) => {
    child.on("close", () => {
      clearTimeout(timer);
      try {
        resolve({ text, ...JSON.parse(text) });
      } catch {
        resolve(undefined);
      }
    });
  });
}

export async function randomHistory(calls: number, seed: number, store: "files" | "Postgres") {
  const random = seededRandom(seed);
  const folder = makeFolder();
  const postgres = store === "Postgres" ? await startPostgres(POSTGRES_SERVERS[0]) : undefined;
  const [real, sandbox] = [await startService(random), await startService(random)];
  const clockFile = join(folder, "clock");
  const envOf = ({ service }: typeof real, key: string) => ({
    HOME: folder,
    CLOCK_FILE: clockFile,
    FACELESS_API_KEY: key,
    FACELESS_BASE_URL: service.url,
    FACELESS_STATE_DIR: folder,
    FACELESS_CONFIRM_GENERATE: "off",
    FACELESS_CONFIRM_PUBLISH: "off",
    ...(postgres !== undefined && { FACELESS_JOURNAL_URL: postgres.socketUrl() }),
  });
  const kinds = [
    { ...real, env: envOf(real, "fl_stress_of_a_service_key") },
    { ...sandbox, env: envOf(sandbox, "fl_sandbox") },
  ] as const;
  const kindOf = (index: number) => kinds[index === SERVERS - 1 ? 1 : 0];
  const start = async (index: number) => {
    const server = createServer([SERVER_NODE, "--require", JUMPING_CLOCK], kindOf(index).env);
    await server.connect();
    return server;
  };
  const servers = Array.from({ length: SERVERS }, (_, index) => start(index));
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(random() * items.length)];
  let orders = 0;
  const newTopic = () =>
    `The tide number ${(orders += 1)} comes in twice a day, and nobody on this beach knows why.`;
  const topics = Array.from({ length: OPEN_ORDERS }, newTopic);
  const violations: string[] = [];
  /** Orders that a call has answered with their job, and orders of which a request may be without an outcome. */
  const [started, doubtful] = [new Set<string>(), new Set<string>()];
  const isSettled = (order: string) => started.has(order) && !doubtful.has(order);
  const tally = { made: 0, killed: 0, answered: 0, confirmed: 0, jumps: 0, slept: 0, asked: 0 };
  const askingEnv = { ...kinds[0].env, FACELESS_CONFIRM_GENERATE: "on" };
  const asking = ERAS.map((era) =>
    connectAskingClient(era, [SERVER_NODE, "--require", JUMPING_CLOCK], askingEnv, random),
  );
  let asked = 0;

  /** An order that the user is asked about, or with a code its repeat. Returns the result of a call that succeeded. */
  const orderAsked = async ({ call, faultOf }: AskingClient, topic: string, confirm?: string) => {
    const begunMs = performance.now();
    const { ledger } = kinds[0];
    if (confirm !== undefined) add(ledger.confirmed, topic);
    const args = { topic, ...(confirm !== undefined && { confirm }) };
    const started = await call("generate_video", args).catch(() => undefined);
    for (const sentMs of (ledger.arrived.get(topic) ?? []).filter((at) => at >= begunMs)) {
      const title = topic.slice(0, topic.indexOf(" comes") + 1);
      const fault = faultOf(title, begunMs, sentMs, confirm !== undefined);
      if (fault !== undefined) violations.push(`${topic}: ${fault}`);
    }
    check(ledger, topic);
    tally.asked += 1;
    return started;
  };

  /**
   * Orders two videos at once, as a yes to one may be a yes to both. Repeats the first, which a series doesn't cover and
   * whose no ends one. Waits for its job: twice at once, and again.
   */
  const stepOfAsking = async (client: AskingClient) => {
    const newWave = () =>
      `${ASKED} ${(asked += 1)} comes in twice a day, and nobody on this beach knows why.`;
    const [first, second] = [newWave(), newWave()];
    const [started] = await Promise.all([orderAsked(client, first), orderAsked(client, second)]);
    const jobId = started?.["jobId"];
    if (typeof jobId !== "string") return;
    const earlier = await orderAsked(client, first);
    const code = /confirm: "(\w{6})"/.exec(String(earlier?.["nextStep"]))?.[1];
    if (code !== undefined) await orderAsked(client, first, code);
    const wait = () =>
      client.call("get_video_status", { jobId, waitSeconds: WAIT_SECONDS }).catch(() => undefined);
    await Promise.all([wait(), wait()]);
    await wait();
    if (busiest(kinds[0].ledger.arrived.get(jobId) ?? []) > WINDOW_MS / 1_000 + 1)
      violations.push(`${jobId}: more than one request a second`);
  };

  /** Kills a server within moments. Its calls fail, and the next ones wait for another one in its place. */
  const killSoon = (index: number, server: Server) =>
    setTimeout(() => {
      // Another call may have killed it before.
      if (current[index] !== server) return;
      tally.killed += 1;
      server.kill();
      void server.close().catch(() => {});
      current[index] = undefined;
      servers[index] = start(index);
    }, random() * MAX_DELAY_MS);
  const current: (Server | undefined)[] = [];

  /** Puts all clocks ahead, also those of calls that are being made. */
  const jump = () => {
    tally.jumps += 1;
    // While a computer sleeps, the wall clock alone goes on.
    if (random() < 0.5) tally.slept += 1;
    writeFileSync(`${clockFile}.new`, `${(tally.jumps - tally.slept) * JUMP_MS} ${tally.slept * JUMP_MS}`);
    renameSync(`${clockFile}.new`, clockFile);
  };

  const check = (ledger: Ledger, key: string) => {
    const times = ledger.carriedOut.get(key) ?? 0;
    if (times > 1 + (ledger.confirmed.get(key) ?? 0)) violations.push(`${key}: carried out ${times} times`);
  };

  const replace = (topic: string | undefined) => {
    const place = topics.indexOf(topic ?? "");
    if (place >= 0) topics[place] = newTopic();
  };

  /** Makes one random call. */
  const step = async () => {
    tally.made += 1;
    // The times of a database are its own.
    if (store === "files" && tally.jumps < MAX_JUMPS && tally.made % CALLS_PER_JUMP === 0) jump();
    if (random() < ASKED_SHARE) {
      const client = await asking[Math.floor(random() * asking.length)];
      if (client !== undefined) await stepOfAsking(client);
      return;
    }
    const index = Math.floor(random() * SERVERS);
    const { ledger, env } = kindOf(index);
    if (random() < 0.02) replace(pick(topics));
    const topic = pick(topics) ?? newTopic();
    const jobId = pick([...(ledger.jobs.get(topic) ?? [])]);
    const isPost = jobId !== undefined && random() < 0.5;
    const platforms = ["tiktok", "youtube", "x"].filter(() => random() < 0.6);
    if (isPost && platforms.length === 0) return;
    const [tool, args] = isPost
      ? (["publish_video", { jobId, platforms }] as const)
      : (["generate_video", { topic }] as const);
    const keys = isPost ? platforms.map((platform) => `${jobId} ${platform}`) : [topic];
    const make = async (given: object, place = index): Promise<Called> => {
      if (random() < 0.03) return runCall(env, given, tool, random() < 0.5 ? random() * 1_500 : undefined);
      const server = await servers[place];
      if (server === undefined) return undefined;
      current[place] = server;
      if (random() < 0.02) killSoon(place, server);
      try {
        const called = await server.call(tool, { ...given }, AbortSignal.timeout(PATIENCE_MS));
        return { text: JSON.stringify(called), ...called.structuredContent };
      } catch {
        return undefined;
      }
    };
    // The sandbox and the service don't see each other's entries.
    const order = `${kindOf(index) === kinds[0] ? "service" : "sandbox"}: ${topic}`;
    const wasSettled = isSettled(order);
    const isTwin = index < SERVERS - 1 && random() < TWIN_SHARE;
    const twin = isTwin ? make(args, (index + 1) % (SERVERS - 1)) : undefined;
    let answer = await make(args);
    if ((await twin)?.text.includes("no complete answer") !== false && isTwin) doubtful.add(order);
    if (answer === undefined || answer.text.includes("no complete answer")) doubtful.add(order);
    if (wasSettled && isSettled(order) && answer?.text.includes("Not sent: a video") === true)
      violations.push(`${topic}: its answer was forgotten`);
    const code = /confirm: \\*"(\w{6})/.exec(answer?.text ?? "")?.[1];
    if (code !== undefined && random() < 0.2) {
      if (!isPost) doubtful.add(order);
      for (const key of keys) add(ledger.confirmed, key);
      answer = await make({ ...args, confirm: code });
      const unused = keys.filter((_, place) => isRefused(answer, platforms[place]));
      for (const key of unused) ledger.confirmed.set(key, (ledger.confirmed.get(key) ?? 0) - 1);
      tally.confirmed += keys.length - unused.length;
    }
    if (answer !== undefined) tally.answered += 1;
    // Calls for an order that stays unknown wait for each other: most of them make place for another one.
    else if (random() < 0.8) replace(topic);
    if (!isPost && typeof answer?.jobId === "string") {
      started.add(order);
      if (ledger.jobs.get(topic)?.has(answer.jobId) !== true)
        violations.push(`${topic}: answered with ${answer.jobId}, which is no job of it`);
    }
    for (const key of keys) check(ledger, key);
  };
  try {
    const work = async () => {
      while (tally.made < calls) await step();
    };
    await Promise.all(Array.from({ length: WORKERS }, work));
  } finally {
    await Promise.allSettled([...servers, ...asking].map(async (server) => (await server).close()));
    for (const { service } of kinds) await service.close();
    await postgres?.close();
    removeFolder(folder);
  }
  for (const { ledger } of kinds) for (const key of ledger.carriedOut.keys()) check(ledger, key);
  for (const violation of new Set(violations)) process.stderr.write(`${violation}\n`);
  const carriedOut = kinds.map(({ ledger }) =>
    [...ledger.carriedOut.values()].reduce((sum, times) => sum + times, 0),
  );
  return {
    test: `a random history of ${SERVERS} servers, two whose users are asked, and call, some killed with -9, one journal in ${store}`,
    promised:
      "nothing twice without a code, no job of another order, no answer forgotten, nothing after a no, one request a second for a job",
    measured: `SEED=${seed} CALLS=${calls}, ${new Set(violations).size} violations; ${tally.answered} calls answered, ${tally.confirmed} repeats confirmed, ${tally.killed} servers killed, ${tally.jumps} jumps of the clocks, ${tally.slept} of them sleeps, ${tally.asked} orders asked about, ${carriedOut.join(" and ")} requests carried out by the service and the sandbox`,
    met: violations.length === 0,
  };
}
