import { expect, test } from "vitest";
import * as budget from "../../src/service/time-budget.ts";

/** Clients give up on a call after this time. */
const CLIENTS_MS = 60_000;

test("the parts of a call fit into its time, which fits into a client's patience", () => {
  const { PAID_REQUEST_MS, CHECK_AFTER_MS, CHECK_BEFORE_MS, MIN_POST_MS, MAX_DISK_MS, READ_MS, CALL_MS } =
    budget;

  expect(PAID_REQUEST_MS + CHECK_AFTER_MS).toBeLessThan(CALL_MS);
  expect(READ_MS + CHECK_AFTER_MS).toBeLessThan(CALL_MS);
  // After the slowest disk was read, a job read, and the intent written and read, a POST can still begin.
  expect(MAX_DISK_MS + CHECK_BEFORE_MS + 2 * MAX_DISK_MS + MIN_POST_MS).toBeLessThan(PAID_REQUEST_MS);
  expect(CALL_MS).toBeLessThan(CLIENTS_MS);
});

test("no answer is awaited once its request is no longer under way", () => {
  const { PAID_REQUEST_MS, LATE_ANSWER_MS, UNDER_WAY_MS } = budget;

  // The outcome has to be written, too.
  expect(PAID_REQUEST_MS + LATE_ANSWER_MS + budget.MAX_DISK_MS).toBeLessThan(UNDER_WAY_MS);
});
