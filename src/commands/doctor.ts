// Checks whether a video could be made with the settings of this terminal or of a client's entry, and says
// how to fix what is wrong. Spends nothing and leaves nothing behind.

import { join } from "node:path";
import type { ClientName, Command } from "../command-line.ts";
import { type Environment, type Flags, JOURNAL_SETTINGS, NO_FLAGS, readConfig } from "../config.ts";
import { FORMATS } from "./client-formats.ts";
import { cleanCheck, formatReport, pass, redactReport } from "./doctor/check.ts";
import { type ClientEntry, readClientEntries } from "./doctor/client-entry.ts";
import { checkConfig, KEY, readTarget, settingsOf } from "./doctor/environment.ts";
import { checkJournal, checkSavedVideos } from "./doctor/folders.ts";
import { checkQuestions } from "./doctor/questions.ts";
import { checkService } from "./doctor/service.ts";
import { checkStart } from "./doctor/start.ts";
import type { Host } from "./host.ts";
import { ownCommand } from "./server-entry.ts";
import { TerminalUi } from "./terminal-ui.ts";

/** Every report has these checks, or says that they were skipped. */
const CHECK_NAMES = ["Node.js", "settings", "service", "key", "rate limit", "journal"];
const SANDBOX_CHECK_NAMES = ["Node.js", "settings", "journal"];

/** Prints the report. Returns the exit code: 1 if no video could be made, or with `shapes` if nothing answered. */
export async function runDoctor(
  { client, json, shapes }: Extract<Command, { name: "doctor" }>,
  host: Host,
): Promise<number> {
  const ui = new TerminalUi(host);
  if (shapes) return printShapes(client, json, host, ui);
  const { checks, settings } =
    client === undefined ? { checks: [], settings: ofTerminal(host) } : await checkEntries(client, host);
  const ofSettings = settings && (await checkSettings(settings, client, host));
  const all = [pass("Node.js", host.nodeVersion), ...checks, ...(ofSettings?.checks ?? [])].map(cleanCheck);
  const names = new Set(all.map(({ name }) => (name.startsWith("FACELESS_") ? "settings" : name)));
  const ok = all.every(({ status }) => status !== "fail");
  const expected = ofSettings?.sandbox === true ? SANDBOX_CHECK_NAMES : CHECK_NAMES;
  const report = { ok, checks: all, skipped: expected.filter((name) => !names.has(name)) };
  const redact = (text: string) => redactReport(text, [host.env[KEY], settings?.env[KEY]]);
  if (json) ui.printJson(report, redact);
  else ui.print(redact(formatReport(report, client && FORMATS[client].title, ui.isColoured)));
  return ok ? 0 : 1;
}

/** Prints the form of the service's answers and nothing else, so that all of it can be reported. */
async function printShapes(
  client: ClientName | undefined,
  json: boolean,
  host: Host,
  ui: TerminalUi,
): Promise<number> {
  const settings = client === undefined ? ofTerminal(host) : await readFirstEntry(client, host);
  const config = settings && readConfig(settings.env, settings.flags, host.homeDir);
  const service = config?.startsSandbox === false ? readTarget(settings?.env ?? {}, host.homeDir) : undefined;
  const redact = (text: string) => redactReport(text, [host.env[KEY], settings?.env[KEY]]);
  if (service === undefined) {
    const reasons = config?.problems.map(({ variable, problem }) => `${variable} ${problem}`).join("; ");
    const problem =
      config?.startsSandbox === true
        ? "The sandbox is a part of this program, and answers as documented."
        : `There is no service to ask: ${reasons ?? "there is no entry that can be read"}.`;
    if (json) ui.printJson({ problem }, redact);
    else ui.print(redact(problem));
    return 1;
  }
  const { formatShapes, readShapes } = await import("./doctor/shapes.ts");
  const read = await readShapes(service, host.clock, host.nodeVersion);
  if (json) ui.printJson(read, redact);
  else ui.print(redact(formatShapes(read)));
  return read.answers.some(({ answer }) => answer.startsWith("HTTP ")) ? 0 : 1;
}

const ofTerminal = ({ env }: Host): Settings => ({ env, flags: NO_FLAGS, hidden: [] });

async function readFirstEntry(client: ClientName, host: Host): Promise<Settings | undefined> {
  const { entries } = await readClientEntries(client, host, "");
  return entries[0] && settingsOfEntry(client, entries[0], host);
}

/** The settings to check, and the variables whose values doctor doesn't know. */
interface Settings {
  readonly env: Environment;
  readonly flags: Flags;
  readonly hidden: readonly string[];
}

/** Checks how the entries are written, and starts each. The settings are those of the first; there are none without one. */
async function checkEntries(client: ClientName, host: Host) {
  const print = ownCommand(`config ${client}`, join(host.files, "bin.cjs"), host.isOnNpm);
  const { checks, entries } = await readClientEntries(client, host, print);
  const starts = [];
  for (const entry of entries) {
    // eslint-disable-next-line no-await-in-loop -- two servers at once would share the journal's folder and the processor
    starts.push(...(await checkStart(client, entry, host, print)));
    const { env, flags } = settingsOfEntry(client, entry, host);
    starts.push(...checkQuestions(FORMATS[client], entry, readConfig(env, flags, host.homeDir), print));
  }
  const all = [...checks, ...starts];
  const [first] = entries;
  return { checks: all, ...(first !== undefined && { settings: settingsOfEntry(client, first, host) }) };
}

function settingsOfEntry(client: ClientName, { words, env, judged }: ClientEntry, host: Host): Settings {
  const texts = words.map(({ text }) => text);
  const all = { ...(FORMATS[client].inherits === true && settingsOf(host.env)), ...env };
  const has = (flag: string) => texts.some((word) => word === `--${flag}` || word === `--${flag}=true`);
  const flags: Flags = {
    sandbox: texts.includes("--sandbox=auto") ? "auto" : has("sandbox"),
    readOnly: has("read-only"),
    noPublish: has("no-publish"),
  };
  const known = Object.fromEntries(Object.entries(all).filter(([name]) => !judged.includes(name)));
  return { env: known, flags, hidden: judged };
}

async function checkSettings({ env, flags, hidden }: Settings, client: ClientName | undefined, host: Host) {
  const { homeDir, clock } = host;
  const isEntry = client !== undefined;
  const words = `doctor --shapes${isEntry ? ` --client ${client}` : ""}`;
  const showShapes = ownCommand(words, join(host.files, "bin.cjs"), host.isOnNpm);
  const config = readConfig(env, flags, homeDir);
  const { startsSandbox: sandbox } = config;
  const isProxyHidden = hidden.some((name) => /_proxy$/i.test(name));
  const isJournalNamed = config.problems.every(({ variable }) => !JOURNAL_SETTINGS.includes(variable));
  const checks = [
    ...checkConfig(config, { isEntry, hidden }),
    ...(await checkService(
      sandbox || isProxyHidden ? undefined : readTarget(env, homeDir),
      clock,
      showShapes,
    )),
    ...(isJournalNamed ? [await checkJournal(config, host)] : []),
    ...(await checkSavedVideos(config)),
  ];
  return { checks, sandbox };
}
