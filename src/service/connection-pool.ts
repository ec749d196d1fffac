// The connections to the service, direct or through the user's proxy: undici's dispatchers with limits on
// time and size, each replaced when it may lead nowhere. Knows nothing of what is sent over them.

import { Agent, type Dispatcher, EnvHttpProxyAgent, Pool } from "undici";
import type { Proxies } from "../config.ts";
import { ProxyError, TransportFailure } from "./transport-failure.ts";

/** Bytes of an answer. undici counts them as they arrive, http.ts after decoding. */
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

const CONNECT = { timeout: 5_000 };
const AGENT_OPTIONS: Agent.Options = {
  // Half of the calls that stdio lets in at once. With 6, requests waited longer here than for the answer.
  connections: 32,
  pipelining: 1,
  connect: CONNECT,
  // Each request's own deadline covers its headers.
  headersTimeout: 0,
  bodyTimeout: 15_000,
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 60_000,
  maxResponseSize: MAX_ANSWER_BYTES,
  maxHeaderSize: 16 * 1024,
  allowH2: false,
};

/** A dispatcher for one request. Release it exactly once. */
export interface Lease {
  readonly dispatcher: Dispatcher;
  /** `abandoned`: the request was given up before it was sent, so its connection may lead nowhere. */
  release(abandoned: boolean): void;
}

export class ConnectionPool {
  readonly #proxies: Proxies;
  readonly #isProxied: boolean;
  readonly #requests = new Map<Dispatcher, number>(); // how many run on each dispatcher
  #shared: Dispatcher | undefined; // used by all requests, unless they go through a proxy

  constructor(proxies: Proxies) {
    this.#proxies = proxies;
    this.#isProxied = proxies.http !== undefined || proxies.https !== undefined;
  }

  /** Throws a TransportFailure where the proxies can't be used. */
  acquire(): Lease {
    // Only destroying undici's ProxyAgent ends a request that the proxy has not answered: each request has
    // one of its own there, so that no other suffers from that.
    const dispatcher = this.#isProxied
      ? createProxyAgent(this.#proxies, AGENT_OPTIONS)
      : (this.#shared ??= new Agent(AGENT_OPTIONS));
    this.#requests.set(dispatcher, (this.#requests.get(dispatcher) ?? 0) + 1);
    return { dispatcher, release: (abandoned) => this.#release(dispatcher, abandoned) };
  }

  /** Closes every connection at once. */
  destroy(): void {
    for (const dispatcher of this.#requests.keys()) void dispatcher.destroy().catch(() => {});
    this.#requests.clear();
  }

  #release(dispatcher: Dispatcher, abandoned: boolean): void {
    const running = (this.#requests.get(dispatcher) ?? 1) - 1;
    this.#requests.set(dispatcher, running);
    // The next request gets a new dispatcher; those that run on the old one finish there.
    if (abandoned && this.#shared === dispatcher) this.#shared = undefined;
    if (this.#shared === dispatcher || running > 0) return;
    // Never closed first: undici forgets what a closing agent has in flight, and then can't destroy it.
    this.#requests.delete(dispatcher);
    void dispatcher.destroy().catch(() => {});
  }
}

/** Throws a TransportFailure where the proxies can't be used. */
export function createProxyAgent(proxies: Proxies, options: Agent.Options): Dispatcher {
  // undici takes HTTP_PROXY where HTTPS_PROXY is missing, and a service elsewhere is reached by https.
  const variable = proxies.https === undefined ? "HTTP_PROXY" : "HTTPS_PROXY";
  try {
    return new EnvHttpProxyAgent({
      ...options,
      proxyTls: CONNECT,
      requestTls: CONNECT,
      clientFactory: (proxy: URL, poolOptions: Pool.Options) => createProxyPool(proxy, poolOptions, variable),
      // Empty, not absent: undici would then read the process's environment.
      httpProxy: proxies.http ?? "",
      httpsProxy: proxies.https ?? "",
      noProxy: proxies.none ?? "",
    });
  } catch (error) {
    const fix = "Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY.";
    const reason = "the proxy setting can't be used";
    throw new TransportFailure({ kind: "network", sent: false, reason, fix }, error);
  }
}

/**
 * The connections to a proxy. Failures become ProxyErrors, which undici passes on. It would take a CONNECT
 * that the proxy drops for a stale connection, and repeat it for ever at full speed, despite its signal.
 */
function createProxyPool(proxy: URL, options: Pool.Options, variable: string): Dispatcher {
  return new Pool(proxy, options).compose((dispatch) => (request, handler) => {
    const onError = handler.onResponseError?.bind(handler);
    handler.onResponseError = (controller, error) =>
      onError?.(controller, new ProxyError(proxy, variable, error));
    return dispatch(request, handler);
  });
}
