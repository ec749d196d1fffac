// Holds what the card knows. follow.ts and publish.ts change it; view.ts shows it after each change.

import type { McpUiHostCapabilities } from "@modelcontextprotocol/ext-apps/app-bridge";
import type { Host } from "./host.ts";
import type { Account, Order, Job, Post } from "./server.ts";

export interface Card {
  readonly host: Host;
  /** Shows the card as it is now. */
  readonly show: () => void;
  /** The host's capabilities; empty until it has named them, and after the teardown. */
  can: McpUiHostCapabilities;
  /** The arguments of the call. */
  order: Order;

  /** The job that the result names or that the card has found in the list; "" for none. */
  id: string;
  job?: Job | undefined;
  /** How the call stands, in words, while there is no job. */
  status: string;
  error: string;

  /** Searches the list for the job of a late result. It may find another: nothing is published meanwhile. */
  isSearching: boolean;
  isReading: boolean;
  /** The chat has scrolled on. */
  isOutOfView: boolean;
  /** Reads that failed, one after the other. */
  failures: number;
  /** Reads that found no job, or no link of a finished one. */
  misses: number;
  /** The timer of the next read, or of the search that begins if no result comes. */
  readTimer?: number | undefined;

  /** Undefined while they are not known. */
  accounts?: readonly Account[] | undefined;
  /** Platforms. */
  readonly chosen: Set<string>;
  /** The Event.timeStamp of the first click; undefined if the next click publishes nothing. */
  armedAt: number | undefined;
  armTimer?: number | undefined;
  isBusy: boolean;
  /** How publishing stands, in words. */
  publishText: string;
  /** The results of the last call of publish_video. */
  outcomes: readonly Post[];
}

export function createCard(host: Host, show: () => void): Card {
  return {
    host,
    show,
    can: {},
    order: {},
    id: "",
    status: "Starting…",
    error: "",
    isSearching: false,
    isReading: false,
    isOutOfView: false,
    failures: 0,
    misses: 0,
    chosen: new Set(),
    armedAt: undefined,
    isBusy: false,
    publishText: "",
    outcomes: [],
  };
}
