// For mutation testing: what is made once on first use is made anew for each test. Otherwise only the test that
// happens to be the first one runs a bug that is planted there.

import { beforeEach, vi } from "vitest";

const forgets = vi.hoisted(() => new Set<() => void>());

vi.mock(import("../../../src/lazy.ts"), async (original) => ({
  ...(await original()),
  lazyValue<Value>(make: () => Value): () => Value {
    let made: { readonly value: Value } | undefined;
    forgets.add(() => (made = undefined));
    return () => (made ??= { value: make() }).value;
  },
}));

beforeEach(() => {
  for (const forget of forgets) forget();
});
