// What is known of a client: what it says of itself when it connects, which the SDK passes on only after the server
// was made, and what clients of its name were measured to do.

import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { USUAL_WAIT_SECONDS } from "../tools/listing.ts";
import { valueAt } from "../value-at.ts";
import type { Hook } from "./transport.ts";

export type Server = McpServer["server"];
export type McpRequest = ServerContext["mcpReq"];

export class ConnectedClient {
  #capabilities: unknown;
  /** Changes with each `initialize`, which certainly ends a conversation. */
  conversation = 0;

  /** Hooks for the transport. The key is the method. */
  readonly hooks: Readonly<Record<string, Hook>> = {
    initialize: {
      inbound: (message) => {
        this.#capabilities = valueAt(message, "params", "capabilities");
        this.conversation += 1;
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

/** True if a question can reach the user. */
export function canAsk(server: Server, { envelope }: McpRequest): boolean {
  // A legacy client declares its capabilities once, at initialize; a modern one with each request.
  return canShowForms(valueAt(envelope, CLIENT_CAPABILITIES_META_KEY) ?? server.getClientCapabilities());
}

/** An empty `elicitation` means forms, as it did before there were modes. */
function canShowForms(capabilities: unknown): boolean {
  const modes = valueAt(capabilities, "elicitation");
  if (typeof modes !== "object" || modes === null) return false;
  return "form" in modes || !("url" in modes);
}

/** A legacy client gives its name once, at initialize; a modern one with each request. */
export function clientInfo(server: Server, { envelope }: McpRequest): unknown {
  return valueAt(envelope, CLIENT_INFO_META_KEY) ?? server.getClientVersion();
}

/** Most clients give up on a call after a minute, and some were measured to wait for four. */
const LONG_WAIT_SECONDS = 240;
/** By the client's name: true if it waits only while it gets progress. */
const PATIENT_CLIENTS: ReadonlyMap<unknown, boolean> = new Map([
  ["claude-code", false],
  ["codex-mcp-client", false],
  ["gemini-cli-mcp-client", false],
  ["copilot-cli", true],
  ["opencode", true],
]);

export function maxWaitSeconds(clientInfo: unknown, getsProgress: boolean): number {
  const needsProgress = PATIENT_CLIENTS.get(valueAt(clientInfo, "name"));
  return needsProgress === false || (needsProgress === true && getsProgress)
    ? LONG_WAIT_SECONDS
    : USUAL_WAIT_SECONDS;
}
