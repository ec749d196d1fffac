// Checks before a post that the video is ready and the accounts are connected. Looks nothing up after a
// refusal: what is read then could be older than the post.

import { type BridgeError, type ErrorCode, notSent } from "../errors.ts";
import type { ConnectedPlatform, Job, PublishRequest } from "../service/responses.ts";
import { platformId } from "../idempotency/same-post.ts";
import {
  accountName,
  commonName,
  isKnownPlatform,
  platformTitle,
  UNKNOWN_PLATFORM,
  unusableState,
} from "../service/platforms.ts";
import { inSentences, say, type Text, toolOrCommand } from "../sentences.ts";
import { cleanServiceText, inWords, quote, quoteName } from "../text.ts";
import { CHECK_BEFORE_MS } from "../service/time-budget.ts";
import { obstacleOf } from "./describe.ts";
import { accountsOn, meaningOf, type Meaning } from "./platform-names.ts";
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
        "The service knows no job with this id.",
        say`Use a [jobId|job's id] that ${toolOrCommand("list_videos")} shows, unchanged.`,
      ),
    );
  const missing = platforms.filter(
    (platform) => connected !== undefined && !isConnected(platform, connected),
  );
  const obstacle =
    unreadyError(job, maxWaitSeconds) ??
    (missing.length === 0 ? undefined : nameError("not_connected", missing, connected));
  if (obstacle !== undefined) throw obstacle;
  return { job, connected };
}

/** An account with a name but without a platform may be on this one, unless the name means something else. */
function isConnected(name: string, connected: readonly ConnectedPlatform[]): boolean {
  const { kind } = meaningOf(name, connected);
  const unknown = accountsOn(UNKNOWN_PLATFORM, connected);
  return kind === "connected" || (kind === "absent" && unknown.some((account) => accountName(account)));
}

/** Undefined for a job that can't be read or is ready, as any with a final video is. */
function unreadyError(job: Job | undefined, maxWaitSeconds: number): BridgeError | undefined {
  if (job === undefined || job.finalVideoUrl !== undefined) return undefined;
  const obstacle = obstacleOf(job, maxWaitSeconds);
  return obstacle && notPublished("not_ready", ...obstacle);
}

/** Says what each name is instead of the id of a connected platform, and what to do. */
export function nameError(
  code: "invalid_input" | "not_connected",
  names: readonly string[],
  connected: readonly ConnectedPlatform[] | undefined,
): BridgeError {
  const meanings = names.map((name) => ({ name, ...meaningOf(name, connected) }));
  const of = <Kind extends Meaning["kind"]>(kind: Kind) =>
    meanings.filter((meaning): meaning is Extract<typeof meaning, { kind: Kind }> => meaning.kind === kind);
  const [accounts, expired, absent] = [of("account"), of("unusable"), of("absent")];
  const [others, unclear] = [of("otherwise"), of("unclear")];
  const quoted = (list: readonly { readonly name: string }[]) =>
    inWords(list.map(({ name }) => quote(name, 60)));
  const ids = unclear.length === 1 ? "a platform's id" : "platforms' ids";
  const needsIds = unclear.length > 0 || accounts.some(({ on }) => on === undefined);
  const expiredTitles = [...new Set(expired.map(({ account }) => titleOf(account.platform)))];
  const accountsToUse = (connected ?? []).filter((account) => unusableState(account) === undefined);
  const usable = [...new Set(accountsToUse.map(({ platform }) => platformId(platform)))];
  const meant = others.map(({ name, id }) => `${quoteName(name)} is probably ${quoteName(id)}`);
  const absentTitles = [...new Set(absent.map(({ id }) => titleOf(id)))];
  return notPublished(
    code,
    inSentences(
      accounts.length > 0 && `No account can be chosen: ${inWords(accounts.map(describeNamed))}.`,
      ...new Set(expired.map(({ account }) => describeUnusable(account))),
      absent.length > 0 && `No ${inWords(absentTitles, "or")} account is connected.`,
      others.length > 0 && `Nothing is posted to ${quoted(others)}: a platform is named by its id.`,
      unclear.length > 0 && say`[platforms|--platforms]: ${quoted(unclear)} can't be ${ids}.`,
    ),
    connected === undefined
      ? say`Use the ids that ${toolOrCommand("list_connected_platforms")} gives, such as tiktok.`
      : inSentences(
          ...new Set(accounts.map((named) => insteadOfAccount(named, connected))),
          expired.length > 0 && connectAgain(inWords(expiredTitles)),
          usable.length > 0 &&
            (needsIds || others.length > 0 || absent.length > 0) &&
            `Connected: ${inWords(usable.map(quoteName))}.`,
          usable.length > 0 && needsIds && say`Call again with the ids [the user means|you mean].`,
          others.length > 0 && say`${inWords(meant)}: call again with the ids [the user means|you mean].`,
          (absent.length > 0 || (needsIds && usable.length === 0)) && adviseConnecting(absentTitles, usable),
        ),
  );
}

type Named = Extract<Meaning, { kind: "account" }> & { readonly name: string };

function describeNamed({ name, account, on }: Named): string {
  if (account !== undefined) return `${quote(name, 60)} is an account on ${titleOf(account.platform)}`;
  return `${quote(name, 60)} names ${on === undefined ? "an account" : "more than a platform"}`;
}

function insteadOfAccount({ on, account }: Named, connected: readonly ConnectedPlatform[]): Text | undefined {
  if (on === undefined) return undefined;
  const [only, ...more] = accountsOn(on, connected);
  const title = titleOf(on);
  const id = quoteName(on);
  if (only === undefined) return connectAgain(title);
  if (more.length > 0)
    return inSentences(
      `The service decides on which of the ${more.length + 1} ${title} accounts it posts.`,
      say`[Tell the user, and publish on ${id}|Repeat the call with --platforms ${id}] only if any of them will do.`,
    );
  if (account !== undefined)
    return say`It is the only ${title} account: to post there, [call again with|repeat the call with --platforms] ${id}.`;
  const name = accountName(only);
  return say`The only ${title} account that is connected ${name === undefined ? "has no name here" : `is ${quote(name, 60)}`}: [call again with ${id} only if the user means|repeat the call with --platforms ${id} only if you mean] that one.`;
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
  return platformTitle(isKnownPlatform(platform) ? commonName(platform) : platformId(platform));
}

function adviseConnecting(titles: readonly string[], usable: readonly string[]): Text {
  return usable.length === 0
    ? say`[Tell the user to connect|Connect] an account on the service's website first. None is connected yet.`
    : say`[Tell the user to connect|Connect] ${inWords(titles)} on the service's website if [they|you] want the video there.`;
}

function notPublished(code: ErrorCode, message: Text, nextStep: Text, retryable = false): BridgeError {
  return notSent(code, message, nextStep, retryable ? { retryable } : { failsAgain: true });
}
