// Asks the user before something is posted or paid for, if the client can. A modern client gets the question as
// its answer and calls again; a legacy one gets it while its call waits. Only a yes to this question counts, or a
// yes to all further ones.

import {
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { type Clock, pause } from "../clock.ts";
import type { Log } from "../log.ts";
import { inSentences } from "../sentences.ts";
import { declinedError, type Question } from "../tools/question.ts";
import { valueAt } from "../value-at.ts";

type McpRequest = ServerContext["mcpReq"];
type Server = McpServer["server"];

/** Thrown by a tool to answer its call with a question. The client calls again with the answer. */
export class AskUser extends Error {
  override readonly name = "AskUser";
  readonly result: InputRequiredResult;

  constructor(result: InputRequiredResult) {
    super("The user has to be asked.");
    this.result = result;
  }
}

const ANSWER = "confirmation";
const FIELD = "decision";
/** The user may be away from the screen. */
const MAX_ANSWER_MS = 5 * 60_000;
/** Some clients leave a form open when its call has ended. */
const MAX_FORM_MS = 24 * 3_600_000;

/** A sentence about a yes that came too late, for the next result about its subject. */
type TooLate = Pick<Question, "jobId" | "tooLate">;

export class Elicitation {
  readonly #log: Log;
  readonly #clock: Clock;
  /** Modern protocol: maps a single-use requestState to the question's key. */
  readonly #open = new Map<string, string>();
  /** The choices that the user has agreed to for all further questions. */
  readonly #agreedToAll = new Set<string>();
  /** Legacy protocol: the last question that offers such a choice. The next one waits for its answer. */
  #lastOffer: Promise<unknown> = Promise.resolve();
  #tooLate: readonly TooLate[] = [];

  constructor({ log, clock }: { readonly log: Log; readonly clock: Clock }) {
    this.#log = log;
    this.#clock = clock;
  }

  /**
   * True on yes, false if the client can't ask. Throws AskUser, a BridgeError for any answer but yes, and what
   * `describe` throws.
   */
  async confirm(server: Server, request: McpRequest, describe: () => Promise<Question>): Promise<boolean> {
    const isAnswer = request.envelope !== undefined && request.inputResponses !== undefined;
    const mayAsk = canAsk(server, request);
    if (!isAnswer && !mayAsk) return false;
    const question = await describe();
    if (request.envelope !== undefined)
      return this.#isAgreed(question) || this.#judge(question, this.#answerTo(request, question, mayAsk));
    if (question.yesToAll === undefined) return this.#judge(question, await this.#ask(request, question));
    // One form at a time, as its answer may make the others needless.
    const answered = this.#lastOffer.then(
      async () => this.#isAgreed(question) || this.#judge(question, await this.#ask(request, question)),
    );
    this.#lastOffer = answered.catch(() => {});
    return answered;
  }

  /**
   * Returns the sentences about late yeses once each: about a job for a result or call that names it, about an order
   * for any.
   */
  takeTooLate(names: (jobId: string) => boolean): string | undefined {
    const isAbout = ({ jobId }: TooLate) => jobId === undefined || names(jobId);
    const taken = this.#tooLate.filter(isAbout);
    this.#tooLate = this.#tooLate.filter((one) => !isAbout(one));
    return taken.length === 0 ? undefined : inSentences(...taken.map(({ tooLate }) => tooLate));
  }

  #isAgreed({ yesToAll }: Question): boolean {
    return yesToAll !== undefined && this.#agreedToAll.has(yesToAll);
  }

  /** Returns true for a yes, and throws for anything else. */
  #judge(question: Question, answer: unknown): true {
    const choice = valueAt(answer, "content", FIELD);
    if (isYes(question, answer)) {
      if (question.yesToAll !== undefined && choice === question.yesToAll)
        this.#agreedToAll.add(question.yesToAll);
      return true;
    }
    throw declinedError(question, valueAt(answer, "action"), choice !== undefined);
  }

  /** The client's answer, unchecked; undefined if it gave none before the call ended. */
  async #ask(request: McpRequest, question: Question): Promise<unknown> {
    const { signal } = request;
    if (signal.aborted) return undefined;
    // The form is cancelled neither with the call nor after its time: a client may leave it open, and the user may
    // still say yes.
    const answer = request
      .send({ method: "elicitation/create", params: formFor(question) }, { timeout: MAX_FORM_MS })
      .catch((error: unknown) => {
        // The client failed to ask, answered nonsense or took too long: none of these is a yes.
        this.#log.info("The client did not get an answer from the user.", error);
      });
    const isOver = new AbortController();
    const time = pause(this.#clock, MAX_ANSWER_MS, AbortSignal.any([signal, isOver.signal]));
    const first = await Promise.race([answer.then((given) => ({ given })), time]);
    isOver.abort();
    if (first !== undefined && !signal.aborted) return first.given;
    void answer.then((late) => {
      if (isYes(question, late)) this.#tooLate = [...this.#tooLate, question];
    });
    return undefined;
  }

  #answerTo(request: McpRequest, question: Question, mayAsk: boolean): unknown {
    const state = request.requestState();
    const key = typeof state === "string" ? this.#open.get(state) : undefined;
    if (typeof state === "string") this.#open.delete(state);
    if (key === question.key) return request.inputResponses?.[ANSWER];
    // The answer is to another question, or there is none.
    if (!mayAsk) return undefined;
    const requestState = crypto.randomUUID();
    this.#open.set(requestState, question.key);
    throw new AskUser(
      inputRequired({
        inputRequests: { [ANSWER]: inputRequired.elicit(formFor(question)) },
        requestState,
      }),
    );
  }
}

/** A form with one choice and nothing preselected. Some clients preselect the first all the same: that is the no. */
function formFor({ message, yes, no, yesToAll }: Question) {
  const choices = [no, yes, ...(yesToAll === undefined ? [] : [yesToAll])];
  return {
    message,
    requestedSchema: {
      type: "object" as const,
      // Some show the title alone.
      properties: { [FIELD]: { type: "string" as const, title: `${yes}?`, enum: choices } },
      required: [FIELD],
    },
  };
}

function isYes({ yes, yesToAll }: Question, answer: unknown): boolean {
  const choice = valueAt(answer, "content", FIELD);
  return (
    valueAt(answer, "action") === "accept" &&
    (choice === yes || (choice !== undefined && choice === yesToAll))
  );
}

/** True if a question can reach the user. */
export function canAsk(server: Server, { envelope }: McpRequest): boolean {
  // A legacy client declares its capabilities once, at initialize; a modern one with each request.
  return canShowForms(valueAt(envelope, CLIENT_CAPABILITIES_META_KEY) ?? server.getClientCapabilities());
}

/** An empty `elicitation` means forms, as it did before there were modes. */
export function canShowForms(capabilities: unknown): boolean {
  const modes = valueAt(capabilities, "elicitation");
  if (typeof modes !== "object" || modes === null) return false;
  return "form" in modes || !("url" in modes);
}
