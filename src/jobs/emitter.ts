// A typed emitter for one kind of event. A listener that throws doesn't disturb the others.

/** Ends a subscription; calling it again does nothing. */
export type Unsubscribe = () => void;

/** The side of an emitter that listeners see. */
export interface Subscribable<Payload> {
  on(listener: (payload: Payload) => void): Unsubscribe;
}

export class Emitter<Payload> implements Subscribable<Payload> {
  /** Wrapped, so that the same function can be added twice and removed once. */
  readonly #listeners = new Set<{ readonly call: (payload: Payload) => void }>();

  on(listener: (payload: Payload) => void): Unsubscribe {
    const entry = { call: listener };
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  /** Calls the listeners in the order in which they were added. One that is added meanwhile gets the next event only. */
  emit(payload: Payload): void {
    for (const entry of Array.from(this.#listeners)) {
      if (!this.#listeners.has(entry)) continue;
      try {
        entry.call(payload);
      } catch {
        // Listeners handle their own errors.
      }
    }
  }
}
