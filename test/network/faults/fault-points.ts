// Every point at which an exchange can fail, each with the expected failure: a request that cannot have been
// sent may be sent again, a paid one that may have been sent never is.
// Tests beside this folder say what whole answers mean.

import type { Socket } from "node:net";
import { CANARY } from "../../fixtures/canary.ts";
import type { Fault } from "../../fixtures/fault-server.ts";
import type { ProxyBehaviour } from "../../fixtures/proxy-server.ts";

export type Via = "direct" | "proxy";
export type Method = "GET" | "POST";

export interface Point {
  readonly name: string;
  /** Set if it can happen only directly or only through a proxy. */
  readonly only?: Via;
  /** An address without a server, instead of the server's. */
  readonly unreachable?: "closed port" | "unknown name";
  readonly proxy?: ProxyBehaviour | "closed port";
  /** The server's action on a new connection. */
  readonly accepted?: Fault["accepted"];
  /** The server's action on the request. */
  readonly answer?: (socket: Socket) => void;
  readonly server?: "plain" | "untrusted";
  /** A successful exchange comes first, over a connection that then fails or that the server then closes. */
  readonly kept?: "open" | "closed";
  /** Set if the fault would last too long for a test. Default: time for a second attempt at a POST. */
  readonly deadlineMs?: number;
  /** `none`: the fault is not noticed. */
  readonly expected: "none" | ExpectedFailures | Readonly<Record<Via, ExpectedFailures>>;
}

export type ExpectedFailures = Readonly<Record<Method, Failure>>;

export interface Failure {
  readonly code: string;
  readonly outcome: "not_sent" | "unknown";
  readonly retryable: boolean;
  /** How many complete requests the server receives. */
  readonly received: number;
  /** The reason that the text gives. test/contract/errors.txt has the whole texts. */
  readonly reason: RegExp;
}

/** Passes in virtual time. */
const SHORT_MS = 3_000;

/** The request cannot have been sent, so any method may be sent again. */
function notSent(reason: RegExp, code = "network"): ExpectedFailures {
  const failure = { code, outcome: "not_sent", retryable: true, received: 0, reason } as const;
  return { GET: failure, POST: failure };
}

/** The request was sent and its outcome is unknown: a GET is sent again, a POST is not. */
function sent(reason: RegExp, code = "network", attempts = 3): Record<Method, Failure> {
  const failure = { code, outcome: "unknown", reason } as const;
  return {
    GET: { ...failure, retryable: true, received: attempts },
    POST: { ...failure, retryable: false, received: 1 },
  };
}

const reset = (socket: Socket) => void socket.resetAndDestroy();
const finish = (socket: Socket) => void socket.end();
const stall = () => {};
const tooLarge = "x".repeat(4 * 1024 * 1024 + 1);
const atOnce = (act: (socket: Socket) => void) => (socket: Socket) => (act(socket), "ignore" as const);
const onHello = (act: (socket: Socket) => void) => (socket: Socket) => {
  socket.once("data", () => act(socket));
  return "ignore" as const;
};

const BROKEN = /the connection was closed \(ECONNRESET\)/;
const CLOSED = /the connection was closed \(UND_ERR_SOCKET\)/;
/** The proxy may notice it before or after it has confirmed the tunnel. */
const BROKEN_OR_CLOSED = /the connection was closed \((?:ECONNRESET|UND_ERR_SOCKET)\)/;
const REFUSED = /the proxy refused the connection/;
const DROPPED =
  /the proxy at 127\.0\.0\.1:\d+, which HTTPS_PROXY names, failed: the connection was closed \(/;
const WAIT = /it took longer than 3 s/;
/** An answer that can't be used is requested once, because a second one would be the same. */
const unusable = (reason: RegExp) => sent(reason, "bad_answer", 1);

export const POINTS: readonly Point[] = [
  {
    name: "nothing listens",
    unreachable: "closed port",
    expected: { direct: notSent(/connection refused \(ECONNREFUSED\)/), proxy: notSent(REFUSED) },
  },
  {
    name: "the host name does not exist",
    unreachable: "unknown name",
    expected: { direct: notSent(/the host could not be found or reached/), proxy: notSent(REFUSED) },
  },
  {
    name: "reset when accepted",
    accepted: atOnce(reset),
    expected: { direct: notSent(BROKEN), proxy: notSent(/the proxy refused|the connection was closed/) },
  },
  { name: "closed when accepted", accepted: atOnce(finish), expected: notSent(BROKEN) },
  {
    name: "no TLS handshake",
    accepted: () => "ignore",
    deadlineMs: SHORT_MS,
    expected: notSent(WAIT, "timeout"),
  },
  { name: "reset in the TLS handshake", accepted: onHello(reset), expected: notSent(BROKEN) },
  { name: "closed in the TLS handshake", accepted: onHello(finish), expected: notSent(BROKEN) },
  {
    name: "plain text instead of TLS",
    server: "plain",
    accepted: (socket) => void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"),
    expected: notSent(/TLS failed \(/),
  },
  {
    name: "a self-signed certificate",
    server: "untrusted",
    expected: notSent(/the issuer of the certificate is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\)/),
  },
  {
    name: "no proxy",
    only: "proxy",
    proxy: "closed port",
    expected: notSent(/which HTTPS_PROXY names, failed: connection refused \(ECONNREFUSED\)/),
  },
  {
    name: "a proxy that answers 407",
    only: "proxy",
    proxy: 407,
    expected: notSent(/asks for a user name and a password, .* \(HTTP 407\)/),
  },
  { name: "a proxy that answers 502", only: "proxy", proxy: 502, expected: notSent(REFUSED) },
  { name: "a proxy that drops CONNECT", only: "proxy", proxy: "drop", expected: notSent(DROPPED) },
  { name: "a proxy that resets CONNECT", only: "proxy", proxy: "reset", expected: notSent(DROPPED) },
  {
    name: "a proxy that never answers",
    only: "proxy",
    proxy: "stall",
    deadlineMs: SHORT_MS,
    expected: notSent(WAIT, "timeout"),
  },
  { name: "closed after the request", answer: finish, expected: sent(CLOSED) },
  {
    name: "reset after the request",
    answer: reset,
    expected: {
      direct: sent(BROKEN),
      proxy: sent(BROKEN_OR_CLOSED),
    },
  },
  {
    name: "an idle connection that is reset",
    only: "direct",
    kept: "open",
    answer: reset,
    expected: sent(BROKEN),
  },
  { name: "an idle connection that was closed meanwhile", only: "direct", kept: "closed", expected: "none" },
  {
    name: "no answer",
    answer: stall,
    deadlineMs: SHORT_MS,
    expected: sent(WAIT, "timeout", 1),
  },
  {
    name: "an answer that is not HTTP",
    answer: (socket) => void socket.end(`SSH-2.0-${CANARY}\r\n\r\n`),
    expected: sent(/the answer is not valid HTTP/),
  },
  {
    name: "a body that is cut off",
    answer: (socket) => void socket.end(`HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n{"a":"${CANARY}`),
    expected: sent(/closed \(UND_ERR_SOCKET\) \(HTTP 200\)/),
  },
  {
    name: "a body that stops",
    answer: (socket) => void socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n{"a":"${CANARY}`),
    deadlineMs: SHORT_MS,
    expected: sent(/longer than 3 s \(HTTP 200\)/, "timeout", 1),
  },
  {
    name: "a body that is too large",
    answer: (socket) =>
      void socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${tooLarge.length}\r\n\r\n${tooLarge}`),
    expected: unusable(/it is larger than 4 MB \(HTTP 200\)/),
  },
];
