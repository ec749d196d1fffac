// `call TOOL`: one tool in a process that lives for one call, with the server's guard, journal, texts and limits.
// Nobody gives up on it, so it awaits answers for as long as they may come.

import { once } from "node:events";
import { pause } from "../clock.ts";
import { UsageError } from "../command-line.ts";
import { BridgeError, cancelledError, describeFailure, errorMeta, toBridgeError } from "../errors.ts";
import { stateOf } from "../service/job.ts";
import { createRedact } from "../redact.ts";
import { type Audience, inSentences, say, textFor } from "../sentences.ts";
import { getVideoStatus } from "../tools/get-video-status.ts";
import { type Consent, declinedError } from "../tools/question.ts";
import { TOOL_SCHEMAS } from "../tools/tool-schemas.ts";
import { describeUnrecorded, type ToolContext } from "../tools/tool.ts";
import { type Call, readCall } from "./call-arguments.ts";
import { asText, type Result } from "./call-text.ts";
import { HELP_WIDTH } from "./help.ts";
import type { Host } from "./host.ts";
import { type LocalTools, openTools } from "./local-tools.ts";
import { commandOf } from "./server-entry.ts";
import { TerminalUi } from "./terminal-ui.ts";

const MAX_WAIT_MS = 15 * 60_000;
/** After an interrupt, a call that has sent nothing ends within this time. */
const CANCEL_MS = 300;
const AWAITED = {
  "same request":
    "The same request was sent before, and its answer has not come yet. It is awaited, for six minutes at most.",
  journal: "The service has answered, but the journal can't be written. It is tried again for 45 seconds.",
  answer: "The service has not answered yet. Its answer is awaited for five minutes.",
  "after an interrupt":
    "The request was sent, so its answer is awaited, for five minutes at most. Ctrl-C again leaves without it.",
} as const;

/** Prints the result, or why there is none. Returns the exit code. */
export async function runCall(argv: readonly string[], host: Host): Promise<number> {
  const [out, ui] = [new TerminalUi(host), new TerminalUi({ ...host, output: host.errors })];
  let call: Call | undefined;
  let orderedJob: string | undefined;
  const audience = argv.includes("--json") ? "model" : "person";
  const show = (value: Result, text: string, textUi: TerminalUi) => {
    const redact = createRedact(call?.config.service?.apiKey);
    if (audience === "model") out.printJson(value, redact);
    else textUi.print(redact(text));
  };
  try {
    const read = await readCall(argv, host);
    if (typeof read === "string") {
      new TerminalUi(host, HELP_WIDTH).print(read);
      return 0;
    }
    call = read;
    const tools = openTools("call", call.config, host, ui, {
      audience,
      // Whatever fails from then on, the video was ordered.
      onStarted: (jobId) => (orderedJob = jobId),
      askUser: (describe) => askAtTerminal(describe, read, host, ui),
      onWait: (awaited) => ui.print(AWAITED[awaited]),
    });
    const work = run(call, tools, host, ui, (jobId) => (orderedJob = jobId));
    const outcome = await Promise.race([work, failWhenLeft(call, tools, host, ui)]);
    const result = withUnrecorded(withUnsaved(outcome, tools), tools, audience);
    show(result, asText(result), out);
    return exitCodeOf(result, tools, call);
  } catch (error) {
    const effect = call?.tool.effect ?? "reads";
    const thrown = toBridgeError(error, effect === "reads" ? "rejected" : "unknown");
    const failure = orderedJob === undefined ? thrown : afterOrder(thrown);
    const { code, outcome } = failure.facts;
    const done = orderedJob && `The video was ordered and is job ${orderedJob}. The same call follows it.`;
    const isOfOtherSandbox = call?.config.startsSandbox === true && code === "not_found";
    const message =
      failure instanceof UsageError
        ? describeUsage(failure, argv, host)
        : inSentences(
            textFor(audience, describeFailure(failure, effect, host.clock.now(), done)),
            isOfOtherSandbox && aboutSandboxes(host),
          );
    const job = orderedJob === undefined ? {} : { jobId: orderedJob };
    show({ error: { ...errorMeta(failure), message }, ...job }, message, ui);
    if (code === "invalid_input") return 2;
    return outcome === "unknown" ? 3 : 1;
  }
}

/** The error after a failed read of an ordered job. Its state isn't known, and the same call reads it again. */
function afterOrder({ facts, cause }: BridgeError): BridgeError {
  const { failsAgain: _, ...others } = facts;
  return new BridgeError({ ...others, outcome: "unknown", retryable: true }, cause);
}

function describeUsage({ message }: UsageError, argv: readonly string[], host: Host): string {
  const tool = argv.filter((word) => Object.hasOwn(TOOL_SCHEMAS, word));
  return `faceless-video-mcp: ${message}; see ${commandOf(["call", ...tool, "--help"].join(" "), host)}`;
}

