// npm run prove: what the built file does where other servers were measured to crash, to end or to say nothing. Prints one
// row of figures as JSON, and fails where one is worse than promised.

import { end, limitMs } from "../fixtures/endings.ts";
import { type Message, startRaw } from "../fixtures/raw-server.ts";
import { stallReader } from "../fixtures/soak.ts";

const MEGABYTE = 1024 * 1024;

const ending = async (event: "EOF" | "SIGTERM" | "EPIPE") => {
  const cell = { state: "idle", era: "old", event } as const;
  const {
    ms,
    left: { code, stderr },
  } = await end(cell);
  return {
    ms: Math.round(ms),
    code,
    stack: stderr !== "",
    met: ms <= limitMs(cell) && code === 0 && stderr === "",
  };
};

/** What a line without an answer of its own is answered, and whether the next request is too. */
const answerTo = async (line: string) => {
  const server = startRaw({ env: { FACELESS_LOG_LEVEL: "silent" } });
  await server.open("old");
  const heard: (Message | string)[] = [];
  server.hear((message) => heard.push(message));
  server.stdin.write(`${line}\n`);
  const next = await Promise.race([server.ask("tools/list"), server.ended]);
  server.child.kill("SIGKILL");
  const [first] = heard;
  const answer = typeof first === "object" ? { id: first.id, code: first.error?.code } : first;
  return { answer, lives: "result" in next };
};

const eof = await ending("EOF");
const garbage = await answerTo("garbage");
const noMethod = await answerTo('{"jsonrpc":"2.0","id":7}');
const longLine = await answerTo(`"${"x".repeat(11 * MEGABYTE)}"`);
const epipe = await ending("EPIPE");
const sigterm = await ending("SIGTERM");
const stalled = await stallReader("old");

const met =
  [eof, epipe, sigterm].every((row) => row.met) &&
  [garbage, longLine].every(({ answer, lives }) => lives && isError(answer, null, -32700)) &&
  noMethod.lives &&
  isError(noMethod.answer, 7, -32600) &&
  stalled.rssGrowthMb <= 20 &&
  stalled.answered === stalled.requests;
const table = { eof, garbage, noMethod, longLine, epipe, sigterm, stalled, met };
process.stdout.write(`${JSON.stringify(table, undefined, 2)}\n`);
process.exitCode = met ? 0 : 1;

function isError(answer: unknown, id: number | null, code: number): boolean {
  return JSON.stringify(answer) === JSON.stringify({ id, code });
}
