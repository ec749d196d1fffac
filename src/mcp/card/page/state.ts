// Holds what the card knows. follow.ts and publish.ts change it; view.ts shows it after each change.

import type { McpUiHostCapabilities } from "@modelcontextprotocol/ext-apps/app-bridge";
import type { Host } from "./host.ts";
import type { Account, Order, Job, Post } from "./server.ts";

export class Card {
  readonly host: Host;
  /** Shows the card as it is now. */
  readonly show: () => void;
  /** The host's capabilities; empty until it has named them, and after the teardown. */
  can: McpUiHostCapabilities = {};
  /** The arguments of the call. */
  order: Order = {};

  /** The job that the result names or that the card has found in the list; "" for none. */
  id = "";
  job: Job | undefined;
  /** How the call stands, in words, while there is no job. */
  status = "Starting…";
  error = "";

  /** Searches the list for the job of a late result. It may find another: nothing is published meanwhile. */
  isSearching = false;
  isReading = false;
  /** The chat has scrolled on. */
  isOutOfView = false;
  /** Reads that failed, one after the other. */
  failures = 0;
  /** Reads that found no job, or no link of a finished one. */
  misses = 0;
  /** The timer of the next read, or of the search that begins if no result comes. */
  readTimer: number | undefined;

  /** Undefined while they are not known. */
  accounts: readonly Account[] | undefined;
  /** Platforms. */
  readonly chosen = new Set<string>();
  /** The Event.timeStamp of the first click; undefined if the next click publishes nothing. */
  armedAt: number | undefined;
  armTimer: number | undefined;
  isBusy = false;
  /** How publishing stands, in words. */
  publishText = "";
  /** The results of the last call of publish_video. */
  outcomes: readonly Post[] = [];

  constructor(host: Host, show: () => void) {
    this.host = host;
    this.show = show;
  }
}
