// What one answer of the video list says of the service, the key, the allowance and the clock. Pure.

import type { BridgeErrorFacts } from "../../errors.ts";
import { OPERATIONS } from "../../service/client.ts";
import { parseJson, statusError } from "../../service/errors.ts";
import type { Answer } from "../../service/http.ts";
import { readRetryAfterMs } from "../../service/rate-limit-headers.ts";
import type { RateLimitStatus } from "../../service/rate-limiter.ts";
import { videoPageSchema } from "../../service/schemas.ts";
import { type Check, fail, pass, skip, warn } from "./check.ts";
import { namesApiPath } from "./environment.ts";

const MOST_SKEW_MS = 60_000;

export interface Heard {
  readonly answer: Answer;
  /** Of the machine, half way between request and answer, in milliseconds since the epoch. */
  readonly atMs: number;
  readonly hasKey: boolean;
  readonly baseUrl: URL;
}

/** `service` and `key`, and `credits` where the account has none. */
export function checkAnswer({ answer, atMs, hasKey, baseUrl }: Heard): readonly Check[] {
  const { status } = answer;
  if (status >= 200 && status < 300) return checkSuccess(answer, hasKey);
  const { facts } = statusError(OPERATIONS.listVideos, answer, readRetryAfterMs(answer.headers, atMs));
  const detail = withAnswer(facts);
  const remedy = facts.nextStep.replace(/\.$/, "");
  const answers = pass("service", `answers (HTTP ${status})`);
  const noKey = skip("key", "there is no key to try");

  if (facts.code === "out_of_credits")
    return [answers, pass("key", "accepted"), fail("credits", detail, remedy)];
  if (status === 401 || status === 403) {
    if (!hasKey) return [answers, noKey];
    if (status === 401) return [answers, fail("key", detail, remedy)];
    const firewall = facts.serviceWords === undefined ? ", or whether a firewall on the way says no" : "";
    return [answers, fail("key", detail, `${remedy}${firewall}`)];
  }
  if (status === 429) return [answers, skip("key", "not known while the service takes no requests")];
  const unknown = skip("key", "not known until the service answers");
  if (status === 404) return [fail("service", detail, addressRemedy(baseUrl)), unknown];
  return [fail("service", detail, remedy), unknown];
}

function checkSuccess(answer: Answer, hasKey: boolean): readonly Check[] {
  const json = parseJson(answer.text);
  if (videoPageSchema.safeParse(json).success)
    return [
      pass("service", `answers as documented (HTTP ${answer.status})`),
      hasKey ? pass("key", "accepted") : skip("key", "there is no key to try"),
    ];
  const isPage = json === undefined && /^\s*</.test(answer.text);
  return [
    fail(
      "service",
      `something answers that is not the service's API (HTTP ${answer.status}, ${isPage ? "a web page" : json === undefined ? "no JSON" : "unexpected JSON"})`,
      isPage
        ? "Set FACELESS_BASE_URL to the address of the API, not of the website. On a public network, sign in to it first"
        : "Check FACELESS_BASE_URL: it is the service's address without /api/v1",
    ),
    skip("key", "not known until the service answers"),
  ];
}

function addressRemedy(baseUrl: URL): string {
  return namesApiPath(baseUrl)
    ? "Remove /api and what follows it from the end of FACELESS_BASE_URL"
    : "Check the path in FACELESS_BASE_URL: it is the service's address without /api/v1, but with a path prefix if it has one";
}

/** The service's words are data: quoted, already cleaned and cut. */
function withAnswer({ message, status, serviceWords }: BridgeErrorFacts): string {
  const words =
    serviceWords?.message === undefined ? "" : `; its words: ${JSON.stringify(serviceWords.message)}`;
  return `${message.replace(/^The /, "the ").replace(/\.$/, "")} (HTTP ${status}${words})`;
}

export function checkAllowance(
  status: number,
  { limit, remaining, resetInMs, pausedMs }: RateLimitStatus,
): Check {
  const seconds = (ms: number) => `${Math.max(1, Math.ceil(ms / 1000))} s`;
  if (status === 429)
    return fail(
      "allowance",
      "the service takes no more requests for now (HTTP 429)",
      `Wait ${seconds(pausedMs)}`,
    );
  if (remaining === undefined) return skip("allowance", "the service names none");
  const reset = resetInMs === undefined ? "" : `, renewed in ${seconds(resetInMs)}`;
  const left = `${remaining}${limit === undefined ? "" : ` of ${limit}`} requests left${reset}`;
  return remaining > 0
    ? pass("allowance", left)
    : warn("allowance", left, "Wait until it is renewed, and see what else uses this key");
}

/** `atMs` as in `Heard`. A Date header has whole seconds. */
export function checkClock({ headers }: Answer, atMs: number): Check {
  const { date } = headers;
  const serverMs = typeof date === "string" ? Date.parse(date) : Number.NaN;
  if (Number.isNaN(serverMs)) return skip("clock", "the service names no time");
  const skewMs = atMs - serverMs;
  if (Math.abs(skewMs) <= MOST_SKEW_MS) return pass("clock", "agrees with the service's to a minute");
  return warn(
    "clock",
    `this machine is ${duration(Math.abs(skewMs))} ${skewMs > 0 ? "ahead of" : "behind"} the service`,
    "Set the clock of this machine, best by switching on automatic time",
  );
}

function duration(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}
