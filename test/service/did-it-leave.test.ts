import { expect, test } from "vitest";
import { createDeparture } from "../../src/service/did-it-leave.ts";

/** A departure, and what undici was told of it. */
function departing() {
  const departure = createDeparture();
  const aborts: unknown[] = [];
  return {
    departure,
    aborts,
    start: () => departure.start({ abort: (reason) => void aborts.push(reason) }),
  };
}

const withdrawn = new Error("withdrawn");

test("a request that waits for a connection has not left", () => {
  const { departure, aborts } = departing();
  expect([departure.left, aborts]).toEqual([false, []]);
});

test("a request has left once its header is about to be written, and is not held up there", () => {
  const { departure, aborts, start } = departing();
  start();
  expect([departure.left, aborts]).toEqual([true, []]);
});

test("a request that is given up before that is stopped there, and never leaves", () => {
  const { departure, aborts, start } = departing();
  departure.giveUp(withdrawn);
  expect([departure.left, aborts]).toEqual([false, []]);

  start();
  expect([departure.left, aborts]).toEqual([false, [withdrawn]]);
});

test("a request that is given up after that is broken off, and has left", () => {
  const { departure, aborts, start } = departing();
  start();
  departure.giveUp(withdrawn);
  expect([departure.left, aborts]).toEqual([true, [withdrawn]]);
});
