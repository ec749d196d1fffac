// What `doctor` says of the disk that the journal lies on.

import { mkdirSync, promises as fs, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { CANARY } from "../fixtures/canary.ts";
import { VIDEOS } from "../fixtures/constants.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { doctor, problemsIn } from "../fixtures/run-doctor.ts";
import { scriptedService } from "../fixtures/scripted-service.ts";

async function doctorOn(folder: string) {
  const { url } = await scriptedService({ [VIDEOS]: { json: { videos: [] } } });
  return doctor({
    env: { FACELESS_API_KEY: CANARY, FACELESS_BASE_URL: url, FACELESS_STATE_DIR: folder },
  });
}

test.each<[string, string, number | undefined]>([
  ["NFS", "state", 0x6969],
  ["SMB", "state", 0xfe534d42],
  ["FUSE", "state", 0x65735546],
  ["9P", "state", 0x01021997],
  ["Dropbox", "Dropbox (Personal)/state", undefined],
  ["OneDrive", "OneDrive - Contoso/state", undefined],
  ["Google Drive", "Google Drive/state", undefined],
  ["Box on macOS", "Library/CloudStorage/Box-Box/state", undefined],
  ["iCloud Drive", "Library/Mobile Documents/state", undefined],
  ["Nextcloud", "Nextcloud", undefined],
])("doctor warns of a journal that several computers can't share: %s", async (_, path, type) => {
  const folder = join(temporaryFolder(), path);
  mkdirSync(folder, { recursive: true });
  const { statfs } = fs;
  vi.spyOn(fs, "statfs").mockImplementation(async (...args) => {
    const stats = await statfs(...args);
    return type === undefined ? stats : Object.assign(stats, { type });
  });
  onTestFinished(() => void vi.restoreAllMocks());

  const { code, lines } = await doctorOn(folder);

  expect([code, problemsIn(lines)]).toEqual([
    0,
    [
      `warn journal Let one computer alone use this folder, and set FACELESS_JOURNAL_URL for several. (${folder} lies on a network or synchronised disk. Several computers that use it pay and post twice, and lose what was recorded)`,
    ],
  ]);
  expect(readdirSync(folder)).toEqual([]);
});

test("doctor detects a disk that returns something other than what was written", async () => {
  const folder = temporaryFolder();
  const file = await fs.open(import.meta.filename);
  const files: fs.FileHandle = Object.getPrototypeOf(file);
  const { read } = files;
  vi.spyOn(files, "read").mockImplementation(async function (this: fs.FileHandle, options) {
    const result = await read.call(this, options);
    if (Buffer.isBuffer(options?.buffer)) options.buffer.fill(0);
    return result;
  });
  onTestFinished(() => void vi.restoreAllMocks());
  await file.close();

  const { code, lines } = await doctorOn(folder);

  expect([code, problemsIn(lines)]).toEqual([
    1,
    [
      expect.stringMatching(
        /^fail journal Check it and the disk .+ \(it can't be written \(its disk gives back something else than was written: /,
      ),
    ],
  ]);
  expect(readdirSync(folder)).toEqual([]);
});
