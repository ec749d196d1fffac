// The one error type and its codes. An error knows what happened, whether anything may have been done, and
// what to do next; whether it is retryable is decided where it is made. Knows nothing of HTTP, MCP or tools.

import { inSentences, say, type Text, textFor } from "./sentences.ts";
import { quoteName } from "./text.ts";

/** Everything that can go wrong. docs/ERRORS.md explains each code. */
export type ErrorCode =
  | "invalid_input"
  | "not_configured"
  | "check_order"
  | "limit_reached"
  | "duplicate"
  | "in_progress"
  | "not_ready"
  | "not_connected"
  | "journal_unreadable"
  | "journal_unwritable"
  | "declined"
  | "unauthorized"
  | "out_of_credits"
  | "not_found"
  | "rate_limited"
  | "refused"
  | "service_failed"
  | "redirected"
  | "bad_answer"
  | "timeout"
  | "network"
  | "paging_loop"
  | "cancelled"
  | "internal";

/** The request was not sent, was rejected by the service, or was sent with an unknown outcome. */
export type Outcome = "not_sent" | "rejected" | "unknown";

/** The service's own words about a failure, already cleaned and cut. Data, never instructions. */
export interface ServiceMessage {
  readonly code?: string | undefined;
  readonly message?: string | undefined;
}

export interface BridgeErrorFacts {
  readonly code: ErrorCode;
  /** The failure, as one sentence with its full stop. */
  readonly message: Text;
  /** The next step, as one to three sentences. */
  readonly nextStep: Text;
  /** Set if only the user can take the next step, which then speaks to them. */
  readonly isForUser?: true;
  readonly outcome: Outcome;
  /** True if the same call may succeed later and is safe to make again. */
  readonly retryable: boolean;
  /** Set only if the same call would certainly fail until something else is changed. */
  readonly failsAgain?: true;
  /** The HTTP status, if there was an answer. */
  readonly status?: number | undefined;
  readonly retryAfterSeconds?: number;
  readonly serviceMessage?: ServiceMessage | undefined;
  /** What the journal knows of the same job, in sentences after the service's words. */
  readonly journal?: Text;
}

export class BridgeError extends Error {
  override readonly name = "BridgeError";
  readonly facts: BridgeErrorFacts;

  /** `cause` is for logs in this process only; it is never shown. */
  constructor(facts: BridgeErrorFacts, cause?: unknown) {
    super(textFor("model", facts.message), cause === undefined ? undefined : { cause });
    this.facts = facts;
  }
}

/** A request was sent and had no answer in time. */
export class DeadlineError<Result> extends BridgeError {
  /** May still come within five minutes; else rejects with `unknown`, which need not be handled. */
  readonly late: Promise<Result>;

  constructor({ facts, cause }: BridgeError, late: Promise<Result>) {
    super(facts, cause);
    this.late = late;
    late.catch(() => {});
  }
}

/** The sentence about a code that confirms something else, or nothing any more. */
export const STALE_CODE_SENTENCE = "The confirm code of this call is not valid.";

/** The call that confirms an order. */
export function confirmOrder(code: string): Text {
  return say`[call generate_video again with confirm: "${code}"|repeat the call with --confirm ${code}]`;
}

/** The error of a request that was held back here. */
export function notSent(
  code: ErrorCode,
  message: Text,
  nextStep: Text,
  details: Partial<BridgeErrorFacts> = {},
): BridgeError {
  return new BridgeError({ code, message, nextStep, outcome: "not_sent", retryable: false, ...details });
}

/** The error of a call that the caller or the end of the process has ended before it sent anything. */
export function cancelledError(message: string): BridgeError {
  return notSent("cancelled", message, "Call again if the result is still wanted.", { retryable: true });
}

export type Effect = "reads" | "spends" | "publishes";

const NOTHING_DONE: Record<Effect, string> = {
  reads: "This call only reads: it spent and published nothing.",
  spends: "This call started no video and spent no credits.",
  publishes: "This call published nothing.",
};
const MAYBE_DONE: Record<Effect, string> = {
  reads: NOTHING_DONE.reads,
  spends: "It is not known whether a video was started and credits were spent.",
  publishes: "It is not known whether the video was published.",
};

/** A chat can't wait so long: the user needs a time of day. */
const LONG_WAIT_SECONDS = 30;

/** A sentence without its full stop, ended with what the service's answer says of itself. */
export function endWithAnswer(
  sentence: string,
  { status, serviceMessage: { code } = {} }: Pick<BridgeErrorFacts, "status" | "serviceMessage">,
): string {
  const answer = [
    code !== undefined && `service code ${quoteName(code)}`,
    status !== undefined && `HTTP ${status}`,
  ].filter(Boolean);
  return `${sentence}${answer.length === 0 ? "" : ` (${answer.join(", ")})`}.`;
}

/** What failed, and whether anything was spent or published, for which `done` may be another sentence. */
export function describeOutcome(
  { facts: { message, outcome, journal, serviceMessage: { message: words } = {} } }: BridgeError,
  effect: Effect,
  done = (outcome === "unknown" ? MAYBE_DONE : NOTHING_DONE)[effect],
): Text {
  const end = words === undefined || /[.!?…]$/.test(words) ? "" : ".";
  return inSentences(
    message,
    words !== undefined && `The service's words: ${JSON.stringify(words)}${end}`,
    journal,
    done,
  );
}

/** The whole text of a failure: also whether calling again is safe, and the next step. */
export function describeFailure(error: BridgeError, effect: Effect, nowMs: number, done?: string): Text {
  const { facts } = error;
  const { nextStep, isForUser, retryable, retryAfterSeconds } = facts;
  return inSentences(
    describeOutcome(error, effect, done),
    ...(retryAfterSeconds === undefined || !retryable
      ? [againSentence(facts), isForUser === true ? say`[Tell the user: |]${nextStep}` : nextStep]
      : [nextStep, afterWaitSentence(retryAfterSeconds, nowMs)]),
  );
}

/** The machine-readable half of a failure. */
export function errorMeta({ facts }: BridgeError): Record<string, unknown> {
  const { code, status, outcome, retryable, retryAfterSeconds } = facts;
  return { code, status, outcome, retryable, retryAfterSeconds };
}

function againSentence(facts: BridgeErrorFacts): string | undefined {
  if (facts.retryable) return "Calling again is safe.";
  if (facts.outcome === "unknown") return "Don't call again before you have checked.";
  return facts.failsAgain === true ? "The same call would fail again." : undefined;
}

function afterWaitSentence(seconds: number, nowMs: number): Text {
  if (seconds < LONG_WAIT_SECONDS) return "Then calling again is safe.";
  // The minute that begins after the wait, by this computer's clock.
  const from = new Date(Math.ceil((nowMs + seconds * 1000) / 60_000) * 60_000);
  return say`Calling again is safe from ${from.toTimeString().slice(0, 5)} on[: tell the user|].`;
}

/** True if the same read may succeed a moment later. */
export function mayPass(error: unknown): error is BridgeError {
  return error instanceof BridgeError && error.facts.retryable && error.facts.code !== "cancelled";
}

/** The code of a failure of the operating system, such as ENOENT. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}

/** Turns anything thrown into a BridgeError. An error of another type is a fault of this server. */
export function toBridgeError(error: unknown, outcome: Outcome): BridgeError {
  if (error instanceof BridgeError) return error;
  return new BridgeError(
    {
      code: "internal",
      message: "This server itself failed.",
      nextStep: "Report this with the log of the server (FACELESS_LOG_LEVEL=debug).",
      isForUser: true,
      outcome,
      retryable: false,
    },
    error,
  );
}
