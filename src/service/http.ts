// The one place that sends. It sends a request to the one origin that may see the key, gives up at its own deadline even where
// undici doesn't, and knows of every failure whether the request was sent. It knows nothing of operations, JSON or retries.
// Loaded on first use: undici is the heaviest thing here.

import type { Dispatcher } from "undici";
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";
import type { Proxies } from "../config.ts";
import { ConnectionPool, type Lease, MAX_ANSWER_BYTES } from "./connection-pool.ts";
import { explainNetworkError, type FailureKind, type NetworkFailure, TransportFailure } from "./errors.ts";
import type { AnswerHeaders } from "./rate-limiter.ts";
import type { Method } from "./retry.ts";

export interface HttpRequest {
  readonly method: Method;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Until the first byte of the answer. */
  readonly headersTimeoutMs: number;
  /** For all of it, the body of the answer included. */
  readonly deadlineMs: number;
  /** Cancels the request. */
  readonly signal?: AbortSignal | undefined;
  /** A cancellation that comes after the request was sent is ignored: what was paid for must not be lost. */
  readonly finishOnceSent?: boolean;
}

export interface Answer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: AnswerHeaders;
  readonly text: string;
}

/** An answer whose body is still arriving. Read or `dispose` it: until then its deadline is running. */
export interface OpenAnswer extends Omit<Answer, "text"> {
  readonly chunks: AsyncIterable<Uint8Array>;
  dispose(): void;
}

export interface Http {
  /** The whole answer. Throws a TransportFailure. */
  send(request: HttpRequest): Promise<Answer>;
  /** The answer as soon as its headers are there. Throws a TransportFailure, also while the body is read. */
  open(request: HttpRequest): Promise<OpenAnswer>;
  /** Closes every connection at once. */
  destroy(): void;
}

export interface HttpOptions {
  /** The one origin that requests may go to. */
  readonly origin: string;
  readonly proxies: Proxies;
}

export function createHttp({ origin, proxies }: HttpOptions): Http {
  const pool = new ConnectionPool(proxies);
  let destroyed = false;

  const start = (request: HttpRequest, receiver: Receiver): RequestInFlight => {
    if (request.url.origin !== origin) throw new TypeError("A request must stay at the service's origin.");
    if (destroyed)
      throw new TransportFailure({
        kind: "network",
        sent: false,
        reason: "this server is shutting down",
        fix: "Start the server again.",
      });
    if (request.signal?.aborted === true) throw new TransportFailure({ ...CANCELLED, sent: false });
    const inFlight = new RequestInFlight(request, pool.acquire(), receiver);
    inFlight.dispatch();
    return inFlight;
  };

  return {
    send: (request) =>
      new Promise((resolve, reject) => {
        const answer = { status: 0, headers: {}, text: "" };
        // Decoded as it arrives: the chunks of an answer that comes byte by byte would take a hundred times its size.
        const decoder = new TextDecoder();
        start(request, {
          onAnswer: (status, headers) => Object.assign(answer, { status, headers }),
          onChunk: (chunk) => void (answer.text += decoder.decode(chunk, { stream: true })),
          onEnd: () => resolve({ ...answer, text: answer.text + decoder.decode() }),
          onFailure: reject,
        });
      }),

    open: (request) =>
      new Promise((resolve, reject) => {
        let body: ReadableStreamDefaultController<Uint8Array>;
        const dispose = () => inFlight.giveUp({ kind: "cancelled", reason: "no longer wanted" });
        // What is not read yet is kept here, as far as the limit on an answer goes.
        const chunks = new ReadableStream<Uint8Array>({
          start: (controller) => void (body = controller),
          cancel: dispose,
        });
        let answered = false;
        const inFlight = start(request, {
          onAnswer(status, headers) {
            answered = true;
            resolve({ status, headers, chunks, dispose });
          },
          onChunk: (chunk) => body.enqueue(chunk),
          onEnd: () => body.close(),
          onFailure: (failure) => (answered ? body.error(failure) : reject(failure)),
        });
      }),

    destroy() {
      destroyed = true;
      pool.destroy();
    },
  };
}

/** What becomes of a request: the answer, its decoded chunks, then either the end or a failure. */
interface Receiver {
  onAnswer(status: number, headers: AnswerHeaders): void;
  onChunk(chunk: Uint8Array): void;
  onEnd(): void;
  onFailure(failure: TransportFailure): void;
}

type Reason = Partial<NetworkFailure> & { readonly kind: FailureKind; readonly reason: string };

const CANCELLED = { kind: "cancelled", reason: "cancelled by the caller" } as const;

/**
 * One request from the moment it waits for a connection to its one end. Whether it was sent is decided by its life cycle, never by
 * the code of an error, as the same codes occur before and after.
 */
class RequestInFlight implements Dispatcher.DispatchHandler {
  readonly #request: HttpRequest;
  readonly #lease: Lease;
  readonly #receiver: Receiver;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined; // there once the header is about to be written: from then on it counts as sent
  #givenUp: TransportFailure | undefined;
  #status: number | undefined;
  #body: AnswerBody | undefined;
  #isOver = false; // the first end counts; what undici says later is ignored

