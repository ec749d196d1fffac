// Every point at which an exchange can break off, each with what has to be said of it. The table of verdicts: a request that
// cannot have left may be sent again, one that may have left never is.

import type { Socket } from "node:net";
import { CANARY } from "../fixtures/canary.ts";
import type { Fault } from "../service/fault-server.ts";
import type { ProxyBehaviour } from "../service/proxy-server.ts";

export type Via = "direct" | "proxy";
export type Method = "GET" | "POST";

export interface Point {
  readonly name: string;
  /** Where it can happen, if not on both ways. */
  readonly only?: Via;
  /** Where nobody is, instead of the server. */
  readonly nobodyAt?: "closed port" | "unknown name";
  readonly proxy?: ProxyBehaviour | "closed port";
  /** What the server does with a connection, */
  readonly accepted?: Fault["accepted"];
  /** and with the request in question. */
  readonly answer?: (socket: Socket) => void;
  readonly server?: "plain" | "untrusted";
  /** A good exchange comes first, over the connection that then fails, or that the server then closes in order. */
  readonly kept?: "open" | "closed";
  /** For what would last for ever, or for longer than a test should; else there is time for a second attempt at a POST. */
  readonly deadlineMs?: number;
  /** `good`: it is none that anybody notices. */
  readonly verdict: "good" | Verdict | Readonly<Record<Via, Verdict>>;
}

/** What the two methods fail with. */
export type Verdict = Readonly<Record<Method, Failure>>;

export interface Failure {
  readonly code: string;
  readonly outcome: "not_sent" | "rejected" | "unknown";
  readonly retryable: boolean;
  readonly afterSeconds?: number;
  /** How many requests the server may see, whole. */
  readonly seen: number;
  /** How the text begins: what failed. `{verb}` is the operation. */
  readonly says: string;
  /** How it ends: what to do next. */
  readonly next: string;
}

const SHORT_MS = 250;
const MINUTE = "Try again in a minute.";
const URL_WRONG = "Check FACELESS_BASE_URL: it is the service's address without /api/v1.";
const LOOK =
  "The newest jobs that could be it: 0f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c (processing). Look for the video with list_videos. If it is there, follow it with get_video_status and do not start it again.";

/** It cannot have left, so that it may be sent again whatever it was. */
function unsent(reason: string, code = "network"): Verdict {
  const says = `The service could not be reached to {verb}: ${reason}.`;
  // How to fix it depends on the network's own code: test/contract/errors.txt has them all.
  const failure = { code, outcome: "not_sent", retryable: true, seen: 0, says, next: "{fix}" } as const;
  return { GET: failure, POST: failure };
}

/** It has left, and nobody knows what became of it: what only reads is asked again, what is paid for is not. */
function left(says: string, code = "network", { next = MINUTE, attempts = 3 } = {}): Record<Method, Failure> {
  const failure = { code, outcome: "unknown", says } as const;
  return {
    GET: { ...failure, retryable: true, seen: attempts, next },
    POST: { ...failure, retryable: false, seen: 1, next: LOOK },
  };
}

function unusable(reason: string, http = ""): string {
  return `The request to {verb} was sent, but no complete answer came back: ${reason}${http}.`;
}

