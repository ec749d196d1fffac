// What doctor says of FACELESS_SAVE_DIR.

import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkSavedVideos } from "../../../src/commands/doctor/saved-videos.ts";
import { readConfig } from "../../../src/config.ts";
import { temporaryFolder } from "../../fixtures/folder.ts";

function check(folder: string) {
  const flags = { sandbox: true, readOnly: false, noPublish: false };
  return checkSavedVideos(readConfig({ FACELESS_SAVE_DIR: folder }, flags, "/home/user"));
}

test("doctor names a folder that can be written, or created, and leaves nothing behind", async () => {
  const folder = temporaryFolder();

  expect(await check(folder)).toEqual([{ name: "saved videos", status: "ok", detail: folder }]);
  const below = join(folder, "not", "there");
  expect(await check(below)).toEqual([{ name: "saved videos", status: "ok", detail: below }]);
  expect(readdirSync(folder)).toEqual([]);
});

test("doctor warns of a folder that can't be written", async () => {
  const file = join(temporaryFolder(), "file");
  writeFileSync(file, "");

  expect(await check(file)).toEqual([
    {
      name: "saved videos",
      status: "warn",
      detail: `${file} can't be written: a part of the folder's path is a file (ENOTDIR). Finished videos are not saved`,
      fix: "Set FACELESS_SAVE_DIR to a folder that you can write to",
    },
  ]);
});
