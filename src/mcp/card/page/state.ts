// Holds what the card knows. follow.ts and publish.ts change it; view.ts shows it after each change.

import type { McpUiHostCapabilities } from "@modelcontextprotocol/ext-apps/app-bridge";
import type { Account, Host, Job, Order, Post } from "./host.ts";

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
  /** A text about the call, while there is no job. */
  status = "Starting…";
  error = "";

  /** True while it looks for the job of a late result in the list. That may be the wrong job, so publishing is off. */
  isSearching = false;
  isReading = false;
  /** True if the chat has scrolled on. */
  isOutOfView = false;
  /** The number of reads in a row that failed, or found no job or no link of a finished one. */
  misses = 0;
  /** The timer of the next read, or of the search that begins if no result comes. */
  readTimer: number | undefined;

  /** Undefined while they are not known. */
  accounts: readonly Account[] | undefined;
  /** The ids of platforms. */
  readonly chosen = new Set<string>();
  /** The Event.timeStamp of the first click; undefined if the next click publishes nothing. */
  armedAt: number | undefined;
  armTimer: number | undefined;
  isBusy = false;
  /** A text about publishing. */
  publishText = "";
  /** The results of the last call of publish_video. */
  outcomes: readonly Post[] = [];

  constructor(host: Host, show: () => void) {
    this.host = host;
    this.show = show;
  }
}
