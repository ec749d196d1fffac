// Whether a request can have left: decided by the life cycle of the request, never by the code of an error, as the same
// codes occur before and after.

import type { Dispatcher } from "undici";

export interface Departure {
  /** False only where no byte of the request can have been written, and none will be. */
  readonly left: boolean;
  /** To be called by undici at the last moment before the header is written. One that was given up stops here, unsent. */
  start(controller: Pick<Dispatcher.DispatchController, "abort">): void;
  /** Ends the request wherever it is. undici listens to nothing before the start. */
  giveUp(reason: Error): void;
}

export function createDeparture(): Departure {
  let started: Pick<Dispatcher.DispatchController, "abort"> | undefined;
  let givenUp: Error | undefined;
  return {
    get left() {
      return started !== undefined;
    },
    start(controller) {
      if (givenUp === undefined) started = controller;
      else controller.abort(givenUp);
    },
    giveUp(reason) {
      givenUp = reason;
      started?.abort(reason);
    },
  };
}
