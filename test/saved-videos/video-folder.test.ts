// What is on disk after a video was saved, or could not be, with the real download from a real host.

import { mkdirSync, symlinkSync, utimesSync, writeFileSync, readFileSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../fixtures/folder.ts";
import { type Handler, scriptedService } from "../fixtures/scripted-service.ts";
import { until } from "../fixtures/until.ts";
import {
  FILE_NAME,
  filesIn,
  JOB_ID,
  media,
  mediaUntil,
  saving,
  type SavingOptions,
  VIDEO,
} from "./saving.ts";

const VIDEO_PATH = "GET /video.mp4";
const SAVED = { [FILE_NAME]: "the video" };
const PART = `${FILE_NAME}.0badcafe.part`;

const notSaved = (problem: string) =>
  `It could not be saved on this computer: ${problem}. A later get_video_status tries again.`;

async function hostOf(script: Handler = media) {
  const host = await scriptedService({ [VIDEO_PATH]: script });
  return { host, link: `${host.url}/video.mp4` };
}

/** Sends the first half, calls `half` when it is on disk, then sends the rest. */
const inTwoHalves =
  (folder: string, half: () => void): Handler =>
  async (_, { outgoing }) => {
    outgoing.writeHead(200, { "content-length": VIDEO.length });
    outgoing.write(VIDEO.subarray(0, 100_000));
    await until(() => isHalfSaved(folder));
    half();
    outgoing.end(VIDEO.subarray(100_000));
  };

const isHalfSaved = (folder: string) =>
  Object.values(filesIn(folder)).some(({ length }) => length === 100_000);

async function save(options: Partial<SavingOptions> = {}) {
  const { host, link } = await hostOf();
  const { save, ...rest } = saving({ link, ...options });
  return { host, outcome: await save(), ...rest };
}

describe("the folder of saved videos", () => {
  test("is created with the first video", async () => {
    const folder = join(temporaryFolder(), "Videos", "faceless");
    const { outcome } = await save({ folder });

    expect(outcome.files).toEqual(SAVED);
  });

  test("shows a video under its name only when it is whole", async () => {
    const folder = temporaryFolder();
    let half: string[] = [];
    const { link } = await hostOf(inTwoHalves(folder, () => (half = Object.keys(filesIn(folder)))));

    const outcome = await saving({ link, folder }).save();

    expect(half).toEqual([expect.stringMatching(/^faceless-2026-11-20-0f4b6f2e\.mp4\.[\da-f]{8}\.part$/)]);
    expect(outcome.files).toEqual(SAVED);
  });

  test("keeps a file that is there already, which counts as the saved video, and nothing is downloaded", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, FILE_NAME), "cut by the user");
    const { outcome, path, host } = await save({ folder });

    expect(outcome).toEqual({ said: `It is saved as ${path}.`, files: { [FILE_NAME]: "cut by the user" } });
    expect(host.lines()).toEqual([]);
  });

  test("keeps a file of the same job from another day", async () => {
    const folder = temporaryFolder();
    const name = "faceless-2026-11-21-0f4b6f2e.mp4";
    writeFileSync(join(folder, name), "saved by another program");
    const { outcome } = await save({ folder });

    expect(outcome).toEqual({
      said: `It is saved as ${join(folder, name)}.`,
      files: { [name]: "saved by another program" },
    });
  });

  test.each([
    ["a file", true],
    ["nothing", false],
  ])("refuses a link to %s in a video's place, and leaves what it leads to alone", async (_what, exists) => {
    const folder = temporaryFolder();
    const elsewhere = temporaryFolder();
    const target = join(elsewhere, "precious");
    if (exists) writeFileSync(target, "precious");
    symlinkSync(target, join(folder, FILE_NAME));
    const { outcome, host } = await save({ folder });

    expect(outcome).toEqual({
      said: notSaved("a link or a folder has the file's name (ENOTFILE)"),
      files: { [FILE_NAME]: "link" },
    });
    expect(filesIn(elsewhere)).toEqual(exists ? { precious: "precious" } : {});
    expect(host.lines()).toEqual([]);
  });

  test("refuses a folder in a video's place", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, FILE_NAME));
    const { outcome, host } = await save({ folder });

    expect(outcome).toEqual({
      said: notSaved("a link or a folder has the file's name (ENOTFILE)"),
      files: { [FILE_NAME]: "folder" },
    });
    expect(host.lines()).toEqual([]);
  });

  test("keeps a file that another program puts there meanwhile", async () => {
    const folder = temporaryFolder();
    const host = await hostOf(
      inTwoHalves(folder, () => writeFileSync(join(folder, FILE_NAME), "of another program")),
    );
    const outcome = await saving({ link: host.link, folder }).save();

    expect(outcome.files).toEqual({ [FILE_NAME]: "of another program" });
  });

  test("keeps a link that another program puts there meanwhile", async () => {
    const folder = temporaryFolder();
    const host = await hostOf(inTwoHalves(folder, () => symlinkSync("elsewhere", join(folder, FILE_NAME))));
    const outcome = await saving({ link: host.link, folder }).save();

    expect(outcome).toEqual({
      said: notSaved("a link or a folder has the file's name (ENOTFILE)"),
      files: { [FILE_NAME]: "link" },
    });
  });

  test("has nothing half saved after the disk was full", async () => {
    await using file = await open("/dev/null");
    const write = vi.spyOn(Object.getPrototypeOf(file), "appendFile");
    onTestFinished(() => write.mockRestore());
    write.mockRejectedValue(Object.assign(new Error("full"), { code: "ENOSPC" }));
    const { outcome } = await save();

    expect(outcome).toEqual({ said: notSaved("the disk is full (ENOSPC)"), files: {} });
  });

  test.each([
    ["leads to a file", "", "the path of the folder leads to a file (EEXIST)"],
    ["leads through a file", "Videos", "the path of the folder leads through a file (ENOTDIR)"],
  ])("is explained where its path %s", async (_what, below, problem) => {
    const file = join(temporaryFolder(), "file");
    writeFileSync(file, "");
    const { outcome } = await save({ folder: join(file, below) });

    expect(outcome).toEqual({ said: notSaved(problem), files: {} });
    expect(readFileSync(file, "utf8")).toBe("");
  });

  test("gets one whole file from two processes that save the same video at once", async () => {
    const folder = temporaryFolder();
    const { host, link } = await hostOf(async (request, raw) => {
      await until(() => host.lines().length === 2);
      return media(request, raw);
    });
    const processes = [1, 2].map(() => saving({ link, folder }));

    const outcomes = await Promise.all(processes.map((one) => one.save()));

    expect(outcomes.map(({ said }) => said)).toEqual([
      `It is saved as ${join(folder, FILE_NAME)}.`,
      `It is saved as ${join(folder, FILE_NAME)}.`,
    ]);
    expect(filesIn(folder)).toEqual(SAVED);
  });

  test("has nothing half saved after a shutdown in the middle", async () => {
    const folder = temporaryFolder();
    const { host, link } = await hostOf(mediaUntil(100_000, "stall"));
    const { saver } = saving({ link, folder });
    saver.saveWhenFinished(JOB_ID);
    await until(() => isHalfSaved(folder));

    await saver.close();

    expect(filesIn(folder)).toEqual({});
    await until(() => host.connections() === 0);
  });

  test("loses what a process that was killed has left an hour ago, and keeps what another one may be writing", async () => {
    const folder = temporaryFolder();
    const [left, inUse, foreign] = [PART, PART.replace("0bad", "0dad"), PART.replace("faceless", "notes")];
    for (const name of [left, inUse, foreign]) writeFileSync(join(folder, name), "half");
    const hourAgo = new Date(Date.now() - 3_700_000);
    for (const name of [left, foreign]) utimesSync(join(folder, name), hourAgo, hourAgo);
    const { outcome } = await save({ folder });

    expect(outcome.files).toEqual({ ...SAVED, [inUse]: "half", [foreign]: "half" });
  });

  test("no longer counts as having a file that the user has removed", async () => {
    const { outcome, path, saver } = await save();
    expect(outcome.said).toBe(`It is saved as ${path}.`);

    await rm(path);
    await saver.refresh();

    expect(saver.stateOf(JOB_ID)).toBeUndefined();
  });
});
