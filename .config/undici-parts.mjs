// The parts of undici that service/agents.ts uses, for the bundle: its index would bring fetch, WebSocket, caches and mocks along (200 kB).
// They are private files of it, so its version is pinned, and the tests of the built file send through them.

import Agent from "undici/lib/dispatcher/agent.js";
import Dispatcher from "undici/lib/dispatcher/dispatcher.js";
import EnvHttpProxyAgent from "undici/lib/dispatcher/env-http-proxy-agent.js";
import Pool from "undici/lib/dispatcher/pool.js";
import connect from "undici/lib/api/api-connect.js";

// What its index does for all methods; the proxy agent needs this one.
Dispatcher.prototype.connect = connect;

export { Agent, EnvHttpProxyAgent, Pool };
