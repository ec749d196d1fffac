// Checks the service, the key and the rate limit with the server's own requests.

import type { ClientName } from "../../command-line.ts";
import { BridgeError } from "../../errors.ts";
import { type ParsedResponse, type ServiceResponse, videoPageSchema } from "../../service/responses.ts";
import { OPERATIONS } from "../../service/client.ts";
import { readNumber } from "../../service/rate-limiter.ts";
import { RequestSender } from "../../service/request-sender.ts";
import { TransportFailure } from "../../service/transport-failure.ts";
import type { ServiceConfig } from "../../config.ts";
import { NO_KEY } from "../../settings/values.ts";
import { inSentences, textFor } from "../../sentences.ts";
import { quote } from "../../text.ts";
import type { Host } from "../host.ts";
import { commandOf } from "../server-entry.ts";
import { type Check, fail, pass, warn } from "./check.ts";

// Well below the 20 s that such a request has in the server.
const ANSWER_MS = 8_000;
const OTHER_ADDRESS = inSentences(
  "Set FACELESS_BASE_URL to the service's address, not to that of its website.",
  "On a public network, sign in to the network first",
);

/** Ends at the first failure that makes further checks useless. Without a service nothing is checked. */
export async function checkService(
  config: ServiceConfig | undefined,
  client: ClientName | undefined,
  host: Host,
): Promise<readonly Check[]> {
  const { clock } = host;
  if (config === undefined) return [];
  const hasKey = config.apiKey !== NO_KEY;
  const address = config.baseUrl.href.replace(/\/$/, "");
  const requests = await RequestSender.open({ clock, random: Math.random, config });
  const startedMs = clock.monotonicMs();
  try {
    const url = requests.address("/api/v1/videos", { limit: "1" });
    const operation = OPERATIONS.listVideos;
    const read = (answer: ParsedResponse) => {
      requests.accept(operation, answer);
      return answer;
    };
    const answer = await requests.request(operation, { url }, read, { deadlineMs: ANSWER_MS });
    const tookMs = Math.round(clock.monotonicMs() - startedMs);
    if (!videoPageSchema.safeParse(answer.json).success) {
      // Such as that of a sign-in page.
      const title = answer.page?.trim() ? `: it says ${quote(answer.page, 100)}` : "";
      const ofClient = client === undefined ? "" : ` --client ${client}`;
      const showShapes = commandOf(`doctor --shapes${ofClient}`, host);
      const fix = `${OTHER_ADDRESS}. If the address is right, run ${quote(showShapes)} and report what it prints`;
      return [fail("service", `something else answers at this address${title}`, fix)];
    }
    return [
      pass("service", `${address} answers (${tookMs} ms)`),
      ...(hasKey ? [pass("key", "the service accepts it")] : []),
      ...checkRateLimit(answer),
    ];
  } catch (error) {
    if (error instanceof BridgeError) return checkFailure(error, address, hasKey);
    throw error;
  } finally {
    requests.close();
  }
}

function checkFailure(error: BridgeError, address: string, hasKey: boolean): readonly Check[] {
  const { code, serviceMessage, isForUser, nextStep } = error.facts;
  const said = serviceMessage?.message;
  // A model's next step after a refusal means nothing to a user of this command.
  const isOfModel = code === "refused" && isForUser !== true;
  const refusedFix = `${said === undefined ? "C" : "See what the service says, and c"}heck FACELESS_BASE_URL.`;
  const fix = isOfModel ? refusedFix : textFor("person", nextStep);
  const failed = (name: string, detail: string): Check => ({ ...pass(name, detail), status: "fail", fix });
  if (error.cause instanceof TransportFailure)
    return [failed("service", `${address} gives no answer: ${error.cause.facts.reason}`)];
  const detail = inSentences(error.message, said !== undefined && `Its words: ${JSON.stringify(said)}`);
  const answers = pass("service", `${address} answers`);
  if (code === "unauthorized") return hasKey ? [answers, failed("key", detail)] : [answers];
  if (code === "out_of_credits")
    return [answers, pass("key", "the service accepts it"), failed("credits", detail)];
  return code === "rate_limited" ? [answers, failed("rate limit", detail)] : [failed("service", detail)];
}

/** How many requests the service allows for now. */
function checkRateLimit({ headers }: ServiceResponse): readonly Check[] {
  const remaining = readNumber(headers["x-ratelimit-remaining"]);
  const limit = readNumber(headers["x-ratelimit-limit"]);
  // A limit of 0 on a good answer means no limit.
  if (remaining === undefined || limit === 0) return [];
  const detail = `${remaining}${limit === undefined ? "" : ` of ${limit}`} requests left for now`;
  return [
    remaining > 0
      ? pass("rate limit", detail)
      : warn("rate limit", detail, "Wait a few minutes, and see what else uses this key"),
  ];
}