  constructor(request: HttpRequest, lease: Lease, receiver: Receiver) {
    this.#request = request;
    this.#lease = lease;
    this.#receiver = receiver;
    const { deadlineMs } = request;
    const reason = `it took longer than ${Math.ceil(deadlineMs / 1000)} s`;
    this.#timer = setTimeout(() => this.giveUp({ kind: "timeout", reason }), deadlineMs).unref();
    request.signal?.addEventListener("abort", this.#onCancel, { once: true });
  }

  dispatch(): void {
    const { url, method, headers, body = null, headersTimeoutMs } = this.#request;
    this.#lease.dispatcher.dispatch(
      {
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method,
        // A copy: on the way through a proxy undici adds to it.
        headers: { ...headers },
        body,
        headersTimeout: headersTimeoutMs,
      },
      this,
    );
  }

  /** Ends the request wherever it is. undici listens to nothing before the start, so one that is given up by then stops there, unsent. */
  giveUp(reason: Reason): void {
    if (this.#isOver) return;
    this.#givenUp = this.#failure(reason);
    this.#end(() => this.#receiver.onFailure(this.#givenUp ?? this.#failure(reason)));
    this.#controller?.abort(this.#givenUp);
  }

  /** undici calls it at the last moment before the header is written. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#givenUp === undefined) this.#controller = controller;
    else controller.abort(this.#givenUp);
  }

  onResponseStart(_: unknown, status: number, headers: AnswerHeaders): void {
    // Below 200 it only says that there will be an answer.
    if (this.#isOver || status < 200) return;
    this.#status = status;
    this.#body = new AnswerBody(headers, {
      onChunk: (chunk) => this.#receiver.onChunk(chunk),
      onEnd: () => this.#end(() => this.#receiver.onEnd()),
      onProblem: (reason) => this.giveUp({ kind: "unreadable", reason, fix: FIX_UNREADABLE }),
    });
    this.#receiver.onAnswer(status, withoutEncoding(headers));
  }

  onResponseData(_: unknown, chunk: Uint8Array): void {
    if (!this.#isOver) this.#body?.write(chunk);
  }

  onResponseEnd(): void {
    if (!this.#isOver) this.#body?.end();
  }

  onResponseError(_: unknown, error: Error): void {
    this.#end(() => this.#receiver.onFailure(this.#failure(explainNetworkError(error), error)));
  }

  readonly #onCancel = () => {
    if (this.#controller === undefined || this.#request.finishOnceSent !== true) this.giveUp(CANCELLED);
  };

  #failure({ kind, reason, fix }: Reason, cause?: unknown): TransportFailure {
    const sent = this.#controller !== undefined;
    return new TransportFailure({ kind, sent, status: this.#status, reason, fix }, cause);
  }

  #end(notify: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#request.signal?.removeEventListener("abort", this.#onCancel);
    this.#body?.destroy();
    this.#lease.release(this.#givenUp !== undefined && this.#controller === undefined);
    notify();
  }
}

const FIX_UNREADABLE = "Check FACELESS_BASE_URL, and whether a proxy or gateway changes the answers.";

interface BodyEvents {
  onChunk(chunk: Uint8Array): void;
  onEnd(): void;
  /** `problem` is a clause that follows a colon. Nothing comes after it. */
  onProblem(problem: string): void;
}

/** Decodes a body as it arrives and bounds its decoded size. `identity` was asked for, but a gateway may compress all the same. */
class AnswerBody {
  readonly #encoding: string;
  readonly #events: BodyEvents;
  #decompressor: ReturnType<typeof createDecompressor>;
  #bytes = 0; // decoded so far

  constructor(headers: AnswerHeaders, events: BodyEvents) {
    this.#encoding = encodingOf(headers);
    this.#events = events;
  }

  write(chunk: Uint8Array): void {
    if (this.#encoding === "") return this.#pass(chunk);
    if (this.#decompressor === undefined && !this.#openDecompressor(chunk)) return;
    this.#decompressor?.write(chunk);
  }

  end(): void {
    if (this.#decompressor === undefined) this.#events.onEnd();
    else this.#decompressor.end();
  }

  /** Stops whatever is still being decoded. */
  destroy(): void {
    this.#decompressor?.destroy();
  }

  #openDecompressor(chunk: Uint8Array): boolean {
    this.#decompressor = createDecompressor(this.#encoding, chunk);
    if (this.#decompressor === undefined) {
      this.#events.onProblem(`its encoding ${JSON.stringify(this.#encoding.slice(0, 40))} is not supported`);
      return false;
    }
    this.#decompressor
      .on("data", (decoded: Uint8Array) => this.#pass(decoded))
      .on("end", () => this.#events.onEnd())
      .on("error", () => this.#events.onProblem(`its ${this.#encoding} encoding is damaged`));
    return true;
  }

  #pass(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_ANSWER_BYTES) this.#events.onProblem("it is larger than 4 MB");
    else this.#events.onChunk(chunk);
  }
}

/** Lower case; empty for none. */
function encodingOf(headers: AnswerHeaders): string {
  return [headers["content-encoding"] ?? ""]
    .flat()
    .flatMap((value) => value.toLowerCase().split(","))
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "identity")
    .join(", ");
}

/** `first`: the first bytes of the body. undefined for an encoding that is not known, or several on top of each other. */
function createDecompressor(encoding: string, first: Uint8Array) {
  if (encoding === "gzip" || encoding === "x-gzip") return createGunzip();
  if (encoding === "br") return createBrotliDecompress();
  // Some services send deflate without the zlib header that the standard asks for; its low four bits would be 8.
  if (encoding === "deflate") return ((first[0] ?? 0) & 15) === 8 ? createInflate() : createInflateRaw();
  return undefined;
}

/** The headers that describe the decoded body. */
function withoutEncoding(headers: AnswerHeaders): AnswerHeaders {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !/^content-(encoding|length)$/.test(name)),
  );
}
