// The one place that sends: only to the origin that may see the key, and within a deadline. Owns the
// connections. Every failure says whether the request was sent. Knows no operation and no retry.
// Loaded on first use: undici is heavy.

import type { Dispatcher } from "undici";
import { readWhatHasCome } from "../clock.ts";
import type { Proxies } from "../config.ts";
import { decode, encodingsOf } from "./content-encoding.ts";
import { createDispatcher } from "./proxy.ts";
import type { ResponseHeaders } from "./rate-limiter.ts";
import { MAX_ANSWER_BYTES, type ServiceResponse } from "./responses.ts";
import type { Method } from "./retry.ts";
import { LATE_ANSWER_MS } from "./time-budget.ts";
import { explainNetworkError, type TransportFacts, TransportFailure } from "./transport-failure.ts";

export interface HttpRequest {
  readonly method: Method;
  readonly url: URL;
  /** An object of this request alone: behind a proxy undici adds headers to it. */
  readonly headers: Record<string, string>;
  readonly body?: string | undefined;
  /** The time for everything, including the answer's body. */
  readonly deadlineMs: number;
  /** The time that the failure at the deadline names. Default: `deadlineMs`. */
  readonly toldMs?: number;
  readonly signal?: AbortSignal | undefined;
  /**
   * Set for a request whose answer must not be lost: false once it must not be sent any more, which is asked
   * just before its first byte. Once it was sent, cancellation is ignored, and the failure at its deadline
   * carries a promise of the answer, which may still come within LATE_ANSWER_MS.
   */
  readonly mayBegin?: (() => boolean) | undefined;
  /** True if it opens a connection for this request alone: a kept one may be dead without a sign. */
  readonly isFresh?: boolean;
}

const MAX_HEADER_BYTES = 64 * 1024;
const MAX_IDLE_MS = 10_000;

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

export class Http {
  readonly #origin: string;
  readonly #openShared: () => Dispatcher;
  #shared: Dispatcher; // keeps connections
  readonly #fresh: Dispatcher; // opens a connection for each request
  readonly #exchanges = new Set<Exchange>();
  #isDestroyed = false;

  constructor(origin: string, proxies: Proxies) {
    this.#origin = origin;
    // Each request has a deadline of its own.
    const options = {
      headersTimeout: 0,
      bodyTimeout: 0,
      maxResponseSize: MAX_ANSWER_BYTES,
      maxHeaderSize: MAX_HEADER_BYTES,
      // However long the service offers to keep a connection, one that is idle may have died.
      keepAliveMaxTimeout: MAX_IDLE_MS,
    };
    this.#openShared = () => createDispatcher(proxies, options);
    this.#shared = this.#openShared();
    this.#fresh = createDispatcher(proxies, { ...options, pipelining: 0 });
  }

