// One way to load or compute something on first use. Knows nothing of what is loaded.

/** Calls `load` once and shares its promise. A failure is forgotten: the next call loads again. */
export function lazy<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let loading: Promise<Value> | undefined;
  return () =>
    (loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    }));
}

/** Calls `make` once and shares its value. */
export function lazyValue<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
