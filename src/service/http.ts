// The one place that sends. It sends an exchange to the one origin that holds the key, gives up at its own deadline even
// where undici doesn't listen, and knows of every failure whether the request had left. It knows nothing of operations,
// JSON or retries. Loaded on first use: undici is the heaviest thing here.

import type { Proxies } from "../settings.ts";
import { createAgents } from "./connection-pool.ts";
import { createDeparture } from "./did-it-leave.ts";
import { describeNetworkError, type FailureKind, TransportFailure } from "./transport-failure.ts";

export interface Exchange {
  readonly method: "GET" | "POST";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Until the first answer byte. */
  readonly headersTimeoutMs: number;
  /** For the whole exchange, body included. */
  readonly deadlineMs: number;
  /** Gives the exchange up early. */
  readonly signal?: AbortSignal | undefined;
  /** A cancellation that comes after the request has left is ignored: what was paid for must not be lost. */
  readonly seenThrough?: boolean;
}

export interface Answer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** An answer whose body is still arriving. Read or `dispose` it: until then its deadline is running. */
export interface OpenAnswer extends Omit<Answer, "text"> {
  readonly chunks: AsyncIterable<Uint8Array>;
  dispose(): void;
}

export interface Http {
  /** The whole answer. Throws a TransportFailure. */
  send(exchange: Exchange): Promise<Answer>;
  /** The answer as soon as its headers are there. Throws a TransportFailure, also while the body is read. */
  open(exchange: Exchange): Promise<OpenAnswer>;
  /** Ends every connection at once. */
  destroy(): void;
}

export interface HttpOptions {
  /** The one origin that requests may go to. */
  readonly origin: string;
  readonly proxies: Proxies;
}

/** Who makes something of an exchange: the answer, its chunks, then one of the two ends. */
interface Receiver {
  onAnswer(status: number, headers: Answer["headers"]): void;
  onChunk(chunk: Uint8Array): void;
  onEnd(): void;
  onFailure(failure: TransportFailure): void;
}

export function createHttp({ origin, proxies }: HttpOptions): Http {
  const agents = createAgents(proxies);
  let destroyed = false;

  /** Has the receiver told of the answer piece by piece, and of one end. Gives what ends the exchange early. */
  const run = (exchange: Exchange, receiver: Receiver): (() => void) => {
    const { url, method, headers, body = null, headersTimeoutMs, deadlineMs, signal } = exchange;
    if (url.origin !== origin) throw new TypeError("A request must stay at the service's origin.");
    if (destroyed)
      throw new TransportFailure({ kind: "network", sent: false, reason: "the bridge is shutting down" });
    if (signal?.aborted)
      throw new TransportFailure({ kind: "cancelled", sent: false, reason: "cancelled by the caller" });

    const departure = createDeparture();
    const { agent, release } = agents.acquire();
    let status: number | undefined;
    let over = false;
    /** The first of its ends counts: what undici says after it is lost. */
    const end = (tell: () => void, givenUp?: TransportFailure) => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      signal?.removeEventListener("abort", onCancel);
      if (givenUp !== undefined) departure.giveUp(givenUp);
      release(givenUp !== undefined && !departure.left);
      tell();
    };
    const failure = (kind: FailureKind, reason: string, cause?: unknown) =>
      new TransportFailure({ kind, sent: departure.left, status, reason }, cause);
    const giveUp = (kind: FailureKind, reason: string) => {
      const givenUp = failure(kind, reason);
      end(() => receiver.onFailure(givenUp), givenUp);
    };
    const onCancel = () => {
      if (!(departure.left && exchange.seenThrough === true)) giveUp("cancelled", "cancelled by the caller");
    };
    const timer = setTimeout(
      () => giveUp("timeout", `no answer within ${Math.ceil(deadlineMs / 1000)} s`),
      deadlineMs,
    ).unref();
    signal?.addEventListener("abort", onCancel, { once: true });
    agent.dispatch(
      {
        origin,
        path: `${url.pathname}${url.search}`,
        method,
        // A copy: on the way through a proxy undici adds to it.
        headers: { ...headers },
        body,
        headersTimeout: headersTimeoutMs,
      },
      {
        onRequestStart: departure.start,
        onResponseStart(_, statusCode, answerHeaders) {
          // Below 200 it only says that there will be an answer.
          if (over || statusCode < 200) return;
          status = statusCode;
          receiver.onAnswer(statusCode, answerHeaders);
        },
        onResponseData(_, chunk) {
          if (!over) receiver.onChunk(chunk);
        },
        onResponseEnd: () => end(receiver.onEnd),
        onResponseError: (_, error) =>
          end(() => receiver.onFailure(failure(...describeNetworkError(error), error))),
      },
    );
    return () => giveUp("cancelled", "no longer wanted");
  };

  return {
    send: (exchange) =>
      new Promise((resolve, reject) => {
        const answer = { status: 0, headers: {}, text: "" };
        // Decoded as it comes: kept, the chunks of an answer that comes byte by byte would take a hundred times its size.
        const decoder = new TextDecoder();
        run(exchange, {
          onAnswer: (status, headers) => Object.assign(answer, { status, headers }),
          onChunk: (chunk) => void (answer.text += decoder.decode(chunk, { stream: true })),
          onEnd: () => resolve({ ...answer, text: answer.text + decoder.decode() }),
          onFailure: reject,
        });
      }),

    open: (exchange) =>
      new Promise((resolve, reject) => {
        let body: ReadableStreamDefaultController<Uint8Array>;
        // What is not read yet is kept here, as far as the limit on an answer goes.
        const chunks = new ReadableStream<Uint8Array>({
          start: (controller) => void (body = controller),
          cancel: () => dispose(),
        });
        let answered = false;
        const dispose = run(exchange, {
          onAnswer(status, headers) {
            answered = true;
            resolve({ status, headers, chunks, dispose });
          },
          onChunk: (chunk) => body.enqueue(chunk),
          onEnd: () => body.close(),
          onFailure: (error) => (answered ? body.error(error) : reject(error)),
        });
      }),

    destroy() {
      destroyed = true;
      agents.destroy();
    },
  };
}
