// Finds out, at no cost, why a video can't be published: before the user is asked, and after a refusal.

import { pause } from "../clock.ts";
import { stateOf } from "../job.ts";
import { BridgeError, type ErrorCode } from "../errors.ts";
import type { ConnectedPlatform, Job, PublishRequest } from "../service/responses.ts";
import { platformId } from "../service/platforms.ts";
import { inWords, quote, quoteName } from "../text.ts";
import { LOOK_AFTER_MS, LOOK_FIRST_MS } from "../time-budget.ts";
import type { ToolContext } from "./tool.ts";

/** Far longer than an account is. */
const MAX_ACCOUNT_CHARACTERS = 5_000;

type Sources = Pick<ToolContext, "service" | "jobs" | "reader" | "tryReadJob" | "signal" | "clock">;

/** The connected accounts, platforms in lower case; undefined if they can't all be found out in time. */
export async function listConnected(
  service: Sources["service"],
  signal: AbortSignal,
  deadlineMs = LOOK_AFTER_MS,
): Promise<readonly ConnectedPlatform[] | undefined> {
  try {
    const { platforms, leftOut } = await service.listConnectedPlatforms({ signal, deadlineMs });
    // An account that seems to be missing may be among those that can't be read.
    if (leftOut !== undefined) return undefined;
    return platforms.map((account) => ({ ...account, platform: account.platform.trim().toLowerCase() }));
  } catch {
    return undefined;
  }
}

/** The job and the accounts, if they can be read, and why it can't be published there, if that is certain. */
export async function findObstacle(
  { jobId, platforms }: PublishRequest,
  { service, reader, tryReadJob, signal }: Sources,
) {
  const [seen, connected] = await Promise.all([
    tryReadJob(jobId, signal),
    listConnected(service, signal, LOOK_FIRST_MS),
  ]);
  const obstacle =
    seen === "not found"
      ? await reader.explainNotFound(jobId, unknownJobError())
      : (jobError(seen) ?? missingError(platforms, connected));
  return { job: typeof seen === "object" ? seen : undefined, connected, obstacle };
}

/**
 * Adds the reason to a refusal, if it can be found out: the service's codes are not documented. A reason that
 * is certain shows that nothing was posted, to whichever of several platforms.
 */
export async function explainRefusal(
  refusal: unknown,
  request: PublishRequest,
  sources: Sources,
): Promise<unknown> {
  if (!(refusal instanceof BridgeError)) return refusal;
  const { code } = refusal.facts;
  if (code === "not_found") return sources.reader.explainNotFound(request.jobId, refusal);
  if (code !== "refused") return refusal;
  const wasReady = stateOf(sources.jobs.get(request.jobId)?.status ?? "") === "ready";
  const found = await Promise.race([findObstacle(request, sources), pause(sources.clock, LOOK_AFTER_MS)]);
  if (found?.obstacle === undefined) return refusal;
  const { facts } = found.obstacle;
  const named = found.connected?.map(platformsIn);
  const isAway = (id: string) => named?.every((ids) => ids?.has(platformId(id)) === false) === true;
  // An account may be listed under another name. A video that isn't found, was ready before (the service may
  // lag) or has an undocumented status may have been posted.
  const isProof =
    facts.code === "not_connected"
      ? request.platforms.some(isAway)
      : found.job !== undefined && stateOf(found.job.status) !== "other" && !wasReady;
  if (refusal.facts.outcome === "unknown" && !isProof) return refusal;
  return new BridgeError({ ...refusal.facts, ...facts, code, outcome: "rejected" }, refusal);
}

/** The platforms on which an account may be: what its fields mean is not documented. Any, if it is too long. */
function platformsIn(account: ConnectedPlatform): ReadonlySet<string> | undefined {
  const text = JSON.stringify(account);
  if (text.length > MAX_ACCOUNT_CHARACTERS) return undefined;
  return new Set([account.platform, ...text.split(/[^a-z0-9]+/i)].map(platformId));
}

/** Some of the platforms that the call names can't be ids. */
export function unusableError(
  unusable: readonly string[],
  connected: readonly ConnectedPlatform[] | undefined,
): BridgeError {
  return notPublished(
    "invalid_input",
    `platforms: ${inWords(unusable.map((name) => quote(name, 60)))} can't be ${unusable.length === 1 ? "a platform's id" : "platforms' ids"}.`,
    connected === undefined
      ? "Use the ids that list_connected_platforms gives, such as tiktok."
      : describeConnected(unusable, connected, false),
  );
}

function unknownJobError(): BridgeError {
  return notPublished(
    "not_found",
    "The service knows no job with this jobId, so nothing was published.",
    "Use a jobId that list_videos shows, unchanged.",
  );
}

/** undefined for a job that is unknown or ready. With a final video it is ready, whatever its status. */
function jobError(job: Job | undefined): BridgeError | undefined {
  if (job === undefined || job.finalVideoUrl !== undefined) return undefined;
  switch (stateOf(job.status)) {
    case "ready":
      return undefined;
    case "refunded":
      return notPublished(
        "not_ready",
        "The render of this video failed, so there is nothing to publish.",
        "Tell the user. The video can be generated again if they still want it.",
      );
    case "other":
      return notPublished(
        "not_ready",
        `The service gives this video the status ${quote(job.status, 60)}, so it was not published.`,
        "Tell the user. Look again with get_video_status, and publish only when the video is completed.",
        true,
      );
    case "rendering":
      return notPublished(
        "not_ready",
        "The video is still rendering, so it was not published.",
        "Wait with get_video_status and waitSeconds 50 until it is done, then publish once.",
        true,
      );
  }
}

function missingError(
  wanted: readonly string[],
  connected: readonly ConnectedPlatform[] | undefined,
): BridgeError | undefined {
  const missing = wanted.filter((id) => connected?.every(({ platform }) => platform !== id));
  if (missing.length === 0 || connected === undefined) return undefined;
  const message = `No ${inWords(missing)} account is connected, so nothing was published.`;
  return notPublished("not_connected", message, describeConnected(missing, connected));
}

/** Names the connected accounts, and what the caller probably meant by the missing ones, which may be no ids. */
export function describeConnected(
  missing: readonly string[],
  accounts: readonly ConnectedPlatform[],
  areIds = true,
): string {
  const connected = accounts.map(({ platform }) => platform);
  if (connected.length === 0)
    return "Tell the user to connect an account on the service's website first. None is connected yet.";
  const listed = `Connected: ${inWords(connected.map(quoteName))}.`;
  const meant = missing.flatMap((name) => {
    const ids = [platformId(name), name.replace(/[^a-z0-9]/g, "")];
    const other = connected.find((account) => ids.includes(platformId(account)));
    return other === undefined ? [] : [`${quoteName(name)} is probably ${quoteName(other)}`];
  });
  if (meant.length > 0) return `${listed} ${inWords(meant)}: call again with the ids the user means.`;
  return areIds
    ? `${listed} Tell the user to connect ${inWords(missing.map(quoteName))} on the service's website if they want it there, or call again with the ids they mean.`
    : `${listed} Call again with the ids the user means.`;
}

function notPublished(code: ErrorCode, message: string, nextStep: string, retryable = false): BridgeError {
  const again = retryable ? { retryable } : { retryable, failsAgain: true as const };
  return new BridgeError({ code, message, nextStep, outcome: "not_sent", ...again });
}
