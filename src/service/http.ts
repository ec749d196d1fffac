// The one place that sends: only to the origin that may see the key, and within a deadline of its own, even
// where undici doesn't stop. Every failure says whether the request was sent. Knows nothing of operations and
// retries. Loaded on first use: undici is the heaviest thing here.

import type { Transform } from "node:stream";
import { createBrotliDecompress, createUnzip } from "node:zlib";
import type { Dispatcher } from "undici";
import type { Proxies } from "../config.ts";
import { ConnectionPool, type Lease, MAX_ANSWER_BYTES } from "./connection-pool.ts";
import type { AnswerHeaders } from "./rate-limiter.ts";
import type { Method } from "./retry.ts";
import { explainNetworkError, type NetworkFailure, TransportFailure } from "./transport-failure.ts";

export interface HttpRequest {
  readonly method: Method;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Covers everything, the answer's body included. */
  readonly deadlineMs: number;
  /** Cancels the request. */
  readonly signal?: AbortSignal | undefined;
  /** Ignores a cancellation after the request was sent: what was paid for must not be lost. */
  readonly finishOnceSent?: boolean;
  /**
   * Called before `send` fails because a request that was sent has reached its deadline, with the answer that
   * may still come within LATE_MS. The caller handles the promise's failure.
   */
  readonly onLate?: ((answer: Promise<Answer>) => void) | undefined;
}

export interface Answer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: AnswerHeaders;
  readonly text: string;
}

/** How long the answer to a request with `onLate` is awaited after its deadline. */
const LATE_MS = 5 * 60_000;

/** Sends requests to one origin. */
export class Http {
  readonly #origin: string;
  readonly #pool: ConnectionPool;
  readonly #inFlight = new Set<RequestInFlight>();
  #isDestroyed = false;

  constructor(origin: string, proxies: Proxies) {
    this.#origin = origin;
    this.#pool = new ConnectionPool(proxies);
  }

  /** The whole answer, even if the connection fails once its JSON is whole. Throws a TransportFailure. */
  send(request: HttpRequest): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (request.url.origin !== this.#origin)
        throw new TypeError("A request must stay at the service's origin.");
      if (this.#isDestroyed) throw new TransportFailure({ ...SHUTTING_DOWN, sent: false });
      if (request.signal?.aborted === true) throw new TransportFailure({ ...CANCELLED, sent: false });
      const inFlight: RequestInFlight = new RequestInFlight(request, this.#pool.acquire(), {
        resolve,
        reject,
        onOver: () => this.#inFlight.delete(inFlight),
      });
      this.#inFlight.add(inFlight);
      inFlight.dispatch();
    });
  }

  /** Closes every connection at once. */
  destroy(): void {
    this.#isDestroyed = true;
    this.#pool.destroy();
    // undici may skip a request that is still connecting, which would then wait for its late answer.
    setImmediate(() => this.#inFlight.forEach((request) => request.giveUp(SHUTTING_DOWN)));
  }
}

interface Caller {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (failure: TransportFailure) => void;
  readonly onOver: () => void;
}

/** Whether a text that may be cut off is a whole object or list. A bare number could go on. */
function isWholeJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

