// `call TOOL`: one tool in a process that lives for one call, with the server's guard, journal, texts and limits.

import { once } from "node:events";
import { pause } from "../clock.ts";
import { UsageError } from "../command-line.ts";
import {
  BridgeError,
  cancelledError,
  describeFailure,
  type Effect,
  errorMeta,
  toBridgeError,
} from "../errors.ts";
import { stateOf } from "../service/job.ts";
import { createRedact } from "../redact.ts";
import { inSentences, stripUnsafeCharacters } from "../text.ts";
import { declinedError } from "../tools/question.ts";
import { TOOL_SCHEMAS } from "../tools/tool-schemas.ts";
import type { ToolContext } from "../tools/tool.ts";
import { type Call, readCall } from "./call-arguments.ts";
import { HELP_WIDTH } from "./help.ts";
import type { Host } from "./host.ts";
import { openTools } from "./local-tools.ts";
import { TerminalUi } from "./terminal-ui.ts";

/** The structured result of a tool. */
type Result = Readonly<Record<string, unknown>>;

const MAX_WAIT_MS = 15 * 60_000;
/** How long an interrupted call waits for the answer to a paid or public request. */
const GRACE_MS = 1_500;
const ONE_SANDBOX =
  "With --sandbox each call has a sandbox of its own, which ends with the call, links included. For more than one call, run faceless-video-mcp sandbox --port 8080, and set FACELESS_BASE_URL=http://127.0.0.1:8080 and FACELESS_API_KEY=fl_sandbox.";

/** Prints the result, or why there is none. Returns the exit code. */
export async function runCall(argv: readonly string[], host: Host): Promise<number> {
  const [out, ui] = [new TerminalUi(host), new TerminalUi({ ...host, output: host.errors })];
  let call: Call | undefined;
  let followed: { readonly jobId?: string } = {};
  const show = (value: Result, text: string, textUi: TerminalUi) => {
    const redact = createRedact(call?.config.service?.apiKey);
    if (argv.includes("--json")) out.printJson(value, redact);
    else textUi.print(redact(text));
  };
  try {
    const read = await readCall(argv, host);
    if (typeof read === "string") {
      new TerminalUi(host, HELP_WIDTH).print(read);
      return 0;
    }
    call = read;
    const work = run(call, host, ui, (jobId) => (followed = { jobId }));
    const result = await Promise.race([work, failWhenInterrupted(host, call.tool.effect)]);
    show(result, asText(result), out);
    return exitCodeOf(result, call);
  } catch (error) {
    const effect = call?.tool.effect ?? "reads";
    const failure = toBridgeError(error, effect === "reads" ? "rejected" : "unknown");
    const { code, outcome } = failure.facts;
    const isOfOtherSandbox = call?.config.startsSandbox === true && code === "not_found";
    const message =
      failure instanceof UsageError
        ? describeUsage(failure, argv)
        : inSentences(describeFailure(failure, effect, host.clock.now()), isOfOtherSandbox && ONE_SANDBOX);
    show({ error: { ...errorMeta(failure), message }, ...followed }, message, ui);
    if (code === "invalid_input") return 2;
    // The outcome of a job that was started isn't known either.
    return outcome === "unknown" || "jobId" in followed ? 3 : 1;
  }
}

function describeUsage({ message }: UsageError, argv: readonly string[]): string {
  const tool = argv.filter((word) => Object.hasOwn(TOOL_SCHEMAS, word));
  return `faceless-video-mcp: ${message}; see faceless-video-mcp ${["call", ...tool].join(" ")} --help`;
}

