// Whether a request can have left: decided by the life cycle of the request, never by the code of an error, as the same
// codes occur before and after. Knows of undici's interceptors only the form.

import type { Dispatcher } from "undici";

export interface Departure {
  /** False only where no byte of the request can have been written. */
  readonly left: boolean;
  /** To be composed into the dispatcher that sends this one request. */
  readonly watch: Dispatcher.DispatcherComposeInterceptor;
}

/** @param givenUp aborts the request: one that is aborted before its header is written is never written. */
export function createDeparture(givenUp: AbortSignal): Departure {
  let left = false;
  return {
    get left() {
      return left;
    },
    watch: (dispatch) => (options, handler) => {
      const start = handler.onRequestStart?.bind(handler);
      handler.onRequestStart = (controller, context) => {
        start?.(controller, context);
        // The last moment before the header is written; an aborted request stops here, unsent.
        if (!givenUp.aborted) left = true;
      };
      return dispatch(options, handler);
    },
  };
}
