// The one place that sends. It sends a request to the one origin that may see the key, gives up at its own deadline even where
// undici doesn't, and knows of every failure whether the request was sent. It knows nothing of operations and retries.
// Loaded on first use: undici is the heaviest thing here.

import { PassThrough, type Transform } from "node:stream";
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
  /** For all of it, the body of the answer included. */
  readonly deadlineMs: number;
  /** Cancels the request. */
  readonly signal?: AbortSignal | undefined;
  /** A cancellation that comes after the request was sent is ignored: what was paid for must not be lost. */
  readonly finishOnceSent?: boolean;
  /**
   * Called with the answer that may still come, before `send` fails because a request that was sent has reached its deadline: it is
   * awaited for LATE_MS more. The caller handles the promise's failure.
   */
  readonly onLate?: ((answer: Promise<Answer>) => void) | undefined;
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

/** How long the answer to a request with `onLate` is awaited after its deadline. */
const LATE_MS = 5 * 60_000;

/** Sends requests to one origin. */
export class Http {
  readonly #origin: string;
  readonly #pool: ConnectionPool;
  #isDestroyed = false;

  constructor(origin: string, proxies: Proxies) {
    this.#origin = origin;
    this.#pool = new ConnectionPool(proxies);
  }

  /** The whole answer, also if only its connection failed and what has come is whole JSON. Throws a TransportFailure. */
  send(request: HttpRequest): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const answer = { status: 0, headers: {}, text: "" };
      let waiting = { resolve, reject };
      // Decoded as it arrives: the chunks of an answer that comes byte by byte would take a hundred times its size.
      const decoder = new TextDecoder();
      this.#start(request, {
        onAnswer: (status, headers) => Object.assign(answer, { status, headers }),
        onChunk: (chunk) => (answer.text += decoder.decode(chunk, { stream: true })),
        onEnd: () => waiting.resolve({ ...answer, text: answer.text + decoder.decode() }),
        onFailure: (failure) =>
          isWholeJson(answer.text) ? waiting.resolve(answer) : waiting.reject(failure),
        onDeadline(failure) {
          if (request.onLate === undefined || isWholeJson(answer.text)) return false;
          request.onLate(new Promise((resolve, reject) => (waiting = { resolve, reject })));
          reject(failure);
          return true;
        },
      });
    });
  }

  /** The answer as soon as its headers are there. Throws a TransportFailure, also while the body is read. */
  open(request: HttpRequest): Promise<OpenAnswer> {
    return new Promise((resolve, reject) => {
      let body: ReadableStreamDefaultController<Uint8Array>;
      const dispose = () => inFlight.giveUp({ kind: "cancelled", reason: "no longer wanted" });
      // What is not read yet is kept here, as far as the limit on an answer goes.
      const chunks = new ReadableStream<Uint8Array>({
        start: (controller) => void (body = controller),
        cancel: dispose,
      });
      let answered = false;
      const inFlight = this.#start(request, {
        onAnswer(status, headers) {
          answered = true;
          resolve({ status, headers, chunks, dispose });
        },
        onChunk: (chunk) => body.enqueue(chunk),
        onEnd: () => body.close(),
        onFailure: (failure) => (answered ? body.error(failure) : reject(failure)),
      });
    });
  }

  /** Closes every connection at once. */
  destroy(): void {
    this.#isDestroyed = true;
    this.#pool.destroy();
  }

  #start(request: HttpRequest, receiver: Receiver): RequestInFlight {
    if (request.url.origin !== this.#origin)
      throw new TypeError("A request must stay at the service's origin.");
    if (this.#isDestroyed) throw new TransportFailure({ ...SHUTTING_DOWN, sent: false });
    if (request.signal?.aborted === true) throw new TransportFailure({ ...CANCELLED, sent: false });
    const inFlight = new RequestInFlight(request, this.#pool.acquire(), receiver);
    inFlight.dispatch();
    return inFlight;
  }
}

/** What becomes of a request: the answer, its decoded chunks, then either the end or a failure. */
interface Receiver {
  onAnswer(status: number, headers: AnswerHeaders): void;
  onChunk(chunk: Uint8Array): void;
  onEnd(): void;
  onFailure(failure: TransportFailure): void;
  /** The request was sent and has reached its deadline. Whether its answer is still wanted. */
  onDeadline?(failure: TransportFailure): boolean;
}

/** Whether a text that may have been cut off is a whole object or list. A bare number could go on. */
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
 * One request from the moment it waits for a connection to its one end. Whether it was sent is decided by its life cycle, never by
 * the code of an error, as the same codes occur before and after.
 */
class RequestInFlight implements Dispatcher.DispatchHandler {
  readonly #request: HttpRequest;
  readonly #lease: Lease;
  readonly #receiver: Receiver;
  #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined; // there once the header is about to be written: from then on it counts as sent
  #givenUp: TransportFailure | undefined;
  #status: number | undefined;
  #encoding = "identity"; // of the answer's body
  #body: Transform | undefined; // decodes it, from its first bytes on
  #decodedBytes = 0;
  #isOver = false; // the first end counts; what undici says later is ignored

  constructor(request: HttpRequest, lease: Lease, receiver: Receiver) {
    this.#request = request;
    this.#lease = lease;
    this.#receiver = receiver;
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
        // A copy: on the way through a proxy undici adds to it.
        headers: { ...headers },
        body,
        // A POST that is cut short has an unknown outcome: its own deadline counts.
        ...(method === "POST" && { bodyTimeout: 0 }),
      },
      this,
    );
  }

  /** Ends the request wherever it is. undici listens to nothing before the start, so one that is given up by then stops there, unsent. */
  giveUp(reason: Reason): void {
    if (this.#isOver) return;
    this.#givenUp = this.#failure(reason);
    this.#fail(this.#givenUp);
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
    this.#encoding = String(headers["content-encoding"] || "identity").toLowerCase();
    this.#receiver.onAnswer(status, headers);
  }

  onResponseData(_: unknown, chunk: Uint8Array): void {
    if (this.#isOver) return;
    this.#body ??= this.#openBody();
    this.#body?.write(chunk);
  }

  onResponseEnd(): void {
    if (this.#body === undefined) this.#onEnd();
    else this.#body.end();
  }

  onResponseError(_: unknown, error: Error): void {
    this.#fail(this.#failure(explainNetworkError(error), error));
  }

  readonly #onEnd = () => this.#end(() => this.#receiver.onEnd());

  readonly #onDeadline = () => {
    const { deadlineMs } = this.#request;
    const reason = tookTooLong(deadlineMs);
    const isStillWanted =
      this.#controller !== undefined && this.#receiver.onDeadline?.(this.#failure(reason)) === true;
    if (!isStillWanted) return this.giveUp(reason);
    this.#timer = setTimeout(() => this.giveUp(tookTooLong(deadlineMs + LATE_MS)), LATE_MS).unref();
  };

  readonly #onCancel = () => {
    if (this.#controller === undefined || this.#request.finishOnceSent !== true) this.giveUp(CANCELLED);
  };

  /** `identity` was asked for, but a gateway may compress all the same. */
  #openBody(): Transform | undefined {
    const encoding = this.#encoding;
    const body = createDecoder(encoding);
    if (body === undefined)
      this.giveUp(unreadable(`its encoding ${JSON.stringify(encoding.slice(0, 40))} is not supported`));
    return body
      ?.on("data", (chunk: Uint8Array) => this.#onDecoded(chunk))
      .on("end", this.#onEnd)
      .on("error", () => this.giveUp(unreadable(`its ${encoding} encoding is damaged`)));
  }

  #onDecoded(chunk: Uint8Array): void {
    this.#decodedBytes += chunk.length;
    if (this.#decodedBytes <= MAX_ANSWER_BYTES) return this.#receiver.onChunk(chunk);
    this.#body?.destroy();
    this.giveUp(unreadable("it is larger than 4 MB"));
  }

  #failure({ kind, reason, fix }: Reason, cause?: unknown): TransportFailure {
    const sent = this.#controller !== undefined;
    return new TransportFailure({ kind, sent, status: this.#status, reason, fix }, cause);
  }

  /** The receiver hears of it when all that has arrived is decoded, which may be the whole answer. */
  #fail(failure: TransportFailure): void {
    const notify = () => this.#receiver.onFailure(failure);
    this.#end(() => {
      // Nobody waits for the rest of an answer that is cancelled.
      if (failure.kind === "cancelled") this.#body?.destroy();
      if (this.#body === undefined) notify();
      else this.#body.once("close", notify).end();
    });
  }

  #end(notify: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#request.signal?.removeEventListener("abort", this.#onCancel);
    this.#lease.release(this.#givenUp !== undefined && this.#controller === undefined);
    notify();
  }
}

/** undefined for an encoding that is not known, or several on top of each other. */
function createDecoder(encoding: string): Transform | undefined {
  if (encoding === "identity") return new PassThrough();
  if (encoding === "br") return createBrotliDecompress();
  return ["gzip", "deflate"].includes(encoding) ? createUnzip() : undefined;
}
