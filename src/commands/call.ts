// `call TOOL`: one tool in a process that lives for one call, with the server's guard, journal, texts and
// limits. Nobody gives up on it, so it awaits answers for as long as they may come.

import { once } from "node:events";
import { pause } from "../clock.ts";
import { UsageError } from "../command-line.ts";
import {
  BridgeError,
  cancelledError,
  describeFailure,
  errorMeta,
  notSent,
  toBridgeError,
} from "../errors.ts";
import { createRedact } from "../redact.ts";
import { inSentences, say, type Text, textFor } from "../sentences.ts";
import { getVideoStatus } from "../tools/get-video-status.ts";
import { type Consent, declinedError } from "../tools/question.ts";
import { TOOL_SCHEMAS } from "../tools/tool-schemas.ts";
import { structureOf, type ToolContext, type ToolResult } from "../tools/tool.ts";
import { type Call, readCall } from "./call-arguments.ts";
import { asText } from "./call-text.ts";
import { HELP_WIDTH } from "./help.ts";
import type { Host } from "./host.ts";
import { afterOrder, exitCodeOf, type LocalTools, openTools } from "./local-tools.ts";
import { commandOf } from "./server-entry.ts";
import { TerminalUi } from "./terminal-ui.ts";

/** After an interrupt, a call that has sent nothing ends within this time. */
const CANCEL_MS = 300;
/** After the second one, a call with a known outcome ends within this time, which lets the disk answer. */
const LEAVE_MS = 5_000;
const WAIT_NOTICES = {
  "same request":
    "The same request was sent before, and its answer has not come yet. It is awaited, for six minutes at most.",
  journal: "The service has answered, but the journal can't be written. It is tried again for 45 seconds.",
  answer: "The service has not answered yet. Its answer is awaited for five minutes.",
  "after an interrupt":
    "The request was sent, so its answer is awaited, for five minutes at most. Ctrl-C again leaves without it.",
  "after the answer": "The service has answered, which is being recorded. Ctrl-C again leaves at once.",
} as const;

const NOT_SAVED_YET = "It is not saved on this computer yet: make the same call again later.";

/** Prints the result, or why there is none. Returns the exit code. */
export async function runCall(argv: readonly string[], host: Host): Promise<number> {
  const [out, ui] = [new TerminalUi(host), new TerminalUi({ ...host, output: host.errors })];
  let call: Call | undefined;
  let orderedJob: string | undefined;
  const isJson = argv.includes("--json");
  /** Prints the value or its text, and the text on stderr if nobody would see it otherwise. */
  const show = async (value: object, text: Text, exitCode: number, textUi = out): Promise<number> => {
    const redact = createRedact(call?.config.service?.apiKey);
    const print = (to: TerminalUi) => to.print(redact(textFor("person", text)));
    if (isJson) out.printJson(value, redact);
    else print(textUi);
    const errno = await out.lastWriteError();
    // A reader of a list may stop early.
    const isLost = errno !== undefined && (errno !== "EPIPE" || call?.tool.effect !== "reads");
    if (isLost) ui.print(`The result can't be written to stdout (${errno}):`);
    if (isLost || (isJson && exitCode !== 0)) print(ui);
    return exitCode;
  };
  try {
    const read = await readCall(argv, host);
    if (typeof read === "string") {
      new TerminalUi(host, HELP_WIDTH).print(read);
      return 0;
    }
    call = read;
    const askUser: ToolContext["askUser"] = (describe) => askAtTerminal(describe, read, host, ui);
    const tools = openTools("call", call.config, host, ui, {
      // Whatever fails from then on, the video was ordered.
      onStarted: (jobId) => (orderedJob = jobId),
      askUser,
      onWait: (awaited) => ui.print(WAIT_NOTICES[awaited]),
    });
    const isLeft = failWhenLeft(tools, host, ui);
    if (call.rows !== undefined) {
      const { callTable } = await import("./call-table.ts");
      const { list, text, exitCode, isRefused } = await callTable(call, tools, host, ui, { askUser, isLeft });
      return await show(list, text, exitCode, isRefused ? ui : out);
    }
    const { tool, args, waits, config } = call;
    const run = async (): Promise<ToolResult> => {
      if (waits && tool === getVideoStatus) return tools.follow(args["jobId"]);
      const order = await tools.run(tool, args);
      const { jobId, done } = order.fields;
      if (waits && done !== true) {
        orderedJob = String(jobId);
        ui.print(`Job ${orderedJob}: ${textFor("person", order.summary)}`);
      }
      return tools.followed(order, waits);
    };
    const { fields, summary, nextStep } = await Promise.race([run(), isLeft]);
    const isUnsaved = tools.unsaved(fields["jobId"]) === "unexplained";
    const result = {
      fields,
      summary: inSentences(summary, isUnsaved && NOT_SAVED_YET),
      nextStep: config.startsSandbox && fields["jobId"] !== undefined ? aboutSandboxes(host) : nextStep,
    };
    return await show(structureOf(result), asText(result), tools.exitCodeOf(fields, waits));
  } catch (error) {
    const effect = call?.tool.effect ?? "reads";
    const thrown = toBridgeError(error, effect === "reads" ? "rejected" : "unknown");
    const failure = orderedJob === undefined ? thrown : afterOrder(thrown);
    const { code } = failure.facts;
    const done = orderedJob && `The video was ordered and is job ${orderedJob}. The same call follows it.`;
    const isOfOtherSandbox = call?.config.startsSandbox === true && code === "not_found";
    const tool = argv.filter((word) => Object.hasOwn(TOOL_SCHEMAS, word));
    const help = commandOf(["call", ...tool, "--help"].join(" "), host);
    const message =
      failure instanceof UsageError
        ? `faceless-video-mcp: ${failure.message}; see ${help}`
        : inSentences(
            describeFailure(failure, effect, host.clock.now(), done),
            isOfOtherSandbox && aboutSandboxes(host),
          );
    const job = orderedJob === undefined ? {} : { jobId: orderedJob };
    const value = { error: { ...errorMeta(failure), message: textFor("model", message) }, ...job };
    return show(value, message, exitCodeOf(failure), ui);
  }
}

