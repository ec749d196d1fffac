// What is on disk after a video was saved, or could not be, with the real download from a real host.

import { mkdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { JOB_ID } from "../fixtures/constants.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { type Handler, scriptedService } from "../fixtures/scripted-service.ts";
import { until } from "../fixtures/until.ts";
import { FILE_NAME, filesIn, media, mediaUntil, notSaved, SAVED, saveFrom, saving, VIDEO } from "./saving.ts";

const HALF = VIDEO.length / 2;
const isHalfSaved = (folder: string) => Object.values(filesIn(folder)).some(({ length }) => length === HALF);

/** Sends the first half, calls `half` when it is on disk, then sends the rest. */
const inTwoHalves =
  (folder: string, half: () => void): Handler =>
  async (_, { outgoing }) => {
    outgoing.write(VIDEO.subarray(0, HALF));
    await until(() => isHalfSaved(folder));
    half();
    outgoing.end(VIDEO.subarray(HALF));
  };

test("a video has its name only when it is whole, in a folder that is made for it", async () => {
  const folder = join(temporaryFolder(), "not", "yet", "there");
  let half: string[] = [];
  const { outcome } = await saveFrom(
    inTwoHalves(folder, () => (half = Object.keys(filesIn(folder)))),
    { folder },
  );

  expect(half).toEqual([expect.stringMatching(/^faceless-2026-11-20-0f4b6f2e\.mp4\.[\da-f]{8}\.part$/)]);
  expect(outcome.files).toEqual(SAVED);
});

test.each([FILE_NAME, "faceless-2026-11-21-0f4b6f2e.mp4"])(
  "an existing file of the job counts as its saved video: %s",
  async (name) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, name), "cut by the user");
    const { outcome, host } = await saveFrom(media, { folder });

    expect(outcome).toEqual({
      said: `It is saved as ${join(folder, name)}.`,
      files: { [name]: "cut by the user" },
    });
    expect(host.lines()).toEqual([]);
  },
);

test.each<[string, string, (path: string, target: string) => void]>([
  ["a link to a file", "link", (path, target) => symlinkSync(target, path)],
  ["a link to nothing", "link", (path, target) => symlinkSync(`${target}-gone`, path)],
  ["a folder", "folder", (path) => mkdirSync(path)],
])("%s in a video's place is left alone, and nothing is downloaded", async (_what, kind, put) => {
  const [folder, elsewhere] = [temporaryFolder(), temporaryFolder()];
  writeFileSync(join(elsewhere, "precious"), "precious");
  put(join(folder, FILE_NAME), join(elsewhere, "precious"));
  const { outcome, host } = await saveFrom(media, { folder });

  expect(outcome).toEqual(
    notSaved("a link or a folder has the file's name (ENOTFILE)", { [FILE_NAME]: kind }),
  );
  expect(filesIn(elsewhere)).toEqual({ precious: "precious" });
  expect(host.lines()).toEqual([]);
});

test.each<[string, string, (path: string) => void]>([
  ["file", "of another program", (path) => writeFileSync(path, "of another program")],
  ["link", "link", (path) => symlinkSync("elsewhere", path)],
])("a %s that another program puts there during the download is left alone", async (_what, found, put) => {
  const folder = temporaryFolder();
  const script = inTwoHalves(folder, () => put(join(folder, FILE_NAME)));
  const { outcome } = await saveFrom(script, { folder });

  expect(outcome.files).toEqual({ [FILE_NAME]: found });
});

test("nothing is left of a video for which the disk was full", async () => {
  await using file = await open("/dev/null");
  const write = vi.spyOn(Object.getPrototypeOf(file), "appendFile");
  onTestFinished(() => write.mockRestore());
  write.mockRejectedValue(Object.assign(new Error("full"), { code: "ENOSPC" }));
  const { outcome } = await saveFrom(media);

  expect(outcome).toEqual(notSaved("the disk is full (ENOSPC)"));
});

test("the user reads that the folder's path leads to a file", async () => {
  const file = join(temporaryFolder(), "file");
  writeFileSync(file, "");
  const { outcome } = await saveFrom(media, { folder: file });

  expect(outcome).toEqual(notSaved("the folder's path leads to a file (EEXIST)"));
  expect(readFileSync(file, "utf8")).toBe("");
});

test("two processes that save the same video at once leave one whole file", async () => {
  const folder = temporaryFolder();
  const host = await scriptedService({
    "GET /video.mp4": async (request, raw) => {
      await until(() => host.lines().length === 2);
      return media(request, raw);
    },
  });
  const processes = [1, 2].map(() => saving({ link: `${host.url}/video.mp4`, folder }));

  const outcomes = await Promise.all(processes.map((one) => one.save()));

  const said = `It is saved as ${join(folder, FILE_NAME)}.`;
  expect(outcomes.map((outcome) => outcome.said)).toEqual([said, said]);
  expect(filesIn(folder)).toEqual(SAVED);
});

test("a shutdown in the middle of a download leaves no file and no connection", async () => {
  const host = await scriptedService({ "GET /video.mp4": mediaUntil(HALF, "stall") });
  const { saver, folder } = saving({ link: `${host.url}/video.mp4` });
  saver.saveWhenFinished(JOB_ID);
  await until(() => isHalfSaved(folder));

  await saver.close();

  expect(filesIn(folder)).toEqual({});
  await until(() => host.connections() === 0);
});

test("a partial file is removed once it is an hour old", async () => {
  const folder = temporaryFolder();
  const files = { left: `${FILE_NAME}.0badcafe.part`, foreign: `notes.mp4.0badcafe.part` };
  const inUse = `${FILE_NAME}.0dadcafe.part`;
  for (const name of [...Object.values(files), inUse]) writeFileSync(join(folder, name), "half");
  const hourAgo = new Date(Date.now() - 3_700_000);
  for (const name of Object.values(files)) utimesSync(join(folder, name), hourAgo, hourAgo);
  const { outcome } = await saveFrom(media, { folder });

  expect(outcome.files).toEqual({ ...SAVED, [inUse]: "half", [files.foreign]: "half" });
});
