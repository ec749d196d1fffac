// Checks whether a video could be made with the settings of this terminal or of a client's entry, and says
// how to fix what is wrong. Spends nothing and leaves nothing behind.

import type { ClientName } from "../command-line.ts";
import { type Config, NO_FLAGS, readConfig } from "../config.ts";
import type { ClientEntry, ClientStart } from "./doctor/client-entry.ts";
import type { Machine } from "./doctor/client-files.ts";
import { type Check, pass } from "./doctor/check.ts";
import { checkConfig, readTarget } from "./doctor/environment.ts";
import { checkJournal } from "./doctor/journal.ts";
import { checkSavedVideos } from "./doctor/saved-videos.ts";
import { formatReport, redactReport } from "./doctor/report.ts";
import { checkService } from "./doctor/service.ts";

export interface DoctorOptions extends Machine {
  /** The client whose entry is checked; absent for this terminal's settings. */
  readonly client?: ClientName | undefined;
  /** As in process.versions.node. */
  readonly nodeVersion: string;
  readonly json: boolean;
  readonly isTerminal: boolean;
  /** Gets whole lines, without their line break. */
  readonly print: (line: string) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Every report has these checks, or says that they were skipped. */
const CHECK_NAMES = ["Node.js", "settings", "service", "key", "requests", "platforms", "journal"];
const SANDBOX_CHECK_NAMES = ["Node.js", "settings", "journal"];

/** Prints the report. Returns the exit code: 1 if no video could be made. */
export async function runDoctor(options: DoctorOptions): Promise<number> {
  const { client, env, nodeVersion, json, isTerminal, print } = options;
  // The timers of requests don't keep the process alive by themselves.
  const keepAlive = setInterval(() => {}, 1_000);
  const { start, ...entry } = await readEntry(options);
  const config = start && readConfig(start.env, start.flags, options.homeDir);
  const ofStart = start && config ? await checkStart(start, config, options) : [];
  const checks = [pass("Node.js", nodeVersion), ...entry.checks, ...ofStart];
  clearInterval(keepAlive);
  const names = new Set(checks.map(({ name }) => (name.startsWith("FACELESS_") ? "settings" : name)));
  const ok = checks.every(({ status }) => status !== "fail");
  const expected = config?.sandbox === true ? SANDBOX_CHECK_NAMES : CHECK_NAMES;
  const report = { ok, checks, skipped: expected.filter((name) => !names.has(name)) };
  const colours = isTerminal && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
  const text = json ? JSON.stringify(report, undefined, 2) : formatReport(report, client, colours);
  print(
    redactReport(
      text,
      [env, start?.env ?? {}].map((values) => values["FACELESS_API_KEY"]),
    ),
  );
  return ok ? 0 : 1;
}

async function readEntry(options: DoctorOptions): Promise<ClientEntry> {
  if (options.client === undefined)
    return { checks: [], start: { flags: NO_FLAGS, env: options.env, hidden: [] } };
  const { readClientEntry } = await import("./doctor/client-entry.ts");
  return readClientEntry(options.client, options);
}

async function checkStart(
  { env, hidden }: ClientStart,
  config: Config,
  { client, homeDir, now }: DoctorOptions,
): Promise<readonly Check[]> {
  return [
    ...checkConfig(env, config, { isEntry: client !== undefined, hidden }),
    ...(config.sandbox ? [] : await checkService(readTarget(env, homeDir), now)),
    await checkJournal(config),
    ...(await checkSavedVideos(config)),
  ];
}
