// Who on this connection listens to which job, in both protocol eras. resources/subscribe is a request of the older one; of
// subscriptions/listen, which the SDK answers and routes by itself, the transport shows the acknowledgement going out and
// the cancellation coming in. Polling starts and stops with them.

import {
  type JSONRPCMessage,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
} from "@modelcontextprotocol/server";
import { describeFailure, toBridgeError } from "../errors.ts";
import type { Unsubscribe } from "../jobs/emitter.ts";
import { isJobId } from "../tools/arguments.ts";
import type { Application } from "./application.ts";
import { CATALOG_URI } from "./resources.ts";
import { errorMeta } from "./tool-result.ts";
import { subscriptionIdOf } from "./wire-messages.ts";

export interface Subscriptions {
  /** Serves resources/subscribe on a server of this connection, and sends the connection's notifications through it. */
  attach(server: McpServer): void;
  onInbound(message: JSONRPCMessage): void;
  onOutbound(message: JSONRPCMessage): void;
  /** Ends all of them. */
  close(): void;
}

/** The older era has one subscription a URI, the newer one has any number, each under an id and with many URIs. */
type Holder = `uri:${string}` | `listen:${string}`;

interface Held {
  readonly jobId: string;
  readonly unwatch: Unsubscribe;
  heardEnd: boolean;
}

/** Ends that are remembered after their subscription. */
const MOST_TOLD = 2_000;

export function createSubscriptions({ jobs, watcher, log }: Application): Subscriptions {
  const held = new Map<Holder, Map<string, Held>>();
  /** Listens that the SDK has not acknowledged yet. */
  const opening = new Set<Holder>();
  /**
   * URIs of the older era whose end was told to a subscription that is over: the connection has heard of it, and one that
   * subscribes anew with every update that it hears of must not go round for ever.
   */
  const told = new Set<string>();
  let server: McpServer | undefined;

  const unsent = (error: unknown) => log.debug("A notification was not sent.", error);

  /**
   * Tells everyone who listens to the job. Of its end nobody twice, unless a listen to the same URI came after it: the SDK
   * sends an update to all of them, and one that hears it again loses less than one that never does.
   */
  const tell = (jobId: string) => {
    const done = jobs.get(jobId)?.job?.done === true;
    const uris = new Set<string>();
    for (const subscribed of held.values()) {
      for (const [uri, entry] of subscribed) {
        if (entry.jobId !== jobId || (done && entry.heardEnd)) continue;
        entry.heardEnd = done;
        uris.add(uri);
      }
    }
    for (const uri of uris) server?.server.sendResourceUpdated({ uri }).catch(unsent);
  };

  const stopHearing = [
    jobs.changes.listen(tell),
    jobs.starts.listen(() => void server?.server.sendResourceListChanged().catch(unsent)),
  ];

  const keep = (holder: Holder, uri: string, jobId: string, unwatch: Unsubscribe) => {
    const subscribed = held.get(holder) ?? new Map<string, Held>();
    const before = subscribed.get(uri);
    subscribed.set(uri, { jobId, unwatch, heardEnd: before?.heardEnd ?? told.delete(uri) });
    held.set(holder, subscribed);
    before?.unwatch();
  };

  /** Throws what `watch` throws. Doing it again polls again where polling had ended, and changes nothing else. */
  const hold = (holder: Holder, uri: string, jobId: string) => {
    keep(holder, uri, jobId, watcher.watch(jobId, { awaited: false }));
    // Who comes after the end hears of it too: what they read before may be older. Not before their own answer is out.
    if (jobs.get(jobId)?.job?.done === true) setImmediate(tell, jobId);
  };

  const release = (holder: Holder) => {
    for (const [uri, { unwatch, heardEnd }] of held.get(holder) ?? []) {
      unwatch();
      if (heardEnd && holder === uriHolder(uri)) told.add(uri);
    }
    held.delete(holder);
    const [oldest] = told;
    if (oldest !== undefined && told.size > MOST_TOLD) told.delete(oldest);
  };

  /** The newer era has no way to turn down one job of a subscription: the refusal is what the subscriber then reads. */
  const holdOrSay = (holder: Holder, uri: string) => {
    const jobId = jobIdOf(uri);
    if (jobId === undefined) return;
    try {
      hold(holder, uri, jobId);
    } catch (error) {
      const { message } = toBridgeError(error, "not_sent");
      log.warn(`${uri} is not watched: ${message}`);
      keep(holder, uri, jobId, () => {});
      setImmediate(() => jobs.endWatch(jobId, `Not watched: ${message}`));
    }
  };

  return {
    attach(attached) {
      server = attached;
      attached.server.setRequestHandler("resources/subscribe", ({ params: { uri } }) => {
        const jobId = jobIdOf(uri);
        // The catalog never changes.
        if (uri === CATALOG_URI) return {};
        if (jobId === undefined) throw new ResourceNotFoundError(uri);
        try {
          hold(uriHolder(uri), uri, jobId);
        } catch (error) {
          const failure = toBridgeError(error, "not_sent");
          throw new ProtocolError(ProtocolErrorCode.InternalError, describeFailure(failure, "reads"), {
            uri,
            "faceless/error": errorMeta(failure),
          });
        }
        return {};
      });
      attached.server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
        release(uriHolder(uri));
        return {};
      });
    },

    onInbound(message) {
      if (!("method" in message)) return;
      if (message.method === "subscriptions/listen" && "id" in message) opening.add(listenHolder(message.id));
      if (message.method !== "notifications/cancelled") return;
      const holder = listenHolder(message.params?.["requestId"]);
      // It may overtake the acknowledgement, for the SDK takes one message after the other.
      opening.delete(holder);
      release(holder);
    },

    onOutbound(message) {
      if ("method" in message) {
        if (message.method !== "notifications/subscriptions/acknowledged") return;
        const holder = listenHolder(subscriptionIdOf(message));
        if (!opening.delete(holder)) return;
        for (const uri of acknowledgedUris(message.params)) holdOrSay(holder, uri);
      } else if ("id" in message) {
        // The answer to a listen is its end, or its refusal.
        const holder = listenHolder(message.id);
        opening.delete(holder);
        release(holder);
      }
    },

    close() {
      for (const holder of Array.from(held.keys())) release(holder);
      for (const stop of stopHearing) stop();
      server = undefined;
    },
  };
}

function uriHolder(uri: string): Holder {
  return `uri:${uri}`;
}

/** As JSON, since a string and a number are two ids. */
function listenHolder(id: unknown): Holder {
  return `listen:${JSON.stringify(id)}`;
}

function acknowledgedUris(params: Record<string, unknown> | undefined): string[] {
  const honoured = params?.["notifications"];
  if (typeof honoured !== "object" || honoured === null || !("resourceSubscriptions" in honoured)) return [];
  const uris: unknown = honoured.resourceSubscriptions;
  return Array.isArray(uris) ? uris.filter((uri) => typeof uri === "string") : [];
}

const JOB_URI = /^faceless:\/\/jobs\/([^/?#]+)$/;

function jobIdOf(uri: string): string | undefined {
  const jobId = JOB_URI.exec(uri)?.[1];
  return jobId !== undefined && isJobId(jobId) ? jobId : undefined;
}
