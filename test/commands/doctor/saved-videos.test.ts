// What doctor says of FACELESS_SAVE_DIR, on this computer and in a container.

import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkSavedVideos, type ReadText } from "../../../src/commands/doctor/saved-videos.ts";
import { readConfig } from "../../../src/config.ts";
import { temporaryFolder } from "../../fixtures/folder.ts";

const notInContainer: ReadText = async () => undefined;

function check(folder: string, readText = notInContainer) {
  const flags = { sandbox: true, readOnly: false, noPublish: false };
  return checkSavedVideos(readConfig({ FACELESS_SAVE_DIR: folder }, flags, "/home/user"), readText);
}

test("doctor says nothing of saved videos while no folder is set", async () => {
  expect(await check("")).toEqual([]);
});

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
      detail: `${file} can't be written: a part of its path is a file (ENOTDIR). Finished videos are not saved`,
      fix: "Set FACELESS_SAVE_DIR to a folder that you can write to",
    },
  ]);
});

describe.each(["/.dockerenv", "/run/.containerenv"])("in a container with %s", (mark) => {
  const ROOT = "1 0 0:1 / / rw - overlay overlay rw";
  const inContainer =
    (...mounts: string[]): ReadText =>
    async (path) => {
      if (path === mark) return "";
      return path === "/proc/self/mountinfo" ? [ROOT, ...mounts, ""].join("\n") : undefined;
    };

  test("doctor warns that the folder is not on the user's computer", async () => {
    const folder = temporaryFolder();

    expect(await check(folder, inContainer(`2 1 0:2 / ${folder}2 rw - ext4 /dev/sda1 rw`))).toEqual([
      {
        name: "saved videos",
        status: "warn",
        detail: `${folder} is in this container and not on your computer: the videos are gone with the container`,
        fix: `Mount a folder of your computer there, such as with docker run -v "$HOME/Videos:${folder}"`,
      },
    ]);
  });

  test("doctor says that a mounted folder has another path outside", async () => {
    const folder = join(temporaryFolder(), "my videos");
    const mount = `2 1 0:2 / ${folder.replace(" ", "\\040")} rw - ext4 /dev/sda1 rw`;

    expect(await check(join(folder, "below"), inContainer(mount))).toEqual([
      {
        name: "saved videos",
        status: "ok",
        detail: `${join(folder, "below")} in this container, mounted from outside: savedTo names the path in here`,
      },
    ]);
  });

  test("doctor does not take a file system in memory for a mounted folder", async () => {
    const folder = temporaryFolder();

    expect(await check(folder, inContainer(`2 1 0:2 / ${folder} rw - tmpfs tmpfs rw`))).toEqual([
      expect.objectContaining({ status: "warn" }),
    ]);
  });
});