/** `onStarted` gets the id of a job that is then followed. */
async function run(
  call: Call,
  host: Host,
  ui: TerminalUi,
  onStarted: (jobId: string) => void,
): Promise<Result> {
  const { tool, args, config, waits } = call;
  const tools = openTools("call", config, host, ui, (describe) => askAtTerminal(describe, call, host, ui));
  let result: Result = await tools.run(tool, args).catch(async (error: unknown) => {
    const facts = error instanceof BridgeError ? error.facts : undefined;
    if (!waits || facts?.code !== "timeout" || facts.outcome !== "unknown") throw error;
    ui.print("The service has not answered yet. Its answer is awaited for five minutes.");
    // From here on, nothing is sent. The journal has the answer.
    await tools.finishPaidRequests();
    return tools.run(tool, args).catch(() => Promise.reject(error));
  });
  const { jobId, status, alreadyStarted } = result;
  if (typeof jobId !== "string" || status === undefined) return result;
  if (waits && result["done"] !== true) {
    onStarted(jobId);
    ui.print(`Job ${jobId}: ${String(result["summary"])}`);
    const ended = await tools.follow(jobId, MAX_WAIT_MS);
    result = { ...ended, ...(alreadyStarted === true && { alreadyStarted }) };
  }
  return config.startsSandbox ? { ...result, nextStep: ONE_SANDBOX } : result;
}

/** Asks what a client would ask its user. False: `--yes` stands for the answer. */
async function askAtTerminal(
  describe: Parameters<ToolContext["askUser"]>[0],
  { config, tool, saysYes }: Call,
  { input, errors, interrupted }: Host,
  ui: TerminalUi,
): Promise<boolean> {
  // A request that can't be sent says what is missing.
  if (config.problems.length > 0) return true;
  const isTerminal = input.isTTY === true && errors.isTTY === true;
  const mode = tool.effect === "spends" ? config.confirmGenerate : config.confirmPublish;
  const onlyTerminal = mode === "always";
  if (saysYes && !onlyTerminal) return false;
  const question = await describe();
  if (isTerminal) {
    if (await ui.confirm(`${question.message}\n${question.yes}?`, interrupted)) return true;
    throw declinedError(question, "accept", true);
  }
  const why = onlyTerminal ? "here only a yes in a terminal counts" : "--yes was not given";
  throw new BridgeError({
    code: "declined",
    message: `There is no terminal to ask in, and ${why}. The question is: ${question.message}`,
    nextStep: onlyTerminal
      ? "Tell the user to make this call in a terminal, if they want exactly that."
      : "Call again with --yes only if the user wants exactly that.",
    outcome: "not_sent",
    retryable: false,
  });
}

/** Rejects some time after the interrupt, in which a paid or public request may still be answered. */
async function failWhenInterrupted({ interrupted, clock }: Host, effect: Effect): Promise<never> {
  if (!interrupted.aborted) await once(interrupted, "abort");
  await pause(clock, GRACE_MS);
  const error = cancelledError("The call was interrupted.");
  if (effect === "reads") throw error;
  const nextStep = "It is in the journal: the same call tells what became of it, and sends nothing twice.";
  throw new BridgeError({ ...error.facts, nextStep, outcome: "unknown", retryable: false });
}

function exitCodeOf({ status, done, results }: Result, { args, waits }: Call): number {
  if (stateOf(String(status)) === "refunded") return 1;
  if (waits && done !== true) return 3;
  if (!Array.isArray(results)) return 0;
  const asked = new Set(String(args["platforms"]).toLowerCase().split(","));
  // The service did not say what became of the others.
  if (results.length < asked.size) return 3;
  return results.every((result: { ok?: unknown }) => result.ok === true) ? 0 : 1;
}

/** Summary and next step, and a line for each item of a list. */
function asText({ summary, nextStep, ...rest }: Result): string {
  const items: unknown[] = Object.values(rest).filter(Array.isArray).flat();
  const lines = items.flatMap((item) => (item instanceof Object ? [Object.values(item)] : []));
  const isShown = (value: unknown) => typeof value !== "object";
  const texts = lines.map((values) => `  ${stripUnsafeCharacters(values.filter(isShown).join("  "))}`);
  return [summary, nextStep, ...texts].filter(Boolean).join("\n");
}
