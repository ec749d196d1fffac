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
      else void this.#deliver(end);
    });
  }

  /** Ends everything at once. */
  close(): void {
    for (const cancel of this.#timers) cancel();
    this.#shutdown.abort();
  }

  async #deliver({ jobId, video }: RenderEnd): Promise<void> {
    const { onAttempt } = this.#options;
    const type = video === undefined ? "render.failed" : "render.completed";
    // The same for each attempt, so that the receiver can tell a repeat.
    const id = `msg_${randomUUID()}`;
    const body = JSON.stringify({
      type,
      jobId,
      ...(video !== undefined && { videoUrl: video.url, durationSeconds: video.durationSeconds }),
      deliveredAt: new Date(this.#now()).toISOString(),
    });
    const attempt = async (retries: number): Promise<void> => {
      const outcome = await this.#post(id, body);
      if (this.#shutdown.signal.aborted) return;
      const line = `${type} of ${jobId}: ${outcome}`;
      if (/^2\d\d$/.test(outcome) || retries === RETRIES) return onAttempt(line);
      const retryInSeconds = FIRST_RETRY_SECONDS * 2 ** retries;
      onAttempt(`${line}, again in ${retryInSeconds} s`);
      this.#after(retryInSeconds * 1000, () => void attempt(retries + 1));
    };
    return attempt(0);
  }

  /** The status of the answer, or why there was none. */
  async #post(id: string, body: string): Promise<string> {
    try {
      const answer = await fetch(this.#options.url, {
        method: "POST",
        headers: this.#headersFor(id, body),
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

  #headersFor(id: string, body: string): Record<string, string> {
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
