// Asks the user before something becomes public or is paid for twice, where the client can. A modern client
// gets the question as its answer and calls again; a legacy one is asked while its call waits. Only this
// question's yes counts.

import {
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { BridgeError } from "../errors.ts";
import type { Config } from "../config.ts";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import type { Question } from "../tools/tool.ts";
import { valueAt } from "./value-at.ts";

type McpRequest = ServerContext["mcpReq"];

/** Thrown out of a tool to answer its call with a question; the client calls again with the answer. */
export class AskUser extends Error {
  override readonly name = "AskUser";
  readonly result: InputRequiredResult;

  constructor(result: InputRequiredResult) {
    super("The user has to be asked.");
    this.result = result;
  }
}

export interface ElicitationOptions {
  /** Off: the client's own approval of the tool counts. Always: nothing is published without a yes. */
  readonly mode: Config["confirmPublish"];
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly log: Log;
}

const ANSWER = "confirmation";
const FIELD = "decision";
/** The user may be away from the screen. */
const MAX_ANSWER_MS = 5 * 60_000;
/** No user has read the question in so little time. */
const BY_ITSELF_MS = 2_000;
const MAX_OPEN = 100;

export class Elicitation {
  readonly #options: ElicitationOptions;
  /** Modern protocol: questions by the state that the client gives back with the answer. Each serves once. */
  readonly #open = new Map<string, { readonly key: string; readonly askedMs: number }>();

  constructor(options: ElicitationOptions) {
    this.#options = options;
  }

  /** Whether a question can reach the user of this request. */
  mayAsk(server: McpServer, request: McpRequest): boolean {
    return this.#options.mode !== "off" && canAsk(server, request);
  }

  /**
   * True on yes, false if nobody can be asked. Throws AskUser, a BridgeError for any answer but yes, and what
   * `describe` throws.
   */
  async confirm(server: McpServer, request: McpRequest, describe: () => Promise<Question>): Promise<boolean> {
    const isAnswer = request.envelope !== undefined && request.inputResponses !== undefined;
    const mayAsk = this.mayAsk(server, request);
    if (!isAnswer && !mayAsk) return false;
    const question = await describe();
    const { answer, afterMs } =
      request.envelope === undefined
        ? await this.#ask(request, question)
        : this.#answerTo(request, question, mayAsk);
    const action = valueAt(answer, "action");
    const accepts = action === "accept";
    if (accepts && valueAt(answer, "content", FIELD) === question.yes) return true;
    const declines = action === "decline" || action === "cancel";
    const isByItself = declines && afterMs < BY_ITSELF_MS && this.#options.mode !== "always";
    throw declinedError(question, accepts || declines, isByItself);
  }

  async #ask(request: McpRequest, question: Question): Promise<Answered> {
    const askedMs = this.#options.clock.monotonicMs();
    try {
      const answer = await request.send(
        { method: "elicitation/create", params: formFor(question) },
        { timeout: MAX_ANSWER_MS, signal: request.signal },
      );
      return { answer, afterMs: this.#options.clock.monotonicMs() - askedMs };
    } catch (error) {
      // The client failed to ask, answered nonsense or took too long: none of these is a yes.
      this.#options.log.info("The client did not get an answer from the user.", error);
      return NO_ANSWER;
    }
  }

  #answerTo(request: McpRequest, question: Question, mayAsk: boolean): Answered {
    const state = request.requestState();
    const asked = typeof state === "string" ? this.#open.get(state) : undefined;
    if (typeof state === "string") this.#open.delete(state);
    if (asked?.key === question.key)
      return {
        answer: request.inputResponses?.[ANSWER],
        afterMs: this.#options.clock.monotonicMs() - asked.askedMs,
      };
    // It answers another question or none.
    if (!mayAsk) return NO_ANSWER;
    const requestState = crypto.randomUUID();
    this.#open.set(requestState, { key: question.key, askedMs: this.#options.clock.monotonicMs() });
    for (const oldest of this.#open.keys()) if (this.#open.size > MAX_OPEN) this.#open.delete(oldest);
    throw new AskUser(
      inputRequired({
        inputRequests: { [ANSWER]: inputRequired.elicit(formFor(question)) },
        requestState,
      }),
    );
  }
}

interface Answered {
  /** Unchecked, from the client. */
  readonly answer: unknown;
  /** Time since the question. */
  readonly afterMs: number;
}

const NO_ANSWER: Answered = { answer: undefined, afterMs: Infinity };

/** One choice, nothing chosen in advance. Some clients mark the first all the same: that is the no. */
function formFor({ message, yes, no }: Question) {
  return {
    message,
    requestedSchema: {
      type: "object" as const,
      // Some show the title alone.
      properties: { [FIELD]: { type: "string" as const, title: `${yes}?`, enum: [no, yes] } },
      required: [FIELD],
    },
  };
}

/** An empty `elicitation` means forms, as it did before there were modes. */
function canAsk(server: McpServer, request: McpRequest): boolean {
  const modes = valueAt(declaredCapabilities(server, request), "elicitation");
  if (typeof modes !== "object" || modes === null) return false;
  return "form" in modes || !("url" in modes);
}

/** A legacy client declares its capabilities once, at initialize; a modern one with each request. */
export function declaredCapabilities(server: McpServer, { envelope }: McpRequest): unknown {
  return valueAt(envelope, CLIENT_CAPABILITIES_META_KEY) ?? server.server.getClientCapabilities();
}

/** `isByItself`: it came so fast, without a choice, that the client may have answered without the user. */
export function declinedError({ verb }: Question, isAnswered: boolean, isByItself: boolean): BridgeError {
  return new BridgeError({
    code: "declined",
    message: isAnswered
      ? `The user was asked and did not agree to ${verb}.`
      : `The user was asked whether to ${verb}, and no answer came.`,
    nextStep: isByItself
      ? "If the user saw no question, their client answered by itself: docs/ERRORS.md of this server tells them what to do. Otherwise don't ask again unless the user brings it up."
      : "Don't ask again unless the user brings it up.",
    outcome: "not_sent",
    retryable: false,
  });
}