type Reason = Omit<NetworkFailure, "fix"> & Partial<NetworkFailure>;

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
  readonly #request: HttpRequest;
  readonly #lease: Lease;
  #caller: Caller; // who waits for the answer
  #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined; // there once the request counts as sent
  #givenUp: TransportFailure | undefined;
  #status: number | undefined;
  #headers: AnswerHeaders = {};
  #decompressor: Transform | undefined; // decodes the answer's body, from its first bytes on, if it is compressed
  #decodedBytes = 0;
  #text = ""; // not kept as chunks: arriving byte by byte, they would take a hundred times its size
  readonly #decoder = new TextDecoder();
  #isOver = false; // the first end counts; later events are ignored

  constructor(request: HttpRequest, lease: Lease, caller: Caller) {
    this.#request = request;
    this.#lease = lease;
    this.#caller = caller;
    this.#timer = setTimeout(this.#onDeadline, request.deadlineMs).unref();
    request.signal?.addEventListener("abort", this.#onCancel, { once: true });
  }

  dispatch(): void {
    const { url, method, headers, body = null } = this.#request;
    this.#lease.dispatcher.dispatch(
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

  /** Ends the request at any stage. Before onRequestStart undici can't be told: it aborts there, unsent. */
  giveUp(reason: Reason): void {
    if (this.#isOver) return;
    this.#givenUp = this.#failure(reason);
    this.#fail(this.#givenUp);
    this.#controller?.abort(this.#givenUp);
  }

  /** Called just before the request's header is written: from here on the request counts as sent. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#givenUp === undefined) this.#controller = controller;
    else controller.abort(this.#givenUp);
  }

  onResponseStart(_: unknown, status: number, headers: AnswerHeaders): void {
    // A status below 200 only says that an answer will come.
    if (this.#isOver || status < 200) return;
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_: unknown, chunk: Uint8Array): void {
    if (this.#isOver) return;
    const encoding = String(this.#headers["content-encoding"] || "identity").toLowerCase();
    if (encoding === "identity") return this.#onDecoded(chunk);
    this.#decompressor ??= this.#openDecompressor(encoding);
    this.#decompressor?.write(chunk);
  }

  onResponseEnd(): void {
    if (this.#decompressor === undefined) this.#onEnd();
    else this.#decompressor.end();
  }

  onResponseError(_: unknown, error: Error): void {
    this.#fail(this.#failure(explainNetworkError(error), error));
  }

  readonly #onEnd = () => {
    this.#text += this.#decoder.decode();
    this.#end(() => this.#resolve());
  };

  readonly #onDeadline = () => {
    const { deadlineMs, onLate } = this.#request;
    const reason = tookTooLong(deadlineMs);
    if (this.#controller === undefined || onLate === undefined || isWholeJson(this.#text))
      return this.giveUp(reason);
    const { reject, onOver } = this.#caller;
    onLate(new Promise((resolve, reject) => (this.#caller = { resolve, reject, onOver })));
    reject(this.#failure(reason));
    this.#timer = setTimeout(() => this.giveUp(tookTooLong(deadlineMs + LATE_MS)), LATE_MS).unref();
  };

  readonly #onCancel = () => {
    if (this.#controller === undefined || this.#request.finishOnceSent !== true) this.giveUp(CANCELLED);
  };

  /** `identity` was asked for, but a gateway may compress all the same. */
  #openDecompressor(encoding: string): Transform | undefined {
    const decompressor = createDecompressor(encoding);
    if (decompressor === undefined)
      this.giveUp(unreadable(`its encoding ${JSON.stringify(encoding.slice(0, 40))} is not supported`));
    return decompressor
      ?.on("data", (chunk: Uint8Array) => this.#onDecoded(chunk))
      .on("end", this.#onEnd)
      .on("error", () => this.giveUp(unreadable(`its ${encoding} encoding is damaged`)));
  }

  #onDecoded(chunk: Uint8Array): void {
    this.#decodedBytes += chunk.length;
    if (this.#decodedBytes > MAX_ANSWER_BYTES) {
      this.#decompressor?.destroy();
      return this.giveUp(unreadable("it is larger than 4 MB"));
    }
    this.#text += this.#decoder.decode(chunk, { stream: true });
  }

  #resolve(): void {
    this.#caller.resolve({ status: this.#status ?? 0, headers: this.#headers, text: this.#text });
  }

  #failure({ kind, reason, fix }: Reason, cause?: unknown): TransportFailure {
    const sent = this.#controller !== undefined;
    return new TransportFailure({ kind, sent, status: this.#status, reason, fix }, cause);
  }

  /** Fails once all that has arrived is decoded: it may be the whole answer. */
  #fail(failure: TransportFailure): void {
    const notify = () => (isWholeJson(this.#text) ? this.#resolve() : this.#caller.reject(failure));
    this.#end(() => {
      // Nobody waits for the rest of an answer that is cancelled.
      if (failure.kind === "cancelled") this.#decompressor?.destroy();
      if (this.#decompressor === undefined) notify();
      else this.#decompressor.once("close", notify).end();
    });
  }

  #end(notify: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#caller.onOver();
    clearTimeout(this.#timer);
    this.#request.signal?.removeEventListener("abort", this.#onCancel);
    this.#lease.release(this.#givenUp !== undefined && this.#controller === undefined);
    notify();
  }
}

/** undefined for an unknown encoding, or several on top of each other. */
function createDecompressor(encoding: string): Transform | undefined {
  if (encoding === "br") return createBrotliDecompress();
  return ["gzip", "deflate"].includes(encoding) ? createUnzip() : undefined;
}