function aboutSandboxes(host: Host): string {
  return `With --sandbox each call has a sandbox of its own, which ends with the call, links included. For more than one call, run this, and set FACELESS_BASE_URL=http://127.0.0.1:8080 and FACELESS_API_KEY=fl_sandbox: ${commandOf("sandbox --port 8080", host)}`;
}

/** Calls `onOrdered` with the id of a job that it then follows. */
async function run(
  { tool, args, config, waits }: Call,
  tools: LocalTools,
  host: Host,
  ui: TerminalUi,
  onOrdered: (jobId: string) => void,
): Promise<Result> {
  const follow = (job: unknown) => tools.follow(job, MAX_WAIT_MS);
  let result: Result =
    waits && tool === getVideoStatus ? await follow(args["jobId"]) : await tools.run(tool, args);
  const { jobId, status, alreadyStarted } = result;
  if (typeof jobId !== "string" || status === undefined) return result;
  if (waits && tool !== getVideoStatus && result["done"] !== true) {
    onOrdered(jobId);
    ui.print(`Job ${jobId}: ${String(result["summary"])}`);
    const ended = await follow(jobId).catch((error: unknown) => {
      // Prints the order in place of the job's state.
      if (host.interrupted.aborted) return result;
      throw error;
    });
    result = { ...ended, ...(alreadyStarted === true && { alreadyStarted }) };
  }
  return config.startsSandbox ? { ...result, nextStep: aboutSandboxes(host) } : result;
}

/** Says that the outcome could not be recorded, if the job was followed after that. */
function withUnrecorded(result: Result, tools: LocalTools, audience: Audience): Result {
  const sentence = textFor(audience, describeUnrecorded(tools.unrecorded()) ?? "");
  const summary = String(result["summary"]);
  if (summary.includes(sentence)) return result;
  return { ...result, summary: `${summary} ${sentence}` };
}

/** Says that a video was not saved, unless the result says why. */
function withUnsaved(result: Result, tools: LocalTools): Result {
  if (tools.unsaved(result["jobId"]) !== "unexplained") return result;
  const sentence = "It is not saved on this computer yet: make the same call again later.";
  return { ...result, summary: `${String(result["summary"])} ${sentence}` };
}

/** Asks what a client would ask its user. Nobody is asked if `--yes` stands for the answer. */
async function askAtTerminal(
  describe: Parameters<ToolContext["askUser"]>[0],
  { config, tool, saysYes }: Call,
  { input, errors, interrupted }: Host,
  ui: TerminalUi,
): Promise<Consent> {
  const isTerminal = input.isTTY === true && errors.isTTY === true;
  const mode = tool.effect === "spends" ? config.confirmGenerate : config.confirmPublish;
  const onlyTerminal = mode === "always";
  if (saysYes && !onlyTerminal) return "not asked";
  const question = await describe();
  if (isTerminal) {
    if (await ui.confirm(`${question.message}\n${question.yes}?`, interrupted)) return "agreed";
    throw declinedError(question, "accept", true);
  }
  const why = onlyTerminal ? "here only a yes in a terminal counts" : "--yes was not given";
  throw new BridgeError({
    code: "declined",
    message: `There is no terminal to ask in, and ${why}. The question is: ${question.message}`,
    nextStep: onlyTerminal
      ? say`[Tell the user to make|Make] this call in a terminal, if [they|you] want exactly that.`
      : say`Call again with --yes only if [the user wants|you want] exactly that.`,
    outcome: "not_sent",
    retryable: false,
  });
}

/** Rejects at the first interrupt, or at the second if a paid or public request was sent. */
async function failWhenLeft({ tool }: Call, tools: LocalTools, host: Host, ui: TerminalUi): Promise<never> {
  await aborted(host.interrupted);
  await pause(host.clock, CANCEL_MS);
  if (!tools.hasPaidRequest()) throw cancelledError("The call was interrupted.");
  ui.print(AWAITED["after an interrupt"]);
  await aborted(host.interruptedAgain);
  throw new BridgeError({
    code: "cancelled",
    message: "The call was interrupted.",
    nextStep:
      tool.effect === "spends"
        ? say`Look for the video with [|call ]list_videos. The same call says what is known, and doesn't pay again.`
        : "Look at the accounts. The same call says what is known, and doesn't post again.",
    outcome: "unknown",
    retryable: false,
  });
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}

function exitCodeOf({ jobId, status, done, results }: Result, tools: LocalTools, { waits }: Call): number {
  if (stateOf(String(status)) === "refunded" || tools.unsaved(jobId) !== undefined) return 1;
  if ((waits && done !== true) || tools.missingResults().length > 0) return 3;
  const hasFailed = Array.isArray(results) && results.some(({ ok }: { ok?: unknown }) => ok !== true);
  return hasFailed ? 1 : 0;
}
