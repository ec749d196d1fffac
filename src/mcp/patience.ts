// How long a call may wait, by the client that makes it: most clients give up on a call after a minute, and some
// were measured to wait for four.

import { waitOf } from "../tools/get-video-status.ts";
import { USUAL_WAIT_SECONDS } from "../tools/tool.ts";
import type { ToolSchema } from "../tools/tool-schemas.ts";
import { valueAt } from "../value-at.ts";

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

/** The arguments of a tool with this maximum of `waitSeconds`, if that is one of them. */
export function withMaxWait(schema: ToolSchema, seconds: number): ToolSchema {
  const { waitSeconds } = schema.properties;
  if (waitSeconds === undefined || seconds === USUAL_WAIT_SECONDS) return schema;
  const properties = { ...schema.properties, waitSeconds: { ...waitSeconds, ...waitOf(seconds) } };
  return { ...schema, properties };
}
