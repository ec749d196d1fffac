// Holds what a client says of itself when it connects, which the SDK passes on only after the server was made, and
// what clients of its name were measured to do.

import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { USUAL_WAIT_SECONDS } from "../tools/listing.ts";
import { valueAt } from "../value-at.ts";
import type { Hook } from "./transport.ts";

export type McpRequest = ServerContext["mcpReq"];

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

export class ConnectedClient {
  #capabilities: unknown;
  #info: unknown;
  #initializations = 0;

  /** Hooks for the transport. The key is the method. */
  readonly hooks: Readonly<Record<string, Hook>> = {
    initialize: {
      inbound: (message) => {
        this.#capabilities = valueAt(message, "params", "capabilities");
        this.#info = valueAt(message, "params", "clientInfo");
        this.#initializations += 1;
      },
    },
    "server/discover": {
      inbound: (message) => {
        this.#capabilities = valueAt(message, "params", "_meta", CLIENT_CAPABILITIES_META_KEY);
      },
    },
  };

  /** True if a question can reach the user. A modern client declares its capabilities with each request. */
  canAsk(request?: McpRequest): boolean {
    const declared = valueAt(request?.envelope, CLIENT_CAPABILITIES_META_KEY) ?? this.#capabilities;
    const modes = valueAt(declared, "elicitation");
    if (typeof modes !== "object" || modes === null) return false;
    // An empty `elicitation` means forms, as it did before there were modes.
    return "form" in modes || !("url" in modes);
  }

  /** True for a legacy client that declares tasks. A modern one declares them with each request. */
  get hasLegacyTasks(): boolean {
    return valueAt(this.#capabilities, "tasks") !== undefined;
  }

  /** Its own name and version, which a modern client gives with each request. */
  info({ envelope }: McpRequest): unknown {
    return valueAt(envelope, CLIENT_INFO_META_KEY) ?? this.#info;
  }

  /** Changes once a conversation has certainly ended: by an `initialize`, or for a client of another name. */
  conversation(request: McpRequest): string {
    return JSON.stringify([this.#initializations, valueAt(this.info(request), "name")]);
  }

  maxWaitSeconds(request: McpRequest, getsProgress: boolean): number {
    const needsProgress = PATIENT_CLIENTS.get(valueAt(this.info(request), "name"));
    const isPatient = needsProgress === false || (needsProgress === true && getsProgress);
    return isPatient ? LONG_WAIT_SECONDS : USUAL_WAIT_SECONDS;
  }
}
