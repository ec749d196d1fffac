// The journal on a disk in trouble: what can't be had here is faked below it, in node:fs/promises.

import type * as fs from "node:fs/promises";
import { chmodSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createJournal, type Intent } from "../../src/once/journal.ts";
import { temporaryFolder } from "../fixtures/folder.ts";

const NOON = Date.UTC(2026, 10, 21, 12);
const VIDEO: Intent = { operation: "generate", account: "account", label: "Tides", fingerprint: "tides" };

/** What the disk does instead, by the name of the function; each gets the real one. */
const disk = vi.hoisted(() => ({
  open: undefined as
    | undefined
    | ((real: typeof fs.open, ...args: Parameters<typeof fs.open>) => Promise<fs.FileHandle>),
  readdir: undefined as undefined | (() => Promise<never>),
  unlink: undefined as undefined | (() => Promise<never>),
}));

vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof fs>();
  return {
    ...real,
    open: (...args: Parameters<typeof fs.open>) => disk.open?.(real.open, ...args) ?? real.open(...args),
    readdir: (path: string) => disk.readdir?.() ?? real.readdir(path),
    unlink: (path: string) => disk.unlink?.() ?? real.unlink(path),
  };
});

beforeEach(() => {
  disk.open = undefined;
  disk.readdir = undefined;
  disk.unlink = undefined;
});
afterEach(() => void vi.useRealTimers());

const fails = (code: unknown) => () => Promise.reject(Object.assign(new Error("disk"), { code }));

function openJournal(folder: string, now = () => NOON) {
  const warnings: string[] = [];
  const onUnwritable = (reason: string) => void warnings.push(reason);
  return { journal: createJournal({ folder, now, redact: (line) => line, onUnwritable, pid: 1 }), warnings };
}

describe("reading", () => {
  test.each(["EBUSY", "EMFILE", "EIO"])("is tried again after %s", async (code) => {
    const folder = temporaryFolder();
    await openJournal(folder).journal.begin(VIDEO);
    let failures = 2;
    disk.open = (real, ...args) => (failures-- > 0 ? fails(code)() : real(...args));

    expect(await openJournal(folder).journal.entries()).toHaveLength(1);
  });

  test("that fails for good is reported with its reason, after three attempts", async () => {
    const folder = temporaryFolder();
    await openJournal(folder).journal.begin(VIDEO);
    let attempts = 0;
    disk.open = () => ((attempts += 1), fails("EIO")());

    await expect(openJournal(folder).journal.entries()).rejects.toMatchObject({
      facts: { code: "journal_unreadable", message: expect.stringContaining("(EIO: ") },
    });
    expect(attempts).toBe(3);
  });

  test("a folder that can't be listed is reported with its name, and read again by the next call", async () => {
    const folder = temporaryFolder();
    const { journal } = openJournal(folder);
    await journal.begin(VIDEO);
    disk.readdir = fails("EACCES");
    await expect(journal.entries()).rejects.toMatchObject({
      facts: { message: expect.stringContaining(`(EACCES: ${folder})`) },
    });
    disk.readdir = undefined;

    expect(await journal.entries()).toHaveLength(1);
  });

  test("a disk that does not answer is reported after 4 s, in words", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const folder = temporaryFolder();
    const { journal } = openJournal(folder);
    disk.readdir = () => new Promise(() => {});
    const reading = journal.entries().catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(4_000);

    expect(await reading).toMatchObject({
      facts: {
        code: "journal_unreadable",
        message: expect.stringContaining(`(no answer in 4 s: ${folder})`),
      },
    });
  });

  test("a file past its days that can't be removed is read, and its entries don't count", async () => {
    const folder = temporaryFolder();
    await openJournal(folder).journal.begin(VIDEO);
    disk.unlink = fails("EPERM");
    const later = openJournal(folder, () => NOON + 92 * 24 * 3_600_000);

    expect(await later.journal.entries()).toEqual([]);
    expect(readdirSync(folder)).toEqual(["journal-2026-11-21.jsonl"]);
  });
});

