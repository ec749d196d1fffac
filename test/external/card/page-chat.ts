// The types that the test shares with the page of browser/chat.ts.

import type { CallToolResult, JSONRPCMessage } from "@modelcontextprotocol/client";
import type { McpUiHostCapabilities, McpUiHostContext } from "@modelcontextprotocol/ext-apps/app-bridge";

export interface ChatOptions {
  /** Default: all that the card uses. */
  readonly hostCapabilities?: McpUiHostCapabilities;
  readonly hostContext?: McpUiHostContext;
  /** The host passes on the text of results alone. */
  readonly stripsResults?: boolean;
  /** The host runs the call as a task, as VS Code does, and passes on its result at the end. */
  readonly runsTasks?: boolean;
  /** The test says when the host passes on the result, with `sendResult`. */
  readonly holdsResult?: boolean;
  /** Declares that the user can be asked. */
  readonly asksUser?: boolean;
  readonly protocol?: "legacy" | "modern";
}

/** The chat in the page. */
export interface PageChat {
  readonly openedLinks: readonly string[];
  readonly modelContext: readonly unknown[];
  /** Calls generate_video and mounts its card, which is told the input and the result. */
  generate(args: Record<string, unknown>, options: ChatOptions): Promise<void>;
  /** Passes on the result that was held, or another one in its place. */
  sendResult(instead?: CallToolResult): Promise<void>;
  /** Tells the card that its call was cancelled. */
  sendCancelled(): Promise<void>;
  /** Publishes from the chat, as a model does. */
  publish(jobId: string, platform: string): Promise<void>;
  /** A request to the server and its answer: what was sent before is at the server then. */
  roundTrip(): Promise<void>;
  changeContext(context: McpUiHostContext): void;
  tearDown(): Promise<void>;
  receiveFromServer(message: JSONRPCMessage): void;
}
