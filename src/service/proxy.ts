// The connections to the outside, for the service and for downloads: direct, or through the user's proxy.
// Knows nothing of what is sent.

import type { IncomingHttpHeaders } from "node:http";
import { Agent, type Dispatcher, EnvHttpProxyAgent, Pool } from "undici";
import type { Proxies } from "../config.ts";
import { networkError, ProxyError } from "./transport-failure.ts";

/** A name lookup, all addresses of the host and TLS. */
const CONNECT_TIMEOUT_MS = 5_000;

/** Opens a connection for each request that is in flight: one that hangs while connecting delays no other. */
export function createDispatcher(proxies: Proxies, options: Omit<Agent.Options, "connect">): Dispatcher {
  const timeout = CONNECT_TIMEOUT_MS;
  const direct = { ...options, connect: { timeout } };
  if (proxies.http === undefined && proxies.https === undefined) return new Agent(direct);
  // undici uses HTTP_PROXY if HTTPS_PROXY is missing, and a remote service is reached by https.
  const variable = proxies.https === undefined ? "HTTP_PROXY" : "HTTPS_PROXY";
  return new EnvHttpProxyAgent({
    ...direct,
    proxyTls: { timeout },
    requestTls: { timeout },
    clientFactory: (proxy: URL, poolOptions: Pool.Options) => createProxyPool(proxy, poolOptions, variable),
    // Empty, not absent: undici would then read the process's environment.
    httpProxy: proxies.http ?? "",
    httpsProxy: proxies.https ?? "",
    noProxy: proxies.none ?? "",
  });
}

/**
 * The connections to a proxy. Failures become ProxyErrors, which undici passes on. It would take a CONNECT
 * that the proxy drops for a stale connection, and repeat it for ever at full speed, despite its signal.
 */
function createProxyPool(proxy: URL, options: Pool.Options, variable: string): Dispatcher {
  const pool = new Pool(proxy, { ...options, headersTimeout: CONNECT_TIMEOUT_MS });
  return pool.compose((dispatch) => (request, handler) => {
    const onError = handler.onResponseError?.bind(handler);
    const onUpgrade = handler.onRequestUpgrade?.bind(handler);
    handler.onRequestUpgrade = (controller, status, headers, socket) => {
      if (status !== 407) return onUpgrade?.(controller, status, headers, socket);
      socket.on("error", () => {}).destroy();
      onError?.(controller, passwordError(proxy, headers));
    };
    handler.onResponseError = (controller, error) =>
      onError?.(controller, new ProxyError(proxy, variable, error));
    return dispatch(request, handler);
  });
}

/** A proxy's 407. Without a scheme it is taken for one that asks for a password. */
function passwordError({ username, password }: URL, headers: IncomingHttpHeaders): Error {
  const schemes = [headers["proxy-authenticate"] ?? "basic"].flat().join();
  if (!/\bbasic\b/i.test(schemes)) return networkError("PROXY_WANTS_OTHER_SIGN_IN");
  const isSent = username !== "" && password !== ""; // undici sends neither alone
  return networkError(isSent ? "PROXY_REFUSES_PASSWORD" : "PROXY_WANTS_PASSWORD");
}
