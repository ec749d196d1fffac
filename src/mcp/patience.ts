// How long a call may wait, by the client that makes it: most clients give up on a call after a minute, and some
// were measured to wait for four.

import { CLIENT_INFO_META_KEY, type JSONRPCMessage } from "@modelcontextprotocol/server";
import { USUAL_WAIT_SECONDS } from "../tools/tool.ts";
import type { Hook } from "./transport.ts";
import { valueAt } from "./value-at.ts";

const LONG_WAIT_SECONDS = 240;
/** By the names that they give: do they wait only while they get progress? */
const PATIENT_CLIENTS: ReadonlyMap<unknown, boolean> = new Map([
  ["claude-code", false],
  ["codex-mcp-client", false],
  ["gemini-cli-mcp-client", false],
  ["copilot-cli", true],
  ["opencode", true],
]);

export function maxWaitSeconds(clientName: unknown, getsProgress: boolean): number {
  const needsProgress = PATIENT_CLIENTS.get(clientName);
  return needsProgress === false || (needsProgress === true && getsProgress)
    ? LONG_WAIT_SECONDS
    : USUAL_WAIT_SECONDS;
}

/** Hooks that list the longer wait to the clients that have the patience. `onListed` is called with each list. */
export function patienceHooks(onListed: () => void): Readonly<Record<string, Hook>> {
  let clientName: unknown;
  const rememberName = (message: JSONRPCMessage) => {
    if (!("method" in message)) return undefined;
    const { params } = message;
    // A legacy client gives its name once, a modern one with each request.
    clientName =
      valueAt(params, "clientInfo", "name") ??
      valueAt(params, "_meta", CLIENT_INFO_META_KEY, "name") ??
      clientName;
    return undefined;
  };
  return {
    initialize: { inbound: rememberName },
    "tools/list": {
      inbound: rememberName,
      answered(_id, answer) {
        onListed();
        const seconds = maxWaitSeconds(clientName, true);
        return seconds === USUAL_WAIT_SECONDS ? undefined : withWait(answer, seconds);
      },
    },
  };
}

/** The list of tools with this maximum of `waitSeconds`. */
function withWait(answer: JSONRPCMessage, seconds: number): JSONRPCMessage {
  const changed = structuredClone(answer);
  const tools = valueAt(changed, "result", "tools");
  for (const tool of Array.isArray(tools) ? tools : []) {
    const argument = valueAt(tool, "inputSchema", "properties", "waitSeconds");
    const description = valueAt(argument, "description");
    if (typeof argument === "object" && argument !== null && typeof description === "string")
      Object.assign(argument, {
        maximum: seconds,
        description: description.replace(String(USUAL_WAIT_SECONDS), String(seconds)),
      });
  }
  return changed;
}
