// A journal in a folder of its own: what the tests of journal.ts share.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createJournal, type Intent, type Journal } from "../../src/jobs/journal.ts";

export const NOW = Date.UTC(2026, 10, 20);
export const INTENT: Intent = { operation: "generate", fingerprint: "f", account: "a", label: "Tides" };

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "journal-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface Opened {
  readonly journal: Journal;
  readonly folder: string;
  /** What was said of a folder that can't be written. */
  readonly complaints: readonly string[];
  /** The lines on disk. */
  lines(): string[];
}

export function open(
  options: { folder?: string; now?: () => number; redact?: (line: string) => string } = {},
): Opened {
  const { folder = join(temporaryFolder(), "state"), now = () => NOW, redact = (line) => line } = options;
  const complaints: string[] = [];
  const onUnwritable = (reason: string) => void complaints.push(reason);
  return {
    journal: createJournal({ folder, now, redact, onUnwritable }),
    folder,
    complaints,
    lines: () => readFileSync(join(folder, "journal.jsonl"), "utf8").split("\n").slice(0, -1),
  };
}

/** As another process finds it. */
export function reopened({ folder }: Opened, now = () => NOW): Journal {
  return open({ folder, now }).journal;
}
