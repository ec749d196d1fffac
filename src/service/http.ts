// The one place that sends: only to the origin that may see the key, and within a deadline of its own, even
// where undici doesn't stop. Owns the connections. Every failure says whether the request was sent. Knows no
// operation and no retry. Loaded on first use: undici is heavy.

import { brotliDecompressSync, constants, unzipSync, type ZlibOptions } from "node:zlib";
import { Agent, buildConnector, type Dispatcher, errors } from "undici";
import type { Proxies } from "../config.ts";
import { errnoOf } from "../errors.ts";
import type { Redact } from "../redact.ts";
import { LATE_ANSWER_MS } from "../time-budget.ts";
import { hasMoreValues, MAX_SEPARATORS, type ServiceResponse } from "./responses.ts";
import { CONNECT_TIMEOUT_MS, createProxyAgent, isProxied } from "./proxy.ts";
import type { ResponseHeaders } from "./rate-limiter.ts";
import type { Method } from "./retry.ts";
import { explainNetworkError, type TransportFacts, TransportFailure } from "./transport-failure.ts";

export interface HttpRequest {
  readonly method: Method;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Takes the key out of the answer's headers, before any part of them is shown. */
  readonly redact: Redact;
  /** Covers everything, the answer's body included. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
  /**
   * What was paid for must not be lost: once it was sent, a cancellation is ignored, and the failure at its
   * deadline has the answer that may still come within LATE_ANSWER_MS.
   */
  readonly finishOnceSent?: boolean;
}

const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;
/** Chunks and interim answers, which cost more time than their bytes. */
const MAX_PIECES = 250_000;
/** Twice what the largest answer has: undici counts the bytes of bodies alone. */
const FLOOD = { bytes: 2 * MAX_RESPONSE_BYTES, everyMs: 500 } as const;
const AGENT_OPTIONS: Agent.Options = {
  // Half of the calls that stdio lets in at once. With 6, requests waited longer here than for the answer.
  connections: 32,
  pipelining: 1,
  connect,
  // Each request's own deadline covers its headers.
  headersTimeout: 0,
  bodyTimeout: 15_000,
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 60_000,
  // Counts the bytes as they arrive. What they decode to has the same limit.
  maxResponseSize: MAX_RESPONSE_BYTES,
  maxHeaderSize: 16 * 1024,
  allowH2: false,
};

export class Http {
  readonly #origin: string;
  readonly #proxies: Proxies;
  readonly #isProxied: boolean;
  readonly #inFlight = new Set<RequestInFlight>();
  #shared: Dispatcher | undefined; // used by all new requests, unless they go through a proxy
  #isDestroyed = false;

  constructor(origin: string, proxies: Proxies) {
    this.#origin = origin;
    this.#proxies = proxies;
    this.#isProxied = isProxied(proxies);
  }

