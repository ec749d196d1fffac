// The one error type, and the table of its codes. An error knows what happened, whether anything may have been done, and what to do next;
// it knows nothing of HTTP, MCP or tools. Whether it is retryable is decided where it is made.

/**
 * Everything that can go wrong: what happened, why, and what to do. The texts are Markdown for docs/ERRORS.md, which is generated from this
 * table; what a caller reads is written where the error is made.
 */
export const ERRORS = {
  invalid_input: {
    what: "The arguments can't be used. Nothing was sent",
    why: "One is missing, unknown or out of bounds, or the service is known to allow less",
    fix: "Correct what the text names",
  },
  not_configured: {
    what: "The server is not set up. Nothing was sent",
    why: "A setting is missing or can't be used",
    fix: "Set what the text names and restart the server, or start it with `--sandbox`, which needs no settings",
  },
  limit_reached: {
    what: "A limit of this server forbids the call. Nothing was sent",
    why: "`FACELESS_MAX_GENERATIONS` videos were started, or too many jobs are being watched",
    fix: "Videos: only the user can raise the limit. Jobs: end another subscription, or ask with `get_video_status`",
  },
  duplicate: {
    what: "A paid or public call was held back. Nothing was sent",
    why: "The same request was sent before, and what became of it is not known: for a video in the last ten minutes, for a post in the last 90 days",
    fix: "Look with `list_videos`, or have the user look at the account. Only if it isn't there and they still want it, call again with `confirmDuplicate` and the code that the text gives",
  },
  not_ready: {
    what: "The video can't be published. Nothing was sent",
    why: "It is still rendering, or its render failed",
    fix: "Wait with `get_video_status` until it is done. A failed video can be generated again",
  },
  not_connected: {
    what: "The video can't be published there. Nothing was sent",
    why: "No account of a platform is connected",
    fix: "Take an id from `list_connected_platforms`, or have the user connect the account on the service's website",
  },
  in_progress: {
    what: "A paid or public call was held back. Nothing was sent",
    why: "The same request is being made by another call or process, which has no outcome yet",
    fix: "Make the same call again in a minute: it answers with what became of the other one",
  },
  journal_unreadable: {
    what: "A paid or public call was held back. Nothing was sent",
    why: "The journal, which guards against paying or posting twice, is there but can't be read",
    fix: "Give the server the right to read the file that the text names, or set `FACELESS_STATE_DIR` to another folder",
  },
  declined: {
    what: "The user did not agree to publish. Nothing was sent",
    why: "They said no or gave no answer, or their client answered by itself",
    fix: "Ask them what they would like. If no question was shown to them, `FACELESS_CONFIRM_PUBLISH=off` leaves the question to the client's own approval",
  },
  unauthorized: {
    what: "The service refused the key",
    why: "401: it does not accept the key. 403: the key may not do this",
    fix: "Check `FACELESS_API_KEY` in the service's account settings, section API, and restart the server",
  },
  out_of_credits: {
    what: "The service refused the call",
    why: "The account has no credits left",
    fix: "Add credits, then call again",
  },
  not_found: {
    what: "The service has nothing there",
    why: "It knows no such job, or `FACELESS_BASE_URL` leads elsewhere",
    fix: "Take the `jobId` unchanged from `generate_video` or `list_videos`, and check `FACELESS_BASE_URL`",
  },
  rate_limited: {
    what: "Too many requests for now",
    why: "The service said so (429), or its rate limit is known to be used up and nothing was sent",
    fix: "Wait as long as `retryAfterSeconds` says, or a minute",
  },
  refused: {
    what: "The service refused the call",
    why: "Another 4xx, such as a video that is not ready to be published",
    fix: "Change what the service's words object to",
  },
  service_failed: {
    what: "The service failed",
    why: "It, or a gateway in front of it, answered 408 or 5xx",
    fix: "A call that reads: try again in a minute. A paid or public call: look first, as the text says",
  },
  redirected: {
    what: "The service answered with a redirect, which is never followed",
    why: "`FACELESS_BASE_URL` is not where the service is, and the key goes to one origin only",
    fix: "Set `FACELESS_BASE_URL` to the service's real address. A paid or public call: look first",
  },
  bad_answer: {
    what: "The answer can't be used",
    why: "It is not JSON, not as documented, or larger than 4 MB: often it comes from another program at a wrong address",
    fix: "Check `FACELESS_BASE_URL`. A paid or public call: look first",
  },
  timeout: {
    what: "No answer in time",
    why: "The service or the network is slow, or no connection could be made",
    fix: "A call that reads, or that was not sent: try again. A paid or public call that was sent: look first",
  },
  network: {
    what: "No connection, or it broke",
    why: "The host name, the proxy, TLS or the network failed; the text says which",
    fix: "Run `faceless-video-mcp doctor`. A paid or public call that was sent: look first",
  },
  paging_loop: {
    what: "The list would go round for ever",
    why: "The service gave back the cursor that was sent: it does not know the paging parameter",
    fix: "List without `cursor` and with a larger `limit`",
  },
  cancelled: {
    what: "The call was cancelled",
    why: "The caller withdrew it, or the server was told to end",
    fix: "Call again if it is still wanted. A paid or public call that was sent: look first",
  },
  internal: {
    what: "This server itself failed",
    why: "A fault in its code",
    fix: "Report it, with the log at `FACELESS_LOG_LEVEL=debug`",
  },
} as const satisfies Record<string, { readonly what: string; readonly why: string; readonly fix: string }>;
export type ErrorCode = keyof typeof ERRORS;

