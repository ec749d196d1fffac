// The job subscriptions of one connection, in both protocol versions. resources/subscribe is a request of the legacy protocol. Of
// subscriptions/listen, which the SDK answers and routes by itself, the transport shows the acknowledgement going out and the
// cancellation coming in. Knows nothing of how jobs are polled.

import { type McpServer, ResourceNotFoundError } from "@modelcontextprotocol/server";
import { jobIdOf } from "../jobs/job.ts";
import type { Unsubscribe } from "../jobs/job-store.ts";
import type { Application } from "./application.ts";
import { CATALOG_URI } from "./resources.ts";
import { subscriptionIdOf } from "./transport/json-rpc.ts";
import type { Hook } from "./transport/stdio-transport.ts";

/** The legacy protocol has one subscription per URI, the modern one any number, each under an id and with many URIs. */
type SubscriptionKey = `uri:${string}` | `listen:${string}`;

interface Subscription {
  readonly jobId: string;
  readonly unwatch: Unsubscribe;
  /** Whether the client was notified of the job's end under this subscription. */
  endNotified: boolean;
}

const MAX_REMEMBERED_ENDS = 2_000;

export class Subscriptions {
  readonly #application: Application;
  /** By key, and below that by URI. */
  readonly #subscriptions = new Map<SubscriptionKey, Map<string, Subscription>>();
  /** Listens that the SDK has not acknowledged yet. */
  readonly #opening = new Set<SubscriptionKey>();
  /**
   * URIs of ended legacy subscriptions whose end was notified. A new subscription to one is not notified again: a client that
   * subscribes anew with every update would do so for ever.
   */
  readonly #endNotifiedUris = new Set<string>();
  readonly #stopListening: Unsubscribe;
  /** Sends the notifications; undefined before the client has connected and after the end. */
  #server: McpServer | undefined;

  constructor(application: Application) {
    this.#application = application;
    this.#stopListening = application.jobs.on("change", (jobId) => this.#notify(jobId));
  }

  /** Serves resources/subscribe on a server of this connection, and sends the connection's notifications through it. */
  attach(mcpServer: McpServer): void {
    this.#server = mcpServer;
    mcpServer.server.setRequestHandler("resources/subscribe", ({ params: { uri } }) => {
      // The catalog never changes.
      if (uri === CATALOG_URI) return {};
      const jobId = jobIdOf(uri);
      if (jobId === undefined) throw new ResourceNotFoundError(uri);
      this.#subscribe(uriKey(uri), uri, jobId);
      return {};
    });
    mcpServer.server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
      this.#unsubscribe(uriKey(uri));
      return {};
    });
  }

  /** The SDK answers and routes subscriptions/listen by itself. */
  get hooks(): Readonly<Record<string, Hook>> {
    const end = (key: SubscriptionKey) => {
      this.#opening.delete(key);
      this.#unsubscribe(key);
    };
    return {
      "subscriptions/listen": {
        inbound: (message) => {
          if ("id" in message) this.#opening.add(listenKey(message.id));
        },
        // Its answer is its end, or its refusal.
        answered: (id) => end(listenKey(id)),
      },
      "notifications/cancelled": {
        // The cancellation may overtake the acknowledgement, since the SDK handles one message after the other.
        inbound: (message) => {
          if ("method" in message) end(listenKey(message.params?.["requestId"]));
        },
      },
      "notifications/subscriptions/acknowledged": {
        outbound: (message) => {
          if (!("method" in message)) return;
          const key = listenKey(subscriptionIdOf(message));
          if (!this.#opening.delete(key)) return;
          for (const uri of acknowledgedUris(message.params)) {
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
   * Notifies all subscribers of a job; the end is sent once per subscription. The exception: the SDK sends an update to every
   * listen that names the URI, so a listen that was notified before is notified again with a later one.
   */
  #notify(jobId: string): void {
    const done = this.#application.jobs.get(jobId)?.job?.done === true;
    const uris = new Set<string>();
    for (const byUri of this.#subscriptions.values()) {
      for (const [uri, subscription] of byUri) {
        if (subscription.jobId !== jobId || (done && subscription.endNotified)) continue;
        subscription.endNotified = done;
        uris.add(uri);
      }
    }
    for (const uri of uris)
      this.#server?.server
        .sendResourceUpdated({ uri })
        .catch((error: unknown) => this.#application.log.debug("A notification was not sent.", error));
  }

  /** Subscribing again only polls again where polling had ended. */
  #subscribe(key: SubscriptionKey, uri: string, jobId: string): void {
    const { jobs, poller, savedVideos } = this.#application;
    const byUri = this.#subscriptions.get(key) ?? new Map<string, Subscription>();
    const before = byUri.get(uri);
    const endNotified = before?.endNotified ?? this.#endNotifiedUris.delete(uri);
    byUri.set(uri, { jobId, unwatch: poller.watch(jobId), endNotified });
    this.#subscriptions.set(key, byUri);
    before?.unwatch();
    savedVideos.saveWhenFinished(jobId);
    // A subscriber that comes after the end may have read an older state, so it is notified, but not before its own response.
    if (jobs.get(jobId)?.job?.done === true) setImmediate(() => this.#notify(jobId));
  }

  #unsubscribe(key: SubscriptionKey): void {
    for (const [uri, { unwatch, endNotified }] of this.#subscriptions.get(key) ?? []) {
      unwatch();
      if (endNotified && key === uriKey(uri)) this.#endNotifiedUris.add(uri);
    }
    this.#subscriptions.delete(key);
    const [oldest] = this.#endNotifiedUris;
    if (oldest !== undefined && this.#endNotifiedUris.size > MAX_REMEMBERED_ENDS)
      this.#endNotifiedUris.delete(oldest);
  }
}

function uriKey(uri: string): SubscriptionKey {
  return `uri:${uri}`;
}

/** As JSON, since a string and a number are two ids. */
function listenKey(id: unknown): SubscriptionKey {
  return `listen:${JSON.stringify(id)}`;
}

function acknowledgedUris(params: Record<string, unknown> | undefined): string[] {
  const acknowledged = params?.["notifications"];
  if (typeof acknowledged !== "object" || acknowledged === null) return [];
  if (!("resourceSubscriptions" in acknowledged)) return [];
  const uris: unknown = acknowledged.resourceSubscriptions;
  return Array.isArray(uris) ? uris.filter((uri) => typeof uri === "string") : [];
}