  /** The whole answer, even if the connection fails once its JSON is whole. Throws a TransportFailure. */
  send(request: HttpRequest): Promise<ServiceResponse> {
    return new Promise((resolve, reject) => {
      if (request.url.origin !== this.#origin)
        throw new TypeError("A request must stay at the service's origin.");
      if (this.#isDestroyed) throw new TransportFailure({ ...SHUTTING_DOWN, sent: false });
      if (request.signal?.aborted === true) throw new TransportFailure({ ...CANCELLED, sent: false });
      const inFlight = new RequestInFlight(request, this.#dispatcher(), { resolve, reject }, this.#onOver);
      this.#inFlight.add(inFlight);
      inFlight.dispatch();
    });
  }

  /** Closes every connection at once. */
  destroy(): void {
    this.#isDestroyed = true;
    const requests = [...this.#inFlight];
    for (const dispatcher of new Set([this.#shared, ...requests.map((request) => request.dispatcher)]))
      void dispatcher?.destroy().catch(() => {});
    // undici may skip a request that is still connecting, which would then wait for its late answer.
    setImmediate(() => requests.forEach((request) => request.giveUp(SHUTTING_DOWN)));
  }

  #dispatcher(): Dispatcher {
    // Only destroying undici's ProxyAgent ends a request that the proxy has not answered: each request has
    // one of its own there, so that no other suffers from that.
    return this.#isProxied
      ? createProxyAgent(this.#proxies, AGENT_OPTIONS)
      : (this.#shared ??= new Agent(AGENT_OPTIONS));
  }

  readonly #onOver = (over: RequestInFlight, wasAbandoned: boolean): void => {
    const { dispatcher } = over;
    this.#inFlight.delete(over);
    // Its connection may lead nowhere: the next request gets new ones, and those that run on the old finish.
    if (wasAbandoned && this.#shared === dispatcher) this.#shared = undefined;
    if (this.#shared === dispatcher) return;
    if (Array.from(this.#inFlight).some((request) => request.dispatcher === dispatcher)) return;
    // Never closed first: undici forgets what a closing agent has in flight, and then can't destroy it.
    void dispatcher.destroy().catch(() => {});
  };
}

const connectSocket = buildConnector({ timeout: CONNECT_TIMEOUT_MS });

/** Connects, and ends the connection if it is flooded with what is no body, such as a header without an end. */
function connect(options: buildConnector.Options, callback: buildConnector.Callback): void {
  connectSocket(options, (...[error, socket]) => {
    if (error !== null) return callback(error, null);
    let bytesBefore = 0;
    const timer = setInterval(() => {
      const bytes = socket.bytesRead - bytesBefore;
      bytesBefore = socket.bytesRead;
      if (bytes > FLOOD.bytes) socket.destroy(new errors.ResponseExceededMaxSizeError());
    }, FLOOD.everyMs).unref();
    socket.once("close", () => clearInterval(timer));
    callback(error, socket);
  });
}

interface Caller {
  readonly resolve: (answer: ServiceResponse) => void;
  readonly reject: (failure: TransportFailure) => void;
}

const LIMIT: ZlibOptions = { maxOutputLength: MAX_RESPONSE_BYTES };
/** Gives what has arrived of a body: its JSON may be whole though its end is missing. */
const UNFINISHED: ZlibOptions = { ...LIMIT, finishFlush: constants.Z_SYNC_FLUSH };
/** `identity` is asked for, but a gateway may compress all the same. */
const DECODERS = new Map<string, (body: Buffer, options: ZlibOptions) => Buffer>([
  ["identity", (body) => body],
  ["gzip", unzipSync],
  ["deflate", unzipSync],
  ["br", brotliDecompressSync],
]);

const UTF8 = new TextDecoder();

type Reason = Omit<TransportFacts, "sent" | "status">;

const SHUTTING_DOWN: Reason = {
  kind: "network",
  reason: "this server is shutting down",
  fix: "Start the server again.",
};
const CANCELLED: Reason = { kind: "cancelled", reason: "cancelled by the caller" };

function tookTooLong(ms: number): Reason {
  return { kind: "timeout", reason: `it took longer than ${Math.ceil(ms / 1000)} s` };
}

function unreadable(reason: string): Reason {
  const fix = "Check FACELESS_BASE_URL, and whether a proxy or gateway changes the answers.";
  return { kind: "unreadable", reason, fix };
}

/**
 * One request, from its wait for a connection to its end. Its life cycle says whether it was sent, never an
 * error's code, as the same codes occur before and after.
 */
class RequestInFlight implements Dispatcher.DispatchHandler {
  readonly dispatcher: Dispatcher;
  readonly #request: HttpRequest;
  readonly #onOver: (over: RequestInFlight, wasAbandoned: boolean) => void;
  #caller: Caller; // who waits for the answer
  #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined; // there once the request counts as sent
  #givenUp: TransportFailure | undefined;
  #status: number | undefined;
  readonly #headers: Record<string, ResponseHeaders[string]> = {};
  #pieces = 0;
  #body = ""; // a character per byte: arriving one by one, chunks would take a hundred times their size
  #isOver = false; // the first end counts; later events are ignored

  /** `onOver` learns whether the request was given up before it was sent. */
  constructor(
    request: HttpRequest,
    dispatcher: Dispatcher,
    caller: Caller,
    onOver: (over: RequestInFlight, wasAbandoned: boolean) => void,
  ) {
    this.dispatcher = dispatcher;
    this.#request = request;
    this.#onOver = onOver;
    this.#caller = caller;
    this.#timer = setTimeout(this.#onDeadline, request.deadlineMs).unref();
    request.signal?.addEventListener("abort", this.#onCancel, { once: true });
  }

  dispatch(): void {
    const { url, method, headers, body = null } = this.#request;
    this.dispatcher.dispatch(
      {
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method,
        // A copy: behind a proxy undici adds to it.
        headers: { ...headers },
        body,
        // A POST that is cut short has an unknown outcome, so only its own deadline counts.
        ...(method === "POST" && { bodyTimeout: 0 }),
      },
      this,
    );
  }

  /** Ends the request at any stage. undici can't be told before onRequestStart, which aborts it unsent. */
  giveUp(reason: Reason): void {
    if (this.#isOver) return;
    this.#givenUp = this.#failure(reason);
    this.#fail(this.#givenUp);
    this.#controller?.abort(this.#givenUp);
  }

  /** undici calls this just before it writes the header: from here on, the request counts as sent. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#givenUp === undefined) this.#controller = controller;
    else controller.abort(this.#givenUp);
  }

  onResponseStart(_: unknown, status: number, headers: ResponseHeaders): void {
    this.#countPiece();
    // A status below 200 only says that an answer will come.
    if (this.#isOver || status < 200) return;
    this.#status = status;
    const { redact } = this.#request;
    for (const [name, value] of Object.entries(headers))
      this.#headers[name] = typeof value === "string" ? redact(value) : value?.map(redact);
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    this.#countPiece();
    if (!this.#isOver) this.#body += chunk.toString("latin1");
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    const text = this.#decoded();
    if (typeof text === "string") this.#end(() => this.#resolve(text));
    else this.giveUp(text);
  }

  onResponseError(_: unknown, error: Error): void {
    this.#fail(this.#failure(explainNetworkError(error), error));
  }

  readonly #onDeadline = () => {
    const { deadlineMs, finishOnceSent = false } = this.#request;
    const reason = tookTooLong(deadlineMs);
    if (this.#controller === undefined || !finishOnceSent || this.#wholeJson() !== undefined)
      return this.giveUp(reason);
    const { reject } = this.#caller;
    const late = new Promise<ServiceResponse>((resolve, reject) => (this.#caller = { resolve, reject }));
    reject(this.#failure({ ...reason, late }));
    this.#timer = setTimeout(
      () => this.giveUp(tookTooLong(deadlineMs + LATE_ANSWER_MS)),
      LATE_ANSWER_MS,
    ).unref();
  };

  readonly #onCancel = () => {
    if (this.#controller === undefined || this.#request.finishOnceSent !== true) this.giveUp(CANCELLED);
  };

  #countPiece(): void {
    this.#pieces += 1;
    if (this.#pieces > MAX_PIECES) this.giveUp(unreadable("it comes in too many pieces"));
  }

  /** The text that has arrived, or why it can't be read. */
  #decoded(options = LIMIT): string | Reason {
    const encoding = String(this.#headers["content-encoding"] || "identity").toLowerCase();
    const decode = DECODERS.get(encoding);
    if (decode === undefined)
      return unreadable(`its encoding ${JSON.stringify(encoding.slice(0, 40))} is not supported`);
    try {
      return UTF8.decode(decode(Buffer.from(this.#body, "latin1"), options));
    } catch (error) {
      const isTooLarge = errnoOf(error) === "ERR_BUFFER_TOO_LARGE";
      return unreadable(isTooLarge ? "it is larger than 4 MB" : `its ${encoding} encoding is damaged`);
    }
  }

  /** What has arrived, if it is a whole JSON object or list. A bare number could go on. */
  #wholeJson(): string | undefined {
    const text = this.#decoded(UNFINISHED);
    if (typeof text !== "string" || !/^\s*[[{]/.test(text)) return undefined;
    // It would not be read either. To parse 4 MB of brackets takes 240 MB.
    if (hasMoreValues(text, MAX_SEPARATORS)) return undefined;
    try {
      JSON.parse(text);
      return text;
    } catch {
      return undefined;
    }
  }

  #resolve(text: string): void {
    this.#caller.resolve({ status: this.#status ?? 0, headers: this.#headers, text });
  }

  #failure(reason: Reason, cause?: unknown): TransportFailure {
    const sent = this.#controller !== undefined;
    return new TransportFailure({ ...reason, sent, status: this.#status }, cause);
  }

  /** Fails, unless what has arrived is the whole answer. */
  #fail(failure: TransportFailure): void {
    if (this.#isOver) return;
    const text = this.#wholeJson();
    this.#end(() => (text === undefined ? this.#caller.reject(failure) : this.#resolve(text)));
  }

  #end(notify: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#request.signal?.removeEventListener("abort", this.#onCancel);
    this.#onOver(this, this.#givenUp !== undefined && this.#controller === undefined);
    notify();
  }
}
