// Checks whether a video could be made with the environment as it is, and says how to fix what is wrong. Only reads: it sends GETs,
// spends nothing and leaves nothing behind.

import { type Environment, readConfig } from "../config.ts";
import { checkConfig, checkNode, readTarget } from "./doctor/environment.ts";
import { checkJournal } from "./doctor/journal.ts";
import { checkSavedVideos } from "./doctor/saved-videos.ts";
import { formatReport, redactReport } from "./doctor/report.ts";
import { checkService } from "./doctor/service.ts";
import { checkWebhooks } from "./doctor/webhooks.ts";

export interface DoctorOptions {
  readonly env: Environment;
  /** What `~` stands for. */
  readonly homeDir: string;
  /** As in process.versions.node. */
  readonly nodeVersion: string;
  readonly json: boolean;
  readonly isTerminal: boolean;
  /** Gets whole lines, without their line break. */
  readonly print: (line: string) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Checks of which each report says how they ended, or that they were skipped. */
const CHECK_NAMES = ["Node.js", "settings", "service", "key", "requests", "clock", "platforms", "journal"];

/** Prints the report. Returns the exit code: 1 if no video could be made. */
export async function runDoctor(options: DoctorOptions): Promise<number> {
  const { env, homeDir, nodeVersion, json, isTerminal, print, now } = options;
  // The timers of requests don't keep the process alive by themselves.
  const keepAlive = setInterval(() => {}, 1_000);
  const config = readConfig(env, { sandbox: false, readOnly: false, noPublish: false }, homeDir);
  const checks = [
    checkNode(nodeVersion),
    ...checkConfig(env, config),
    ...(await checkService(readTarget(env, homeDir), now)),
    await checkJournal(config),
    ...(await checkSavedVideos(config)),
    ...(await checkWebhooks(config)),
  ];
  clearInterval(keepAlive);
  const names = new Set(checks.map(({ name }) => (name.startsWith("FACELESS_") ? "settings" : name)));
  const ok = checks.every(({ status }) => status !== "fail");
  const report = { ok, checks, skipped: CHECK_NAMES.filter((name) => !names.has(name)) };
  const colours = isTerminal && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
  const text = json ? JSON.stringify(report, undefined, 2) : formatReport(report, colours);
  print(redactReport(text, env["FACELESS_API_KEY"]));
  return ok ? 0 : 1;
}
