import { describe, expect, test } from "vitest";
import { generateVideo } from "../../src/tools/generate-video.ts";
import { createWorld, errorOf, MINUTE_MS } from "../once/process.ts";
import { benchFor } from "./context.ts";

const FOLLOW = "Follow it with get_video_status and waitSeconds 50, and don't generate it again.";
const ARGUMENTS = "(its arguments: topic, language, duration, style, voice, music, pacing, confirmDuplicate)";
const VOICE =
  "voice: must be one of adam, charlotte, will, audrey, bryan, jett, amber, vanessa, kai, the id of a native voice of the language, or clone:ID, and not a description";

function bench() {
  const world = createWorld();
  return { world, ...benchFor(generateVideo, world.process()) };
}

describe("generate_video", () => {
  test("starts a video, says how to follow it and remembers its topic", async () => {
    const { call, context, world } = bench();

    expect(await call({ topic: " Tides ", duration: 20, voice: "clone:mine" })).toEqual({
      summary: "The video was started. Renders take 2 to 4 minutes.",
      nextStep: FOLLOW,
      jobId: "job-1",
      status: "processing",
      resourceUri: "faceless://jobs/job-1",
    });
    expect(world.generations).toEqual([{ topic: "Tides", duration: 20, voice: "clone:mine" }]);
    expect(context.jobs.get("job-1")).toMatchObject({ topic: "Tides" });
  });

  test("passes on what else the service says", async () => {
    const { call, world } = bench();
    world.onGenerate = async () => ({ jobId: "job-1", status: "queued", cost: 2 });

    expect(await call({ topic: "Tides" })).toEqual({
      summary: "The video was started. Renders take 2 to 4 minutes.",
      nextStep: FOLLOW,
      jobId: "job-1",
      status: "queued",
      cost: 2,
      resourceUri: "faceless://jobs/job-1",
    });
  });

  test.each([
    ["processing", "processing", "it is still rendering", FOLLOW],
    ["completed", "completed", "it is ready", "Get it with get_video_status."],
    ["not found", "unknown", "its status could not be read just now", FOLLOW],
  ])("says of a job that was started before and is %s what is known", async (status, shown, state, step) => {
    const { call, world } = bench();
    await call({ topic: "Tides" });
    world.statuses.set("job-1", status);
    world.clock.epochMs += 3 * MINUTE_MS;

    expect(await call({ topic: "Tides" })).toEqual({
      summary: `This same video was started 3 minutes ago and ${state}, so nothing was started or charged now.`,
      nextStep: expect.stringMatching(
        new RegExp(
          `^${step} Only if the user wants a second video like it, call generate_video again with confirmDuplicate: "[0-9a-f]{6}"\\.$`,
        ),
      ),
      jobId: "job-1",
      status: shown,
      resourceUri: "faceless://jobs/job-1",
      alreadyStarted: true,
    });
  });

  test("says that a code does not fit", async () => {
    const { call } = bench();
    await call({ topic: "Tides" });

    expect(await call({ topic: "Tides", confirmDuplicate: "000000" })).toMatchObject({
      summary:
        "This same video was started just now and it is still rendering, so nothing was started or charged now. This confirmDuplicate code is out of date.",
      alreadyStarted: true,
    });
  });

  test("starts a second video with the code, which is not sent to the service", async () => {
    const { call, world } = bench();
    await call({ topic: "Tides" });
    const { nextStep } = await call({ topic: "Tides" });
    const code = /"(\w+)"/.exec(String(nextStep))?.[1];

    expect(await call({ topic: "Tides", confirmDuplicate: ` ${code} ` })).toMatchObject({ jobId: "job-2" });
    expect(world.generations).toEqual([{ topic: "Tides" }, { topic: "Tides" }]);
  });

  test.each([
    [{}, "topic: Invalid input: expected string, received undefined"],
    [{ topic: "  " }, "topic: must not be empty"],
    [{ topic: "Tides", duration: 9 }, "duration: must be from 10 to 90 seconds"],
    [{ topic: "Tides", duration: 91 }, "duration: must be from 10 to 90 seconds"],
    [
      { topic: "Tides", language: "e n" },
      "language: must be a language code such as en, fr, es, de or pt-BR, or the name of a common language such as French",
    ],
    [{ topic: "Tides", voice: "clone:" }, VOICE],
    [{ topic: "Tides", voice: "a b" }, VOICE],
    [{ topic: "Tides", seed: 1 }, `"seed" is not an argument of generate_video ${ARGUMENTS}`],
    [{ topic: "Tides", seed: 1, size: 2 }, `"seed", "size" are not arguments of generate_video ${ARGUMENTS}`],
    [
      { topic: "Tides", confirmDuplicate: true },
      "confirmDuplicate: Invalid input: expected string, received boolean",
    ],
  ])("refuses %j before anything is sent", async (args, problem) => {
    const { call, world } = bench();

    expect(await errorOf(call(args))).toEqual({
      code: "invalid_input",
      message: `The arguments of generate_video can't be used: ${problem}.`,
      nextStep: "Correct them, then call again.",
      outcome: "not_sent",
      retryable: false,
      failsAgain: true,
    });
    expect(world.generations).toEqual([]);
  });
});
