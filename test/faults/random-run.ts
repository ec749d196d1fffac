// One random run: some calls, up to four at a time, of a service that does something else with every connection and every
// request. Checks what must hold whatever happens; throws where it doesn't.

import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { createSecureContext } from "node:tls";
import { CANARY, tracesOf } from "../fixtures/canary.ts";
import type { Random } from "../fixtures/durations.ts";
import { startFaultServer } from "../service/fault-server.ts";
import { type ProxyBehaviour, startProxyServer } from "../service/proxy-server.ts";
import { goodAnswer } from "./fault-case.ts";
import { POINTS } from "./fault-points.ts";
import { CERTIFICATE, openTools } from "./tools-under-test.ts";

/** What is called: the one that only reads as often as each of those that are sent once. */
export const KINDS = ["status", "generate", "publish"] as const;

/** What became of the runs, by what was called and what it ended with. */
export type Tally = Map<string, number>;

const TRUSTED = createSecureContext(CERTIFICATE);
const QUICK_MS = 15_000;
const SHORT_MS = 120;
/** One that waits for seconds by design is left out. */
const USED = POINTS.filter(({ kept, deadlineMs = 0, nobodyAt, server }) => {
  return kept === undefined && deadlineMs < 1_000 && nobodyAt === undefined && server === undefined;
});

interface Seen {
  /** How often the request came whole, */
  whole: number;
  /** how often of these it may have been carried out, */
  acted: number;
  /** and how often it was answered well. */
  good: number;
}

export async function randomRun(random: Random, tally: Tally): Promise<void> {
  // Either some calls hang and all have little time, or there is time enough to send a POST once more.
  const mayHang = random() < 0.25;
  const points = USED.filter(({ deadlineMs }) => mayHang || deadlineMs === undefined);
  const accepts = points.filter(({ accepted }) => accepted !== undefined);
  const answers = points.filter(({ answer }) => answer !== undefined);
  const proxies = points.flatMap(({ proxy }) =>
    proxy === undefined || proxy === "closed port" ? [] : [proxy],
  );
  const faultRate = random() * 0.9;
  const draw = <Item>(items: readonly Item[], rate: number): Item | undefined =>
    random() < rate ? items[Math.floor(random() * items.length)] : undefined;

  const stalled = new Set<Socket>();
  const posts = new Map<string, Seen>();
  const answerPost = (socket: Socket, text: string) => {
    const { topic, jobId } = JSON.parse(text.slice(text.indexOf("\r\n\r\n")));
    const subject = String(topic ?? jobId);
    const seen = posts.get(subject) ?? { whole: 0, acted: 0, good: 0 };
    posts.set(subject, seen);
    seen.whole += 1;
    const point = draw(answers, faultRate);
    if (point === undefined) seen.good += 1;
    // Of all that the service does, only a 429 says that it has done nothing.
    if (point?.name.startsWith("429") !== true) seen.acted += 1;
    if (point?.answer === undefined) socket.write(goodAnswer(text));
    else point.answer(socket);
  };
  const server = await startFaultServer({
    secureContext: TRUSTED,
    accepted(socket, connection) {
      const held = draw(accepts, faultRate / 3)?.accepted?.(socket, connection);
      if (held !== undefined) stalled.add(socket);
      return held;
    },
    requested(socket, _, text) {
      if (text.startsWith("POST")) return answerPost(socket, text);
      const point = draw(answers, faultRate);
      if (point?.answer === undefined) socket.write(goodAnswer(text));
      else point.answer(socket);
    },
  });
  const proxy = await startProxyServer((): ProxyBehaviour => draw(proxies, faultRate / 3) ?? "tunnel");
  const tools = openTools({
    baseUrl: server.url,
    deadlineMs: mayHang ? SHORT_MS : QUICK_MS,
    ...(random() < 0.3 && { proxies: { https: proxy.url } }),
  });
  try {
    const calls = 1 + Math.floor(random() * 6);
    const atATime = 1 + Math.floor(random() * 4);
    const called = await inTurns(calls, atATime, async (call) => {
      const kind = draw(KINDS, 1) ?? "status";
      // What the request is about, by which the server knows it again.
      const subject = kind === "generate" ? `Tide ${call} of ${CANARY}` : jobOf(call);
      return { kind, subject, ...(await tools[kind](subject)) };
    });
    // What a client that gave up had written may still be on its way into the server.
    tools.hangUp();
    for (const socket of stalled) socket.destroy();
    while (server.open() > 0) await new Promise((resolve) => setImmediate(resolve));
    for (const { kind, subject, ...call } of called) {
      const outcome = call.error?.outcome ?? "good";
      const key = `${kind} ${outcome}`;
      tally.set(key, (tally.get(key) ?? 0) + 1);
      assert.ok(call.ms < (mayHang ? 2 * SHORT_MS + 3_000 : QUICK_MS), `${key} took ${call.ms} ms`);
      if (kind !== "status")
        checkPost(outcome, posts.get(subject) ?? { whole: 0, acted: 0, good: 0 }, mayHang);
    }
    const told = called.flatMap(({ kind, error }) => (kind === "status" ? [] : (error?.outcome ?? "done")));
    assert.deepEqual((await tools.outcomes()).toSorted(byName), told.toSorted(byName));
    assert.deepEqual(tracesOf(CANARY, tools.written()), []);
  } finally {
    tools.close();
    await Promise.all([server.close(), proxy.close()]);
  }
}

const byName = (a: string, b: string) => a.localeCompare(b);

function checkPost(outcome: string, seen: Seen, gaveUp: boolean): void {
  const told = `${outcome}, but the server saw ${JSON.stringify(seen)}`;
  assert.ok(seen.acted <= 1, `Twice: ${told}`);
  assert.ok(seen.whole <= 2, `Sent too often: ${told}`);
  if (outcome === "good") assert.ok(seen.good === 1, told);
  // Who gave up early has not read what the server said, or the request ended in a proxy.
  else if (outcome === "unknown") assert.ok(gaveUp || seen.acted === 1, told);
  else assert.ok(seen.acted === 0, told);
}

function jobOf(call: number): string {
  return `0f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b${call}c`;
}

async function inTurns<Result>(
  count: number,
  atATime: number,
  run: (index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const worker = async () => {
    while (next < count) results.push(await run(next++));
  };
  await Promise.all(Array.from({ length: atATime }, worker));
  return results;
}
