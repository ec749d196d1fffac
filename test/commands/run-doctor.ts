// `doctor` in this process, on a computer that the test describes.

import { expect, vi } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { type DoctorOptions, runDoctor } from "../../src/commands/doctor.ts";
import { CANARY, tracesOf } from "../fixtures/canary.ts";
import { VIDEOS } from "../fixtures/constants.ts";
import { type Reply, type ScriptedService, scriptedService } from "../fixtures/scripted-service.ts";

/** A service with this answer for the video list. */
export const serviceWith = (videos: Reply): Promise<ScriptedService> => scriptedService({ [VIDEOS]: videos });

export const NO_VIDEOS = { json: { videos: [] } };

/** Its exit code and what it printed. The key must not be in there, whatever is wrong. */
export async function doctor(options: Partial<DoctorOptions>) {
  let text = "";
  // No test waits for a pause between two attempts.
  const random = vi.spyOn(Math, "random").mockReturnValue(0);
  const code = await runDoctor({
    homeDir: "/home/user",
    workingDir: "/home/user",
    platform: process.platform,
    nodeVersion: process.versions.node,
    json: false,
    file: "/opt/faceless-video-mcp/dist/bin.cjs",
    isOnNpm: false,
    isTerminal: false,
    print: (line) => void (text += `${line}\n`),
    clock: systemClock,
    ...options,
    env: { FACELESS_STATE_DIR: "off", ...options.env },
  });
  random.mockRestore();
  expect(tracesOf(CANARY, text)).toEqual([]);
  return { code, text, lines: text.trimEnd().split("\n") };
}
