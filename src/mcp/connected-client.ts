// What a client says of itself when it connects. The SDK passes that on only after the server was made, whose
// instructions depend on it.

import { CLIENT_CAPABILITIES_META_KEY } from "@modelcontextprotocol/server";
import { valueAt } from "../value-at.ts";
import { canShowForms } from "./elicitation.ts";
import type { Hook } from "./transport.ts";

export class ConnectedClient {
  #capabilities: unknown;

  /** Hooks for the transport. The key is the method. */
  readonly hooks: Readonly<Record<string, Hook>> = {
    initialize: {
      inbound: (message) => {
        this.#capabilities = valueAt(message, "params", "capabilities");
      },
    },
    "server/discover": {
      inbound: (message) => {
        this.#capabilities = valueAt(message, "params", "_meta", CLIENT_CAPABILITIES_META_KEY);
      },
    },
  };

  get canAsk(): boolean {
    return canShowForms(this.#capabilities);
  }

  /** True for a legacy client that declares tasks. A modern one declares them with each request. */
  get hasLegacyTasks(): boolean {
    return valueAt(this.#capabilities, "tasks") !== undefined;
  }
}
