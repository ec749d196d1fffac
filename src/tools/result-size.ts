// Keeps a result small enough for a model: undocumented fields go first, then the ends of its lists. Pure.

import { DOCUMENTED_FIELDS } from "../service/fields.ts";

/** The largest result of a tool, in bytes of JSON. */
export const MAX_RESULT_BYTES = 50_000;

/** How many items are missing at the end of each list. */
export type Truncation = ReadonlyMap<string, number>;

/** The value itself if its JSON has at most `maxBytes`, else a copy that has. */
export function truncateToFit<Value extends Record<string, unknown>>(
  value: Value,
  maxBytes: number,
): { readonly value: Value; readonly truncation?: Truncation } {
  if (bytesOf(value) <= maxBytes) return { value };
  const copy = structuredClone(value);
  dropUndocumented(copy);
  const truncation = new Map<string, number>();
  let excess = bytesOf(copy) - maxBytes;
  for (const [name, list] of Object.entries<unknown>(copy))
    for (let missing = 1; excess > 0 && Array.isArray(list) && list.length > 0; missing += 1) {
      excess -= bytesOf(list.pop()) + 1;
      truncation.set(name, missing);
    }
  return { value: copy, truncation };
}

function dropUndocumented(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  for (const [name, field] of Object.entries<unknown>({ ...value })) {
    if (Array.isArray(value) || DOCUMENTED_FIELDS.has(name)) dropUndocumented(field);
    else Reflect.deleteProperty(value, name);
  }
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? "");
}
