import { describe, expect, it } from "vitest";
import { createAnnouncer } from "../../src/jobs/emitter.ts";

function setup() {
  const announcer = createAnnouncer<string>();
  const heard: string[] = [];
  const listener = (name: string) => (event: string) => void heard.push(`${name} ${event}`);
  return { announcer, heard, listener };
}

describe("an announcer", () => {
  it("tells every listener, in the order in which they came", () => {
    const { announcer, heard, listener } = setup();
    announcer.listen(listener("a"));
    announcer.listen(listener("b"));

    announcer.announce("1");
    announcer.announce("2");

    expect(heard).toEqual(["a 1", "b 1", "a 2", "b 2"]);
  });

  it("tells the others when one throws", () => {
    const { announcer, heard, listener } = setup();
    announcer.listen(() => {
      throw new Error("a listener's own affair");
    });
    announcer.listen(listener("b"));

    expect(() => announcer.announce("1")).not.toThrow();
    expect(heard).toEqual(["b 1"]);
  });

  it("tells nobody who has left, and leaving twice takes nobody else along", () => {
    const { announcer, heard, listener } = setup();
    const same = listener("same");
    const leave = announcer.listen(same);
    announcer.listen(same);

    leave();
    leave();
    announcer.announce("1");

    expect(heard).toEqual(["same 1"]);
  });

  it("tells whoever comes meanwhile of the next event only", () => {
    const { announcer, heard, listener } = setup();
    announcer.listen((event) => {
      if (event === "1") announcer.listen(listener("late"));
    });

    announcer.announce("1");
    announcer.announce("2");

    expect(heard).toEqual(["late 2"]);
  });

  it("tells nobody whom another listener has just sent away", () => {
    const { announcer, heard, listener } = setup();
    announcer.listen(() => leave());
    const leave = announcer.listen(listener("gone"));

    announcer.announce("1");

    expect(heard).toEqual([]);
  });

  it("announces to nobody as well", () => {
    expect(() => setup().announcer.announce("1")).not.toThrow();
  });
});
