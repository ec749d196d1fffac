// Honours the standard's Idempotency-Key (draft-ietf-httpapi-idempotency-key-header-07): a request whose key
// comes again is answered as the first one was. A refused request has done nothing, so its key stays free.

import { ServiceError } from "./service-error.ts";

export class IdempotencyKeys {
  /** The first request with each key, as JSON, and its reply; undefined while it still runs. */
  readonly #first = new Map<string, { readonly request: string; readonly reply: Response } | undefined>();

  /** Carries a request out, unless its key has come before. */
  async answer(
    key: string | undefined,
    read: () => Promise<unknown>,
    carryOut: (given: unknown) => Response,
  ): Promise<Response> {
    if (key === undefined) return carryOut(await read());
    if (this.#first.has(key)) return this.#repeat(key, JSON.stringify(await read()));
    this.#first.set(key, undefined);
    try {
      const given = await read();
      const reply = carryOut(given);
      this.#first.set(key, { request: JSON.stringify(given), reply: reply.clone() });
      return reply;
    } catch (error) {
      this.#first.delete(key);
      throw error;
    }
  }

  #repeat(key: string, request: string): Response {
    const first = this.#first.get(key);
    if (first === undefined)
      throw new ServiceError(409, "in_progress", "The first request with this Idempotency-Key still runs.");
    if (first.request === request) return first.reply.clone();
    throw new ServiceError(422, "key_reused", "This Idempotency-Key came with another request before.");
  }
}
