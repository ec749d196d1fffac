// A random history: four servers, one of a sandbox, and processes of `call` share one journal, and some are killed.
// The service loses answers and refuses. Whatever happens, nothing is paid or posted twice without a code, and every
// answer names a job that the service has made for that very order.

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { BUILT_FILE, SERVER_NODE } from "../../fixtures/clients.ts";
import { type Random, seededRandom } from "../../fixtures/durations.ts";
import { makeFolder, removeFolder } from "../../fixtures/folder.ts";
import { type Handler, type Reply, startScriptedService } from "../../fixtures/scripted-service.ts";
import { POSTGRES_SERVERS, startPostgres } from "../fixtures/postgres.ts";
import { createServer, type Server } from "./server.ts";

const SERVERS = 4;
const WORKERS = 6;
const MAX_DELAY_MS = 60;
/** A request whose sender was killed stays unknown for minutes: calls that wait for it are given up. */
const PATIENCE_MS = 1_500;
/** Orders that calls choose from at a time; each is replaced after some calls. */
const OPEN_ORDERS = 12;

/** What one service has carried out, by topic, and by job and platform. */
interface Ledger {
  readonly carriedOut: Map<string, number>;
  readonly jobs: Map<string, Set<string>>;
  /** How many repeats codes have confirmed. */
  readonly confirmed: Map<string, number>;
}

const add = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);

async function startService(random: Random) {
  const ledger: Ledger = { carriedOut: new Map(), jobs: new Map(), confirmed: new Map() };
  const answering =
    (
      keysOf: (body: Record<string, unknown>) => readonly string[],
      answer: (body: Record<string, unknown>) => object,
    ): Handler =>
    async ({ body }): Promise<Reply> => {
      const given: Record<string, unknown> = JSON.parse(body);
      await sleep(random() * MAX_DELAY_MS);
      const luck = random();
      const refusal = { json: { error: { code: "out_of_credits", message: "None left." } } };
      if (luck < 0.05) return { status: 402, ...refusal };
      for (const key of keysOf(given)) add(ledger.carriedOut, key);
      const result = answer(given);
      if (luck < 0.1) return "hang up";
      return luck < 0.15 ? { status: 503, ...refusal } : { json: result };
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
        service.on(`GET /api/v1/status/${jobId}`, { json: ready });
        return { jobId, status: "processing" };
      },
    ),
    "POST /api/v1/publish": answering(
      ({ jobId, platforms }) => (platforms as string[]).map((platform) => `${String(jobId)} ${platform}`),
      ({ platforms }) => ({ results: (platforms as string[]).map((platform) => ({ platform, ok: true })) }),
    ),
  });
  return { service, ledger };
}

type Called = { readonly text: string; readonly jobId?: unknown } | undefined;

/** A process of `call`, which is killed after so long if that is set. */
function runCall(
  env: Readonly<Record<string, string>>,
  args: object,
  tool: string,
  killMs: number | undefined,
): Promise<Called> {
  const child = spawn(
    SERVER_NODE,
    [BUILT_FILE, "call", tool, "--yes", "--json", "--json-args", JSON.stringify(args)],
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
  const envOf = ({ service }: typeof real, key: string) => ({
    HOME: folder,
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
    const server = createServer([SERVER_NODE], kindOf(index).env);
    await server.connect();
    return server;
  };
  const servers: Server[] = await Promise.all(Array.from({ length: SERVERS }, (_, index) => start(index)));
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(random() * items.length)];
  let orders = 0;
  const newTopic = () =>
    `The tide number ${(orders += 1)} comes in twice a day, and nobody on this beach knows why.`;
  const topics = Array.from({ length: OPEN_ORDERS }, newTopic);
  const violations: string[] = [];
  const killed = new Set<Server>();
  const tally = { made: 0, killed: 0, answered: 0 };

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
    const make = async (given: object): Promise<Called> => {
      if (random() < 0.03) return runCall(env, given, tool, random() < 0.5 ? random() * 1_500 : undefined);
      const server = servers[index];
      if (random() < 0.02) {
        tally.killed += 1;
        if (server !== undefined) killed.add(server);
        setTimeout(() => server?.kill(), random() * MAX_DELAY_MS);
      }
      try {
        const called = await server?.call(tool, { ...given }, AbortSignal.timeout(PATIENCE_MS));
        return { text: JSON.stringify(called?.content), ...called?.structuredContent };
      } catch {
        // One that is only slow goes on: others use it, too.
        if (server !== undefined && killed.delete(server)) {
          await server.close().catch(() => {});
          servers[index] = await start(index);
        }
        return undefined;
      }
    };
    let answer = await make(args);
    const code = /confirm: \\*"(\w{6})/.exec(answer?.text ?? "")?.[1];
    if (code !== undefined && random() < 0.1) {
      for (const key of keys) add(ledger.confirmed, key);
      answer = await make({ ...args, confirm: code });
    }
    if (answer !== undefined) tally.answered += 1;
    // Calls for an order that stays unknown wait for each other: most of them make place for another one.
    else if (random() < 0.8) replace(topic);
    if (!isPost && typeof answer?.jobId === "string" && ledger.jobs.get(topic)?.has(answer.jobId) !== true)
      violations.push(`${topic}: answered with ${answer.jobId}, which is no job of it`);
    for (const key of keys) check(ledger, key);
  };
  try {
    const work = async () => {
      while (tally.made < calls) await step();
    };
    await Promise.all(Array.from({ length: WORKERS }, work));
  } finally {
    await Promise.allSettled(servers.map((server) => server.close()));
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
    test: `a random history of ${SERVERS} servers and call, some killed with -9, one journal in ${store}`,
    promised: "nothing twice without a code, and no job of another order",
    measured: `SEED=${seed} CALLS=${calls}, ${new Set(violations).size} violations; ${tally.answered} calls answered, ${tally.killed} servers killed, ${carriedOut.join(" and ")} requests carried out by the service and the sandbox`,
    met: violations.length === 0,
  };
}
