// Checks before a post, at no cost, that the video is ready and the accounts are connected. Nothing is looked up
// after a refusal: what is read then could be older than the post.

import { BridgeError, type ErrorCode } from "../errors.ts";
import type { ConnectedPlatform, Job, PublishRequest } from "../service/responses.ts";
import { platformId } from "../idempotency/same-request.ts";
import {
  accountName,
  commonName,
  isKnownPlatform,
  platformTitle,
  UNKNOWN_PLATFORM,
  unusableState,
} from "../service/platforms.ts";
import { inSentences, say, type Text } from "../sentences.ts";
import { cleanServiceText, inWords, quote, quoteName } from "../text.ts";
import { CHECK_BEFORE_MS } from "../service/time-budget.ts";
import { obstacleOf } from "./describe.ts";
import type { ToolContext } from "./tool.ts";

type Sources = Pick<ToolContext, "service" | "reader" | "signal" | "maxWaitSeconds">;

/** The connected accounts; undefined if they can't be read in time. */
export async function listConnected({
  service,
  signal,
}: Pick<Sources, "service" | "signal">): Promise<readonly ConnectedPlatform[] | undefined> {
  return service.listConnectedPlatforms({ signal, deadlineMs: CHECK_BEFORE_MS }).catch(() => undefined);
}

/** Reads the job and the accounts, as far as possible. Throws a BridgeError if nothing may be sent. */
export async function checkBeforePost({ jobId, platforms }: PublishRequest, sources: Sources) {
  const { reader, signal, maxWaitSeconds } = sources;
  const [job, connected] = await Promise.all([reader.tryRead(jobId, signal), listConnected(sources)]);
  if (job === "not found")
    throw await reader.explainNotFound(
      jobId,
      notPublished(
        "not_found",
        "The service knows no job with this jobId.",
        say`Use a [jobId|job's id] that [|call ]list_videos shows, unchanged.`,
      ),
    );
  const missing = platforms.filter(
    (platform) => connected !== undefined && !isConnected(platform, connected),
  );
  const obstacle =
    unreadyError(job, maxWaitSeconds) ??
    (connected === undefined || missing.length === 0 ? undefined : notConnectedError(missing, connected));
  if (obstacle !== undefined) throw obstacle;
  return { job, connected };
}

/** An account that names no platform may be on this one, unless it is called by the same name. */
function isConnected(platform: string, connected: readonly ConnectedPlatform[]): boolean {
  if (accountsOn(platform, connected).length > 0) return true;
  const isNamed = connected.some((account) => platformId(account.platform) === platform);
  const mayBe = accountsOn(UNKNOWN_PLATFORM, connected).length > 0;
  return mayBe && !isNamed && accountNamed(platform, connected) === undefined;
}

/** The accounts that a post on the platform can go to. */
export function accountsOn(
  platform: string,
  connected: readonly ConnectedPlatform[],
): readonly ConnectedPlatform[] {
  return connected.filter(
    (account) => platformId(account.platform) === platform && unusableState(account) === undefined,
  );
}

/** Undefined for a job that can't be read or is ready. A job with a final video is ready, whatever its status. */
function unreadyError(job: Job | undefined, maxWaitSeconds: number): BridgeError | undefined {
  if (job === undefined || job.finalVideoUrl !== undefined) return undefined;
  const obstacle = obstacleOf(job, maxWaitSeconds);
  return obstacle && notPublished("not_ready", obstacle.message, obstacle.nextStep, obstacle.isTemporary);
}

/** The error for names that can't be platforms' ids. */
export function unusableError(
  unusable: readonly string[],
  connected: readonly ConnectedPlatform[] | undefined,
): BridgeError {
  const isAnswered = (name: string) =>
    isKnownPlatform(name) || accountNamed(name, connected ?? []) !== undefined;
  if (connected !== undefined && unusable.every(isAnswered))
    return notConnectedError(unusable, connected, "invalid_input");
  return notPublished(
    "invalid_input",
    say`[platforms|--platforms]: ${inWords(unusable.map((name) => quote(name, 60)))} can't be ${unusable.length === 1 ? "a platform's id" : "platforms' ids"}.`,
    connected === undefined
      ? say`Use the ids that [|call ]list_connected_platforms gives, such as tiktok.`
      : say`${describeConnected(connected)} Call again with the ids [the user means|you mean].`,
  );
}

