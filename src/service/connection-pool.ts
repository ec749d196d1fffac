// The connections to the service: undici's dispatchers, with limits on all that may take long or grow, directly or through the
// user's proxy, and replaced where one may lead nowhere. Knows nothing of what is sent over them.

import { Agent, type Dispatcher, EnvHttpProxyAgent, Pool } from "undici";
import type { Proxies } from "../config.ts";
import { ProxyError, TransportFailure } from "./transport-failure.ts";

/** Bytes of an answer. undici counts them as they arrive, http.ts after decoding. */
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

const CONNECT = { timeout: 5_000 };
const AGENT_OPTIONS: Agent.Options = {
  // Half of the calls that stdio lets in at once; the others wait here. With 6 the queue cost a request more than its own way.
  connections: 32,
  pipelining: 1,
  connect: CONNECT,
  // The deadline of a request counts for its headers.
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
    // undici's ProxyAgent ignores everything until the proxy has answered: only destroying it ends that. So behind a proxy each
    // request has a dispatcher of its own, and no other request suffers when it is destroyed.
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
    // The next request starts afresh; those that run on the old dispatcher finish there.
    if (abandoned && this.#shared === dispatcher) this.#shared = undefined;
    if (this.#shared === dispatcher || running > 0) return;
    // Not closed before: undici forgets what a closing agent has in flight, and then can't destroy it.
    this.#requests.delete(dispatcher);
    void dispatcher.destroy().catch(() => {});
  }
}

/** Throws a TransportFailure where the proxies can't be used. */
export function createProxyAgent(proxies: Proxies, options: Agent.Options): Dispatcher {
  // undici takes the proxy for http where there is none for https, and the service is reached by https unless it is on this computer.
  const variable = proxies.https === undefined ? "HTTP_PROXY" : "HTTPS_PROXY";
  try {
    return new EnvHttpProxyAgent({
      ...options,
      proxyTls: CONNECT,
      requestTls: CONNECT,
      clientFactory: (proxy: URL, poolOptions: Pool.Options) => createProxyPool(proxy, poolOptions, variable),
      // Empty rather than absent: undici would read the process's environment for an absent one.
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
 * The connections to a proxy, whose failures become ProxyErrors. undici would take a CONNECT that the proxy drops for a stale connection
 * and repeat it for ever, thousands of times a second and without looking at its signal. An error of another code it passes on.
 */
function createProxyPool(proxy: URL, options: Pool.Options, variable: string): Dispatcher {
  return new Pool(proxy, options).compose((dispatch) => (request, handler) => {
    const onError = handler.onResponseError?.bind(handler);
    handler.onResponseError = (controller, error) =>
      onError?.(controller, new ProxyError(proxy, variable, error));
    return dispatch(request, handler);
  });
}
