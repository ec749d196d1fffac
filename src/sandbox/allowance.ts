// The rate limit: a fixed one-minute window for each key, begun by the key's first request, and the headers that tell of it.
import { rateLimited } from "./service-error.ts";

export interface Allowance {
  /** Counts one request; throws the 429 where none was left. */
  take(key: string): void;
  /** The X-RateLimit-* headers as they stand. Reset is in epoch seconds. */
  headers(key: string): Record<string, string>;
}

interface RateWindow {
  readonly endsAtMs: number;
  used: number;
}

const windowMs = 60_000;

export function createAllowance(requestsPerMinute: number, now: () => number): Allowance {
  const windows = new Map<string, RateWindow>();

  function current(key: string): RateWindow {
    const open = windows.get(key);
    if (open !== undefined && now() < open.endsAtMs) return open;
    const fresh = { endsAtMs: now() + windowMs, used: 0 };
    windows.set(key, fresh);
    return fresh;
  }

  return {
    take(key) {
      const window = current(key);
      if (window.used >= requestsPerMinute) throw rateLimited(Math.ceil((window.endsAtMs - now()) / 1000));
      window.used += 1;
    },
    headers(key) {
      const window = current(key);
      return {
        "X-RateLimit-Limit": String(requestsPerMinute),
        "X-RateLimit-Remaining": String(requestsPerMinute - window.used),
        "X-RateLimit-Reset": String(Math.ceil(window.endsAtMs / 1000)),
      };
    },
  };
}
