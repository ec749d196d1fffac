// Shows what the card knows. Text from outside is only ever set as text.

import { stateOf } from "../../../service/job.ts";
import { DEFAULTS, RENDER_TIME } from "../../../service/options.ts";
import { PLATFORMS } from "../../../service/platform-titles.ts";
import { append, appendButton, find, hasFlag, play, quote, setText } from "./dom.ts";
import { choose, isPublishable, press } from "./publish.ts";
import { orderName } from "./follow.ts";
import type { Job, Order, Post } from "./host.ts";
import type { Card } from "./state.ts";

/** Makes the function that shows the card as it is now. */
export function createView(card: Card): () => void {
  const go = find("go");
  find("open").addEventListener("click", () => void openLink(card, card.job?.finalVideoUrl));
  go.addEventListener("click", ({ timeStamp }) => press(card, timeStamp));
  // A held key is one click.
  go.addEventListener("keydown", (event) => {
    if (event.repeat) event.preventDefault();
  });
  return () => {
    showJob(card);
    showPublishing(card, go);
  };
}

function showJob(card: Card): void {
  const { job } = card;
  const { done = true, finalVideoUrl, videoUrls = [] } = job ?? {};
  const order = { ...DEFAULTS, ...card.order, ...job?.arguments };
  setText(find("topic"), orderName(order));
  setText(find("facts"), describeOrder(order));
  setText(find("status"), job === undefined ? card.status : describeJob(job));
  setText(find("error"), card.error);
  const { total, completed, failed } = clipCounts(job);
  const progress = find("progress");
  progress.hidden = done || total === 0;
  progress.setAttribute("max", String(total));
  progress.setAttribute("value", String(completed + failed));
  play(find("final"), "The final video", finalVideoUrl);
  find("open").hidden = finalVideoUrl === undefined || card.can.openLinks === undefined;
  // Once the whole video is there, its clips are of no interest.
  const clips = find("clips");
  clips.hidden = finalVideoUrl !== undefined;
  if (job === undefined) clips.textContent = "";
  for (const [index, url] of videoUrls.entries()) {
    const clip = childAt(clips, index) ?? append(clips, "li");
    play(clip, `Clip ${index + 1}`, url, () => offerToOpen(card, clip, url));
  }
}

function showPublishing(card: Card, go: HTMLElement): void {
  const { accounts = [], chosen, armedAt, isBusy, outcomes, job, publishText } = card;
  const published = job?.publishedTo ?? [];
  const toggles = find("platforms");
  find("publish").hidden = !isPublishable(card);
  // A post goes to a platform, not to an account.
  const platforms = new Set(accounts.map(({ platform }) => platform));
  for (const [index, platform] of Array.from(platforms).entries()) {
    const own = accounts.filter((each) => each.platform === platform);
    const names = own.flatMap(({ account }) => (typeof account === "string" ? quote(account) : []));
    const toggle = childAt(toggles, index) ?? appendButton(toggles, "", () => choose(card, platform));
    const post = [...published, ...outcomes].find((each) => each.platform === platform && each.ok !== false);
    const label = `${platformTitle(platform)} ${names.join(", ")}`.trim();
    setText(toggle, post === undefined ? label : describePost(post));
    toggle.toggleAttribute("disabled", post !== undefined);
    toggle.ariaPressed = String(chosen.has(platform));
  }
  // After a post there is nothing to press until another account is chosen.
  const hasPosted = outcomes.length > 0 && outcomes.every(({ ok }) => ok !== false);
  go.hidden = hasPosted && chosen.size === 0 && !isBusy;
  setText(go, labelOfGo(card));
  go.ariaDisabled = String(isBusy || (card.accounts !== undefined && chosen.size === 0));
  go.className = armedAt === undefined ? "" : "armed";
  const outcome = find("outcome");
  outcome.className = hasPosted && publishText !== "" && !isBusy ? "posted" : "";
  setText(outcome, publishText);
  const posts = find("posts");
  posts.textContent = "";
  for (const post of published) {
    const { platform, url } = post;
    const place = append(posts, "li", platforms.has(platform) ? "" : describePost(post));
    if (url !== undefined) offerToOpen(card, place, url, `Open on ${platformTitle(platform)}`);
  }
  // A host may cut off the end of the card, so the card scrolls there. An armed button must not move.
  if (publishText !== "" && armedAt === undefined) scrollTo(0, document.body.scrollHeight);
}

function labelOfGo({ accounts, chosen, armedAt, isBusy }: Card): string {
  if (isBusy) return "One moment…";
  if (accounts === undefined) return "Try again";
  if (chosen.size === 0) return "Choose an account";
  const names = Array.from(chosen, platformTitle).join(" and ");
  return armedAt === undefined ? `Publish on ${names}…` : `Yes, publish on ${names} now`;
}

/** The platform's own spelling, or the service's id in quotation marks. */
function platformTitle(platform: string): string {
  return PLATFORMS.get(platform)?.[0] ?? quote(platform);
}

/** Without a link, only the service's word says that there is a post. */
function describePost({ platform, url }: Post): string {
  return `${platformTitle(platform)}: ${url === undefined ? "may be posted: check the account" : "posted"}`;
}

function describeOrder({ duration, style, language = "", voice }: Order): string {
  // DisplayNames throws if the text isn't a language tag.
  const isTag = /^[a-z]{2}$/.test(language);
  const name = isTag ? new Intl.DisplayNames("en", { type: "language" }).of(language) : language;
  const length = duration === undefined ? undefined : `${parseFloat(String(duration))} s`;
  const sandbox = hasFlag("sandbox") ? "Sandbox" : undefined;
  const speaker = voice === undefined ? undefined : `voice ${voice}`;
  return [sandbox, length, style, name, speaker].filter(Boolean).join(" · ");
}

function describeJob(job: Job): string {
  const { total, completed, failed } = clipCounts(job);
  const all = total === 0 ? "" : ` of ${total}`;
  const ready = `${completed}${all} clips ready.`;
  // The sandbox renders faster.
  const time = hasFlag("sandbox") ? "" : ` Renders take ${RENDER_TIME}.`;
  const states = {
    rendering: `Rendering: ${ready}${time}`,
    ready: job.finalVideoUrl === undefined ? "The final video follows." : "Your video is ready.",
    refunded: `The render failed.${hasFlag("sandbox") ? "" : " Its credits are refunded."}`,
    other: `Status: ${quote(job.status)}. ${ready}`,
  };
  const failures = failed === 0 ? "" : ` ${failed}${all} clips failed.`;
  const saved = job.savedTo === undefined ? "" : ` Saved to ${job.savedTo}`;
  return `${states[stateOf(job.status)]}${failures}${saved}`;
}

function clipCounts(job: Job | undefined) {
  const { total = 0, completed = job?.videoUrls.length ?? 0, failed = 0 } = job?.progress ?? {};
  return { total, completed, failed };
}

function offerToOpen(card: Card, place: HTMLElement, url: string, text = "Open"): void {
  if (card.can.openLinks !== undefined) appendButton(place, text, () => void openLink(card, url));
}

async function openLink(card: Card, url?: string): Promise<void> {
  const answer = await card.host.request("ui/open-link", { url }).catch(() => ({ isError: true }));
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- the host's answer
  if ((answer as { readonly isError?: boolean }).isError !== true) return;
  card.error = "Your app did not open it.";
  card.show();
}

function childAt(place: HTMLElement, index: number): HTMLElement | undefined {
  const child = place.children[index];
  return child instanceof HTMLElement ? child : undefined;
}
