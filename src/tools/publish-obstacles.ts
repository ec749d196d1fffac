// Looks before a post, at no cost, whether the video is ready and the accounts are connected. Nothing is looked up
// after a refusal: what is read then could be older than the post.

import { BridgeError, type ErrorCode } from "../errors.ts";
import type { ConnectedPlatform, Job, PublishRequest } from "../service/responses.ts";
import { commonName, namesIn, platformTitle } from "../service/platforms.ts";
import { inWords, quote, quoteName } from "../text.ts";
import { LOOK_FIRST_MS } from "../service/time-budget.ts";
import { obstacleOf } from "./describe.ts";
import type { ToolContext } from "./tool.ts";

type Sources = Pick<ToolContext, "service" | "reader" | "signal">;

/** The connected accounts; undefined if they can't be read in time. */
export async function listConnected({
  service,
  signal,
}: Pick<Sources, "service" | "signal">): Promise<readonly ConnectedPlatform[] | undefined> {
  return service.listConnectedPlatforms({ signal, deadlineMs: LOOK_FIRST_MS }).catch(() => undefined);
}

/** The job and the accounts, as far as they can be read. Throws a BridgeError if nothing may be sent. */
export async function lookBefore({ jobId, platforms }: PublishRequest, sources: Sources) {
  const { reader, signal } = sources;
  const [job, connected] = await Promise.all([reader.tryRead(jobId, signal), listConnected(sources)]);
  if (job === "not found")
    throw await reader.explainNotFound(
      jobId,
      notPublished(
        "not_found",
        "The service knows no job with this jobId.",
        "Use a jobId that list_videos shows, unchanged.",
      ),
    );
  const missing = platforms.filter(
    (platform) => connected?.some((account) => namesIn(account).includes(platform)) === false,
  );
  const obstacle =
    unreadyError(job) ??
    (missing.length === 0
      ? undefined
      : notPublished(
          "not_connected",
          `No ${inWords(missing.map(platformTitle))} account is connected.`,
          describeConnected(missing, connected ?? []),
        ));
  if (obstacle !== undefined) throw obstacle;
  return { job, connected };
}

/** undefined for a job that can't be read or is ready. With a final video it is ready, whatever its status. */
function unreadyError(job: Job | undefined): BridgeError | undefined {
  if (job === undefined || job.finalVideoUrl !== undefined) return undefined;
  const obstacle = obstacleOf(job);
  return obstacle && notPublished("not_ready", obstacle.message, obstacle.nextStep, obstacle.isTemporary);
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

/** Names the connected accounts as the service does, and those that were probably meant by the missing ones. */
function describeConnected(
  missing: readonly string[],
  accounts: readonly ConnectedPlatform[],
  areIds = true,
): string {
  const connected = [...new Set(accounts.map(({ platform }) => platform))];
  if (connected.length === 0)
    return "Tell the user to connect an account on the service's website first. None is connected yet.";
  const listed = `Connected: ${inWords(connected.map(quoteName))}.`;
  const suggestions = missing.flatMap((name) => {
    const other = connected.find((platform) => commonName(platform) === commonName(name));
    return other === undefined ? [] : [`${quoteName(name)} is probably ${quoteName(other)}`];
  });
  if (suggestions.length > 0)
    return `${listed} ${inWords(suggestions)}: call again with the ids the user means.`;
  return areIds
    ? `${listed} Tell the user to connect ${inWords(missing.map(platformTitle))} on the service's website if they want it there, or call again with the ids they mean.`
    : `${listed} Call again with the ids the user means.`;
}

function notPublished(code: ErrorCode, message: string, nextStep: string, retryable = false): BridgeError {
  const again = retryable ? { retryable } : { retryable, failsAgain: true as const };
  return new BridgeError({ code, message, nextStep, outcome: "not_sent", ...again });
}
