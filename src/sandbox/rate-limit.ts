// The account's rate limit: a fixed window of one minute from its first request, and the headers for it.
// Knows nothing of HTTP beyond those headers.

import { rateLimited } from "./service-error.ts";

const WINDOW_MS = 60_000;

export class RateLimit {
  readonly #requestsPerMinute: number;
  readonly #now: () => number;
  /** Epoch milliseconds. Once it has passed, the next request or header begins a new window. */
  #windowEndsAtMs = 0;
  #used = 0; // requests acquired in this window

  constructor(requestsPerMinute: number, now: () => number) {
    this.#requestsPerMinute = requestsPerMinute;
    this.#now = now;
  }

  /** Counts one request. Throws the 429 if none is left in this window. */
  acquire(): void {
    this.#renewWindow();
    if (this.#used >= this.#requestsPerMinute) throw rateLimited(this.#windowEndsAtMs - this.#now());
    this.#used += 1;
  }

  /** The X-RateLimit-* headers of every response. Reset is in epoch seconds. */
  headers(): Record<string, string> {
    this.#renewWindow();
    return {
      "X-RateLimit-Limit": String(this.#requestsPerMinute),
      "X-RateLimit-Remaining": String(this.#requestsPerMinute - this.#used),
      "X-RateLimit-Reset": String(Math.ceil(this.#windowEndsAtMs / 1000)),
    };
  }

  #renewWindow(): void {
    const nowMs = this.#now();
    if (nowMs < this.#windowEndsAtMs) return;
    this.#windowEndsAtMs = nowMs + WINDOW_MS;
    this.#used = 0;
  }
}
