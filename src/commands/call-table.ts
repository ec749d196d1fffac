// `call generate_video --csv`: orders each row of a table by the tool itself, once all rows have passed its
// checks. Knows what became of each row at any time, so that an interrupt can still print it.

import { pause } from "../clock.ts";
import {
  type BridgeError,
  describeFailure,
  errorMeta,
  type ErrorCode,
  notSent,
  toBridgeError,
} from "../errors.ts";
import { stateOf } from "../service/job.ts";
import { inSentences, type Text, textFor } from "../sentences.ts";
import { capitalized } from "../text.ts";
import type { Consent, Question } from "../tools/question.ts";
import { describeUnrecorded, structureOf, type ToolContext, type ToolResult } from "../tools/tool.ts";
import type { Call } from "./call-arguments.ts";
import { inColumns } from "./call-text.ts";
import type { Host } from "./host.ts";
import { exitCodeOf, type LocalTools } from "./local-tools.ts";
import type { TableRow } from "./read-table.ts";
import type { TerminalUi } from "./terminal-ui.ts";

/** The pause after a 429 that names no time. */
const RATE_PAUSE_SECONDS = 5;
/** Failures of a row that can't be ordered as it is written. */
const FAULTS: readonly ErrorCode[] = ["invalid_input", "check_order"];
/** Failures that give a code. */
const CONFIRMABLE: readonly ErrorCode[] = ["check_order", "duplicate"];
/** Failures that don't stop the table. After any other the next row would fail too, or be paid in doubt. */
const ROW_ERRORS: readonly ErrorCode[] = [...FAULTS, "duplicate", "in_progress", "refused", "declined"];

/** What is known of a row. One with neither result nor failure is left for another run. */
interface Row extends TableRow {
  /** The question before an order that can be sent. */
  question?: Question;
  /** The result, which names the job. */
  result?: ToolResult;
  failure?: BridgeError;
}

/** Returns what to print. Throws what concerns the whole table before the first order. */
export async function callTable(
  { rows: table = [], tool, waits, config }: Call,
  tools: LocalTools,
  { clock, interrupted }: Host,
  ui: TerminalUi,
  { askUser, isLeft }: { readonly askUser: ToolContext["askUser"]; readonly isLeft: Promise<never> },
) {
  const rows = table.map((row): Row => ({ ...row }));
  /** Why no further row is ordered. */
  let stop: BridgeError | undefined;
  /** Adds to what is known of a row. */
  const attempt = async (row: Row, work: Promise<Partial<Row>>) => {
    try {
      Object.assign(row, await Promise.race([work, isLeft]));
    } catch (error) {
      const failure = toBridgeError(error, "unknown");
      const { code, outcome } = failure.facts;
      const isOfRow = ROW_ERRORS.includes(code);
      if (isOfRow || outcome !== "not_sent") row.failure = failure;
      if (!isOfRow) stop ??= failure;
    }
  };
  const numbers = new Map<unknown, number>();
  const check = async ({ number, problem, cells }: Row): Promise<Partial<Row>> => {
    if (problem !== undefined) throw fault(`It ${problem}.`);
    const checked = await tools.check(tool, cells);
    const key = "question" in checked ? checked.question.key : checked.result.fields["jobId"];
    const earlier = numbers.get(key);
    if (earlier !== undefined) throw fault(`It is the same order as row ${earlier}.`);
    numbers.set(key, number);
    return checked;
  };
  const order = async ({ cells }: Row, consent: Consent): Promise<Partial<Row>> => {
    for (;;) {
      try {
        return { result: await tools.run(tool, cells, { askUser: async () => consent }) };
      } catch (error) {
        const { code, retryAfterSeconds } = toBridgeError(error, "unknown").facts;
        if (code !== "rate_limited" || interrupted.aborted) throw error;
        await pause(clock, 1_000 * (retryAfterSeconds || RATE_PAUSE_SECONDS), interrupted);
      }
    }
  };
  const isDone = ({ result }: Row) => (waits ? isReady(result) : result !== undefined);
  const count = () => `${rows.filter(isDone).length} of ${rows.length} ${waits ? "ready" : "ordered"}`;
  const follow = async (row: Row, result: ToolResult) => {
    ui.progress(0, 0, count());
    try {
      row.result = await tools.followed(result, waits, () => {});
    } catch (error) {
      row.failure = toBridgeError(error, "unknown");
    }
    ui.progress(0, 0, count());
  };

  for (const row of rows) {
    await attempt(row, check(row));
    if (stop !== undefined) throw stop;
  }
  const faulty = rows.filter(({ failure }) => failure !== undefined && FAULTS.includes(failure.facts.code));
  if (faulty.length === 0) {
    const wanted = rows.filter(({ question }) => question !== undefined);
    const isUnusual = wanted.some(({ question }) => question?.warnings !== "");
    const isAsked = wanted.length > 0 && (isUnusual || config.confirmGenerate !== "off");
    const consent = isAsked ? await askUser(async () => questionAbout(wanted, config)) : "not asked";
    const following: Promise<void>[] = [];
    for (const row of rows) {
      if (row.question !== undefined && stop === undefined) await attempt(row, order(row, consent));
      if (row.result !== undefined) following.push(follow(row, row.result));
    }
    await Promise.race([Promise.all(following), isLeft]).catch(() => {});
  }

  const shown = faulty.length > 0 ? faulty : rows;
  const left = shown.filter(({ result, failure }) => (result ?? failure) === undefined);
  for (const row of left) row.failure = fault(ROW_LEFT, stop?.facts.code ?? "cancelled");
  const reports = shown.map((row) => {
    const { number, result, failure } = row;
    const isUnsaved = tools.unsaved(result?.fields["jobId"]) !== undefined;
    const done = result && `It was ordered and is job ${String(result.fields["jobId"])}.`;
    const message = failure && describeFailure(failure, "spends", clock.now(), done);
    return {
      line: `  ${number}  ${describeRow(row, message)}${isUnsaved ? "  not saved on this computer" : ""}`,
      entry: {
        row: number,
        ...(result && structureOf(result)),
        ...(failure && { error: { ...errorMeta(failure), message: textFor("model", message ?? "") } }),
      },
      exitCode: failure ? exitCodeOf(failure) : tools.exitCodeOf(result?.fields ?? {}, waits),
    };
  });
  const { message, nextStep } = (interrupted.aborted ? undefined : stop?.facts) ?? INTERRUPTED;
  const summary = inSentences(
    faulty.length > 0
      ? `Nothing was ordered, since ${faulty.length} of ${rows.length} rows can't be.`
      : `${count()}.`,
    shown.some(({ failure }) => failure && CONFIRMABLE.includes(failure.facts.code)) &&
      "A code that confirms a row belongs in its column confirm.",
    left.length > 0 && inSentences(`${left.length} left for the next run:`, message, nextStep),
    describeUnrecorded(tools.unrecorded()),
  );
  return {
    isRefused: faulty.length > 0,
    list: reports.map(({ entry }) => entry),
    text: [...reports.map(({ line }) => line), textFor("person", summary)].join("\n"),
    exitCode: Math.max(...reports.map(({ exitCode }) => exitCode)),
  };
}

