// Several processes at once, as when two clients run a server each.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { createJournal } from "../../src/jobs/journal.ts";

const WRITER = fileURLToPath(new URL("journal-writer.ts", import.meta.url));
const NAMES = ["a", "b", "c", "d"];

/** Ready to write when this resolves, and done when what it resolves with does. */
async function startWriter(folder: string, name: string, count: number, length: number) {
  const args = ["--import", "tsx", WRITER, folder, name, String(count), String(length)];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.kill());
  await once(child.stdout, "data");
  return async () => {
    const ended = once(child, "close");
    child.stdin.end("go\n");
    expect(await ended).toEqual([0, null]);
  };
}

test.each([
  ["", 60, 0],
  // Four times 140 pairs of some 1,150 bytes are over 512 kB once, and not twice.
  [", also while it is turned over", 140, 200],
])("Processes that write at once lose and break no line%s", async (_, count, length) => {
  const folder = mkdtempSync(join(tmpdir(), "journal-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const writers = await Promise.all(NAMES.map((name) => startWriter(folder, name, count, length)));

  await Promise.all(writers.map((go) => go()));

  const journal = createJournal({ folder, now: Date.now, redact: (line) => line, onUnwritable: () => {} });
  const entries = journal.entries();
  for (const name of NAMES) {
    expect(
      entries.filter(({ account }) => account === name).map(({ fingerprint, jobId }) => [fingerprint, jobId]),
    ).toEqual(Array.from({ length: count }, (_, index) => [`${name}-${index}`, `job-${name}-${index}`]));
  }
  const text = ["journal.1.jsonl", "journal.jsonl"].map((name) => {
    try {
      return readFileSync(join(folder, name), "utf8");
    } catch {
      return "";
    }
  });
  expect(text.filter((part) => part !== "")).toHaveLength(length > 0 ? 2 : 1);
  const lines = text
    .join("")
    .split("\n")
    .filter((line) => line !== "");
  expect(lines).toHaveLength(2 * count * NAMES.length);
  for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();
});
