// The one place that opens connections. It sends an exchange to the one origin that holds the key, gives up at its
// own deadline even where undici doesn't listen, and knows of every failure whether the request had left. It knows
// nothing of operations, JSON or retries. Loaded on first use: undici is the heaviest thing here.

import { Agent, type Dispatcher, EnvHttpProxyAgent, Pool, request } from "undici";
import type { Proxies } from "../settings.ts";
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

const CONNECT = { timeout: 5_000 };
const AGENT_OPTIONS: Agent.Options = {
  connections: 6,
  pipelining: 1,
  connect: CONNECT,
  bodyTimeout: 15_000,
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 60_000,
  // undici counts bytes of the wire. request() decodes nothing and no encoding is asked for, so these are bytes of text.
  maxResponseSize: 4 * 1024 * 1024,
  maxHeaderSize: 16 * 1024,
  allowH2: false,
};

/** The way to a proxy. undici takes a CONNECT that the proxy drops for a stale connection and repeats it for ever,
    thousands of times a second and deaf to its signal. An error of another code it passes on. */
function createProxyPool(proxy: URL, poolOptions: Pool.Options): Dispatcher {
  return new Pool(proxy, poolOptions).compose((dispatch) => (options, handler) => {
    const fail = handler.onResponseError?.bind(handler);
    handler.onResponseError = (controller, error) => {
      const stale = "code" in error && error.code === "UND_ERR_SOCKET";
      fail?.(
        controller,
        stale ? Object.assign(new Error(error.message), { code: "ERR_PROXY_DROPPED" }) : error,
      );
    };
    return dispatch(options, handler);
  });
}

function createProxyAgent(proxies: Proxies): Dispatcher {
  try {
    return new EnvHttpProxyAgent({
      ...AGENT_OPTIONS,
      proxyTls: CONNECT,
      requestTls: CONNECT,
      clientFactory: createProxyPool,
      // Empty rather than absent: undici would read the process's environment for an absent one.
      httpProxy: proxies.http ?? "",
      httpsProxy: proxies.https ?? "",
      noProxy: proxies.none ?? "",
    });
  } catch (error) {
    const reason = "the proxy setting can't be used";
    throw new TransportFailure({ kind: "network", sent: false, reason }, error);
  }
}

export function createHttp({ origin, proxies }: HttpOptions): Http {
  const proxied = proxies.http !== undefined || proxies.https !== undefined;
  const agents = new Set<Dispatcher>();
  let shared: Dispatcher | undefined;
  let destroyed = false;

  const createAgent = () => {
    const agent = proxied ? createProxyAgent(proxies) : new Agent(AGENT_OPTIONS);
    agents.add(agent);
    return agent;
  };

  /** undici's ProxyAgent is deaf to its signal until the proxy has answered: only destroying it ends that. So behind a
      proxy each exchange has an agent of its own, and no other exchange suffers when it is destroyed. */
  const acquire = (): { agent: Dispatcher; release: (gaveUp: boolean) => void } => {
    const agent = proxied ? createAgent() : (shared ??= createAgent());
    return {
      agent,
      release(gaveUp) {
        if (proxied) {
          agents.delete(agent);
          void agent.destroy().catch(() => {});
        } else if (gaveUp && shared === agent) {
          // It may sit on a connection that leads nowhere: the next exchange starts afresh, others finish here.
          shared = undefined;
          const forget = () => agents.delete(agent);
          void agent.close().then(forget, forget);
        }
      },
    };
  };

  const open = async (exchange: Exchange): Promise<OpenAnswer> => {
    if (exchange.url.origin !== origin) throw new TypeError("A request must stay at the service's origin.");
    if (destroyed)
      throw new TransportFailure({ kind: "network", sent: false, reason: "the bridge is shutting down" });
    if (exchange.signal?.aborted)
      throw new TransportFailure({ kind: "cancelled", sent: false, reason: "cancelled by the caller" });

    let status: number | undefined;
    const end = new AbortController();
    const departure = createDeparture(end.signal);
    const { agent, release } = acquire();
    const failure = (kind: FailureKind, reason: string, cause?: unknown) =>
      new TransportFailure({ kind, sent: departure.left, status, reason }, cause);
    // request() is deaf to its signal until it is connected, so the race is ours; a request that is aborted while
    // it waits for a connection is never written.
    const given = new Promise<never>((_, reject) => {
      end.signal.addEventListener("abort", () => reject(end.signal.reason), { once: true });
    });
    given.catch(() => {});
    const timer = setTimeout(
      () => end.abort(failure("timeout", `no answer within ${Math.ceil(exchange.deadlineMs / 1000)} s`)),
      exchange.deadlineMs,
    ).unref();
    const onCancel = () => {
      if (departure.left && exchange.seenThrough === true) return;
      end.abort(failure("cancelled", "cancelled by the caller"));
    };
    exchange.signal?.addEventListener("abort", onCancel, { once: true });
    let disposed = false;
    const dispose = () => {
      if (disposed) return;
      disposed = true;
      clearTimeout(timer);
      exchange.signal?.removeEventListener("abort", onCancel);
      release(end.signal.aborted && !departure.left);
    };
    const asFailure = (error: unknown): TransportFailure => {
      if (end.signal.reason instanceof TransportFailure) return end.signal.reason;
      return error instanceof TransportFailure ? error : failure(...describeNetworkError(error), error);
    };

    try {
      const response = await Promise.race([
        request(exchange.url, {
          dispatcher: agent.compose(departure.watch),
          method: exchange.method,
          headers: exchange.headers,
          body: exchange.body ?? null,
          headersTimeout: exchange.headersTimeoutMs,
          signal: end.signal,
        }),
        given,
      ]);
      status = response.statusCode;
      const disposeAnswer = () => {
        response.body.on("error", () => {}).destroy();
        dispose();
      };
      return {
        status,
        headers: response.headers,
        chunks: chunksOf(response.body, given, asFailure, disposeAnswer),
        dispose: disposeAnswer,
      };
    } catch (error) {
      const failed = asFailure(error);
      end.abort(failed);
      dispose();
      throw failed;
    }
  };

  return {
    open,
    async send(exchange) {
      const answer = await open(exchange);
      const chunks: Uint8Array[] = [];
      for await (const chunk of answer.chunks) chunks.push(chunk);
      return {
        status: answer.status,
        headers: answer.headers,
        text: new TextDecoder().decode(Buffer.concat(chunks)),
      };
    },
    destroy() {
      destroyed = true;
      for (const agent of agents) void agent.destroy().catch(() => {});
      agents.clear();
    },
  };
}

async function* chunksOf(
  body: AsyncIterable<Uint8Array>,
  given: Promise<never>,
  asFailure: (error: unknown) => TransportFailure,
  dispose: () => void,
): AsyncGenerator<Uint8Array> {
  const iterator = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), given]);
      if (next.done === true) return;
      yield next.value;
    }
  } catch (error) {
    throw asFailure(error);
  } finally {
    dispose();
  }
}