/** The error for names that nothing can be posted to. Says what each is instead, and what to do. */
function notConnectedError(
  names: readonly string[],
  connected: readonly ConnectedPlatform[],
  code: ErrorCode = "not_connected",
): BridgeError {
  const accounts = names.flatMap((name) => accountNamed(name, connected) ?? []);
  const others = names.filter((name) => accountNamed(name, connected) === undefined);
  const unusable = connected.filter(({ platform }) => others.includes(platformId(platform)));
  const absent = others.filter((name) => !unusable.some(({ platform }) => platformId(platform) === name));
  const titles = [...new Set(unusable.map(({ platform }) => titleOf(platform)))];
  return notPublished(
    code,
    inSentences(
      accounts.length > 0 &&
        `No account can be chosen: ${inWords(accounts.map((account) => `${nameOf(account)} is an account on ${titleOf(account.platform)}`))}.`,
      ...unusable.map(describeUnusable),
      absent.length > 0 && `No ${inWords(absent.map(titleOf), "or")} account is connected.`,
    ),
    inSentences(
      ...[...new Set(accounts.map(({ platform }) => platformId(platform)))].map((platform) =>
        insteadOfAccount(platform, connected),
      ),
      titles.length > 0 && connectAgain(inWords(titles)),
      absent.length > 0 && adviseConnecting(absent, connected),
    ),
  );
}

/** Finds the account that the user has called by its name, with or without the @. */
function accountNamed(name: string, connected: readonly ConnectedPlatform[]): ConnectedPlatform | undefined {
  const plain = (text: string | undefined) => text?.trim().toLowerCase().replace(/^@/, "");
  // "youtube" means the platform, whatever an account elsewhere is called.
  if (isKnownPlatform(name)) return undefined;
  return connected.find((account) => plain(accountName(account)) === plain(name));
}

function nameOf(account: ConnectedPlatform): string {
  return quote(accountName(account) ?? account.platform, 60);
}

function insteadOfAccount(platform: string, connected: readonly ConnectedPlatform[]): Text {
  const { length } = accountsOn(platform, connected);
  const title = titleOf(platform);
  const id = quoteName(platform);
  if (length === 0) return connectAgain(title);
  if (length === 1)
    return say`It is the only ${title} account: to post there, [call again with|repeat the call with --platforms] ${id}.`;
  return inSentences(
    `The service decides on which of the ${length} ${title} accounts it posts.`,
    say`[Tell the user, and publish|Publish] on ${id} only if any of them will do.`,
  );
}

function connectAgain(titles: string): Text {
  return say`[Tell the user to connect|Connect] ${titles} again on the service's website.`;
}

/** "The Instagram account "@rosa" is expired." */
export function describeUnusable(account: ConnectedPlatform): string {
  const name = accountName(account);
  const state = cleanServiceText(unusableState(account) ?? "", 60);
  return `The ${titleOf(account.platform)} account ${name === undefined ? "" : `${quote(name, 60)} `}is ${state}, so nothing can be posted there.`;
}

function titleOf(platform: string): string {
  const id = isKnownPlatform(platform) ? commonName(platform) : platformId(platform);
  return platformTitle(id);
}

/** Names the platforms that were probably meant, or has the user connect them. */
function adviseConnecting(missing: readonly string[], connected: readonly ConnectedPlatform[]): Text {
  const usable = usablePlatforms(connected);
  if (usable.length === 0)
    return say`[Tell the user to connect|Connect] an account on the service's website first. None is connected yet.`;
  const meant = missing.map((name) => usable.find((id) => commonName(id) === commonName(name)));
  const suggestions = missing.flatMap((name, index) => {
    const id = meant[index];
    return id === undefined ? [] : [`${quoteName(name)} is probably ${quoteName(id)}`];
  });
  const unknown = missing.filter((_, index) => meant[index] === undefined).map(titleOf);
  return inSentences(
    describeConnected(connected),
    suggestions.length > 0 &&
      say`${inWords(suggestions)}: call again with the ids [the user means|you mean].`,
    unknown.length > 0 &&
      say`[Tell the user to connect|Connect] ${inWords(unknown)} on the service's website if [they|you] want it there.`,
  );
}

function describeConnected(connected: readonly ConnectedPlatform[]): string {
  const usable = usablePlatforms(connected);
  return usable.length === 0 ? "No account is connected." : `Connected: ${inWords(usable.map(quoteName))}.`;
}

/** Each platform with an account that can be posted to, once. */
function usablePlatforms(connected: readonly ConnectedPlatform[]): readonly string[] {
  const ids = connected.filter((account) => unusableState(account) === undefined);
  return [...new Set(ids.map(({ platform }) => platformId(platform)))];
}

function notPublished(code: ErrorCode, message: Text, nextStep: Text, retryable = false): BridgeError {
  const again = retryable ? { retryable } : { retryable, failsAgain: true as const };
  return new BridgeError({ code, message, nextStep, outcome: "not_sent", ...again });
}
