// The job subscriptions of one connection, in both protocols. resources/subscribe is a legacy request. The
// SDK answers and routes the modern subscriptions/listen by itself: the transport shows the acknowledgement
// going out and the cancellation coming in. Knows nothing of how jobs are polled.

import {
  type JSONRPCMessage,
  type McpServer,
  ResourceNotFoundError,
  SUBSCRIPTION_ID_META_KEY,
} from "@modelcontextprotocol/server";
import { jobIdOf } from "../service/job.ts";
import type { Unsubscribe } from "../jobs/job-book.ts";
import { hasEnded } from "../jobs/job-record.ts";
import type { Application } from "./application.ts";
import { CATALOG_URI } from "./resources.ts";
import { valueAt } from "./value-at.ts";
import type { Hook } from "./transport.ts";

/** A legacy client has one subscription per URI, a modern one any number, each with an id and many URIs. */
type SubscriptionKey = `uri:${string}` | `listen:${string}`;

const MAX_REMEMBERED_ENDS = 2_000;

export class Subscriptions {
  readonly #application: Application;
  /** Functions that end the following, by key and then by URI. A listen is followed once the SDK accepts it. */
  readonly #subscriptions = new Map<SubscriptionKey, Map<string, Unsubscribe>>();
  /**
   * Keys and URIs under which the client was notified of the end, oldest first. A legacy client has one key
   * per URI: one that subscribes anew with every update would otherwise do so for ever.
   */
  readonly #endNotified = new Set<string>();
  readonly #stopListening: Unsubscribe;
  /** Sends the notifications; undefined before the client has connected and after the end. */
  #server: McpServer | undefined;

  constructor(application: Application) {
    this.#application = application;
    this.#stopListening = application.jobs.on("change", (jobId) => this.#notify(jobId));
  }

  /** Serves resources/subscribe on a server of this connection, which also sends the notifications. */
  attach(mcpServer: McpServer): void {
    this.#server = mcpServer;
    mcpServer.server.setRequestHandler("resources/subscribe", ({ params: { uri } }) => {
      // The catalog never changes.
      if (uri === CATALOG_URI) return {};
      const jobId = jobIdOf(uri);
      if (jobId === undefined) throw new ResourceNotFoundError(uri);
      this.#open(`uri:${uri}`);
      this.#subscribe(`uri:${uri}`, uri, jobId);
      return {};
    });
    mcpServer.server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
      this.#unsubscribe(`uri:${uri}`);
      return {};
    });
  }

  /** Hooks for the transport. They follow the listens, which the SDK answers by itself. */
  get hooks(): Readonly<Record<string, Hook>> {
    return {
      "subscriptions/listen": {
        inbound: (message) => {
          if (!("id" in message)) return;
          this.#unsubscribe(listenKey(message.id));
          this.#open(listenKey(message.id));
        },
        // It is answered when it ends or is refused.
        answered: (id) => this.#unsubscribe(listenKey(id)),
      },
      "notifications/cancelled": {
        // It may overtake the acknowledgement, since the SDK handles one message after the other.
        inbound: (message) => {
          this.#unsubscribe(listenKey(valueAt(message, "params", "requestId")));
        },
      },
      "notifications/subscriptions/acknowledged": {
        outbound: (message) => {
          const key = listenKey(valueAt(message, "params", "_meta", SUBSCRIPTION_ID_META_KEY));
          for (const uri of urisOf(message)) {
            const jobId = jobIdOf(uri);
            if (jobId !== undefined) this.#subscribe(key, uri, jobId);
          }
        },
      },
    };
  }

  /** Ends all subscriptions of the connection. */
  close(): void {
    for (const key of Array.from(this.#subscriptions.keys())) this.#unsubscribe(key);
    this.#stopListening();
    this.#server = undefined;
  }

  /**
   * Notifies all subscribers of a job; the end is sent once per subscription. The exception: the SDK sends an
   * update to every listen that names the URI, so one that was notified is notified again with a later one.
   */
  #notify(jobId: string): void {
    const done = hasEnded(this.#application.jobs.get(jobId));
    const uris = new Set<string>();
    for (const [key, byUri] of this.#subscriptions) {
      for (const uri of byUri.keys()) {
        const subscription = `${key} ${uri}`;
        if (jobIdOf(uri) !== jobId || this.#endNotified.has(subscription)) continue;
        if (done) this.#endNotified.add(subscription);
        uris.add(uri);
      }
    }
    for (const oldest of this.#endNotified) {
      if (this.#endNotified.size <= MAX_REMEMBERED_ENDS) break;
      this.#endNotified.delete(oldest);
    }
    for (const uri of uris)
      this.#server?.server
        .sendResourceUpdated({ uri })
        .catch((error: unknown) => this.#application.log.debug("A notification was not sent.", error));
  }

  /** A legacy client that subscribes again keeps its subscription. */
  #open(key: SubscriptionKey): void {
    if (!this.#subscriptions.has(key)) this.#subscriptions.set(key, new Map());
  }

  /** Subscribing again only restarts polling that had ended. */
  #subscribe(key: SubscriptionKey, uri: string, jobId: string): void {
    const { jobs, poller } = this.#application;
    const byUri = this.#subscriptions.get(key);
    // A listen may have been cancelled before the SDK accepted it.
    if (byUri === undefined) return;
    const unfollowBefore = byUri.get(uri);
    byUri.set(uri, poller.follow(jobId));
    unfollowBefore?.();
    // A subscriber after the end may have read an older state: it is notified, but after its own response.
    if (hasEnded(jobs.get(jobId))) setImmediate(() => this.#notify(jobId));
  }

  #unsubscribe(key: SubscriptionKey): void {
    for (const unfollow of this.#subscriptions.get(key)?.values() ?? []) unfollow();
    this.#subscriptions.delete(key);
  }
}

/** The URIs that a listen, or its acknowledgement, names. */
function urisOf(message: JSONRPCMessage): string[] {
  const uris = valueAt(message, "params", "notifications", "resourceSubscriptions");
  return Array.isArray(uris) ? uris.map(String) : [];
}

/** Writes the id as JSON, since a string and a number are two ids. */
function listenKey(id: unknown): SubscriptionKey {
  return `listen:${JSON.stringify(id)}`;
}
