// Asks the person before something public happens, where the client can ask: one code path for both protocol eras, by the
// SDK's input-required results. A client that can't ask has its own approval of a destructive tool, and that counts. So does
// it for a client that turns the question down by itself, but only with another call: a no never publishes.

import {
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import { BridgeError } from "../errors.ts";
import type { Log } from "../log.ts";

export interface Question {
  /** What is asked about: another key is another question. */
  readonly key: string;
  readonly message: string;
}

/** Thrown out of a tool to have its call answered with a question; the call then comes again with the answer. */
export class AskPerson extends Error {
  override readonly name = "AskPerson";
  readonly question: Question;

  constructor(question: Question) {
    super(question.message);
    this.question = question;
  }
}

export interface Confirmations {
  /**
   * Whether the person has said yes. `unasked` where nobody can be asked. Throws AskPerson to have them asked, and a
   * BridgeError when they said no.
   */
  check(server: McpServer, mcpReq: ServerContext["mcpReq"], question: Question): "yes" | "unasked";
  /** The result that asks. */
  ask(asked: AskPerson): InputRequiredResult;
}

export interface ConfirmationsOptions {
  readonly enabled: boolean;
  readonly log: Log;
  /** Milliseconds. */
  readonly now: () => number;
}

const ANSWER = "confirmation";
/** Nobody reads a question and turns it down this fast: the client did. */
const BY_ITSELF_MS = 1_000;
const MOST_OPEN = 100;
/** How long the call after such an answer is spared the question. */
const SPARED_MS = 10 * 60_000;

// Made when they are needed: few calls ever ask, and every start would wait for them.
const formSchema = () =>
  z.looseObject({
    elicitation: z.looseObject({ form: z.unknown(), url: z.unknown() }).partial(),
  });
const answerSchema = () =>
  z.looseObject({
    action: z.enum(["accept", "decline", "cancel"]),
    content: z.looseObject({ publish: z.boolean().optional() }).nullish(),
  });

export function createConfirmations({ enabled, log, now }: ConfirmationsOptions): Confirmations {
  // By a state that the client gives back. Each serves once.
  const open = new Map<string, { readonly key: string; readonly atMs: number }>();
  /** Questions that the client turned down by itself, and when. */
  const spared = new Map<string, number>();

  return {
    check(server, mcpReq, question) {
      if (!enabled || !canAsk(server, mcpReq)) return "unasked";
      const sparedMs = spared.get(question.key) ?? -Infinity;
      spared.delete(question.key);
      if (now() - sparedMs < SPARED_MS) return "unasked";
      const state = mcpReq.requestState();
      const asked = typeof state === "string" ? open.get(state) : undefined;
      if (typeof state === "string") open.delete(state);
      if (asked?.key !== question.key) throw new AskPerson(question);
      const answer = answerSchema().safeParse(mcpReq.inputResponses?.[ANSWER]).data;
      if (answer?.action === "accept" && answer.content?.publish !== false) return "yes";
      const byItself = answer?.action !== "accept" && now() - asked.atMs < BY_ITSELF_MS;
      if (byItself) {
        log.info("The client turned a question down by itself.");
        spared.set(question.key, now());
      }
      throw declinedError(byItself);
    },

    ask({ question }) {
      const requestState = crypto.randomUUID();
      open.set(requestState, { key: question.key, atMs: now() });
      for (const oldest of open.keys()) if (open.size > MOST_OPEN) open.delete(oldest);
      return inputRequired({
        inputRequests: {
          [ANSWER]: inputRequired.elicit({
            message: question.message,
            requestedSchema: {
              type: "object",
              properties: { publish: { type: "boolean", title: "Publish it", default: true } },
            },
          }),
        },
        requestState,
      });
    },
  };
}

/** An empty `elicitation` means forms, as it did before there were modes. */
function canAsk(server: McpServer, { envelope }: ServerContext["mcpReq"]): boolean {
  // The older era tells once, at initialize; the newer one with each request.
  const declared: unknown =
    (envelope === undefined ? undefined : Reflect.get(envelope, CLIENT_CAPABILITIES_META_KEY)) ??
    server.server.getClientCapabilities();
  const modes = formSchema().safeParse(declared).data?.elicitation;
  return modes !== undefined && (modes.form !== undefined || modes.url === undefined);
}

function declinedError(byItself: boolean): BridgeError {
  return new BridgeError({
    code: "declined",
    message: byItself
      ? "The client turned the question whether to publish down at once, so the person may never have seen it."
      : "The person was asked and did not agree to publish.",
    nextStep: byItself
      ? "If the person wants it published, call publish_video once more: the question is left out then, and the client's own approval of the tool counts."
      : "Ask them what they would like instead. Publish only if they ask for it again.",
    outcome: "not_sent",
    retryable: byItself,
  });
}
