// One case of the fault matrix: a fault at one point of the exchange, with one method, directly or through a
// proxy. Runs it and returns everything that can be observed.

import { createSecureContext } from "node:tls";
import { startFaultServer } from "../../fixtures/fault-server.ts";
import { startProxyServer } from "../../fixtures/proxy-server.ts";
import { GENERATE, JOB_ID, OTHER_JOB_ID, PUBLISH, STATUS } from "../../fixtures/constants.ts";
import { CANARY, tracesOf } from "../../fixtures/canary.ts";
import { createCertificate } from "../../fixtures/certificate.ts";
import { type Method, type Point, POINTS, type ExpectedFailures, type Via } from "./fault-points.ts";
import { type Called, CERTIFICATE, openTools } from "./tools-under-test.ts";

export interface FaultCase {
  readonly point: Point;
  readonly method: Method;
  readonly via: Via;
}

export interface Observed extends Called {
  /** How often the server received the complete request. */
  readonly received: number;
  /** The outcomes in the journal of paid requests. */
  readonly outcomes: readonly string[];
  /** The encodings of the key that were found in what was written. */
  readonly traces: readonly string[];
}

const DEADLINE_MS = 15_000;

const TRUSTED = createSecureContext(CERTIFICATE);
const UNTRUSTED = createSecureContext(createCertificate("127.0.0.1"));

export function faultCases(): FaultCase[] {
  return POINTS.flatMap((point) =>
    (["direct", "proxy"] as const)
      .filter((via) => point.only === undefined || point.only === via)
      .flatMap((via) => (["GET", "POST"] as const).map((method) => ({ point, method, via }))),
  );
}

export function expectedOf({ point: { expected }, via }: FaultCase): "none" | ExpectedFailures {
  return typeof expected === "object" && "direct" in expected ? expected[via] : expected;
}

/** A valid answer to any request of the bridge. */
function validAnswer(request: string): string {
  const body = request.includes("/api/v1/videos")
    ? { videos: [{ jobId: JOB_ID, status: "processing" }] }
    : request.startsWith(PUBLISH)
      ? { results: [{ platform: "tiktok", ok: true }] }
      : request.startsWith("POST")
        ? { jobId: JOB_ID, status: "processing" }
        : { status: "processing", videoUrls: [] };
  const json = JSON.stringify(body);
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${json.length}\r\n\r\n${json}`;
}

/** Lets time pass for a call until it ends; `waiting` is above 0 once it waits for an answer that won't come. */
type PassTime = (calling: Promise<Called>, waiting: () => number) => Promise<Called>;

export async function observe(
  { point, method, via }: FaultCase,
  passTime: PassTime = (calling) => calling,
): Promise<Observed> {
  const target = method === "GET" ? STATUS : GENERATE;
  let stalled = 0;
  await using server = disposable(
    await startFaultServer({
      ...(point.server !== "plain" && { secureContext: point.server === "untrusted" ? UNTRUSTED : TRUSTED }),
      ...(point.accepted !== undefined && { accepted: point.accepted }),
      requested(socket, _, text) {
        if (point.answer !== undefined && text.startsWith(target)) {
          stalled += 1;
          point.answer(socket);
        } else if (point.kept === "closed" && !text.startsWith(target)) socket.end(validAnswer(text));
        else socket.write(validAnswer(text));
      },
    }),
  );
  await using proxy = disposable(
    await startProxyServer(() => {
      if (point.proxy === "stall") stalled += 1;
      return typeof point.proxy === "number" ? point.proxy : proxyBehaviour(point);
    }),
  );
  const { port } = new URL(server.url);
  const baseUrl =
    point.unreachable === undefined
      ? `https://127.0.0.1:${port}`
      : point.unreachable === "closed port"
        ? `https://127.0.0.1:${CLOSED_PORT}`
        : "https://nowhere.invalid";
  const proxyUrl = point.proxy === "closed port" ? `http://127.0.0.1:${CLOSED_PORT}` : proxy.url;
  const tools = openTools({
    baseUrl,
    deadlineMs: point.deadlineMs ?? DEADLINE_MS,
    ...(via === "proxy" && { proxies: { https: proxyUrl } }),
  });
  try {
    if (point.kept !== undefined) {
      await tools.status(OTHER_JOB_ID);
      // undici returns the connection to its pool a moment after the answer, and notices its end after that.
      do await new Promise((resolve) => setImmediate(resolve));
      while (point.kept === "closed" && server.open() > 0);
    }
    const calling = method === "GET" ? tools.status(JOB_ID) : tools.generate(`Tides of ${CANARY}`);
    const waiting = () => stalled + (point.accepted === undefined ? 0 : server.open());
    const called = await passTime(calling, waiting);
    await tools.closeConnections();
    return {
      ...called,
      received: server.received.filter((text) => text.startsWith(target)).length,
      outcomes: tools.outcomes(),
      traces: tracesOf(CANARY, tools.written()),
    };
  } finally {
    await tools.close();
  }
}

/** Nothing listens there. A port that was just closed could be another test's by then. */
const CLOSED_PORT = "1";

function proxyBehaviour({ proxy }: Point) {
  return proxy === undefined || proxy === "closed port" ? "tunnel" : proxy;
}

function disposable<Server extends { close(): Promise<void> }>(server: Server) {
  return { ...server, [Symbol.asyncDispose]: () => server.close() };
}
