// One random run: some calls, up to four at a time, to a service that treats every connection and request
// differently. Throws if a request was carried out twice, an outcome is wrong, or the key is in any output.

import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { createSecureContext } from "node:tls";
import { CANARY, tracesOf } from "../fixtures/canary.ts";
import type { Random } from "../fixtures/durations.ts";
import { startFaultServer } from "../service/fault-server.ts";
import { type ProxyBehaviour, startProxyServer } from "../service/proxy-server.ts";
import { validAnswer } from "./fault-case.ts";
import { POINTS } from "./fault-points.ts";
import { CERTIFICATE, openTools } from "./tools-under-test.ts";

/** The operations that are called. */
export const KINDS = ["status", "generate", "publish"] as const;

/** How often each kind of call had each outcome. */
export type Tally = Map<string, number>;

const TRUSTED = createSecureContext(CERTIFICATE);
const QUICK_MS = 15_000;
const SHORT_MS = 120;
/** Without the points that wait for seconds by design. */
const USED = POINTS.filter(({ kept, deadlineMs = 0, unreachable, server }) => {
  return kept === undefined && deadlineMs <= 3_000 && unreachable === undefined && server === undefined;
});

/** How often one POST was … by the service. */
interface Received {
  /** received completely */
  complete: number;
  /** possibly carried out */
  executed: number;
  /** answered as documented */
  answered: number;
}

export async function randomRun(random: Random, tally: Tally): Promise<void> {
  // Either calls may hang and have little time, or they have enough time to send a POST a second time.
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
  const posts = new Map<string, Received>();
  const answerPost = (socket: Socket, text: string) => {
    const { topic, jobId } = JSON.parse(text.slice(text.indexOf("\r\n\r\n")));
    const subject = String(topic ?? jobId);
    const received = posts.get(subject) ?? { complete: 0, executed: 0, answered: 0 };
    posts.set(subject, received);
    received.complete += 1;
    const point = draw(answers, faultRate);
    if (point === undefined || point.expected === "none") received.answered += 1;
    // Of all answers, only a 429 says that nothing was carried out.
    if (point?.name.startsWith("429") !== true) received.executed += 1;
    if (point?.answer === undefined) socket.write(validAnswer(text));
    else point.answer(socket);
  };
  const server = await startFaultServer({
    secureContext: TRUSTED,
    accepted(socket, connection) {
      const ignored = draw(accepts, faultRate / 3)?.accepted?.(socket, connection);
      if (ignored !== undefined) stalled.add(socket);
      return ignored;
    },
    requested(socket, _, text) {
      if (text.startsWith("POST")) return answerPost(socket, text);
      const point = draw(answers, faultRate);
      if (point?.answer === undefined) socket.write(validAnswer(text));
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
      // The server recognises the request by it.
      const subject = kind === "generate" ? `Tide ${call} of ${CANARY}` : jobOf(call);
      return { kind, subject, ...(await tools[kind](subject)) };
    });
    // Bytes of a call that timed out may still be on their way to the server.
    await tools.closeConnections();
    for (const socket of stalled) socket.destroy();
    while (server.open() > 0) await new Promise((resolve) => setImmediate(resolve));
    for (const { kind, subject, ...call } of called) {
      const outcome = call.error?.outcome ?? "done";
      const key = `${kind} ${outcome}`;
      tally.set(key, (tally.get(key) ?? 0) + 1);
      if (kind !== "status")
        checkPost(outcome, posts.get(subject) ?? { complete: 0, executed: 0, answered: 0 }, mayHang);
    }
    const reported: string[] = called.flatMap(({ kind, error }) =>
      kind === "status" ? [] : (error?.outcome ?? "done"),
    );
    const recorded = await tools.outcomes();
    assert.equal(recorded.length, reported.length);
    for (const outcome of recorded)
      if (reported.includes(outcome)) reported.splice(reported.indexOf(outcome), 1);
    // An answer that came after the end of its call has made an unknown outcome known.
    assert.deepEqual(mayHang ? reported.filter((outcome) => outcome !== "unknown") : reported, []);
    assert.deepEqual(tracesOf(CANARY, tools.written()), []);
  } finally {
    await Promise.all([tools.close(), server.close(), proxy.close()]);
  }
}

function checkPost(outcome: string, received: Received, mayHang: boolean): void {
  const context = `${outcome}, but the service received ${JSON.stringify(received)}`;
  assert.ok(received.executed <= 1, `Carried out twice: ${context}`);
  assert.ok(received.complete <= 2, `Sent too often: ${context}`);
  if (outcome === "done") assert.ok(received.answered === 1, context);
  // A call with little time may end before the answer is read, or while the request is still in a proxy.
  else if (outcome === "unknown") assert.ok(mayHang || received.executed === 1, context);
  else assert.ok(received.executed === 0, context);
}

function jobOf(call: number): string {
  return `0f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b${call}c`;
}

/** Runs some of `count` at a time. */
export async function inTurns<Result>(
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