  /** Returns the whole answer. Throws a TransportFailure. */
  async send(request: HttpRequest): Promise<ServiceResponse> {
    const { url, signal, mayBegin, isFresh = false } = request;
    if (url.origin !== this.#origin) throw new TypeError("A request must stay at the service's origin.");
    if (this.#isDestroyed) throw new TransportFailure({ ...SHUTTING_DOWN, sent: false });
    if (signal?.aborted === true) throw new TransportFailure({ ...CANCELLED, sent: false });
    // On a connection that is dead without a sign, the outcome of a paid request would be unknown.
    const dispatcher = mayBegin !== undefined || isFresh ? this.#fresh : this.#shared;
    try {
      return await new Exchange(request, this.#exchanges).run(dispatcher);
    } catch (error) {
      const isTimeout = error instanceof TransportFailure && error.facts.kind === "timeout";
      if (isTimeout && dispatcher === this.#shared) this.#dropKept();
      throw error;
    }
  }

  /** Gives up all connections that were kept so far: what killed one may have killed the others. */
  #dropKept(): void {
    // Requests in flight on them go on.
    void this.#shared.close().catch(() => {});
    this.#shared = this.#openShared();
  }

  /** Closes every connection at once. */
  destroy(): void {
    this.#isDestroyed = true;
    for (const exchange of this.#exchanges) exchange.giveUp(SHUTTING_DOWN);
    for (const dispatcher of [this.#shared, this.#fresh]) void dispatcher.destroy().catch(() => {});
  }
}

/**
 * One request, from its wait for a connection to the end of its answer. Its life cycle says whether it was
 * sent, never an error's code: the same codes occur before and after.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: HttpRequest;
  /** The exchanges that have not ended. */
  readonly #open: Set<Exchange>;
  #resolve: (answer: ServiceResponse) => void = () => {};
  #reject: (failure: TransportFailure) => void = () => {};
  #timer: NodeJS.Timeout | undefined;
  #isLate = false; // true once the caller was told that there is no answer yet
  #controller: Dispatcher.DispatchController | undefined; // set once the request counts as sent
  #givenUp: TransportFailure | undefined;
  #status: number | undefined;
  #headers: ResponseHeaders = {};
  readonly #chunks: Buffer[] = [];

  constructor(request: HttpRequest, open: Set<Exchange>) {
    this.#request = request;
    this.#open = open;
  }

  run(dispatcher: Dispatcher): Promise<ServiceResponse> {
    const { url, method, headers, body = null, deadlineMs, toldMs = deadlineMs, signal } = this.#request;
    this.#open.add(this);
    this.#expireAfter(deadlineMs, toldMs);
    signal?.addEventListener("abort", this.#onCancel, { once: true });
    const answer = this.#answer();
    const path = `${url.pathname}${url.search}`;
    dispatcher.dispatch({ origin: url.origin, path, method, headers, body }, this);
    return answer;
  }

  /** The answer, for callers that wait for it from now on. */
  #answer(): Promise<ServiceResponse> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  #end(outcome: ServiceResponse | TransportFailure): void {
    if (!this.#open.delete(this)) return;
    clearTimeout(this.#timer);
    this.#request.signal?.removeEventListener("abort", this.#onCancel);
    if (outcome instanceof TransportFailure) this.#reject(outcome);
    else this.#resolve(outcome);
  }

  #failure(reason: Reason, cause?: unknown): TransportFailure {
    const sent = this.#controller !== undefined;
    return new TransportFailure({ ...reason, sent, status: this.#status }, cause);
  }

  /** Ends it at any stage. Before onRequestStart, undici has no way to abort; that then aborts it unsent. */
  giveUp(reason: Reason): void {
    this.#givenUp = this.#failure(reason);
    this.#end(this.#givenUp);
    this.#controller?.abort(this.#givenUp);
  }

  get #mustFinish(): boolean {
    return this.#request.mayBegin !== undefined && this.#controller !== undefined;
  }

  readonly #onCancel = () => {
    if (!this.#mustFinish) this.giveUp(CANCELLED);
  };

  #expireAfter(delayMs: number, toldMs: number): void {
    const expire = async () => {
      await readWhatHasCome(() => this.#chunks.length + (this.#status ?? 0));
      if (!this.#open.has(this)) return;
      if (!this.#mustFinish || this.#isLate) return this.giveUp(tookTooLong(toldMs));
      this.#isLate = true;
      const reject = this.#reject;
      const late = this.#answer();
      late.catch(() => {});
      reject(this.#failure({ ...tookTooLong(toldMs), late }));
      this.#expireAfter(LATE_ANSWER_MS, delayMs + LATE_ANSWER_MS);
    };
    this.#timer = setTimeout(() => void expire(), delayMs).unref();
  }

  /** undici calls this just before it writes the header: from here on, the request counts as sent. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    const { mayBegin, deadlineMs, toldMs = deadlineMs } = this.#request;
    if (mayBegin?.() === false) this.giveUp(tookTooLong(toldMs));
    if (this.#givenUp === undefined) this.#controller = controller;
    else controller.abort(this.#givenUp);
  }

  onResponseStart(_: unknown, status: number, headers: ResponseHeaders): void {
    // A status below 200 only says that an answer will come.
    if (status >= 200) [this.#status, this.#headers] = [status, headers];
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const body = Buffer.concat(this.#chunks);
    const encodings = encodingsOf(this.#headers["content-encoding"], body);
    if (encodings.length === 0) return this.#endWith(body);
    decode(body, encodings).then(
      (decoded) => this.#endWith(decoded),
      (error: unknown) => this.onResponseError(undefined, error),
    );
  }

  #endWith(body: Buffer): void {
    this.#end({ status: this.#status ?? 0, headers: this.#headers, text: UTF8.decode(body) });
  }

  onResponseError(_: unknown, error: unknown): void {
    this.#end(this.#failure(explainNetworkError(error), error));
  }
}

const UTF8 = new TextDecoder();
