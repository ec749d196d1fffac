// Whatever bytes a client sends to the built file, each request is answered once, stdout carries JSON-RPC alone, and the
// server lives on. PROVE_LINES sets how many lines are sent.

import * as fc from "fast-check";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Expected, expectedAnswers, hostileLine } from "./fixtures/hostile-lines.ts";
import { type Message, type RawServer, startRaw } from "./fixtures/raw-server.ts";

const LINES = Number(process.env["PROVE_LINES"] ?? 2_000);
/** Each starts with small ones. */
const RUNS_A_ROUND = Math.max(5, LINES / 2_000);
const MOST_LINES_A_RUN = 200;
const ANSWER_MS = 10_000;
const MEGABYTE = 1024 * 1024;
/** Of the chunks that the bytes come in, in turn. */
const CHUNK_SIZES = fc.oneof(
  { weight: 20, arbitrary: fc.array(fc.integer({ min: 100, max: 70_000 }), { minLength: 1, maxLength: 3 }) },
  { weight: 2, arbitrary: fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 1, maxLength: 3 }) },
  { weight: 1, arbitrary: fc.constant([1]) },
);

type Opening = (server: RawServer) => Promise<void>;
const CONNECTIONS: readonly (readonly [string, Opening, { readonly batches: boolean }])[] = [
  ["a client that never shook hands", async () => {}, { batches: false }],
  ["a 2025-11-25 client", (server) => server.open("old"), { batches: false }],
  ["a 2025-03-26 client, with batches", (server) => server.open("old", "2025-03-26"), { batches: true }],
  ["a 2026-07-28 client", (server) => server.open("new"), { batches: false }],
];

describe.each(CONNECTIONS)("%s", (_name, open, { batches }) => {
  test(
    "gets each request answered once and an error for each bad line, and the server lives on",
    async () => {
      let server = await start(open);
      let sent = 0;
      const property = fc.asyncProperty(
        fc.array(hostileLine, { minLength: 1, maxLength: MOST_LINES_A_RUN, size: "max" }),
        CHUNK_SIZES,
        async (lines, sizes) => {
          const bytes = Buffer.concat(lines.flatMap((line) => [line, Buffer.from("\n")]));
          sent += lines.length;
          try {
            const expected = expectedAnswers(bytes, batches);
            expect(await answersTo(server, bytes, sizes, expected)).toEqual({ ...expected, other: [] });
          } catch (error) {
            // What comes too late must not count for the next one.
            server.child.kill("SIGKILL");
            server = await start(open);
            throw error;
          }
        },
      );

      while (sent < LINES / CONNECTIONS.length) await fc.assert(property, { numRuns: RUNS_A_ROUND });

      expect((await server.ask("tools/list")).result).toHaveProperty("tools");
      server.stdin.end();
      expect(await server.ended).toMatchObject({ code: 0, signal: null });
      expect(server.stderr()).toBe("");
    },
    60_000 + LINES,
  );

  test("may send a line in any number of pieces, even of one character", async () => {
    const server = await start(open);
    const line = Buffer.from('{"jsonrpc":"2.0","id":"é🎬 \u2028","method":"no/such"}\r\n');
    const answered = new Promise((resolve) => server.hear(resolve));

    for (const byte of line) {
      server.stdin.write(Uint8Array.of(byte));
      // So that it is read by itself.
      await sleep(2);
    }

    expect(await answered).toMatchObject({ id: "é🎬 \u2028", error: { code: expect.any(Number) } });
  });

  test("may send lines of any length and depth", async () => {
    const server = await start(open);
    const line = (id: string, bytes: number) => {
      const empty = JSON.stringify(server.request(id, "no/such", { pad: "" })).length;
      return `${JSON.stringify(server.request(id, "no/such", { pad: "x".repeat(bytes - empty) }))}\n`;
    };
    const deep = (opening: string, closing: string) =>
      `${opening.repeat(100_000)}1${closing.repeat(100_000)}`;
    const bytes = Buffer.from(
      [
        line("as long as may be", 4 * MEGABYTE),
        line("a byte too long", 4 * MEGABYTE + 1),
        line("5 MB", 5 * MEGABYTE),
        line("11 MB", 11 * MEGABYTE),
        `${"é".repeat(3 * MEGABYTE)}\n`,
        `${"\0".repeat(MEGABYTE)}\n`,
        `${deep('{"a":', "}")}\n`,
        `${"[".repeat(100_000)}\n`,
        `{"jsonrpc":"2.0","id":${deep("[", "]")},"method":"ping"}\n`,
        `{"jsonrpc":"2.0","id":"deep","method":"no/such","params":{"deep":${deep("[", "]")}}}\n`,
        `{"jsonrpc":"2.0","id":"deep call","method":"tools/call","params":{"name":"list_videos","arguments":${deep('{"a":', "}")}}}\n`,
        `{"jsonrpc":"2.0","id":"${"long ".repeat(MEGABYTE / 8)}","method":"no/such"}\n`,
        "\n".repeat(MEGABYTE),
      ].join(""),
    );

    const expected = expectedAnswers(bytes, batches);
    expect(await answersTo(server, bytes, [65_536], expected)).toEqual({ ...expected, other: [] });

    expect(expected.byId.size).toBe(4);
    expect(expected.nameless).toEqual(
      new Map([
        [-32700, 6],
        [-32600, 2],
      ]),
    );
    expect((await server.ask("tools/list")).result).toHaveProperty("tools");
  });
});

async function start(open: Opening): Promise<RawServer> {
  const server = startRaw({ env: { FACELESS_LOG_LEVEL: "silent" } });
  onTestFinished(() => void server.child.kill("SIGKILL"));
  await open(server);
  return server;
}

interface Answers extends Expected {
  /** What is no answer at all. */
  readonly other: unknown[];
}

/** All that the server says to these bytes, until as much has come as is expected and it has answered a ping. */
async function answersTo(
  server: RawServer,
  bytes: Buffer,
  sizes: readonly number[],
  expected: Expected,
): Promise<Answers> {
  const answers: Answers = { byId: new Map(), nameless: new Map(), other: [] };
  let missing = [...expected.byId.values(), ...expected.nameless.values()].reduce(
    (sum, count) => sum + count,
    0,
  );
  let complete = () => {};
  const completed = new Promise<void>((resolve) => (complete = resolve));
  server.hear((message) => {
    note(message, answers);
    missing -= 1;
    if (missing === 0) complete();
  });
  if (missing === 0) complete();
  await send(server, bytes, sizes);
  const late = new AbortController();
  const patience = sleep(ANSWER_MS, undefined, { signal: late.signal }).catch(() => {});
  await Promise.race([completed, server.ended, patience]);
  // Whatever is answered twice is so by now.
  await Promise.race([server.ask("ping"), server.ended, patience]);
  late.abort();
  return answers;
}

function note(message: Message | string, { byId, nameless, other }: Answers): void {
  const count = <Key>(counts: Map<Key, number>, key: Key) => void counts.set(key, (counts.get(key) ?? 0) + 1);
  if (typeof message === "string" || message.method !== undefined) other.push(message);
  else if (message.id === null || message.id === undefined) count(nameless, message.error?.code ?? 0);
  else count(byId, JSON.stringify(message.id));
}

/** In chunks of these sizes, over and over. */
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
