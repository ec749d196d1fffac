// What a client says of itself when it connects. The SDK passes that on only after the server was made, whose
// instructions depend on it.

import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type JSONRPCMessage,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { valueAt } from "../value-at.ts";
import type { Hook } from "./transport.ts";

export type Server = McpServer["server"];

export class ConnectedClient {
  #capabilities: unknown;
  #name: unknown;
  #conversation = 0;

  /** Hooks for the transport. The key is the method. */
  readonly hooks: Readonly<Record<string, Hook>> = {
    initialize: {
      inbound: (message) => {
        this.#capabilities = valueAt(message, "params", "capabilities");
        this.#conversation += 1;
      },
    },
    "server/discover": {
      inbound: (message) => {
        this.#capabilities = valueAt(message, "params", "_meta", CLIENT_CAPABILITIES_META_KEY);
        this.#compareName(message);
      },
    },
    "tools/call": { inbound: (message) => this.#compareName(message) },
  };

  /** Changes when a conversation certainly ends: with each `initialize`, and when a client of another name calls. */
  get conversation(): number {
    return this.#conversation;
  }

  get canAsk(): boolean {
    return canShowForms(this.#capabilities);
  }

  /** True for a legacy client that declares tasks. A modern one declares them with each request. */
  get hasLegacyTasks(): boolean {
    return valueAt(this.#capabilities, "tasks") !== undefined;
  }

  /** A modern client gives its name with each request. */
  #compareName(message: JSONRPCMessage): void {
    const name = valueAt(message, "params", "_meta", CLIENT_INFO_META_KEY, "name");
    if (name === undefined || name === this.#name) return;
    this.#name = name;
    this.#conversation += 1;
  }
}

/** True if a question can reach the user. */
export function canAsk(server: Server, { envelope }: ServerContext["mcpReq"]): boolean {
  // A legacy client declares its capabilities once, at initialize; a modern one with each request.
  return canShowForms(valueAt(envelope, CLIENT_CAPABILITIES_META_KEY) ?? server.getClientCapabilities());
}

/** An empty `elicitation` means forms, as it did before there were modes. */
function canShowForms(capabilities: unknown): boolean {
  const modes = valueAt(capabilities, "elicitation");
  if (typeof modes !== "object" || modes === null) return false;
  return "form" in modes || !("url" in modes);
}
