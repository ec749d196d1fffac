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

const MAX_AT_ONCE = 4;
/** After a refusal by the rate limit that names no time. */
const RATE_PAUSE_SECONDS = 5;
/** The row can't be ordered as it is written. */
const FAULTS: readonly ErrorCode[] = ["invalid_input", "check_order"];
/** The reason gives a code. */
const CONFIRMED: readonly ErrorCode[] = ["check_order", "duplicate"];
/** After any other failure the next row would fail as well, or be paid for in doubt. */
const OF_ONE_ROW: readonly ErrorCode[] = [...FAULTS, "duplicate", "in_progress", "refused", "declined"];

/** A row with neither result nor failure is left for another run. */
interface Row extends TableRow {
  /** About an order that can be sent. */
  readonly question?: Question;
  isUnderWay?: boolean;
  /** It names the job. */
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
  const rows: readonly Row[] = table.map((row) => ({ ...row }));
  const stops: BridgeError[] = []; // the first says why no further row is ordered
  const fail = (row: Row, error: unknown) => {
    const failure = toBridgeError(error, "unknown");
    const { code, outcome } = failure.facts;
    const isOfRow = OF_ONE_ROW.includes(code);
    if (isOfRow || outcome !== "not_sent") row.failure = failure;
    if (!isOfRow) stops.push(failure);
  };
  const isDone = ({ result }: Row) => (waits ? isReady(result) : result !== undefined);
  const count = () => `${rows.filter(isDone).length} of ${rows.length} ${waits ? "ready" : "ordered"}`;
  const check = async (row: Row) => {
    if (row.problem !== undefined) throw fault(`It ${row.problem}.`);
    Object.assign(row, await tools.check(tool, row.cells));
  };
  const order = async (row: Row, consent: Consent): Promise<void> => {
    while (stops.length === 0 && row.question !== undefined) {
      row.isUnderWay = true;
      try {
        row.result = await tools.run(tool, row.cells, { askUser: async () => consent });
        return;
      } catch (error) {
        row.isUnderWay = false;
        const { code, retryAfterSeconds } = toBridgeError(error, "unknown").facts;
        if (code !== "rate_limited" || interrupted.aborted) return fail(row, error);
        await pause(clock, 1_000 * (retryAfterSeconds || RATE_PAUSE_SECONDS), interrupted);
      }
    }
  };
  const follow = async (row: Row) => {
    ui.progress(0, 0, count());
    if (row.result === undefined) return;
    try {
      row.result = await tools.followed(row.result, waits, () => {});
    } catch (error) {
      row.failure = toBridgeError(error, "unknown");
    }
    ui.progress(0, 0, count());
  };

  await Promise.race([
    inParallel(rows, (row) => check(row).catch((error: unknown) => fail(row, error))),
    isLeft,
  ]);
  for (const failure of stops) throw failure;
  const first = new Map<unknown, Row>();
  for (const row of rows) {
    const key = row.question?.key ?? row.result?.fields["jobId"] ?? row;
    const { number } = first.get(key) ?? {};
    if (number === undefined) first.set(key, row);
    else row.failure = fault(`It is the same order as row ${number}.`);
  }
  const faulty = rows.filter(({ failure }) => failure !== undefined && FAULTS.includes(failure.facts.code));
  const wanted = rows.filter(({ question }) => question !== undefined);
  if (faulty.length === 0) {
    const isUnusual = wanted.some(({ question }) => question?.warnings !== "");
    const isAsked = wanted.length > 0 && (isUnusual || config.confirmGenerate !== "off");
    const consent = isAsked ? await askUser(async () => questionAbout(wanted, config)) : "not asked";
    const following: Promise<void>[] = [];
    const work = inParallel(rows, async (row) => {
      await order(row, consent);
      following.push(follow(row));
    });
    await Promise.race([work.then(() => Promise.all(following)), isLeft]).catch((error: unknown) => {
      for (const row of wanted) if (row.isUnderWay === true && row.result === undefined) fail(row, error);
      stops.push(toBridgeError(error, "unknown"));
    });
  }

  const shown = faulty.length > 0 ? faulty : rows;
  const left = shown.filter(({ result, failure }) => (result ?? failure) === undefined);
  for (const row of left) row.failure = fault(LEFT, stops[0]?.facts.code ?? "cancelled");
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
  const { message, nextStep } = (interrupted.aborted ? undefined : stops[0]?.facts) ?? INTERRUPTED;
  const summary = inSentences(
    faulty.length > 0
      ? `Nothing was ordered, since ${faulty.length} of ${rows.length} rows can't be.`
      : `${count()}.`,
    shown.some(({ failure }) => failure && CONFIRMED.includes(failure.facts.code)) &&
      "A code that confirms a row belongs in its column confirm.",
    left.length > 0 && `${left.length} left for the next run:`,
    left.length > 0 && message,
    left.length > 0 && nextStep,
    describeUnrecorded(tools.unrecorded()),
  );
  return {
    isRefused: faulty.length > 0,
    list: reports.map(({ entry }) => entry),
    text: [...reports.map(({ line }) => line), textFor("person", summary)].join("\n"),
    exitCode: Math.max(...reports.map(({ exitCode }) => exitCode)),
  };
}

const LEFT = "The row is left for the next run.";
const INTERRUPTED = { message: "The call was interrupted.", nextStep: "" };

/** What became of a row: its link, its job or the reason. */
function describeRow({ result, failure }: Row, message: Text = ""): string {
  const { jobId, status, finalVideoUrl, savedTo, alreadyStarted } = result?.fields ?? {};
  if (failure?.facts.message === LEFT) return "left for the next run";
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

async function inParallel(rows: readonly Row[], work: (row: Row) => Promise<void>): Promise<void> {
  const queue = [...rows];
  const workOn = async () => {
    // eslint-disable-next-line no-await-in-loop -- one after the other
    for (let row = queue.shift(); row !== undefined; row = queue.shift()) await work(row);
  };
  await Promise.all(Array.from({ length: MAX_AT_ONCE }, workOn));
}

function fault(message: string, code: ErrorCode = "invalid_input"): BridgeError {
  return notSent(code, message, "");
}