test("Every file that is opened is closed, also after a failure", async () => {
  const folder = temporaryFolder();
  let open = 0;
  let isBroken = false;
  disk.open = async (real, ...args) => {
    const handle = await real(...args);
    const close = handle.close.bind(handle);
    open += 1;
    return Object.assign(handle, {
      close: () => ((open -= 1), close()),
      ...(isBroken && { sync: fails("EIO"), read: fails("EIO") }),
    });
  };
  const { journal } = openJournal(folder);
  await journal.begin(VIDEO);
  await journal.entries();
  isBroken = true;
  await journal.begin(VIDEO);
  await openJournal(folder)
    .journal.entries()
    .catch(() => {});

  expect(open).toBe(0);
});

describe("writing", () => {
  const onWrite =
    (change: (handle: fs.FileHandle) => object) =>
    async (real: typeof fs.open, ...args: Parameters<typeof fs.open>) => {
      const handle = await real(...args);
      return args[1] === "a" ? Object.assign(handle, change(handle)) : handle;
    };

  test("a line that is cut off by a full disk counts as not written, and the process remembers it", async () => {
    const { journal, warnings } = openJournal(temporaryFolder());
    disk.open = onWrite((handle) => {
      const write = handle.write.bind(handle);
      return { write: (bytes: Buffer) => write(bytes.subarray(0, 10)) };
    });
    await journal.begin(VIDEO);
    disk.open = undefined;

    expect(warnings).toEqual(["ENOSPC"]);
    expect(await journal.entries()).toMatchObject([{ label: "Tides", file: "" }]);
  });

  test("waits until the line is on disk, and no longer than 4 s", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const folder = temporaryFolder();
    const { journal, warnings } = openJournal(folder);
    let sync = () => {};
    const synced = new Promise<void>((resolve) => (sync = resolve));
    disk.open = onWrite(() => ({ sync: () => synced }));
    let isDone = false;
    const writing = journal.begin(VIDEO).then((id) => ((isDone = true), id));
    await vi.advanceTimersByTimeAsync(3_999);
    expect([isDone, warnings]).toEqual([false, []]);
    await vi.advanceTimersByTimeAsync(1);
    const id = await writing;
    expect(warnings).toEqual(["no answer in 4 s"]);

    // Written after all, it counts once, and what became of it stays known.
    sync();
    disk.open = undefined;
    await journal.settle(id, { outcome: "unknown" });
    expect(await journal.entries()).toMatchObject([{ id, outcome: "unknown" }]);
  });

  test("ends at once where the disk answers, and leaves no timer behind", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { journal } = openJournal(temporaryFolder());
    await journal.begin(VIDEO);
    await journal.entries();

    expect(vi.getTimerCount()).toBe(0);
  });

  test("to a folder that can't be synced is no reason to warn", async () => {
    const { journal, warnings } = openJournal(temporaryFolder());
    disk.open = (real, ...args) => (args[1] === "r" ? fails("EPERM")() : real(...args));
    await journal.begin(VIDEO);

    expect(warnings).toEqual([]);
  });

  test("syncs the folder once a file is new, so that a power cut does not lose its name", async () => {
    const folder = join(temporaryFolder(), "state");
    const synced: string[] = [];
    disk.open = async (real, ...args) => {
      const handle = await real(...args);
      const sync = handle.sync.bind(handle);
      return Object.assign(handle, { sync: async () => (synced.push(String(args[0])), sync()) });
    };
    const { journal } = openJournal(folder);
    const id = await journal.begin(VIDEO);
    await journal.settle(id, { outcome: "rejected" });

    const file = join(folder, "journal-2026-11-21.jsonl");
    expect(synced).toEqual([file, folder, file]);
  });
});

test("an error without a code is still a warning in words", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "state"));
  chmodSync(join(folder, "state"), 0o700);
  const { journal, warnings } = openJournal(join(folder, "state"));
  disk.open = () => Promise.reject(new Error("odd"));
  await journal.begin(VIDEO);
  await journal.begin(VIDEO);

  expect(warnings).toEqual(["unknown reason"]);
});
