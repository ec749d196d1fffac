// Delivers render.completed and render.failed to one address, as documented: again while the answer is not
// 2xx. The signature is not documented: it is made the way of https://www.standardwebhooks.com.

import { createHmac, randomBytes, randomUUID } from "node:crypto";

/** How a render is going to end. */
export interface RenderEnd {
  readonly jobId: string;
  /** A time of the sandbox's clock. */
  readonly endsAtMs: number;
  /** The final video; undefined if the render fails. */
  readonly video?: { readonly url: string; readonly durationSeconds: number };
}

export interface WebhookOptions {
  /** http or https. */
  readonly url: string;
  /** Gets a line about each attempt to deliver one. */
  readonly onAttempt?: (line: string) => void;
  /** Runs `action` later unless the returned function is called first, like setTimeout. */
  readonly after?: (delayMs: number, action: () => void) => () => void;
}

interface Delivery {
  /** The event and its job, for people. */
  readonly name: string;
  /** The same for each attempt, so that the receiver can tell a repeat. */
  readonly id: string;
  readonly body: string;
}

const RETRIES = 5;
const FIRST_RETRY_SECONDS = 1;

export class WebhookSender {
  /** What deliveries are signed with, in the form of Standard Webhooks: `whsec_` and the key in base64. */
  readonly secret = `whsec_${randomBytes(24).toString("base64")}`;
  readonly #options: Required<WebhookOptions>;
  readonly #now: () => number;
  readonly #timers = new Set<() => void>();
  readonly #shutdown = new AbortController();

  constructor(options: WebhookOptions, now: () => number) {
    this.#options = { onAttempt: () => {}, after: timeout, ...options };
    this.#now = now;
  }

  /** Sends the event when the render ends, and not before its status says so. */
  expect(end: RenderEnd): void {
    this.#after(Math.max(0, end.endsAtMs - this.#now()), () => {
      // The clock may go more slowly than timers.
      if (this.#now() < end.endsAtMs) this.expect(end);
      else void this.#send(this.#deliveryOf(end), 0);
    });
  }

  /** Ends everything at once. */
  close(): void {
    for (const cancel of this.#timers) cancel();
    this.#shutdown.abort();
  }

  #deliveryOf({ jobId, video }: RenderEnd): Delivery {
    const type = video === undefined ? "render.failed" : "render.completed";
    const event = {
      type,
      jobId,
      ...(video !== undefined && { videoUrl: video.url, durationSeconds: video.durationSeconds }),
      deliveredAt: new Date(this.#now()).toISOString(),
    };
    return { name: `${type} of ${jobId}`, id: `msg_${randomUUID()}`, body: JSON.stringify(event) };
  }

  async #send(delivery: Delivery, retries: number): Promise<void> {
    const { onAttempt } = this.#options;
    const outcome = await this.#post(delivery);
    if (this.#shutdown.signal.aborted) return;
    const line = `${delivery.name}: ${outcome}`;
    if (/^2\d\d$/.test(outcome) || retries === RETRIES) return onAttempt(line);
    const retryInSeconds = FIRST_RETRY_SECONDS * 2 ** retries;
    onAttempt(`${line}, again in ${retryInSeconds} s`);
    this.#after(retryInSeconds * 1000, () => void this.#send(delivery, retries + 1));
  }

  /** The status of the answer, or why there was none. */
  async #post(delivery: Delivery): Promise<string> {
    try {
      const { status, body } = await fetch(this.#options.url, {
        method: "POST",
        headers: this.#headersOf(delivery),
        body: delivery.body,
        redirect: "manual",
        signal: this.#shutdown.signal,
      });
      void body?.cancel();
      return String(status);
    } catch (error) {
      const cause = error instanceof Error ? error.cause : undefined;
      return cause instanceof Error && "code" in cause ? String(cause.code) : "no answer";
    }
  }

  #headersOf({ id, body }: Delivery): Record<string, string> {
    const timestamp = String(Math.floor(this.#now() / 1000));
    const key = Buffer.from(this.secret.replace(/^whsec_/, ""), "base64");
    const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
    return {
      "Content-Type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": timestamp,
      "webhook-signature": `v1,${signature}`,
    };
  }

  #after(delayMs: number, action: () => void): void {
    const cancel = this.#options.after(delayMs, () => {
      this.#timers.delete(cancel);
      action();
    });
    this.#timers.add(cancel);
  }
}

function timeout(delayMs: number, action: () => void): () => void {
  const timer = setTimeout(action, delayMs).unref();
  return () => clearTimeout(timer);
}