/** What is known of the request: it was not sent, the service rejected it, or it was sent and what became of it is not known. */
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
  /** What the user or model should do, as one to three sentences. */
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

/** What a call may do besides reading. */
export type Effect = "reads" | "spends" | "publishes";

const NOTHING_DONE: Record<Effect, string> = {
  reads: "Nothing was spent or published.",
  spends: "This call started no video and spent no credits.",
  publishes: "This call published nothing.",
};
const MAYBE_DONE: Record<Effect, string> = {
  reads: NOTHING_DONE.reads,
  spends: "It is not known whether a video was started and credits were spent.",
  publishes: "It is not known whether the video was published.",
};

/**
 * The whole text of a failure for the user or model that must act on it: what failed, the service's code and status, whether anything
 * was spent or published, whether calling again is safe, and what to do next.
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
    facts.outcome === "unknown" ? MAYBE_DONE[effect] : NOTHING_DONE[effect],
    againSentence(facts),
    facts.nextStep,
  ];
  return sentences.filter((sentence) => sentence !== undefined).join(" ");
}

/** A code is one word; anything more is the service's prose and must not read like ours. */
function quoteCode(code: string): string {
  return /^[\w.:-]+$/.test(code) ? code : JSON.stringify(code);
}

/** The same call could succeed later, even where this server does not advise it. */
const TRANSIENT: ReadonlySet<ErrorCode> = new Set([
  "rate_limited",
  "network",
  "timeout",
  "cancelled",
  "declined",
  "duplicate",
  "not_found",
]);

function againSentence(facts: BridgeErrorFacts): string | undefined {
  if (facts.retryable) {
    return facts.retryAfterSeconds === undefined
      ? "Calling again is safe."
      : `Calling again is safe after ${facts.retryAfterSeconds} s.`;
  }
  if (facts.outcome === "unknown") return "Don't call again before you have checked.";
  return TRANSIENT.has(facts.code) ? undefined : "The same call would fail again.";
}

/** Anything thrown, as a BridgeError: an error of another type is a fault of this server. */
export function toBridgeError(error: unknown, outcome: Outcome): BridgeError {
  if (error instanceof BridgeError) return error;
  return new BridgeError(
    {
      code: "internal",
      message: "This server itself failed.",
      nextStep: "Report this with the log of the server (FACELESS_LOG_LEVEL=debug).",
      outcome,
      retryable: false,
    },
    error,
  );
}
