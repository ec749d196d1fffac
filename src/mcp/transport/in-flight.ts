// The books of one connection: which requests each side waits for, and which answers of a batch leave together.
// Counts and keeps; writes nothing itself.

import type { RequestId } from "@modelcontextprotocol/server";

/** The answers to one batch, which leave as one array when no member is open. */
export interface Batch {
  /** One more member that may be answered. */
  open(): void;
  /** A member that needs no more waiting, with its answer if it gets one. */
  close(answer?: string): void;
}

export function createBatch(write: (line: string) => void): Batch {
  const answers: string[] = [];
  let openMembers = 0;
  return {
    open() {
      openMembers += 1;
    },
    close(answer) {
      if (answer !== undefined) answers.push(answer);
      openMembers -= 1;
      if (openMembers === 0 && answers.length > 0) write(`[${answers.join(",")}]`);
    },
  };
}

/** A request of the client. */
export interface Pending {
  method: string;
  batch: Batch | undefined;
}

export interface InFlight {
  /** The client asked. */
  add(id: RequestId, pending: Pending): void;
  has(id: RequestId, pending: Pending): boolean;
  /** The client's request is answered, or never will be. Undefined if nothing is open under that id. */
  settle(id: unknown): Pending | undefined;
  count(): number;
  /** Whether an `initialize` is unanswered. */
  isInitializing(): boolean;
  /** The server asked. */
  ask(id: RequestId): void;
  /** The client answered, or the server gave up waiting. */
  stopAsking(id: unknown): void;
  isAsking(): boolean;
}

export function createInFlight(): InFlight {
  // A list for an id, because nothing keeps a client from using one twice.
  const requests = new Map<unknown, Pending[]>();
  const asked = new Set<unknown>();
  let count = 0;
  let initializing = 0;
  return {
    add(id, pending) {
      requests.set(id, [...(requests.get(id) ?? []), pending]);
      count += 1;
      if (pending.method === "initialize") initializing += 1;
    },
    has: (id, pending) => requests.get(id)?.includes(pending) ?? false,
    settle(id) {
      const [pending, ...others] = requests.get(id) ?? [];
      if (pending === undefined) return undefined;
      if (others.length > 0) requests.set(id, others);
      else requests.delete(id);
      count -= 1;
      if (pending.method === "initialize") initializing -= 1;
      return pending;
    },
    count: () => count,
    isInitializing: () => initializing > 0,
    ask(id) {
      asked.add(id);
    },
    stopAsking(id) {
      asked.delete(id);
    },
    isAsking: () => asked.size > 0,
  };
}
