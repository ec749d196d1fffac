// Tells listeners, none of whom can disturb another.

/** Ends a subscription; calling it again does nothing. */
export type Unsubscribe = () => void;

export interface Announcer<Event> {
  listen(listener: (event: Event) => void): Unsubscribe;
  announce(event: Event): void;
}

export function createAnnouncer<Event>(): Announcer<Event> {
  // Wrapped, so that the same function may listen twice and each ends by itself.
  const listeners = new Set<{ hear: (event: Event) => void }>();
  return {
    listen(listener) {
      const entry = { hear: listener };
      listeners.add(entry);
      return () => void listeners.delete(entry);
    },
    announce(event) {
      // A copy: who comes or goes meanwhile does so for the next event.
      for (const entry of Array.from(listeners)) {
        try {
          if (listeners.has(entry)) entry.hear(event);
        } catch {
          // A listener's own affair.
        }
      }
    },
  };
}
