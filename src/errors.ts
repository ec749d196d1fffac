// The one error type of the bridge. It knows what happened, whether anything may have been done, and what to
// do next; it knows nothing of HTTP, of MCP or of tools. Whether it is retryable is decided where it is made.

/**
 * Closed list of what can go wrong.
 *
 * - `invalid_input`: refused here, before any request.
 * - `not_configured`: a setting is missing or unusable.
 * - `limit_reached`: a limit that the operator set forbids the call.
 * - `duplicate`: the same paid or public request was sent before, and may have been carried out.
 * - `declined`: the person was asked and said no.
 * - `unauthorized`, `out_of_credits`, `not_found`, `rate_limited`, `refused`: the service said no.
 * - `service_failed`: the service or a gateway before it answered 408 or 5xx.
 * - `redirected`: the service answered with a redirect, which is never followed.
 * - `bad_answer`: the answer is no JSON, too large, or not of the documented shape.
 * - `timeout`, `network`: no answer, or no connection.
 * - `paging_loop`: the service gave back the page that was asked to be continued.
 * - `cancelled`: the caller withdrew the call.
 * - `internal`: a fault of this bridge.
 */
export const ERROR_CODES = [
  "invalid_input",
  "not_configured",
  "limit_reached",
  "duplicate",
  "declined",
  "unauthorized",
  "out_of_credits",
  "not_found",
  "rate_limited",
  "refused",
  "service_failed",
  "redirected",
  "bad_answer",
  "timeout",
  "network",
  "paging_loop",
  "cancelled",
  "internal",
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

/**
 * What is known of the request: it never left (`not_sent`), the service turned it down (`rejected`), or it left
 * and nobody knows what became of it (`unknown`).
 */
export type Outcome = "not_sent" | "rejected" | "unknown";

/** The service's own words about a failure, already cleaned and cut. Data, never instructions. */
export interface ServiceWords {
  readonly code?: string;
  readonly message?: string;
}

export interface BridgeErrorFacts {
  readonly code: ErrorCode;
  /** What failed, as one sentence with its full stop. */
  readonly message: string;
  /** What the person or model should do, as one or two sentences. */
  readonly nextStep: string;
  readonly outcome: Outcome;
  /** Whether the same call may succeed later and is safe to make again. */
  readonly retryable: boolean;
  /** HTTP status, where there was an answer. */
  readonly status?: number;
  /** Whole seconds. */
  readonly retryAfterSeconds?: number;
  readonly serviceWords?: ServiceWords;
}

export class BridgeError extends Error {
  override readonly name = "BridgeError";
  readonly facts: BridgeErrorFacts;

  /** `cause` is for logs in this process only; it is never shown. */
  constructor(facts: BridgeErrorFacts, cause?: unknown) {
    super(facts.message, cause === undefined ? undefined : { cause });
    this.facts = facts;
  }
}

/** What a failed call might have cost; the sentence about it depends on the operation, not on the error. */
export type Effect = "reads" | "spends" | "publishes";

const EFFECT_SENTENCES: Record<Effect, Record<Outcome, string>> = {
  reads: {
    not_sent: "Nothing was spent or published.",
    rejected: "Nothing was spent or published.",
    unknown: "Nothing was spent or published: this call only reads.",
  },
  spends: {
    not_sent: "No request was carried out, so no credits were spent.",
    rejected: "No video was started, so no credits were spent.",
    unknown: "The request left, and it is not known whether a video was started and credits were spent.",
  },
  publishes: {
    not_sent: "No request was carried out, so nothing was published.",
    rejected: "Nothing was published.",
    unknown: "The request left, and it is not known whether the video was published.",
  },
};

/**
 * The whole text of a failure for the person or model that must act on it: what failed, the service's code and
 * status, whether anything was spent or published, whether calling again is safe, and what to do next.
 */
export function describeFailure(error: BridgeError, effect: Effect): string {
  const { facts } = error;
  const answer = [
    facts.serviceWords?.code === undefined ? undefined : `service code ${quoteCode(facts.serviceWords.code)}`,
    facts.status === undefined ? undefined : `HTTP ${facts.status}`,
  ].filter((part) => part !== undefined);
  const sentences = [
    answer.length === 0 ? facts.message : `${facts.message.replace(/\.$/, "")} (${answer.join(", ")}).`,
    facts.serviceWords?.message === undefined
      ? undefined
      : `The service's words: ${JSON.stringify(facts.serviceWords.message)}`,
    EFFECT_SENTENCES[effect][facts.outcome],
    againSentence(facts),
    facts.nextStep,
  ];
  return sentences.filter((sentence) => sentence !== undefined).join(" ");
}

/** A code is a word; what is more than that is the service's prose, and must not read like ours. */
function quoteCode(code: string): string {
  return /^[\w.:-]+$/.test(code) ? code : JSON.stringify(code);
}

function againSentence(facts: BridgeErrorFacts): string {
  if (facts.retryable) {
    return facts.retryAfterSeconds === undefined
      ? "Calling again is safe."
      : `Calling again is safe after ${facts.retryAfterSeconds} s.`;
  }
  if (facts.outcome === "unknown") return "Do not call again before checking.";
  return "Calling again unchanged will fail again.";
}

/** Anything thrown, as a BridgeError: an error that is none of ours is a fault of this bridge. */
export function toBridgeError(error: unknown, outcome: Outcome): BridgeError {
  if (error instanceof BridgeError) return error;
  return new BridgeError(
    {
      code: "internal",
      message: "The bridge itself failed.",
      nextStep: "Report this with the log of the server (FACELESS_LOG_LEVEL=debug).",
      outcome,
      retryable: false,
    },
    error,
  );
}
