import { describe, expect, test } from "vitest";
import type { Dispatcher } from "undici";
import { createDeparture } from "../../src/service/did-it-leave.ts";

/** The one point of a request's life that matters, reached when the test says so. */
function dispatched(givenUp: AbortSignal, own: Dispatcher.DispatchHandler = {}) {
  const departure = createDeparture(givenUp);
  let handler: Dispatcher.DispatchHandler | undefined;
  const options: Dispatcher.DispatchOptions = { path: "/", method: "POST" };
  const seen: unknown[] = [];
  const accepted = departure.watch((given, watched) => {
    seen.push(given);
    handler = watched;
    return true;
  })(options, own);
  const controller: Dispatcher.DispatchController = {
    aborted: false,
    paused: false,
    reason: null,
    rawHeaders: null,
    rawTrailers: null,
    abort() {},
    pause() {},
    resume() {},
  };
  return {
    departure,
    accepted,
    passedOn: seen[0] === options,
    start: (context: unknown) => handler?.onRequestStart?.(controller, context),
    fail: (error: Error) => handler?.onResponseError?.(controller, error),
  };
}

const never = new AbortController().signal;

describe("a request", () => {
  test("has not left while it waits for a connection", () => {
    const { departure, accepted, passedOn } = dispatched(never);
    expect({ left: departure.left, accepted, passedOn }).toEqual({
      left: false,
      accepted: true,
      passedOn: true,
    });
  });

  test("has left once its header is about to be written, whatever happens then", () => {
    const { departure, start, fail } = dispatched(never);
    start({});
    fail(Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }));
    expect(departure.left).toBe(true);
  });

  test("has not left where it fails before, whatever the error is called", () => {
    const { departure, fail } = dispatched(never);
    fail(Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }));
    expect(departure.left).toBe(false);
  });

  test("has not left where it was given up before, and has where it was given up after", () => {
    const early = new AbortController();
    const late = new AbortController();
    const before = dispatched(early.signal);
    const after = dispatched(late.signal);

    early.abort();
    before.start({});
    after.start({});
    late.abort();

    expect([before.departure.left, after.departure.left]).toEqual([false, true]);
  });

  test("is given up by its own handler at the last moment and has not left", () => {
    const end = new AbortController();
    const contexts: unknown[] = [];
    const own: Dispatcher.DispatchHandler = {
      onRequestStart(_, context) {
        contexts.push(context, this === own);
        end.abort();
      },
    };
    const { departure, start } = dispatched(end.signal, own);
    const context = {};
    start(context);
    expect({ left: departure.left, contexts }).toEqual({ left: false, contexts: [context, true] });
  });
});
