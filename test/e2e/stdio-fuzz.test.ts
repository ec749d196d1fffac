// Whatever bytes a client sends to the built file, each request is answered once, stdout carries only
// JSON-RPC, and the server keeps running. Runs send the same lines; LINES sets how many, SEED which ones.

import * as fc from "fast-check";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Answers, countAnswer, expectedAnswers, hostileLine } from "../fixtures/hostile-lines.ts";
import { type RawServer, startRaw } from "../fixtures/raw-server.ts";

const LINES = Number(process.env["LINES"] ?? 1_500);
const SEED = Number(process.env["SEED"] ?? 1);
const MAX_LINES_PER_RUN = 200;
/** Each round starts with short runs. */
const RUNS_PER_ROUND = Math.max(5, LINES / 2_000);
/** Ends the wait for a server that never answers. */
const HANG_MS = 60_000;
const CHUNK_SIZES = fc.oneof(
  { weight: 20, arbitrary: fc.array(fc.integer({ min: 100, max: 70_000 }), { minLength: 1, maxLength: 3 }) },
  { weight: 2, arbitrary: fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 1, maxLength: 3 }) },
  { weight: 1, arbitrary: fc.constant([1]) },
);

type Opening = (server: RawServer) => Promise<unknown>;
const CONNECTIONS: readonly (readonly [string, Opening])[] = [
  ["a client without a handshake", (server) => server.ask("ping")],
  ["a 2025-11-25 client", (server) => server.open("legacy")],
  ["a 2026-07-28 client", (server) => server.open("modern")],
];

describe.each(CONNECTIONS)("%s", (_name, open) => {
  test(
    `gets one answer per request and one error per bad line, and the server keeps running (SEED=${SEED} LINES=${LINES})`,
    async () => {
      let server = await start(open);
      let sentLines = 0;
      const property = fc.asyncProperty(
        fc.array(hostileLine, { minLength: 1, maxLength: MAX_LINES_PER_RUN, size: "max" }),
        CHUNK_SIZES,
        async (lines, sizes) => {
          const bytes = Buffer.concat(lines.flatMap((line) => [line, Buffer.from("\n")]));
          sentLines += lines.length;
          const expected = expectedAnswers(bytes);
          try {
            expect(await answersTo(server, bytes, sizes, expected)).toEqual({ answers: expected, other: [] });
          } catch (error) {
            // A late answer must not count for the next run.
            server.child.kill("SIGKILL");
            server = await start(open);
            throw error;
          }
        },
      );

      for (let round = 0; sentLines < LINES / CONNECTIONS.length; round += 1)
        await fc.assert(property, { seed: SEED + round, numRuns: RUNS_PER_ROUND });

      expect((await server.ask("tools/list")).result).toHaveProperty("tools");
      server.stdin.end();
      expect(await server.ended).toMatchObject({ code: 0, signal: null });
      expect(server.stderr()).toBe("");
    },
    2 * HANG_MS + LINES,
  );
});

async function start(open: Opening): Promise<RawServer> {
  const server = startRaw({ env: { FACELESS_LOG_LEVEL: "silent" } });
  onTestFinished(() => void server.child.kill("SIGKILL"));
  await open(server);
  return server;
}

interface Received {
  readonly answers: Answers;
  /** Everything that is not an answer. */
  readonly other: unknown[];
}

/** Sends the bytes and collects what comes back, until all expected answers and that to a ping have come. */
async function answersTo(
  server: RawServer,
  bytes: Buffer,
  sizes: readonly number[],
  expected: Answers,
): Promise<Received> {
  const received: Received = { answers: new Map(), other: [] };
  let missing = [...expected.values()].reduce((sum, count) => sum + count, 0);
  let resolve = () => {};
  const complete = new Promise<void>((resolved) => (resolve = resolved));
  if (missing === 0) resolve();
  server.onMessage((message) => {
    if (typeof message === "string" || message.method !== undefined) received.other.push(message);
    else countAnswer(received.answers, message.id ?? null, message.error?.code ?? 0);
    missing -= 1;
    if (missing === 0) resolve();
  });
  await send(server, bytes, sizes);
  const finished = new AbortController();
  const hang = sleep(HANG_MS, undefined, { signal: finished.signal }).catch(() => {});
  await Promise.race([complete, server.ended, hang]);
  // A second answer to any request would arrive before this one.
  await Promise.race([server.ask("ping"), server.ended, hang]);
  finished.abort();
  return received;
}

/** Sends the bytes in chunks of these sizes, repeated. */
async function send({ stdin }: RawServer, bytes: Buffer, sizes: readonly number[]): Promise<void> {
  let from = 0;
  for (let turn = 0; from < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    const chunk = bytes.subarray(from, from + size);
    await new Promise<void>((resolve) => {
      if (stdin.write(chunk, () => resolve())) resolve();
    });
    from += size;
  }
}