const reset = (socket: Socket) => void socket.resetAndDestroy();
const finish = (socket: Socket) => void socket.end();
const stall = () => {};
/** The key that came is in every answer that has room for it. */
const say = (head: string, body: string) => (socket: Socket) =>
  void socket.write(`HTTP/1.1 ${head}\r\nx-echo: ${CANARY}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
const html = `<html>Bad gateway ${CANARY}</html>`;
const words = JSON.stringify({ error: { code: "slow_down", message: `Not with ${CANARY}` } });
const atOnce = (act: (socket: Socket) => void) => (socket: Socket) => (act(socket), "hold" as const);
const onHello = (act: (socket: Socket) => void) => (socket: Socket) => {
  socket.once("data", () => act(socket));
  return "hold" as const;
};

const BROKEN = "the connection was closed (ECONNRESET)";
const CLOSED = "the connection was closed (UND_ERR_SOCKET)";
const REFUSED = "the proxy refused the connection";
const UNAUTHENTICATED = "the proxy requires a user name and a password (HTTP 407)";
const DROPPED = "the proxy closed the connection";
const WAIT = "it took longer than 1 s";
const FAILED =
  "The service, or a gateway in front of it, failed while handling the request to {verb} (HTTP {status}).";
const failedWith = (status: number) => left(FAILED.replace("{status}", String(status)), "service_failed");
const LIMITED = `The service refused to {verb}: too many requests were sent (service code slow_down, HTTP 429). The service's words: "Not with [redacted]"`;
const limited = (afterSeconds: number, GET: number, POST: number): Verdict => {
  const next = `Wait ${afterSeconds} s before the next call.`;
  const no = {
    code: "rate_limited",
    outcome: "rejected",
    retryable: true,
    afterSeconds,
    says: LIMITED,
    next,
  } as const;
  return { GET: { ...no, seen: GET }, POST: { ...no, seen: POST } };
};
const MOVED =
  "The service answered the request to {verb} with a redirect to https://elsewhere.example, which was not followed: the API key goes to one origin only (HTTP 307).";
const TOO_LARGE = "The answer to the request to {verb} could not be read: ";
const tooLarge = (reason: string) =>
  left(`${TOO_LARGE}${reason}.`, "bad_answer", { next: URL_WRONG, attempts: 1 });

const ELSEWHERE = "Set FACELESS_BASE_URL to the address at which the service itself answers.";

/** An answer that isn't as documented. The service's answer is asked for once: it would not be another. */
function odd(problem: string) {
  const says = `The answer to the request to {verb} is not as documented: ${problem} (HTTP 200).`;
  return left(says, "bad_answer", { next: URL_WRONG, attempts: 1 });
}

export const POINTS: readonly Point[] = [
  {
    name: "nobody listens",
    nobodyAt: "closed port",
    verdict: { direct: unsent("connection refused (ECONNREFUSED)"), proxy: unsent(REFUSED) },
  },
  {
    name: "the name leads nowhere",
    nobodyAt: "unknown name",
    verdict: { direct: unsent("the host name could not be resolved ({dns})"), proxy: unsent(REFUSED) },
  },
  {
    name: "reset when accepted",
    accepted: atOnce(reset),
    // A proxy may notice before it has said that the tunnel stands, or after.
    verdict: { direct: unsent(BROKEN), proxy: unsent("{refused or broken}") },
  },
  { name: "closed when accepted", accepted: atOnce(finish), verdict: unsent(BROKEN) },
  {
    name: "no TLS handshake",
    accepted: () => "hold",
    deadlineMs: SHORT_MS,
    verdict: unsent(WAIT, "timeout"),
  },
  { name: "reset in the TLS handshake", accepted: onHello(reset), verdict: unsent(BROKEN) },
  { name: "closed in the TLS handshake", accepted: onHello(finish), verdict: unsent(BROKEN) },
  {
    name: "plain text instead of TLS",
    server: "plain",
    accepted: (socket) => void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"),
    verdict: unsent("TLS failed: the other side does not speak it ({ssl})"),
  },
  {
    name: "a certificate that nobody signed",
    server: "untrusted",
    verdict: unsent("TLS failed: the issuer of the certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)"),
  },
  {
    name: "no proxy",
    only: "proxy",
    proxy: "closed port",
    verdict: unsent("connection refused (ECONNREFUSED)"),
  },
  { name: "a proxy that says 407", only: "proxy", proxy: 407, verdict: unsent(UNAUTHENTICATED) },
  { name: "a proxy that says 502", only: "proxy", proxy: 502, verdict: unsent(REFUSED) },
  { name: "a proxy that drops CONNECT", only: "proxy", proxy: "drop", verdict: unsent(DROPPED) },
  { name: "a proxy that resets CONNECT", only: "proxy", proxy: "reset", verdict: unsent(DROPPED) },
  {
    name: "a proxy that never answers",
    only: "proxy",
    proxy: "stall",
    deadlineMs: SHORT_MS,
    verdict: unsent(WAIT, "timeout"),
  },
  { name: "closed after the request", answer: finish, verdict: left(unusable(CLOSED)) },
  {
    name: "reset after the request",
    answer: reset,
    verdict: {
      direct: left(unusable(BROKEN)),
      proxy: left(unusable("the connection was closed ({broken})")),
    },
  },
  {
    name: "a kept connection that is dead",
    only: "direct",
    kept: "open",
    answer: reset,
    verdict: left(unusable(BROKEN)),
  },
  { name: "a kept connection that was closed meanwhile", only: "direct", kept: "closed", verdict: "good" },
  {
    name: "no answer",
    answer: stall,
    deadlineMs: SHORT_MS,
    verdict: left(unusable(WAIT), "timeout", { attempts: 1 }),
  },
  {
    name: "garbage for an answer",
    answer: (socket) => void socket.end(`SSH-2.0-${CANARY}\r\n\r\n`),
    verdict: left(unusable("the answer is not HTTP")),
  },
  {
    name: "headers without end",
    answer: (socket) => void socket.end(`HTTP/1.1 200 OK\r\nx: ${"x".repeat(17_000)}\r\n\r\n`),
    verdict: tooLarge("its headers are larger than 16 kB"),
  },
  {
    name: "a body that is cut off",
    answer: (socket) => void socket.end(`HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n{"a":"${CANARY}`),
    verdict: left(unusable(CLOSED, " (HTTP 200)")),
  },
  {
    name: "a body that stops",
    answer: (socket) => void socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n{"a":"${CANARY}`),
    deadlineMs: SHORT_MS,
    verdict: left(unusable(WAIT, " (HTTP 200)"), "timeout", { attempts: 1 }),
  },
  {
    name: "a body that is too large",
    answer: say("200 OK", "x".repeat(4 * 1024 * 1024 + 1)),
    verdict: tooLarge("it is larger than 4 MB (HTTP 200)"),
  },
  {
    name: "a redirect",
    answer: say(`307 Moved\r\nlocation: https://elsewhere.example/?key=${encodeURIComponent(CANARY)}`, ""),
    verdict: {
      GET: {
        code: "redirected",
        outcome: "rejected",
        retryable: false,
        seen: 1,
        says: MOVED,
        next: ELSEWHERE,
      },
      POST: { code: "redirected", outcome: "unknown", retryable: false, seen: 1, says: MOVED, next: LOOK },
    },
  },
  { name: "502 as HTML", answer: say("502 Bad Gateway", html), verdict: failedWith(502) },
  { name: "503", answer: say("503 Unavailable", html), verdict: failedWith(503) },
  {
    name: "503 with Retry-After",
    answer: say("503 Unavailable\r\nretry-after: 0", html),
    verdict: {
      GET: { ...failedWith(503).GET, afterSeconds: 1, next: "Wait 1 s before the next call." },
      POST: failedWith(503).POST,
    },
  },
  { name: "408", answer: say("408 Timeout", html), verdict: failedWith(408) },
  { name: "429", answer: say("429 Slow", words), deadlineMs: 4_000, verdict: limited(5, 1, 1) },
  { name: "429 for a moment", answer: say("429 Slow\r\nretry-after: 0", words), verdict: limited(1, 3, 2) },
  {
    name: "429 for an hour",
    answer: say("429 Slow\r\nretry-after: 3600", words),
    verdict: limited(3600, 1, 1),
  },
  { name: "200 as HTML", answer: say("200 OK", html), verdict: odd("it is not JSON") },
  {
    name: "200 without what matters",
    answer: say("200 OK", JSON.stringify({ note: CANARY })),
    verdict: {
      GET: odd("status: Invalid input: expected string, received undefined").GET,
      POST: odd("jobId: Invalid input: expected string, received undefined").POST,
    },
  },
];
