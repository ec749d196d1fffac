// What the transport reads off single JSON-RPC messages, and the errors it makes itself. Pure.

import { SUBSCRIPTION_ID_META_KEY } from "@modelcontextprotocol/server";
import type { RequestId } from "@modelcontextprotocol/server";

export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const INTERNAL_ERROR = -32603;

/** The SDK's type of an error has no null id, which JSON-RPC asks for where the id can't be known. */
export interface ErrorAnswer {
  jsonrpc: "2.0";
  id: RequestId | null;
  error: { code: number; message: string };
}

export function errorAnswer(id: RequestId | null, code: number, message: string): ErrorAnswer {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

/** Whether it is meant as a response, valid or not. Such a thing is never answered: two peers would talk for ever. */
export function isAnswerLike(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.hasOwn(value, "result") || Object.hasOwn(value, "error");
}

/** An id that goes back as it came: a larger integer was rounded by JSON.parse. */
export function usableId(value: unknown): RequestId | null {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, "id")) return null;
  const id: unknown = Reflect.get(value, "id");
  return typeof id === "string" || (typeof id === "number" && Number.isSafeInteger(id)) ? id : null;
}

interface WithParams {
  params?: { [key: string]: unknown } | undefined;
}

export function subscriptionIdOf({ params }: WithParams): unknown {
  const meta = params?.["_meta"];
  return typeof meta === "object" && meta !== null ? Reflect.get(meta, SUBSCRIPTION_ID_META_KEY) : undefined;
}

/** Notifications of one key say only that something changed, so the latest says it all. */
export function coalescingKey(message: WithParams & { method: string }): string | undefined {
  const { method, params } = message;
  if (method === "notifications/resources/updated") {
    return JSON.stringify([method, params?.["uri"], subscriptionIdOf(message)]);
  }
  if (method === "notifications/resources/list_changed") {
    return JSON.stringify([method, subscriptionIdOf(message)]);
  }
  return undefined;
}
