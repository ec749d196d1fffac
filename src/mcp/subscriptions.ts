// The job subscriptions of one connection, in both protocols. resources/subscribe is a legacy request. The SDK
// answers and routes the modern subscriptions/listen by itself: the transport shows what comes in and goes out.
// Knows nothing of how jobs are polled.

import { type McpServer, ResourceNotFoundError } from "@modelcontextprotocol/server";
import { jobIdOf } from "../service/job.ts";
import type { Unsubscribe } from "../jobs/job-book.ts";
import { hasEnded } from "../jobs/job-record.ts";
import type { Application } from "./application.ts";
import { CATALOG_URI } from "./resources.ts";
import type { Hook } from "./transport.ts";
import { valueAt } from "../value-at.ts";

interface Subscription {
  /** A legacy client has one subscription per URI, a modern one any number, each with an id and many URIs. */
  readonly key: string;
  readonly uri: string;
  readonly unfollow: Unsubscribe;
  /** True if the client was notified of the end. */
  notifiedOfEnd: boolean;
}

export class Subscriptions {
  readonly #application: Application;
  #subscriptions: readonly Subscription[] = [];
  readonly #stopListening: Unsubscribe;
  /** Sends the notifications; undefined before the client has connected and after the end. */
  #server: McpServer["server"] | undefined;

  constructor(application: Application) {
    this.#application = application;
    this.#stopListening = application.jobs.on("change", (jobId) => this.#notify(jobId));
  }

  /** Serves resources/subscribe on a server of this connection, which also sends the notifications. */
  attach({ server }: McpServer): void {
    this.#server = server;
    server.setRequestHandler("resources/subscribe", ({ params: { uri } }) => {
      // The catalog never changes.
      if (uri !== CATALOG_URI && !this.#subscribe(`uri:${uri}`, uri)) throw new ResourceNotFoundError(uri);
      return {};
    });
    server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
      this.#unsubscribe(`uri:${uri}`);
      return {};
    });
  }

  /** Hooks for the transport. They follow the listens, which the SDK answers by itself. */
  readonly hooks: Readonly<Record<string, Hook>> = {
    "subscriptions/listen": {
      inbound: (message) => {
        const uris = valueAt(message, "params", "notifications", "resourceSubscriptions");
        if ("id" in message && Array.isArray(uris))
          for (const uri of uris) this.#subscribe(listenKey(message.id), String(uri));
      },
      // A listen is answered when it ends or is refused.
      answered: (id) => this.#unsubscribe(listenKey(id)),
    },
    "notifications/cancelled": {
      inbound: (message) => {
        this.#unsubscribe(listenKey(valueAt(message, "params", "requestId")));
      },
    },
  };

  /** Ends all subscriptions of the connection. */
  close(): void {
    for (const { unfollow } of this.#subscriptions) unfollow();
    this.#subscriptions = [];
    this.#stopListening();
    this.#server = undefined;
  }

  /**
   * Notifies all subscribers of a job; the end is sent once per subscription. There is one exception: the SDK sends an
   * update to every listen that names the URI, so an earlier listen is notified again along with a later one.
   */
  #notify(jobId: string): void {
    const { jobs, log } = this.#application;
    // Until the client's request was answered, the SDK would drop an update for it.
    setImmediate(() => {
      const notified = this.#subscriptions.filter((one) => jobIdOf(one.uri) === jobId && !one.notifiedOfEnd);
      for (const subscription of notified) subscription.notifiedOfEnd = hasEnded(jobs.get(jobId));
      for (const uri of new Set(notified.map((one) => one.uri)))
        this.#server
          ?.sendResourceUpdated({ uri })
          .catch((error: unknown) => log.debug("A notification was not sent.", error));
    });
  }

  /** Returns false if the URI isn't a job's. Subscribing again only restarts polling that had ended. */
  #subscribe(key: string, uri: string): boolean {
    const { jobs, poller } = this.#application;
    const jobId = jobIdOf(uri);
    if (jobId === undefined) return false;
    const before = this.#subscriptions.find((one) => one.key === key && one.uri === uri);
    const { notifiedOfEnd = false } = before ?? {};
    const subscription = { key, uri, unfollow: poller.follow(jobId), notifiedOfEnd };
    before?.unfollow();
    this.#subscriptions = [...this.#subscriptions.filter((one) => one !== before), subscription];
    // A subscriber after the end may have read an older state.
    if (hasEnded(jobs.get(jobId))) this.#notify(jobId);
    return true;
  }

  #unsubscribe(key: string): void {
    for (const one of this.#subscriptions) if (one.key === key) one.unfollow();
    this.#subscriptions = this.#subscriptions.filter((one) => one.key !== key);
  }
}

/** Writes the id as JSON, since "1" and 1 are different ids. */
function listenKey(id: unknown): string {
  return `listen:${JSON.stringify(id)}`;
}
