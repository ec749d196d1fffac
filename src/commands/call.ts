// `call TOOL`: one tool in a process that lives for one call, with the server's guard, journal, texts and limits.
// Takes tools and arguments from the schemas. Knows get_video_status alone by name, which follows a job.

import { once } from "node:events";
import { type Clock, pause } from "../clock.ts";
import type { Config, Flags } from "../config.ts";
import { BridgeError, cancelledError, describeFailure, toBridgeError } from "../errors.ts";
import { stateOf } from "../job.ts";
import { createLog } from "../log.ts";
import type { Application } from "../mcp/application.ts";
import { declinedError } from "../mcp/elicitation.ts";
import { errorMeta } from "../mcp/tools.ts";
import { createRedact } from "../redact.ts";
import type { Job } from "../service/responses.ts";
import { inSentences, stripUnsafeCharacters } from "../text.ts";
import { describeProgress } from "../tools/describe-job.ts";
import { getVideoStatus } from "../tools/get-video-status.ts";
import { type Question, runTool, type Tool, type ToolContext } from "../tools/tool.ts";
import { VERSION } from "../version.ts";
import { type Call, readCall } from "./call-arguments.ts";
import { createApplication } from "./create-application.ts";
import { createService } from "./create-service.ts";
import { escapeUnsafe, type Streams, TerminalUi } from "./terminal-ui.ts";

export interface CallHost extends Streams {
  /** For progress, questions and failures. */
  readonly errors: Streams["output"];
  readonly readConfig: (flags: Flags) => Config;
  /** Ends the following of a job, and whatever has sent nothing yet. */
  readonly interrupted: AbortSignal;
  readonly clock: Clock;
}

type Result = Readonly<Record<string, unknown>>;

const MAX_WAIT_MS = 15 * 60_000;
/** How long an interrupted call waits for the answer to a paid or public request. */
const GRACE_MS = 1_500;
const SAVE_STEP_MS = 200;
const ONE_SANDBOX =
  "With --sandbox each call has a sandbox of its own, which ends with the call, links included. For more than one call, run faceless-video-mcp sandbox --port 8080, and set FACELESS_BASE_URL=http://127.0.0.1:8080 and FACELESS_API_KEY=fl_sandbox.";

/** Prints the result, or why there is none. Returns the exit code. */
export async function runCall(argv: readonly string[], host: CallHost): Promise<number> {
  const isJson = argv.includes("--json");
  const [out, ui] = [new TerminalUi(host), new TerminalUi({ ...host, output: host.errors })];
  let call: Call | undefined;
  const started: { jobId?: unknown } = {};
  let redact = createRedact(undefined);
  const printJson = (value: object) =>
    host.output.write(`${escapeUnsafe(redact(JSON.stringify(value, undefined, 2)))}\n`);
  try {
    const read = await readCall(argv, host);
    if ("help" in read) {
      out.print(read.help);
      return 0;
    }
    call = read;
    redact = createRedact(call.config.service?.apiKey);
    const log = createLog(call.config.logLevel, redact, (line) => host.errors.write(line));
    for (const { variable, problem, fix } of call.config.warnings)
      log.warn(`${variable} ${problem}. ${fix}.`);
    const service = createService(call.config, host.clock);
    const application = createApplication({ ...call, service, clock: host.clock, log, redact });
    const work = run(call, application, host, ui, started);
    const result = await Promise.race([work, failWhenInterrupted(host, call.tool)]);
    if (isJson) printJson(result);
    else out.print(redact(asText(result)));
    return exitCodeOf(result, call);
  } catch (error) {
    const { effect = "reads", config } = { ...call?.tool, ...call };
    const failure = toBridgeError(error, effect === "reads" ? "rejected" : "unknown");
    const { code, outcome } = failure.facts;
    const text = call === undefined ? failure.message : describeFailure(failure, effect, host.clock.now());
    const message = inSentences(text, config?.sandbox === true && code === "not_found" && ONE_SANDBOX);
    if (isJson) printJson({ error: { ...errorMeta(failure), message }, ...started });
    else ui.print(redact(message));
    if (code === "invalid_input") return 2;
    // What becomes of a video that was started isn't known either.
    return outcome === "unknown" || started.jobId !== undefined ? 3 : 1;
  }
}

