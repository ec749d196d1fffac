/** Reads the value at the end of a path into a message; undefined if there is no such path. */
export function valueAt(message: unknown, ...path: readonly string[]): unknown {
  let value = message;
  for (const name of path)
    value = typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
  return value ?? undefined;
}