function aboutSandboxes(host: Host): string {
  return inSentences(
    "With --sandbox each call has a sandbox of its own, which ends with the call, links included.",
    "For more than one call, set FACELESS_BASE_URL=http://127.0.0.1:8080 and FACELESS_API_KEY=fl_sandbox,",
    `and keep this running in another terminal: ${commandOf("sandbox --port 8080", host)}`,
  );
}

/** Asks what a client would ask its user. Nobody is asked if `--yes` stands for the answer. */
async function askAtTerminal(
  describe: Parameters<ToolContext["askUser"]>[0],
  { config, tool, saysYes }: Call,
  { input, errors, interrupted }: Host,
  ui: TerminalUi,
): Promise<Consent> {
  // If the input has ended, the arguments were typed into it, and it gives no answer.
  const isTerminal = input.isTTY === true && errors.isTTY === true && !input.readableEnded;
  const mode = tool.effect === "spends" ? config.confirmGenerate : config.confirmPublish;
  const onlyTerminal = mode === "always";
  if (saysYes && !onlyTerminal) return "not asked";
  const question = await describe();
  if (isTerminal) {
    if (await ui.confirm(`${question.message}\n${question.yes}?`, interrupted)) return "agreed";
    throw declinedError(question, "accept", true);
  }
  const problem = input.readableEnded
    ? "The input has ended, so no answer can be typed"
    : "There is no terminal to ask in";
  const why = onlyTerminal ? "here only a yes in a terminal counts" : "--yes was not given";
  throw notSent(
    "declined",
    `${problem}, and ${why}. The question is: ${question.message}`,
    onlyTerminal
      ? say`[Tell the user to make|Make] this call in a terminal, if [they|you] want exactly that.`
      : say`Call again with --yes only if [the user wants|you want] exactly that.`,
  );
}

/** Rejects at the first interrupt, or at the second while a paid or public request is under way. */
async function failWhenLeft({ guard }: LocalTools, host: Host, ui: TerminalUi): Promise<never> {
  await aborted(host.interrupted);
  await pause(host.clock, CANCEL_MS);
  if (guard.isBusy && guard.hasSent)
    ui.print(WAIT_NOTICES[guard.awaitsAnswer ? "after an interrupt" : "after the answer"]);
  if (guard.isBusy) await aborted(host.interruptedAgain);
  if (guard.isBusy && !guard.awaitsAnswer) await pause(host.clock, LEAVE_MS);
  if (!guard.hasSent) throw cancelledError("The call was interrupted.");
  throw new BridgeError({
    code: "cancelled",
    message: "The call was interrupted.",
    nextStep:
      "Look for the video or the post. The same call says what is known, and neither pays nor posts again.",
    outcome: "unknown",
    retryable: false,
  });
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}
