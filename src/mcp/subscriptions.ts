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
import type { Unsubscribe } from "../jobs/announcer.ts";
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

export function createSubscriptions({ jobs, watcher, log }: Application): Subscriptions {
  const held = new Map<Holder, Map<string, Unsubscribe>>();
  /** URIs whose end this connection has heard of. */
  const heard = new Set<string>();
  let server: McpServer | undefined;

  const notify = (uri: string) => {
    const jobId = jobIdOf(uri);
    if (jobId !== undefined && jobs.get(jobId)?.job?.done === true) {
      if (heard.has(uri)) return;
      heard.add(uri);
    }
    server?.server
      .sendResourceUpdated({ uri })
      .catch((error: unknown) => log.debug("An update was not sent.", error));
  };

  const stopHearing = [
    jobs.changes.listen((jobId) => {
      const uris = new Set<string>();
      for (const subscribed of held.values())
        for (const uri of subscribed.keys()) if (jobIdOf(uri) === jobId) uris.add(uri);
      for (const uri of uris) notify(uri);
    }),
    jobs.starts.listen(() => server?.sendResourceListChanged()),
  ];

  const hold = (holder: Holder, uri: string) => {
    const subscribed = held.get(holder) ?? new Map<string, Unsubscribe>();
    held.set(holder, subscribed);
    if (subscribed.has(uri)) return;
    const jobId = jobIdOf(uri);
    subscribed.set(uri, jobId === undefined ? () => {} : watcher.watch(jobId, { awaited: false }));
    // Who comes after the end hears of it too: what they read before may be older. Not before their own answer is out.
    if (jobId !== undefined && jobs.get(jobId)?.job?.done === true) setImmediate(() => notify(uri));
  };

  const release = (holder: Holder) => {
    for (const unsubscribe of held.get(holder)?.values() ?? []) unsubscribe();
    held.delete(holder);
  };

  /** The newer era has no way to turn down one job of a subscription: the refusal is what the subscriber then reads. */
  const holdOrSay = (holder: Holder, uri: string) => {
    try {
      hold(holder, uri);
    } catch (error) {
      const { message } = toBridgeError(error, "not_sent");
      log.warn(`${uri} is not watched: ${message}`);
      const jobId = jobIdOf(uri);
      held.get(holder)?.set(uri, () => {});
      if (jobId !== undefined) setImmediate(() => jobs.endWatch(jobId, `Not watched: ${message}`));
    }
  };

  return {
    attach(attached) {
      server = attached;
      attached.server.setRequestHandler("resources/subscribe", ({ params: { uri } }) => {
        if (jobIdOf(uri) === undefined && uri !== CATALOG_URI) throw new ResourceNotFoundError(uri);
        try {
          hold(`uri:${uri}`, uri);
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
        release(`uri:${uri}`);
        return {};
      });
    },

    onInbound(message) {
      if (!("method" in message) || message.method !== "notifications/cancelled") return;
      const id: unknown = message.params?.["requestId"];
      release(`listen:${JSON.stringify(id)}`);
    },

    onOutbound(message) {
      if ("method" in message) {
        if (message.method !== "notifications/subscriptions/acknowledged") return;
        const holder: Holder = `listen:${JSON.stringify(subscriptionIdOf(message))}`;
        for (const uri of acknowledgedUris(message.params)) holdOrSay(holder, uri);
      } else if ("id" in message) {
        // The answer to a listen is its end.
        release(`listen:${JSON.stringify(message.id)}`);
      }
    },

    close() {
      for (const holder of Array.from(held.keys())) release(holder);
      for (const stop of stopHearing) stop();
      server = undefined;
    },
  };
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