/** Calls the tool, and follows its job if that is wanted. `started` gets the job as soon as it is known. */
async function run(
  { tool, args, config, waits, saysYes }: Call,
  application: Application,
  host: CallHost,
  ui: TerminalUi,
  started: { jobId?: unknown },
): Promise<Result> {
  const { clock, interrupted: signal } = host;
  const onChange = (job: Job) => {
    const { completed = 0, failed = 0, total = 0 } = job.progress ?? {};
    ui.progress(completed + failed, total, describeProgress(job));
  };
  const context: ToolContext = {
    ...application,
    signal,
    client: `faceless-video-mcp call ${VERSION}`,
    askUser: (describe) => askAtTerminal(describe, { config, saysYes, host, ui }),
    async waitForEnd(job, forMs) {
      if (waits) onChange(job);
      return application.waitForEnd({ job, forMs: waits ? MAX_WAIT_MS : forMs, signal, onChange });
    },
  };
  const read = (waitSeconds: number) =>
    runTool(getVideoStatus, { jobId: started.jobId, waitSeconds }, context);
  await application.restoreJobs();
  let result = await runTool(tool, args, context);
  if (typeof result["status"] !== "string" || result["done"] === true) return savedResult(result);
  started.jobId = result["jobId"];
  if (waits) {
    ui.print(`Job ${String(started.jobId)}: ${String(result["summary"])}`);
    const { alreadyStarted } = result;
    result = { ...(await read(1)), ...(alreadyStarted === true && { alreadyStarted }) };
  }
  if (result["done"] === true) result = await savedResult(result);
  return config.sandbox ? { ...result, nextStep: ONE_SANDBOX } : result;

  /** A file is written in the background, which ends with this process. */
  async function savedResult(finished: Result): Promise<Result> {
    const { jobId } = finished;
    if (typeof jobId !== "string") return finished;
    const isSaving = () => application.savedVideos.stateOf(jobId)?.state === "saving" && !signal.aborted;
    if (!isSaving()) return finished;
    started.jobId = jobId;
    while (isSaving()) await pause(clock, SAVE_STEP_MS, signal);
    return { ...finished, ...(await read(0)) };
  }
}

/** Asks what a client would ask its user. The tools refuse a false where nothing but a yes counts. */
async function askAtTerminal(
  describe: Parameters<ToolContext["askUser"]>[0],
  { config, saysYes, host, ui }: Pick<Call, "config" | "saysYes"> & { host: CallHost; ui: TerminalUi },
): Promise<boolean> {
  // A request that can't be sent says what is missing.
  if (config.problems.length > 0) return true;
  if (config.confirmPublish === "off") return false;
  const isTerminal = host.input.isTTY === true && host.errors.isTTY === true;
  const onlyTerminal = config.confirmPublish === "always";
  if (isTerminal ? saysYes && !onlyTerminal : saysYes || onlyTerminal) return false;
  const question = await describe();
  if (!isTerminal) throw needsYesError(question);
  const isYes = await ui.confirm(`${question.message}\n${question.yes}?`, host.interrupted);
  if (!isYes) throw declinedError(question, true, false);
  return true;
}

function needsYesError(question: Question): BridgeError {
  return new BridgeError({
    code: "declined",
    message: `There is no terminal to ask in, and --yes was not given. The question is: ${question.message}`,
    nextStep: "Call again with --yes only if the user wants exactly that.",
    outcome: "not_sent",
    retryable: false,
  });
}

/** Rejects some time after the interrupt, in which a paid or public request may still be answered. */
async function failWhenInterrupted({ interrupted, clock }: CallHost, { effect }: Tool): Promise<never> {
  if (!interrupted.aborted) await once(interrupted, "abort");
  await pause(clock, GRACE_MS);
  const error = cancelledError("The call was interrupted.");
  if (effect === "reads") throw error;
  const nextStep = "It is in the journal: the same call tells what became of it, and sends nothing twice.";
  throw new BridgeError({ ...error.facts, nextStep, outcome: "unknown", retryable: false });
}

function exitCodeOf({ status, done, results }: Result, { waits }: Call): number {
  if (stateOf(String(status)) === "refunded") return 1;
  if (waits && done !== true) return 3;
  if (!Array.isArray(results)) return 0;
  return results.every((result: { ok?: unknown }) => result.ok === true) ? 0 : 1;
}

/** Summary and next step, and a line for each item of a list. */
function asText({ summary, nextStep, ...rest }: Result): string {
  const items = Object.values(rest).filter(Array.isArray).flat();
  const lines = items.flatMap((item: unknown) =>
    item instanceof Object
      ? [
          `  ${Object.values(item)
            .filter((value) => typeof value !== "object")
            .join("  ")}`,
        ]
      : [],
  );
  return [summary, nextStep, ...lines.map(stripUnsafeCharacters)].filter(Boolean).join("\n");
}
