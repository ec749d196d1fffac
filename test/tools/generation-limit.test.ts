import { EventEmitter, once } from "node:events";
import { describe, expect, test } from "vitest";
import { BridgeError, type Outcome } from "../../src/errors.ts";
import { createGenerationLimit } from "../../src/tools/generation-limit.ts";

const started = () => Promise.resolve("started");

function failWith(thrown: Error): () => Promise<string> {
  return () => Promise.reject(thrown);
}

function failure(outcome: Outcome): BridgeError {
  return new BridgeError({
    code: "service_failed",
    message: "It failed.",
    nextStep: "Look.",
    outcome,
    retryable: false,
  });
}

function limitFacts(allowed: string) {
  return {
    facts: {
      code: "limit_reached",
      message: `This server may start ${allowed}, and that limit is reached.`,
      nextStep:
        "Tell the person: only they can raise FACELESS_MAX_GENERATIONS in this server's settings and restart it.",
      outcome: "not_sent",
      retryable: false,
    },
  };
}

describe("the limit of generations", () => {
  test.each([
    [0, "no videos"],
    [1, "one video"],
    [3, "3 videos"],
  ])("of %i lets that many start and says so to the next, which is not run", async (max, allowed) => {
    const limit = createGenerationLimit(max);
    for (let count = 0; count < max; count++) expect(await limit.count(started)).toBe("started");
    let runs = 0;

    const refused = limit.count(() => {
      runs += 1;
      return started();
    });

    await expect(refused).rejects.toBeInstanceOf(BridgeError);
    await expect(refused).rejects.toMatchObject(limitFacts(allowed));
    expect(runs).toBe(0);
  });

  test("that is not set never ends", async () => {
    const limit = createGenerationLimit(undefined);

    for (let count = 0; count < 100; count++) expect(await limit.count(started)).toBe("started");
  });

  test.each<Outcome>(["not_sent", "rejected"])(
    "does not count what certainly did not start: %s",
    async (outcome) => {
      const limit = createGenerationLimit(1);
      const error = failure(outcome);
      for (let count = 0; count < 3; count++) await expect(limit.count(failWith(error))).rejects.toBe(error);

      expect(await limit.count(started)).toBe("started");
      await expect(limit.count(started)).rejects.toMatchObject(limitFacts("one video"));
    },
  );

  test.each([failure("unknown"), new TypeError("a fault of the bridge")])(
    "counts what may have started: %s",
    async (error) => {
      const limit = createGenerationLimit(1);
      await expect(limit.count(failWith(error))).rejects.toBe(error);

      await expect(limit.count(started)).rejects.toMatchObject(limitFacts("one video"));
    },
  );

  test("counts a generation that is under way, so that two at once don't both pass", async () => {
    const limit = createGenerationLimit(1);
    const service = new EventEmitter();
    const first = limit.count(() => once(service, "answer"));

    await expect(limit.count(started)).rejects.toMatchObject(limitFacts("one video"));
    service.emit("answer", "first");
    expect(await first).toEqual(["first"]);
  });

  test("is not lowered by its own refusals", async () => {
    const limit = createGenerationLimit(1);
    await limit.count(started);

    for (let count = 0; count < 3; count++)
      await expect(limit.count(started)).rejects.toMatchObject(limitFacts("one video"));
  });
});
