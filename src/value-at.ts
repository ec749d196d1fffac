/** Reads the value at the end of a path into a message; undefined if there is no such path. */
export function valueAt(message: unknown, ...path: readonly string[]): unknown {
  let value = message;
  for (const name of path)
    value = typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
  return value ?? undefined;
}

/** Undefined if the text isn't JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The objects and lists that may be within each other, so that no walk runs out of stack. */
export const MAX_LEVELS = 50;

/** Copies a JSON value with its texts changed, without what is nested too deep. */
export function mapTexts(value: unknown, change: (text: string) => string, levels = MAX_LEVELS): unknown {
  if (typeof value === "string") return change(value);
  if (typeof value !== "object" || value === null) return value;
  if (levels === 0) return undefined;
  const copy = (inner: unknown) => mapTexts(inner, change, levels - 1);
  return Array.isArray(value) ? value.map(copy) : mapFields(value, copy);
}

export function mapFields(
  fields: object,
  change: (value: unknown, name: string) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, change(value, name)]));
}
