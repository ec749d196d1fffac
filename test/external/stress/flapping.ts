// A flapping service: for some minutes it refuses connections, hangs, does what it is asked and resets the connection or
// answers 503, 429, a page or damaged gzip, and is well in between. Callers order videos and wait for their ends, as a
// model would. None is made twice, each caller is told the end, and no order costs more than some requests.

import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { SERVER_NODE } from "../../fixtures/clients.ts";
import { type Random, seededRandom } from "../../fixtures/durations.ts";
import { makeFolder, removeFolder } from "../../fixtures/folder.ts";
import { createServer as startProcess, type Server } from "./server.ts";

const SERVERS = 2;
/** Callers, each with one order at a time. */
const CALLERS = 12;
const MAX_REQUESTS = 30;
const RENDER_MS = { min: 5_000, max: 30_000 };
const PHASE_MS = { min: 500, max: 5_000 };
/** Once the service is well for good, each open order is told its end within this. */
const PATIENCE_MS = 180_000;
/** A caller looks again after this. */
const PAUSE_MS = 2_000;
/** Having been told the end, a caller waits for it again: what is known answers, however reads fail. */
const LATER = { times: 4, everyMs: 5_500 };
const WINDOW_MS = 10_000;

const FAULTS = ["refuses", "hangs", "resets", "503", "429", "429 for a second", "page", "gzip"] as const;
type Mode = (typeof FAULTS)[number] | "is well";

interface Order {
  readonly topic: string;
  readonly jobId: string;
  readonly endsAtMs: number;
}

/** The service. It does what it is asked also in most of its bad moods. */
class FlappingService {
  readonly orders: Order[] = [];
  /** When each request came, by topic or job, and for all others together. */
  readonly requests = new Map<string, number[]>();
  readonly #random: Random;
  readonly #server = createServer((incoming, outgoing) => void this.#answer(incoming, outgoing));
  readonly #hanging = new Set<ServerResponse>();
  #mode: Mode = "is well";
  #port = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  async open(): Promise<string> {
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
    // eslint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
    this.#port = (this.#server.address() as AddressInfo).port;
    return `http://127.0.0.1:${this.#port}`;
  }

  async become(mode: Mode): Promise<void> {
    if (this.#mode === "refuses" && mode !== "refuses") await this.open();
    if (this.#mode !== "refuses" && mode === "refuses") this.close();
    this.#mode = mode;
    for (const outgoing of this.#hanging) outgoing.destroy();
    this.#hanging.clear();
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await text(incoming).catch(() => undefined);
    if (body === undefined) return;
    const path = (incoming.url ?? "").replace(/\?.*/, "");
    const topic = path.endsWith("/generate") ? String(JSON.parse(body).topic) : undefined;
    const key = topic ?? /(?<=\/status\/).+/.exec(path)?.[0] ?? "others";
    this.requests.set(key, [...(this.requests.get(key) ?? []), performance.now()]);
    const isRefused = this.#mode.startsWith("429") || (this.#mode === "page" && this.#random() < 0.5);
    const json = isRefused ? {} : this.#carryOut(path, topic);
    const reply = (status: number, headers: Record<string, string>, content: string | Buffer) =>
      outgoing.writeHead(status, headers).end(content);
    const answer = JSON.stringify(json ?? { error: { code: "not_found", message: "No such job." } });
    const type = { "content-type": "application/json" };
    switch (this.#mode) {
      case "hangs":
        return void this.#hanging.add(outgoing);
      case "refuses":
      case "resets":
        return void incoming.socket.resetAndDestroy();
      case "503":
        return void reply(503, type, "{}");
      case "429":
        return void reply(429, type, '{"error":{"code":"rate_limited","message":"Slow down."}}');
      case "429 for a second":
        return void reply(429, { ...type, "retry-after": "1" }, "{}");
      case "page":
        return void reply(200, { "content-type": "text/html" }, "<html>Be right back.</html>");
      case "gzip":
        return void reply(
          200,
          { ...type, "content-encoding": "gzip" },
          Buffer.from("1f8b0800deadbeef00", "hex"),
        );
      case "is well":
        return void reply(json === undefined ? 404 : 200, type, answer);
    }
  }

  #carryOut(path: string, topic: string | undefined): object | undefined {
    if (topic !== undefined) {
      const renderMs = RENDER_MS.min + this.#random() * (RENDER_MS.max - RENDER_MS.min);
      const order = { topic, jobId: randomUUID(), endsAtMs: performance.now() + renderMs };
      this.orders.push(order);
      return { jobId: order.jobId, status: "processing" };
    }
    const videos = this.orders.map(stateOf).reverse();
    if (path.endsWith("/videos")) return { videos: videos.slice(0, 100) };
    return videos.find(({ jobId }) => path.endsWith(`/status/${jobId}`));
  }
}

function stateOf({ topic, jobId, endsAtMs }: Order) {
  const hasEnded = performance.now() >= endsAtMs;
  return {
    jobId,
    topic,
    status: hasEnded ? "completed" : "processing",
    videoUrls: [],
    ...(hasEnded && { finalVideoUrl: `https://media.example/${jobId}.mp4` }),
  };
}

/**
 * Orders a video as a model does: after a failure it looks for the job first. Returns its id once it has ended, and
 * undefined if a service that is well again knows no such job, or the time is over.
 */
async function orderAndWait(
  server: Server,
  topic: string,
  { isOver, isWell }: Readonly<Record<"isOver" | "isWell", () => boolean>>,
): Promise<string | undefined> {
  const call = async (name: string, args: object) => {
    const { structuredContent } = await server.call(name, { ...args });
    return structuredContent;
  };
  for (let jobId: unknown; !isOver();) {
    if (jobId === undefined) {
      const wasWell = isWell();
      const ordered = await call("generate_video", { topic });
      jobId = ordered?.["jobId"] ?? (await findJob(call, topic));
      if (jobId === undefined && wasWell) return undefined;
    } else {
      const state = await call("get_video_status", { jobId, waitSeconds: 45 });
      if (state?.["done"] === true) {
        for (let times = 0; times < LATER.times; times += 1) {
          await sleep(LATER.everyMs);
          const again = await call("get_video_status", { jobId, waitSeconds: 5 });
          if (again?.["done"] !== true) return undefined;
        }
        return z.string().parse(jobId);
      }
    }
    await sleep(PAUSE_MS);
  }
  return undefined;
}

async function findJob(
  call: (name: string, args: object) => Promise<Record<string, unknown> | undefined>,
  topic: string,
): Promise<unknown> {
  const listed = await call("list_videos", {});
  const videos: unknown = listed?.["videos"];
  if (!Array.isArray(videos)) return undefined;
  return videos.find((video) => String(video.topic).startsWith(topic.slice(0, 30)))?.jobId;
}

/** The most requests in any ten seconds. */
function busiest(times: readonly number[]): number {
  return Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + WINDOW_MS).length));
}

