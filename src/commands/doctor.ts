// Checks, one thing after the other, whether a video could be made with the environment as it is, and says how to mend
// what is wrong. Only reads: it sends GETs, spends nothing and leaves nothing behind.

import { OPERATIONS } from "../service/client.ts";
import { TransportFailure } from "../service/errors.ts";
import { createRequests, type Requests } from "../service/requests.ts";
import type { Environment, Settings } from "../settings.ts";
import { VERSION } from "../version.ts";
import { checkAllowance, checkAnswer, checkClock } from "./doctor/answer.ts";
import { type Check, fail, pass, skip } from "./doctor/check.ts";
import { checkFailure } from "./doctor/connection.ts";
import { checkDocument, checkPlatforms, type Get } from "./doctor/document.ts";
import { checkNode, checkSettings, readTarget, type Target } from "./doctor/environment.ts";
import { checkJournal } from "./doctor/journal.ts";
import { createReport, createReportRedact } from "./doctor/report.ts";
import { checkName, checkProxy, proxyFor } from "./doctor/route.ts";
import { EXAMPLE_KEY } from "./server-entry.ts";

export interface DoctorOptions {
  readonly settings: Settings;
  readonly env: Environment;
  /** As process.versions.node has it. */
  readonly nodeVersion: string;
  readonly json: boolean;
  readonly isTerminal: boolean;
  /** Gets whole lines, without their line break. */
  readonly print: (line: string) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

// With the three seconds each of proxy and name, all in all less than 20 s.
const ANSWER_MS = 7_000;
const EXTRA_MS = 3_500;

/** Prints the report. Returns the exit code: 1 where no video could be made. */
export async function runDoctor({ json, isTerminal, print, ...options }: DoctorOptions): Promise<number> {
  const { env } = options;
  const redact = createReportRedact(env["FACELESS_API_KEY"]);
  const report = createReport({
    json,
    decorated: isTerminal && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb",
    print: (line) => print(redact(line)),
  });
  for await (const check of allChecks(options)) report.add(check);
  return report.end() ? 0 : 1;
}

type Circumstances = Pick<DoctorOptions, "settings" | "env" | "nodeVersion" | "now">;

async function* allChecks(circumstances: Circumstances): AsyncGenerator<Check> {
  const { settings, env, nodeVersion } = circumstances;
  yield checkNode(nodeVersion);
  yield* checkSettings(env, settings);
  const journal = checkJournal(settings);
  const target = readTarget(env);
  const seen = new Set<string>();
  for await (const check of networkChecks(circumstances, target)) {
    seen.add(check.name);
    yield check;
  }
  for (const name of NETWORK_CHECKS)
    if (!seen.has(name)) yield skip(name, "not tried: what failed above comes first");
  yield await journal;
}

/** In every report, tried or not. */
const NETWORK_CHECKS = [
  "proxy",
  "dns",
  "connection",
  "service",
  "key",
  "allowance",
  "clock",
  "openapi",
  "platforms",
];

/** Ends after the first thing without which the rest makes no sense. */
async function* networkChecks({ env, now }: Circumstances, target: Target): AsyncGenerator<Check> {
  const { apiKey, place, proxyProblem } = target;
  if (proxyProblem !== undefined)
    yield fail("proxy", `${proxyProblem.variable} ${proxyProblem.problem}`, proxyProblem.remedy);
  if (place === undefined) return;
  const { baseUrl, proxies } = place;
  const proxy = proxyFor(baseUrl, proxies, env);
  const proxied = await checkProxy(baseUrl, proxy, env);
  yield proxied;
  if (proxied.status === "fail") return;
  const resolved = await checkName(baseUrl, proxy);
  yield resolved;
  if (resolved.status === "fail") return;

  const requests = createRequests({
    settings: { ...place, apiKey: apiKey ?? EXAMPLE_KEY },
    version: VERSION,
    now,
    random: Math.random,
  });
  try {
    yield* serviceChecks({ requests, baseUrl, hasKey: apiKey !== undefined, now }, (failure) =>
      checkFailure(failure, baseUrl, proxy),
    );
  } finally {
    requests.close();
  }
}

interface Asked {
  readonly requests: Requests;
  readonly baseUrl: URL;
  readonly hasKey: boolean;
  readonly now: () => number;
}

async function* serviceChecks(
  { requests, baseUrl, hasKey, now }: Asked,
  explain: (failure: TransportFailure) => Check,
): AsyncGenerator<Check> {
  const startMs = now();
  const answer = await getter(
    requests,
    hasKey,
    ANSWER_MS,
  )(requests.address("/api/v1/videos", { limit: "1" })).catch((error: unknown) => {
    if (error instanceof TransportFailure) return error;
    throw error;
  });
  if (answer instanceof TransportFailure) {
    yield explain(answer);
    return;
  }
  const endMs = now();
  const atMs = (startMs + endMs) / 2;
  const manner = baseUrl.protocol === "https:" ? "over TLS" : "without TLS, on this machine";
  yield pass("connection", `${manner}, answered in ${endMs - startMs} ms`);
  const judged = checkAnswer({ answer, atMs, hasKey, baseUrl });
  yield* judged;
  requests.limiter.update(answer);
  yield checkAllowance(answer.status, requests.limiter.status());
  yield checkClock(answer, atMs);
  if (!judged.every(({ status }) => status === "ok")) return;

  const get = getter(requests, hasKey, EXTRA_MS);
  const { check, discovery } = await checkDocument(get, requests.address("/api/v1/openapi.json"), baseUrl);
  yield check;
  yield await checkPlatforms(get, discovery, async () => {
    // Loaded here: the SDK's client behind it is needed for nothing else.
    const { listThroughMcp } = await import("../service/connected-platforms.ts");
    const endpoint = requests.address("/api/mcp");
    return listThroughMcp({
      operation: OPERATIONS.listConnectedPlatforms,
      endpoint,
      requests,
      version: VERSION,
      now,
      endsAtMs: requests.monotonicMs() + EXTRA_MS,
    });
  });
}

function getter(requests: Requests, hasKey: boolean, deadlineMs: number): Get {
  const { authorization, ...anonymous } = requests.headers;
  const headers = hasKey && authorization !== undefined ? requests.headers : anonymous;
  return async (url) => {
    const http = await requests.http();
    return http.send({ method: "GET", url, headers, headersTimeoutMs: deadlineMs, deadlineMs });
  };
}
