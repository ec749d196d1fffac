// Checks whether a video could be made with the settings of this terminal or of a client's entry, and says
// how to fix what is wrong. Spends nothing and leaves nothing behind.

import type { Clock } from "../clock.ts";
import type { ClientName } from "../command-line.ts";
import { type Config, NO_FLAGS, readConfig, type ServiceConfig } from "../config.ts";
import type { ClientEntry, ClientStart } from "./doctor/client-entry.ts";
import {
  type Check,
  cleanCheck,
  formatReport,
  type HostInfo,
  pass,
  READ_ONLY,
  redactReport,
  skip,
} from "./doctor/check.ts";
import { checkConfig, readTarget } from "./doctor/environment.ts";
import { checkJournal, checkSavedVideos } from "./doctor/folders.ts";
import { addressOf, checkService } from "./doctor/service.ts";
import { cleanServiceText, stripUnsafeCharacters } from "../text.ts";

export interface DoctorOptions extends HostInfo {
  /** The client whose entry is checked; absent for this terminal's settings. */
  readonly client?: ClientName | undefined;
  readonly nodeVersion: string;
  readonly json: boolean;
  /** Whether to use what an entry of the working folder names without asking. */
  readonly trustProject: boolean;
  /** Asks the user. Absent where nobody can answer. */
  readonly confirm?: ((question: string) => Promise<boolean>) | undefined;
  readonly isTerminal: boolean;
  /** Gets whole lines, without their line break. */
  readonly print: (line: string) => void;
  readonly clock: Clock;
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
  const checks = [pass("Node.js", nodeVersion), ...entry.checks, ...ofStart].map(cleanCheck);
  clearInterval(keepAlive);
  const names = new Set(checks.map(({ name }) => (name.startsWith("FACELESS_") ? "settings" : name)));
  const ok = checks.every(({ status }) => status !== "fail" && status !== "skip");
  const expected = config?.sandbox === true ? SANDBOX_CHECK_NAMES : CHECK_NAMES;
  const report = { ok, checks, skipped: expected.filter((name) => !names.has(name)) };
  const colours = isTerminal && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
  const text = json ? JSON.stringify(report, undefined, 2) : formatReport(report, client, colours);
  print(redactReport(text, [env, start?.env ?? {}]));
  return ok ? 0 : 1;
}

async function readEntry(options: DoctorOptions): Promise<ClientEntry> {
  if (options.client === undefined)
    return { checks: [], start: { flags: NO_FLAGS, env: options.env, hidden: [] } };
  const { readClientEntry } = await import("./doctor/client-entry.ts");
  return readClientEntry(options.client, options);
}

async function checkStart(
  start: ClientStart,
  config: Config,
  options: DoctorOptions,
): Promise<readonly Check[]> {
  const { env, hidden } = start;
  const target = config.sandbox ? undefined : readTarget(env, options.homeDir);
  const settings = [
    ...checkConfig(env, config, { isEntry: options.client !== undefined, hidden }),
    ...(config.readOnly ? [pass(READ_ONLY, "no video can be made or posted")] : []),
  ];
  const doubt =
    config.sandbox && config.saveDir === undefined
      ? []
      : await askAboutProject(start, target, config, options);
  if (doubt.length > 0) return [...settings, ...doubt];
  return [
    ...settings,
    ...(await checkService(target, options.clock)),
    await checkJournal(config, options),
    ...(await checkSavedVideos(config)),
  ];
}

/** Nothing if what the entry names may be used: a cloned project may name an address that collects keys. */
async function askAboutProject(
  { projectFile, env }: ClientStart,
  target: ServiceConfig | undefined,
  { journalUrl }: Config,
  { env: terminal, trustProject, json, confirm }: DoctorOptions,
): Promise<readonly Check[]> {
  if (projectFile === undefined || trustProject) return [];
  const address = target === undefined ? "the service" : describeTarget(target);
  const database =
    journalUrl === undefined
      ? ""
      : `, and for the journal a database at ${cleanServiceText(journalUrl.host, 300)}`;
  const question = `This project's ${projectFile} names ${address}${database}. Is this your service, to which your key may be sent?`;
  const canAsk = target !== undefined && !json && confirm !== undefined;
  if (canAsk && (await confirm(redactReport(stripUnsafeCharacters(question), [terminal, env])))) return [];
  return [
    skip(
      "project",
      `${projectFile} may have come with a cloned project, so nothing was sent to ${address}, and no folder was opened`,
      "If this is your own service's address, run doctor again with --trust-project",
    ),
  ];
}

function describeTarget({ baseUrl, proxies }: ServiceConfig): string {
  const proxy = (baseUrl.protocol === "https:" ? proxies.https : undefined) ?? proxies.http;
  const clean = (text: string) => cleanServiceText(text, 300);
  if (proxy === undefined) return clean(addressOf(baseUrl));
  const except = proxies.none === undefined ? "" : ` (except for ${clean(proxies.none)})`;
  return `${clean(addressOf(baseUrl))} through the proxy ${clean(new URL(proxy).host)}${except}`;
}
