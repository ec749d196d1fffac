// Asks the user before something is posted or paid for, if the client can. A modern client gets the question as
// its answer and calls again; a legacy one is asked while its call waits. Only this question's yes counts.

import {
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Log } from "../log.ts";
import { declinedError, type Question } from "../tools/question.ts";
import { valueAt } from "../value-at.ts";

type McpRequest = ServerContext["mcpReq"];
type Server = McpServer["server"];

/** Thrown out of a tool to answer its call with a question; the client calls again with the answer. */
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

export class Elicitation {
  readonly #log: Log;
  /** Modern protocol: the question's key by the state that the client gives back. Each serves once. */
  readonly #open = new Map<string, string>();

  constructor(log: Log) {
    this.#log = log;
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
    const answer =
      request.envelope === undefined
        ? await this.#ask(request, question)
        : this.#answerTo(request, question, mayAsk);
    const choice = valueAt(answer, "content", FIELD);
    const action = valueAt(answer, "action");
    if (action === "accept" && choice === question.yes) return true;
    throw declinedError(question, action, choice !== undefined);
  }

  /** The client's answer, unchecked; undefined if it gave none. */
  async #ask(request: McpRequest, question: Question): Promise<unknown> {
    try {
      return await request.send(
        { method: "elicitation/create", params: formFor(question) },
        { timeout: MAX_ANSWER_MS, signal: request.signal },
      );
    } catch (error) {
      // The client failed to ask, answered nonsense or took too long: none of these is a yes.
      this.#log.info("The client did not get an answer from the user.", error);
      return undefined;
    }
  }

  #answerTo(request: McpRequest, question: Question, mayAsk: boolean): unknown {
    const state = request.requestState();
    const key = typeof state === "string" ? this.#open.get(state) : undefined;
    if (typeof state === "string") this.#open.delete(state);
    if (key === question.key) return request.inputResponses?.[ANSWER];
    // It answers another question or none.
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

/** True if a question can reach the user. An empty `elicitation` means forms, as before there were modes. */
export function canAsk(server: Server, { envelope }: McpRequest): boolean {
  // A legacy client declares its capabilities once, at initialize; a modern one with each request.
  const declared = valueAt(envelope, CLIENT_CAPABILITIES_META_KEY) ?? server.getClientCapabilities();
  const modes = valueAt(declared, "elicitation");
  if (typeof modes !== "object" || modes === null) return false;
  return "form" in modes || !("url" in modes);
}
