// Asks the user before something is posted or paid for, if the client can. A modern client gets the question as
// its answer and calls again; a legacy one gets it while its call waits. Only a yes to this question counts, or an
// earlier one to a series.

import { type InputRequiredResult, inputRequired } from "@modelcontextprotocol/server";
import { pause, repeat } from "../clock.ts";
import { inSentences } from "../sentences.ts";
import { type Consent, declinedError, type Question } from "../tools/question.ts";
import { valueAt } from "../value-at.ts";
import type { Application } from "./application.ts";
import type { ConnectedClient, McpRequest } from "./connected-client.ts";
import type { Progress } from "./progress.ts";

/** Thrown by a tool to answer its call with a question. The client calls again with the answer. */
export class AskUser extends Error {
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
/** Clients give up on a call that is silent for a minute. */
const PROGRESS_MS = 20_000;
/** A series ends if no order is made for this long. */
const MAX_SERIES_PAUSE_MS = 3_600_000;

/** A yes to further questions. Times are milliseconds since the epoch. */
interface Series {
  readonly conversation: string;
  readonly sinceMs: number;
  readonly lastMs: number;
}

/** The parts of a connection that its questions need. */
type ClientConnection = Pick<Application, "log" | "clock"> & {
  readonly client: Pick<ConnectedClient, "canAsk" | "conversation">;
};

/** The questions of one connection. */
export class Elicitation {
  readonly #connection: ClientConnection;
  /** Modern protocol: maps a single-use requestState to the question's key. */
  readonly #open = new Map<string, string>();
  #series: Series | undefined;
  /** Legacy protocol: the last question that offers a series. The next one waits for its answer. */
  #lastOffer: Promise<unknown> = Promise.resolve();
  /** The questions whose yes came too late, for the next result about their subject. */
  #tooLate: readonly Question[] = [];

  constructor(connection: ClientConnection) {
    this.#connection = connection;
  }

  /**
   * Resolves to how the user agreed. Throws AskUser, a BridgeError for any answer but yes, and what `describe`
   * throws.
   */
  async confirm(
    request: McpRequest,
    progress: Progress,
    describe: () => Promise<Question>,
  ): Promise<Consent> {
    const { client, clock } = this.#connection;
    const isModern = request.envelope !== undefined;
    const isAnswer =
      isModern && (request.inputResponses !== undefined || request.requestState() !== undefined);
    const mayAsk = client.canAsk(request);
    const conversation = client.conversation(request);
    if (this.#series?.conversation !== conversation) this.#series = undefined;
    if (!isAnswer && !mayAsk) return "not asked";
    const question = await describe();
    // An answer to this question wins over one to a series.
    if (isAnswer) return this.#judge(question, conversation, this.#answerTo(request, question, mayAsk));
    if (isModern) return this.#agreedEarlier(question) ?? this.#askModern(question);
    const ask = async () =>
      this.#agreedEarlier(question) ??
      this.#judge(question, conversation, await this.#ask(request, question));
    // One form at a time, as its answer may make the others needless.
    const asked = question.yesToAll === undefined ? ask() : this.#lastOffer.then(ask);
    if (question.yesToAll !== undefined) this.#lastOffer = asked.catch(() => {});
    const stop = repeat(clock, PROGRESS_MS, () => {
      if (!request.signal.aborted) void progress.notify();
    });
    return asked.finally(stop);
  }

  /** Returns the sentences about late yeses once each: about a job for a call that names it, about an order for any. */
  takeTooLate(names: (jobId: string) => boolean): string | undefined {
    const isAbout = ({ jobId }: Question) => jobId === undefined || names(jobId);
    const taken = this.#tooLate.filter(isAbout);
    this.#tooLate = this.#tooLate.filter((one) => !isAbout(one));
    return taken.length === 0 ? undefined : inSentences(...taken.map(({ tooLate }) => tooLate));
  }

  /** The yes to a series that covers this question. */
  #agreedEarlier({ yesToAll }: Question): Consent | undefined {
    const series = this.#series;
    if (yesToAll === undefined || series === undefined) return undefined;
    const nowMs = this.#connection.clock.now();
    const isOver = Math.abs(nowMs - series.lastMs) >= MAX_SERIES_PAUSE_MS;
    this.#series = isOver ? undefined : { ...series, lastMs: nowMs };
    return isOver ? undefined : { sinceMs: series.sinceMs };
  }

  /** Throws for anything but a yes, which also ends a series. */
  #judge(question: Question, conversation: string, answer: unknown): Consent {
    const choice = valueAt(answer, "content", FIELD);
    if (!isYes(question, answer)) {
      this.#series = undefined;
      throw declinedError(question, valueAt(answer, "action"), choice !== undefined);
    }
    if (choice === question.yesToAll) {
      const nowMs = this.#connection.clock.now();
      this.#series = { conversation, sinceMs: nowMs, lastMs: nowMs };
    }
    return "agreed";
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
        this.#connection.log.info("The client did not get an answer from the user.", error);
      });
    const isOver = new AbortController();
    const time = pause(this.#connection.clock, MAX_ANSWER_MS, AbortSignal.any([signal, isOver.signal]));
    const given = await Promise.race([answer, time]);
    isOver.abort();
    if (given !== undefined && !signal.aborted) return given;
    void answer.then((late) => {
      if (isYes(question, late)) this.#tooLate = [...this.#tooLate, question];
      else this.#series = undefined;
    });
    return undefined;
  }

  /** The answer that the call brings. If it answers another question, this one is asked. */
  #answerTo(request: McpRequest, question: Question, mayAsk: boolean): unknown {
    const state = String(request.requestState());
    const isOwn = this.#open.get(state) === question.key;
    this.#open.delete(state);
    const answer = request.inputResponses?.[ANSWER];
    if (isOwn) return answer;
    if (!isYes(question, answer)) this.#series = undefined;
    return mayAsk ? this.#askModern(question) : undefined;
  }

  #askModern(question: Question): never {
    const requestState = crypto.randomUUID();
    this.#open.set(requestState, question.key);
    const inputRequests = { [ANSWER]: inputRequired.elicit(formFor(question)) };
    throw new AskUser(inputRequired({ inputRequests, requestState }));
  }
}

/** A form with one choice and nothing preselected. Some clients preselect the first all the same: that is the no. */
function formFor({ message, yes, no, yesToAll }: Question) {
  const choices = [no, yes, ...(yesToAll === undefined ? [] : [yesToAll])];
  // Some show the title alone.
  const decision = { type: "string" as const, title: `${yes}?`, enum: choices };
  return {
    message,
    requestedSchema: { type: "object" as const, properties: { [FIELD]: decision }, required: [FIELD] },
  };
}

function isYes({ yes, yesToAll = yes }: Question, answer: unknown): boolean {
  const choice = valueAt(answer, "content", FIELD);
  return valueAt(answer, "action") === "accept" && (choice === yes || choice === yesToAll);
}
