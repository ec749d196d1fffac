// Checks whether a video could be made with the settings of this terminal or of a client's entry, and says
// how to fix what is wrong. Spends nothing and leaves nothing behind.

import type { ClientName, Given } from "../command-line.ts";
import { type Config, JOURNAL_SETTINGS, NO_FLAGS, readConfig } from "../config.ts";
import { FORMATS } from "./client-formats.ts";
import { type Check, formatReport, pass, redactReport } from "./doctor/check.ts";
import { readClientEntries } from "./doctor/client-entry.ts";
import { checkConfig, KEY, readServiceConfig, type Settings } from "./doctor/environment.ts";
import { checkJournal, checkSavedVideos } from "./doctor/folders.ts";
import { checkQuestions } from "./doctor/questions.ts";
import { checkService } from "./doctor/service.ts";
import { checkStart } from "./doctor/start.ts";
import type { Host } from "./host.ts";
import { TerminalUi } from "./terminal-ui.ts";

/** Every report has these checks, or says that they were skipped. */
const CHECK_NAMES = ["settings", "service", "key", "rate limit", "journal"];
const SANDBOX_CHECK_NAMES = ["settings", "journal"];

/** Returns the exit code: 1 if no video could be made, or with `shapes` if nothing answered. */
export async function runDoctor({ client, json, shapes }: Given<"doctor">, host: Host): Promise<number> {
  const ui = new TerminalUi(host);
  const found = client === undefined ? undefined : await readClientEntries(client, host);
  const ofTerminal: Settings = { env: host.env, flags: NO_FLAGS, hidden: [] };
  // The client's first entry counts.
  const settings = found === undefined ? ofTerminal : found.entries[0]?.settings;
  const config = settings && readConfig(settings.env, settings.flags, host.homeDir);
  const describeChecks = async () => {
    const checks = [pass("Node.js", host.nodeVersion), ...(found?.checks ?? [])];
    for (const entry of found?.entries ?? []) {
      // eslint-disable-next-line no-await-in-loop -- two servers at once would share the journal's folder and the processor
      checks.push(...(await checkStart(entry, host)), ...checkQuestions(entry, host));
    }
    if (settings && config) checks.push(...(await checkSettings(settings, config, client, host)));
    const names = new Set(checks.map(({ name }) => (name.startsWith("FACELESS_") ? "settings" : name)));
    const ok = checks.every(({ status }) => status !== "fail");
    const expected = config?.startsSandbox === true ? SANDBOX_CHECK_NAMES : CHECK_NAMES;
    const report = { ok, checks, skipped: expected.filter((name) => !names.has(name)) };
    return { ok, report, text: formatReport(report, client && FORMATS[client].title, ui.isColoured) };
  };
  const { ok, report, text } = shapes ? await describeShapes(settings, config, host) : await describeChecks();
  const redact = (line: string) => redactReport(line, [host.env[KEY], settings?.env[KEY]]);
  if (json) ui.printJson(report, redact);
  else ui.print(redact(text));
  return ok ? 0 : 1;
}

/** Describes the form of the service's answers and nothing else, so that all of it can be reported. */
async function describeShapes(settings: Settings | undefined, config: Config | undefined, host: Host) {
  const isSandbox = config?.startsSandbox === true;
  const service = settings && !isSandbox ? readServiceConfig(settings.env, host.homeDir) : undefined;
  if (service === undefined) {
    const reasons = config?.problems.map(({ variable, problem }) => `${variable} ${problem}`).join("; ");
    const reason = reasons ?? "there is no entry that can be read";
    const problem = `There is no service to ask: ${isSandbox ? "the sandbox answers as documented" : reason}.`;
    return { ok: false, report: { problem }, text: problem };
  }
  const { formatShapes, readShapes } = await import("./doctor/shapes.ts");
  const report = await readShapes(service, host.clock, host.nodeVersion);
  const ok = report.answers.some(({ answer }) => answer.startsWith("HTTP "));
  return { ok, report, text: formatShapes(report) };
}

async function checkSettings(
  { env, hidden }: Settings,
  config: Config,
  client: ClientName | undefined,
  host: Host,
): Promise<readonly Check[]> {
  const isServiceHidden = config.startsSandbox || hidden.some((name) => /_proxy$/i.test(name));
  const isJournalNamed = config.problems.every(({ variable }) => !JOURNAL_SETTINGS.includes(variable));
  return [
    ...checkConfig(config, { isEntry: client !== undefined, hidden }),
    ...(await checkService(isServiceHidden ? undefined : readServiceConfig(env, host.homeDir), client, host)),
    ...(isJournalNamed ? [await checkJournal(config, host)] : []),
    ...(await checkSavedVideos(config)),
  ];
}
