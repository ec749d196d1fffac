// Delivers render.completed and render.failed to one address, as documented. Tries again while the answer is
// not 2xx. The signature is not documented: it is made the way of https://www.standardwebhooks.com.

import { createHmac, randomBytes, randomUUID } from "node:crypto";

/** How a render is going to end. */
export interface RenderEnd {
  /** A time of the sandbox's clock. */
  readonly atMs: number;
  readonly event: { readonly type: string; readonly jobId: string; readonly [field: string]: unknown };
}

export interface WebhookOptions {
  /** http or https. */
  readonly url: string;
  /** Gets a line about each attempt to deliver one. */
  readonly onAttempt?: (line: string) => void;
}

const RETRIES = 5;
const FIRST_RETRY_SECONDS = 1;

export class WebhookSender {
  /** Signs deliveries, in the form of Standard Webhooks: `whsec_` and the key in base64. */
  readonly secret: string;
  readonly #key = randomBytes(24);
  readonly #options: WebhookOptions;
  readonly #now: () => number;
  readonly #shutdown = new AbortController();

  constructor(options: WebhookOptions, now: () => number) {
    this.secret = `whsec_${this.#key.toString("base64")}`;
    this.#options = options;
    this.#now = now;
  }

  /** Sends the event when the render ends, and not before its status says so. Never rejects. */
  async deliver({ atMs, event }: RenderEnd): Promise<void> {
    // Timers may be ahead of the clock.
    while (this.#now() < atMs) await pause(atMs - this.#now());
    // Every attempt has the same id, so that the receiver can recognise a repeat.
    const id = `msg_${randomUUID()}`;
    const body = JSON.stringify({ ...event, deliveredAt: new Date(this.#now()).toISOString() });
    for (let retries = 0; !this.#shutdown.signal.aborted; retries++) {
      const outcome = await this.#post(id, body);
      const isLast = /^2\d\d$/.test(outcome) || retries === RETRIES;
      const retryInSeconds = FIRST_RETRY_SECONDS * 2 ** retries;
      const next = isLast ? "" : `, again in ${retryInSeconds} s`;
      this.#options.onAttempt?.(`${event.type} of ${event.jobId}: ${outcome}${next}`);
      if (isLast) return;
      await pause(retryInSeconds * 1000);
    }
  }

  /** Ends everything at once. */
  close(): void {
    this.#shutdown.abort();
  }

  /** Returns the status of the answer, or why there was none. */
  async #post(id: string, body: string): Promise<string> {
    const timestamp = String(Math.floor(this.#now() / 1000));
    const signature = createHmac("sha256", this.#key).update(`${id}.${timestamp}.${body}`).digest("base64");
    try {
      const answer = await fetch(this.#options.url, {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          "webhook-id": id,
          "webhook-timestamp": timestamp,
          "webhook-signature": `v1,${signature}`,
        },
        body,
        redirect: "manual",
        signal: this.#shutdown.signal,
      });
      void answer.body?.cancel();
      return String(answer.status);
    } catch (error) {
      const cause = error instanceof Error ? error.cause : undefined;
      return cause instanceof Error && "code" in cause ? String(cause.code) : "no answer";
    }
  }
}

/** Doesn't keep the process alive. */
function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, delayMs).unref());
}
