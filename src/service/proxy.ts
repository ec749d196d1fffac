// The connections through the user's proxy, for the service and for downloads. Knows nothing of what is sent.

import { type Agent, type Dispatcher, EnvHttpProxyAgent, Pool } from "undici";
import type { Proxies } from "../config.ts";
import { ProxyError, TransportFailure } from "./transport-failure.ts";

export const CONNECT_TIMEOUT_MS = 5_000;

export function isProxied({ http, https }: Proxies): boolean {
  return http !== undefined || https !== undefined;
}

/** Throws a TransportFailure where the proxies can't be used. */
export function createProxyAgent(proxies: Proxies, options: Agent.Options): Dispatcher {
  // undici takes HTTP_PROXY where HTTPS_PROXY is missing, and a service elsewhere is reached by https.
  const variable = proxies.https === undefined ? "HTTP_PROXY" : "HTTPS_PROXY";
  const tls = { timeout: CONNECT_TIMEOUT_MS };
  try {
    return new EnvHttpProxyAgent({
      ...options,
      proxyTls: tls,
      requestTls: tls,
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
