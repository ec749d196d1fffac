// Twelve server processes on two computers share nothing but a database. In each round all of them order the
// same video at one instant, and post it, while some are killed.

import { spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { SERVER_NODE } from "../../fixtures/clients.ts";
import { type Random, seededRandom } from "../../fixtures/durations.ts";
import { type Postgres, POSTGRES_SERVERS, startPostgres } from "../fixtures/postgres.ts";
import { type Handler, startScriptedService } from "../../fixtures/scripted-service.ts";
import { createServer as createProcess, type Server } from "./server.ts";

const PROCESSES = 12;
/** The milliseconds within which the service and servers answer, and within which processes are killed. */
const MAX_DELAY_MS = 60;
/** A request whose sender was killed may stay unknown: calls that wait for it are given up. */
const PATIENCE_MS = 3_000;
const CALL_MS = 45_000;
/** Where servers on a computer of their own find the service. */
const PORT = 8_790;

interface Computer {
  readonly home: string;
  /** The address of the service. */
  readonly serviceUrl: string;
  /** Starts a command on this computer. */
  readonly command: readonly string[];
  close(): void;
}

const bodySchema = z.object({ topic: z.string().default(""), jobId: z.string().default("") });
const answerSchema = z.looseObject({ jobId: z.string().optional() });

/** Counts what reached the service, by topic and job. */
async function startService(random: Random) {
  const received = new Map<string, number>();
  const receive =
    (answer: () => object): Handler =>
    async ({ json }) => {
      const { topic, jobId } = bodySchema.parse(json);
      const what = topic || jobId;
      received.set(what, (received.get(what) ?? 0) + 1);
      await sleep(random() * MAX_DELAY_MS);
      return { json: answer() };
    };
  const ready = { status: "completed", videoUrls: [], finalVideoUrl: "https://media.example/final.mp4" };
  const service = await startScriptedService({
    "GET /api/v1/videos": { json: { videos: [] } },
    "POST /api/v1/generate": receive(() => {
      const jobId = randomUUID();
      service.on(`GET /api/v1/status/${jobId}`, { json: ready });
      return { jobId, status: "processing" };
    }),
    "POST /api/v1/publish": receive(() => ({ results: [{ platform: "tiktok", ok: true }] })),
  });
  return { service, received };
}

/** A network namespace where the system lets us make one, otherwise a home folder. */
function makeComputer(name: string, { folder }: Postgres, servicePort: number): Computer {
  const home = join(folder, name);
  mkdirSync(home);
  const namespace = `faceless-${process.pid}-${name}`;
  const ip = (...args: readonly string[]) => spawnSync("ip", args).status === 0;
  if (!ip("netns", "add", namespace))
    return { home, serviceUrl: `http://127.0.0.1:${servicePort}`, command: [], close() {} };
  ip("-n", namespace, "link", "set", "lo", "up");
  const command = ["ip", "netns", "exec", namespace];
  // A socket is reached from every network.
  const socket = join(folder, `service-${name}`);
  const relay = createServer((client) => pipe(client, connect(servicePort, "127.0.0.1"))).listen(socket);
  const forward = `
    const { connect, createServer } = require("node:net");
    const pipe = ${pipe.toString()};
    createServer((client) => pipe(client, connect(${JSON.stringify(socket)}))).listen(${PORT}, "127.0.0.1");`;
  const [program, ...args] = [...command, process.execPath, "--eval", forward];
  const forwarder = spawn(program, args, { stdio: "inherit" });
  return {
    home,
    serviceUrl: `http://127.0.0.1:${PORT}`,
    command,
    close() {
      forwarder.kill("SIGKILL");
      relay.close();
      ip("netns", "delete", namespace);
    },
  };
}

function pipe(one: Socket, other: Socket): void {
  one.pipe(other).pipe(one);
  one.on("error", () => other.destroy());
  other.on("error", () => one.destroy());
}

async function startServer(computer: Computer, journalUrl: string): Promise<Server> {
  const server = createProcess([...computer.command, SERVER_NODE], {
    HOME: computer.home,
    FACELESS_API_KEY: "fl_example_key",
    FACELESS_BASE_URL: computer.serviceUrl,
    FACELESS_JOURNAL_URL: journalUrl,
  });
  await server.connect();
  return server;
}

/** The job of the answer, which may be absent; undefined if there was no answer. */
async function call(server: Server, name: string, args: Record<string, unknown>, patienceMs: number) {
  try {
    const { isError, structuredContent } = await server.call(name, args, AbortSignal.timeout(patienceMs));
    return isError === true ? undefined : answerSchema.parse(structuredContent);
  } catch {
    // It was killed, or waited for one that was.
    return undefined;
  }
}

export async function manyComputers(rounds: number, seed: number) {
  const random = seededRandom(seed);
  const postgres = await startPostgres(POSTGRES_SERVERS[0]);
  const { service, received } = await startService(random);
  const [one, two] = [
    makeComputer("one", postgres, service.port),
    makeComputer("two", postgres, service.port),
  ];
  const start = (index: number) => startServer(index % 2 === 0 ? one : two, postgres.socketUrl());
  const servers = await Promise.all(Array.from({ length: PROCESSES }, (_, index) => start(index)));
  const tally = { once: 0, none: 0, killed: 0, answered: 0 };
  const violations: string[] = [];

  /** Has all processes call at once. Returns the job named in the answers that came. */
  const round = async (what: string, name: string, args: Record<string, unknown>) => {
    const victims = random() < 0.5 ? [] : servers.flatMap((_, index) => (random() < 0.3 ? [index] : []));
    const patienceMs = victims.length === 0 ? CALL_MS : PATIENCE_MS;
    const calls = servers.map((server) => call(server, name, args, patienceMs));
    await Promise.all(
      victims.map(async (index) => {
        await sleep(random() * MAX_DELAY_MS);
        servers[index]?.kill();
      }),
    );
    const answers = (await Promise.all(calls)).filter((answer) => answer !== undefined);
    const times = received.get(what) ?? 0;
    const jobs = new Set(answers.flatMap(({ jobId = [] }) => jobId));
    if (times > 1 || jobs.size > 1) violations.push(`${what}: sent ${times} times, ${jobs.size} jobs`);
    if (answers.length > 0 && times !== 1)
      violations.push(`${what}: ${answers.length} answers, sent ${times} times`);
    if (victims.length === 0 && answers.length < PROCESSES)
      violations.push(`${what}: only ${answers.length} answers though none was killed`);
    tally[times === 0 ? "none" : "once"] += 1;
    tally.killed += victims.length;
    tally.answered += answers.length;
    await Promise.all(
      victims.map(async (index) => {
        await servers[index]?.close().catch(() => {});
        servers[index] = await start(index);
      }),
    );
    return [...jobs][0];
  };
  try {
    for (let index = 0; index < rounds; index += 1) {
      const topic = `Round ${index} of ${seed}`;
      const jobId = await round(topic, "generate_video", { topic });
      if (jobId !== undefined) await round(jobId, "publish_video", { jobId, platforms: ["tiktok"] });
    }
  } finally {
    await Promise.allSettled(servers.map((server) => server.close()));
    for (const computer of [one, two]) computer.close();
    await service.close();
    await postgres.close();
  }
  for (const violation of violations) process.stderr.write(`${violation}\n`);
  const where = one.command.length > 0 ? "network namespaces" : "homes";
  return [
    {
      test: `${PROCESSES} processes in two ${where} with one database order the same video at once and post it, some killed with -9`,
      promised: "one request for each, and one job for all",
      measured: `SEED=${seed} ROUNDS=${rounds}, ${violations.length} violations; ${tally.killed} processes killed, ${tally.once} requests sent once and ${tally.none} never, ${tally.answered} calls answered`,
      met: violations.length === 0,
    },
  ];
}
