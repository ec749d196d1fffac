// Honours the standard's Idempotency-Key (draft-ietf-httpapi-idempotency-key-header-07): a request whose key comes again
// is answered as the first one was. A refused request has done nothing, so its key stays free.

import type { Reply } from "./http-message.ts";
import { ServiceError } from "./service-error.ts";

export class IdempotencyKeys {
  /** The first request with each key, as JSON, and its reply; undefined while it still runs. */
  readonly #first = new Map<string, { readonly request: string; readonly reply: Reply } | undefined>();

  /** Reads a request and carries it out, unless its key has come before. */
  async answer(
    key: string | undefined,
    read: () => Promise<unknown>,
    carryOut: (given: unknown) => Reply,
  ): Promise<Reply> {
    if (key === undefined) return carryOut(await read());
    const isFirst = !this.#first.has(key);
    if (isFirst) this.#first.set(key, undefined);
    try {
      const given = await read();
      const request = JSON.stringify(given);
      if (isFirst) this.#first.set(key, { request, reply: carryOut(given) });
      const first = this.#first.get(key);
      if (first === undefined)
        throw new ServiceError(409, "in_progress", "The first request with this Idempotency-Key still runs.");
      if (first.request !== request)
        throw new ServiceError(422, "key_reused", "This Idempotency-Key came with another request before.");
      return first.reply;
    } catch (error) {
      if (isFirst) this.#first.delete(key);
      throw error;
    }
  }
}
