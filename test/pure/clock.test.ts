import { expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";

test("the system clock runs only due timers that were not cancelled", async () => {
  const ran: string[] = [];
  const cancel = systemClock.after(0, () => ran.push("cancelled"));
  const cancelLater = systemClock.after(100 * 86_400_000, () => ran.push("in a hundred days"));
  cancel();
  await new Promise<void>((resolve) => void systemClock.after(5, resolve));
  cancelLater();

  expect(ran).toEqual([]);
});

test("the system clock keeps no process alive", () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const before = timers();
  const cancel = systemClock.after(60_000, () => {});
  const after = timers();
  cancel();

  expect(after).toBe(before);
});
