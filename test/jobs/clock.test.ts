import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/jobs/clock.ts";

const soon = () => new Promise<void>((resolve) => void systemClock.after(5, resolve));

describe("the system's clock", () => {
  it("tells the milliseconds since the epoch", () => {
    expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(100);
  });

  it("runs what is due, not what was called off, and not at once what is due in a hundred days", async () => {
    const ran: string[] = [];
    systemClock.after(0, () => ran.push("now"));
    const callOff = systemClock.after(0, () => ran.push("called off"));
    const callOffLater = systemClock.after(100 * 86_400_000, () => ran.push("later"));
    callOff();
    await soon();
    callOffLater();

    expect(ran).toEqual(["now"]);
  });

  it("keeps no process alive", () => {
    const before = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const callOff = systemClock.after(60_000, () => {});
    const after = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    callOff();

    expect(after).toBe(before);
  });
});
