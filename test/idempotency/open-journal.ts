// A journal on clocks of the test, and entries to put into it.

import { type Clock, systemClock } from "../../src/clock.ts";
import { type DatabaseAddress, parseDatabaseAddress } from "../../src/settings/database-address.ts";
import { Journal, type Intent, memoryStore } from "../../src/idempotency/journal.ts";
import { JournalFiles } from "../../src/idempotency/journal-files.ts";
import { JournalPostgres } from "../../src/idempotency/journal-postgres.ts";
import { openPrivateFolder, type PrivateFolder } from "../../src/idempotency/private-folder.ts";
import { createRedact } from "../../src/redact.ts";
import { temporaryFolder } from "../fixtures/folder.ts";

export const NOON = Date.UTC(2026, 10, 21, 12);
export const DAY_MS = 24 * 3_600_000;
export const KEY = "fl_example_of_a_key_0123456789";
export const VIDEO = {
  operation: "generate",
  arguments: { topic: "Tides" },
} satisfies Intent;
export const TODAY = "journal-2026-11-21.jsonl";

export function openJournal(folder: PrivateFolder | undefined, clock = { epochMs: NOON }) {
  const warnings: string[] = [];
  const time = { ...systemClock, now: () => clock.epochMs };
  const journal = new Journal({
    store: folder === undefined ? memoryStore(time) : new JournalFiles(folder, time),
    redact: createRedact(KEY),
    onUnwritable: (error) => void warnings.push(String(error)),
  });
  return { journal, warnings, clock };
}

/** A journal in an empty folder. */
export function newJournal() {
  const disk = openPrivateFolder(temporaryFolder());
  return { disk, folder: disk.path, ...openJournal(disk) };
}

/** The address, which must be a good one. */
export function readAddress(url: string): DatabaseAddress {
  const address = parseDatabaseAddress(url, "/home/user");
  if (address === undefined || "problem" in address) throw new Error(JSON.stringify(address));
  return address;
}

export const openDatabase = (url: string, clock: Clock = systemClock) =>
  new JournalPostgres(readAddress(url), clock);

export const topics = async (journal: Journal) =>
  (await journal.entries()).map((entry) => entry.operation === "generate" && entry.arguments["topic"]);
export const withTopic = (topic: string): Intent => ({ ...VIDEO, arguments: { topic } });
export const failing = (code: string) => () => Promise.reject(Object.assign(new Error("disk"), { code }));
