// The question to the user before something is paid for or posted, and the error for any answer but yes.

import { say } from "../sentences.ts";
import { type BridgeError, notSent } from "../errors.ts";
import { DOCS } from "../version.ts";

export interface Question {
  /** Identifies the subject of the question: a different key means a different question. */
  readonly key: string;
  readonly message: string;
  /** The video that the question is about, for a question about several. */
  readonly subject?: string;
  /** Sentences that say why users are asked who have turned off the question before an order. */
  readonly warnings?: string;
  /** A verb phrase that follows "to" and names the action that a no refuses. */
  readonly verb: string;
  /** A participle that completes "Not …", after a no. */
  readonly done: "started" | "posted";
  readonly yes: string;
  readonly no: string;
  /** The choice that says yes to this and further questions that offer it, for a series. */
  readonly yesToAll?: string;
  /** One or more sentences about a yes that comes after its call has ended. */
  readonly tooLate: string;
  /** The job in question; undefined for an order, which has none yet. */
  readonly jobId?: string;
}

/** Who agreed: the user to this question, or to a series at `sinceMs`, or nobody, as they can't be asked. */
export type Consent = "agreed" | { readonly sinceMs: number } | "not asked";

/** The error for any answer but yes. `action` is the client's word for it. */
export function declinedError({ verb, done }: Question, action: unknown, hasChosen: boolean): BridgeError {
  // Some clients answer by themselves what they can't show, some of them with "accept".
  const isAutomatic = action === "decline" || action === "cancel" || (action === "accept" && !hasChosen);
  const unanswered = isAutomatic ? "the question was closed without a yes" : "no answer came";
  const asked = `told to ask the user whether to ${verb}, and ${unanswered}`;
  const tellOfClient = `tell them that their client may have answered by itself, and what to do then: ${DOCS}/ERRORS.md`;
  const callAgain =
    "call again unless the user now asks for it: what they said before the question doesn't count.";
  return notSent(
    "declined",
    action === "accept" && hasChosen
      ? say`[The user was asked and did not agree to ${verb}|Not ${done}: you didn't confirm].`
      : say`[The client was ${asked}|Not ${done}: you didn't confirm].`,
    isAutomatic
      ? say`[If the user saw no question, ${tellOfClient}. Otherwise don't ${callAgain}|]`
      : say`[Don't ${callAgain}|]`,
  );
}
