// The real disk below the journal: what can't be had here is faked in node:fs.

import { systemClock } from "../../src/clock.ts";
import type * as nodeFs from "node:fs";
import type * as fs from "node:fs/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openPrivateFolder } from "../../src/private-folder.ts";
import { JournalFiles } from "../../src/idempotency/journal-files.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { failing } from "./open-journal.ts";

interface Fakes {
  /** Changes a file that was opened. */
  onOpen?: (handle: fs.FileHandle) => object;
  lstat?: typeof fs.lstat;
}

const fake: { current: Fakes } = vi.hoisted(() => ({ current: {} }));

vi.mock("node:fs", async (original) => {
  const whole = await original<typeof nodeFs>();
  const real = whole.promises;
  const open: typeof fs.open = async (...args) => {
    const handle = await real.open(...args);
    return Object.assign(handle, fake.current.onOpen?.(handle));
  };
  const lstat = (path: string) => (fake.current.lstat ?? real.lstat)(path);
  return { ...whole, promises: { ...real, open, lstat } };
});
beforeEach(() => void (fake.current = {}));
afterEach(() => void vi.useRealTimers());

const NAME = "journal-2026-11-21.jsonl";
const LINE = "\nline\n";

test("Reading a long file lets other work of the process go on", async () => {
  const disk = openPrivateFolder(temporaryFolder());
  await disk.append(NAME, LINE.repeat(5_000));
  let turns = 0;
  let isTurnOver = true;
  await new JournalFiles(disk, systemClock).readNew(() => {
    if (isTurnOver) setImmediate(() => ((isTurnOver = true), (turns += 1)));
    isTurnOver = false;
  });

  // The file has 10,000 lines, every other one empty.
  expect(turns).toBeGreaterThan(4);
  expect(turns).toBeLessThan(50);
});

test("A line that a full disk cuts off is an error", async () => {
  fake.current.onOpen = (handle) => {
    const write = handle.write.bind(handle);
    return { write: (text: string) => write(text.slice(0, 3)) };
  };

  const files = new JournalFiles(openPrivateFolder(temporaryFolder()), systemClock);
  await expect(files.append("line")).rejects.toMatchObject({
    problem: expect.stringContaining("(the disk is full: "),
    fix: "free some space on its disk",
  });
});

test("Appending waits until the line is on disk, and no longer than 4 s", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const files = new JournalFiles(openPrivateFolder(temporaryFolder()), systemClock);
  await files.append("line");
  await vi.advanceTimersByTimeAsync(0);
  expect(vi.getTimerCount()).toBe(0);
  let error: unknown;
  let appending: Promise<unknown> = Promise.resolve();
  await new Promise<void>((isSyncing) => {
    fake.current.onOpen = () => ({ sync: () => (isSyncing(), new Promise(() => {})) });
    appending = files.append("line").catch((thrown: unknown) => void (error = thrown));
  });
  await vi.advanceTimersByTimeAsync(3_999);
  expect(error).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  await appending;

  expect(error).toMatchObject({ problem: expect.stringContaining("(no answer in 4 s: ") });
});

test("The file is closed after reading and writing, also after a failure", async () => {
  let open = 0;
  let broken = {};
  fake.current.onOpen = (handle) => {
    const close = handle.close.bind(handle);
    open += 1;
    return { close: () => ((open -= 1), close()), ...broken };
  };
  const disk = openPrivateFolder(temporaryFolder());
  for (broken of [{}, { sync: failing("EIO"), read: failing("EIO") }])
    await Promise.allSettled([disk.append(NAME, LINE), disk.read(NAME, 0)]);

  expect(open).toBe(0);
});

test("A file that is gone when it is looked at is left out, but another failure is an error", async () => {
  const disk = openPrivateFolder(temporaryFolder());
  await disk.append(NAME, LINE);
  fake.current.lstat = failing("ENOENT");
  expect(await disk.list(/./)).toEqual(new Map());
  fake.current.lstat = failing("EIO");

  await expect(disk.list(/./)).rejects.toMatchObject({ code: "EIO" });
});