const ROW_LEFT = "The row is left for the next run.";
const INTERRUPTED = { message: "The call was interrupted.", nextStep: "" };

/** What became of a row: its link, its job or the reason. */
function describeRow({ result, failure }: Row, message: Text = ""): string {
  const { jobId, status, finalVideoUrl, savedTo, alreadyStarted } = result?.fields ?? {};
  if (failure?.facts.message === ROW_LEFT) return "left for the next run";
  const { code, message: problem = "", nextStep } = failure?.facts ?? {};
  if (code === "invalid_input") return textFor("person", problem);
  if (code === "check_order") return textFor("person", inSentences(problem, nextStep));
  if (failure) return textFor("person", message);
  if (isReady(result)) return inColumns("ready", finalVideoUrl, savedTo);
  if (stateOf(String(status)) === "refunded") return `failed: ${textFor("person", result?.summary ?? "")}`;
  return inColumns(alreadyStarted === true ? "ordered before" : "ordered", jobId);
}

function isReady(result: ToolResult | undefined): boolean {
  return stateOf(String(result?.fields["status"])) === "ready";
}

function questionAbout(rows: readonly Row[], { sandbox, maxGenerations: max }: Call["config"]): Question {
  const videos = rows.length === 1 ? "this video" : `these ${rows.length} videos`;
  const verb = `${sandbox ? "make" : "pay for"} ${videos}`;
  const yes = capitalized(verb);
  const lines = rows.map(
    ({ number, question }) => `  ${number}  ${inSentences(question?.subject, question?.warnings)}`,
  );
  const last = inSentences(
    sandbox ? "This is a sandbox, so nothing is charged." : "It spends your credits.",
    max !== undefined && `Rows beyond the limit of ${max} in 24 hours are left for the next run.`,
  );
  const message = [`${yes}?`, ...lines, last].join("\n");
  return { key: "table", message, verb, yes, done: "started", no: "Don't start them", tooLate: "" };
}

function fault(message: string, code: ErrorCode = "invalid_input"): BridgeError {
  return notSent(code, message, "");
}
