// The connections: undici's agents, with limits on all that may take long or grow, directly or through the person's proxy, and
// renewed where one may lead nowhere. Knows nothing of what is sent over them.

import { Agent, type Dispatcher, EnvHttpProxyAgent, Pool } from "undici";
import type { Proxies } from "../settings.ts";
import { TransportFailure } from "./transport-failure.ts";

export interface Agents {
  /** For one exchange, which says at its end whether it was given up before it left. */
  acquire(): { readonly agent: Dispatcher; release(gaveUp: boolean): void };
  /** Ends every connection at once. */
  destroy(): void;
}

const CONNECT = { timeout: 5_000 };
const AGENT_OPTIONS: Agent.Options = {
  // Half of the calls that stdio lets in at once; the others wait here. With 6 the queue cost a request more than its own way.
  connections: 32,
  pipelining: 1,
  connect: CONNECT,
  bodyTimeout: 15_000,
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 60_000,
  // undici counts bytes of the wire. It decodes nothing and no encoding is asked for, so these are bytes of text.
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

/** Throws a TransportFailure from `acquire` where the proxies can't be used. */
export function createAgents(proxies: Proxies): Agents {
  const proxied = proxies.http !== undefined || proxies.https !== undefined;
  /** Each with the number of exchanges on it. */
  const agents = new Map<Dispatcher, number>();
  let shared: Dispatcher | undefined;

  const createAgent = () => (proxied ? createProxyAgent(proxies) : new Agent(AGENT_OPTIONS));

  return {
    // undici's ProxyAgent is deaf until the proxy has answered: only destroying it ends that. So behind a proxy each exchange
    // has an agent of its own, and no other exchange suffers when it is destroyed.
    acquire() {
      const agent = proxied ? createAgent() : (shared ??= createAgent());
      agents.set(agent, (agents.get(agent) ?? 0) + 1);
      return {
        agent,
        release(gaveUp) {
          const running = (agents.get(agent) ?? 1) - 1;
          agents.set(agent, running);
          // It may sit on a connection that leads nowhere: the next exchange starts afresh, others finish here.
          if (gaveUp && shared === agent) shared = undefined;
          if (shared === agent || running > 0) return;
          // Not closed before: undici loses sight of what a closing agent has under way, and then can't destroy it.
          agents.delete(agent);
          void agent.destroy().catch(() => {});
        },
      };
    },

    destroy() {
      for (const agent of agents.keys()) void agent.destroy().catch(() => {});
      agents.clear();
    },
  };
}
