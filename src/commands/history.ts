// Shows what this computer has ordered and posted, from the journal alone. Sends nothing and needs no key.

import type { Clock } from "../clock.ts";
import { type Config, JOURNAL_SETTINGS, NO_FLAGS, readConfig } from "../config.ts";
import { JournalError } from "../idempotency/errors.ts";
import type { OrderEntry, JournalEntry } from "../idempotency/journal.ts";
import { jobHistories } from "../idempotency/journal-facts.ts";
import { postsOf } from "../idempotency/same-post.ts";
import { JOB_ID } from "../service/job.ts";
import { languageName } from "../service/languages.ts";
import { DEFAULTS } from "../service/options.ts";
import { firstSpokenWords } from "../service/spoken-words.ts";
import { inSentences } from "../sentences.ts";
import { capitalized, cleanServiceText, localTime, quote } from "../text.ts";
import { describePost } from "./call-text.ts";
import type { Host } from "./host.ts";
import { openJournal, openJournalStore, orJournalError } from "./open-journal.ts";
import { TerminalUi } from "./terminal-ui.ts";

/** Maximum characters of the application's name, which is printed beside the time. */
const MAX_CLIENT_CHARS = 60;

/** Prints the history. Returns the exit code: 1 if the journal can't be read. */
export async function runHistory(json: boolean, host: Host): Promise<number> {
  const ui = new TerminalUi(host);
  const config = readConfig(host.env, NO_FLAGS, host.homeDir);
  const { requests, ...guidance } = await readHistory(config, host.clock);
  if (json) ui.printJson({ ...guidance, entries: requests?.map((request) => request.json) });
  else {
    ui.print(cleanServiceText(Object.values(guidance).join(" "), 1_000));
    for (const { title, lines } of requests ?? []) ui.step(title, lines);
  }
  return requests === undefined ? 1 : 0;
}

/** The requests, newest first; none if the journal can't be read. */
async function readHistory(config: Config, clock: Clock) {
  const wrong = config.problems.find(({ variable }) => JOURNAL_SETTINGS.includes(variable));
  if (wrong !== undefined)
    return { summary: `${wrong.variable} ${wrong.problem}.`, nextStep: `${wrong.fix}.` };
  const store = openJournalStore(config, clock);
  if (store === undefined)
    return { summary: "FACELESS_STATE_DIR=off keeps no journal, so there is no history.", requests: [] };
  const journal = openJournal(store, config, clock);
  const read = await orJournalError(journal.entries());
  if (read instanceof JournalError)
    return {
      summary: `The journal ${read.problem}, so what was ordered and posted is not known.`,
      nextStep: `${capitalized(read.fix)}.`,
    };
  const entries = read.toSorted((one, other) => other.atMs - one.atMs);
  const ofSandbox = config.sandbox ? " of the sandbox" : "";
  if (entries.length === 0)
    return {
      summary: `The journal holds no orders and no posts${ofSandbox} (${store.place}).`,
      nextStep: inSentences(
        "The sandbox keeps no journal with --sandbox; FACELESS_API_KEY=fl_sandbox shows what another one did.",
        "A client whose entry sets FACELESS_STATE_DIR or FACELESS_JOURNAL_URL has its own.",
      ),
      requests: [],
    };
  const jobs = await jobHistories(entries);
  const requests = entries.map((entry) => {
    const order = entry.operation === "generate" ? entry : jobs.get(entry.jobId)?.order;
    return describeEntry(entry, order, journal.isUnderWay(entry));
  });
  return {
    summary: `Orders and posts${ofSandbox} in the journal, newest first (${store.place}):`,
    requests,
  };
}

/** A request as JSON, and as a title and lines. `order` is that of its job, if the journal has it. */
function describeEntry(entry: JournalEntry, order: OrderEntry | undefined, isUnderWay: boolean) {
  const { atMs, client, operation, jobId, outcome, sandbox } = entry;
  const ordered: Readonly<Record<string, unknown>> = order ? { ...DEFAULTS, ...order.arguments } : {};
  const { topic, duration: seconds, ...options } = ordered;
  const at = new Date(atMs).toISOString();
  const unknown = outcome === undefined && { unknown: true, ...(isUnderWay && { underWay: true }) };
  const mark = { ...(sandbox && { sandbox }), ...unknown };
  const json = { at, client, operation, jobId, ...mark, topic, seconds, ...options };
  const time = localTime(atMs).slice(0, 16).replace("T", " ");
  const title = client === undefined ? time : `${time}  by ${cleanServiceText(client, MAX_CLIENT_CHARS)}`;
  const job = `job ${JOB_ID.test(jobId ?? "") ? jobId : quote(jobId ?? "", 60)}`;
  const name = order === undefined ? job : quote(firstSpokenWords(String(topic)));
  if (entry.operation === "generate") {
    const unanswered = isUnderWay
      ? "Under way: the service has not answered yet."
      : "Not known whether it was started and paid for: ask your assistant to list the videos.";
    const { language, style } = options;
    const lines = [
      `Order: ${name}`,
      cleanServiceText(`${String(seconds)} s, ${languageName(String(language))}, ${String(style)}`),
      outcome === undefined ? unanswered : `Started as ${job} (history doesn't ask how it went)`,
    ];
    return { json, title, lines };
  }
  const { results = [] } = entry;
  const unnamed = postsOf(entry).filter(({ result }) => result === undefined);
  const posts = [...results, ...unnamed.map(({ platform }) => ({ platform, unknown: true }))];
  const underWay = isUnderWay ? " (under way: the service has not answered yet)" : "";
  const lines = [`Post: ${name}${underWay}`, ...posts.map((result) => describePost({ ...result }))];
  return { json: { ...json, results: posts }, title, lines };
}
