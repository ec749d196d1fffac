// The real disk below the journal: what can't be had here is faked in node:fs/promises.

import type * as fs from "node:fs/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { JournalFiles, openDisk } from "../../src/idempotency/journal-files.ts";
import { temporaryFolder } from "../fixtures/folder.ts";

type Open = typeof fs.open;

/** What opening a file does instead; gets the real one. */
const fake = vi.hoisted(() => ({
  open: undefined as undefined | ((real: Open, ...args: Parameters<Open>) => Promise<fs.FileHandle>),
}));

vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof fs>();
  return {
    ...real,
    open: (...args: Parameters<Open>) => fake.open?.(real.open, ...args) ?? real.open(...args),
  };
});

beforeEach(() => void (fake.open = undefined));
afterEach(() => void vi.useRealTimers());

const NAME = "journal-2026-11-21.jsonl";
const LINE = "\nline\n";
const fails = () => Promise.reject(Object.assign(new Error("disk"), { code: "EIO" }));
const onAppend =
  (change: (handle: fs.FileHandle) => object): typeof fake.open =>
  async (real, ...args) => {
    const handle = await real(...args);
    return args[1] !== "r" ? Object.assign(handle, change(handle)) : handle;
  };

test("Reading a long file lets other work of the process go on", async () => {
  const disk = openDisk(temporaryFolder());
  await disk.append(NAME, LINE.repeat(5_000));
  let turns = 0;
  let lines = 0;

  await new JournalFiles(disk, Date.now).readNew((line) => {
    if (line !== "" && (lines += 1) % 1_000 === 1) setImmediate(() => (turns += 1));
  });

  expect({ lines, turns }).toEqual({ lines: 5_000, turns: 5 });
});

test("A line that a full disk cuts off is an error", async () => {
  fake.open = onAppend((handle) => {
    const write = handle.write.bind(handle);
    return { write: (text: string) => write(text.slice(0, 3)) };
  });

  await expect(openDisk(temporaryFolder()).append(NAME, LINE)).rejects.toThrow("the disk is full");
});

test("Appending waits until the line is on disk, and no longer than 4 s", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  let error: unknown;
  let appending: Promise<unknown> = Promise.resolve();
  await new Promise<void>((isSyncing) => {
    fake.open = onAppend(() => ({ sync: () => (isSyncing(), new Promise(() => {})) }));
    appending = new JournalFiles(openDisk(temporaryFolder()), Date.now)
      .append("line")
      .catch((thrown: unknown) => void (error = thrown));
  });
  await vi.advanceTimersByTimeAsync(3_999);
  expect(error).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  await appending;

  expect(error).toMatchObject({ problem: expect.stringContaining("(no answer in 4 s: ") });
});

test("The file is closed, also after a failure", async () => {
  let open = 0;
  let isBroken = false;
  fake.open = async (real, ...args) => {
    const handle = await real(...args);
    const close = handle.close.bind(handle);
    open += 1;
    return Object.assign(handle, { close: () => ((open -= 1), close()), ...(isBroken && { sync: fails }) });
  };
  const disk = openDisk(temporaryFolder());
  for (isBroken of [false, true]) await Promise.allSettled([disk.append(NAME, LINE)]);

  expect(open).toBe(0);
});
