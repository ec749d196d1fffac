import { expect, test } from "vitest";
import { Emitter } from "../../src/jobs/emitter.ts";

function setup() {
  const emitter = new Emitter<string>();
  const calls: string[] = [];
  const listener = (name: string) => (event: string) => void calls.push(`${name} ${event}`);
  return { emitter, calls, listener };
}

test("an emitter calls the other listeners when one throws", () => {
  const { emitter, calls, listener } = setup();
  emitter.on(() => {
    throw new Error("a listener's own error");
  });
  emitter.on(listener("b"));

  emitter.emit("1");

  expect(calls).toEqual(["b 1"]);
});

test("an emitter removes a function that was added twice once per unsubscribe", () => {
  const { emitter, calls, listener } = setup();
  const same = listener("same");
  const unsubscribe = emitter.on(same);
  emitter.on(same);

  unsubscribe();
  unsubscribe();
  emitter.emit("1");

  expect(calls).toEqual(["same 1"]);
});

test("an emitter doesn't call a listener that another one has just removed", () => {
  const { emitter, calls, listener } = setup();
  emitter.on(() => unsubscribe());
  const unsubscribe = emitter.on(listener("removed"));

  emitter.emit("1");

  expect(calls).toEqual([]);
});