export async function flapping(seconds: number, seed: number) {
  const random = seededRandom(seed);
  const service = new FlappingService(random);
  const folder = makeFolder();
  const env = {
    HOME: folder,
    FACELESS_API_KEY: "fl_stress_of_a_service_key",
    FACELESS_BASE_URL: await service.open(),
    FACELESS_STATE_DIR: folder,
    FACELESS_CONFIRM_GENERATE: "off",
  };
  const servers = Array.from({ length: SERVERS }, () => startProcess([SERVER_NODE], env));
  await Promise.all(servers.map((server) => server.connect()));
  const endsMs = performance.now() + 1000 * seconds;
  const isFlapping = () => performance.now() < endsMs;
  const topics: string[] = [];
  const told = new Map<string, string>();
  const flap = async () => {
    for (let isWell = false; isFlapping(); isWell = !isWell) {
      const fault = FAULTS[Math.floor(random() * FAULTS.length)] ?? "503";
      await service.become(isWell ? "is well" : fault);
      await sleep(PHASE_MS.min + random() * (PHASE_MS.max - PHASE_MS.min));
    }
    await service.become("is well");
  };
  const callFor = async (index: number) => {
    const server = servers[index % SERVERS];
    while (server !== undefined && isFlapping()) {
      const topic = `Tide ${topics.length} comes in twice a day, and nobody on this beach knows why.`;
      topics.push(topic);
      const isOver = () => performance.now() > endsMs + PATIENCE_MS;
      const isWell = () => performance.now() > endsMs + PHASE_MS.max;
      const jobId = await orderAndWait(server, topic, { isOver, isWell });
      if (jobId !== undefined) told.set(topic, jobId);
    }
  };
  try {
    await Promise.all([flap(), ...Array.from({ length: CALLERS }, (_, index) => callFor(index))]);
  } finally {
    await Promise.allSettled(servers.map((server) => server.close()));
    service.close();
    removeFolder(folder);
  }
  const jobsOf = (topic: string) => service.orders.filter((order) => order.topic === topic);
  const requestsOf = (key: string) => service.requests.get(key) ?? [];
  const costs = topics.map((topic) =>
    [topic, ...jobsOf(topic).map(({ jobId }) => jobId)].reduce((sum, key) => sum + requestsOf(key).length, 0),
  );
  const violations = [
    ...topics.filter((topic) => jobsOf(topic).length > 1).map((topic) => `${topic}: made twice`),
    ...topics
      .filter((topic) => jobsOf(topic)[0]?.jobId !== told.get(topic))
      .map((topic) => `${topic}: its end was not told`),
    ...costs.flatMap((cost, index) => (cost > MAX_REQUESTS ? [`${topics[index]}: ${cost} requests`] : [])),
    ...service.orders
      .filter(({ jobId }) => busiest(requestsOf(jobId)) > WINDOW_MS / 1000 + 1)
      .map(({ topic }) => `${topic}: more than a request a second`),
  ];
  for (const violation of violations) process.stderr.write(`${violation}\n`);
  const all = [...service.requests.values()].reduce((sum, times) => sum + times.length, 0);
  return {
    test: "a service that flaps between eight faults and none, and callers that order and wait as a model does",
    promised: `at most ${MAX_REQUESTS} requests for an order, one a second for a job, none made twice, all ends told`,
    measured: `SEED=${seed} SECONDS=${seconds}, ${violations.length} violations; ${topics.length} orders, at most ${Math.max(...costs)} requests for one, ${(all / topics.length).toFixed(1)} with the shared lists`,
    met: violations.length === 0 && all / topics.length <= MAX_REQUESTS,
  };
}
