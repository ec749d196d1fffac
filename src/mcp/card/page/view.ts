// Shows what the card knows. Text from outside is only ever set as text.

import { type JobState, stateOf } from "../../../job.ts";
import { DEFAULTS, RENDER_TIME } from "../../../service/options.ts";
import { append, appendButton, body, cut, findElements, play, quote, setText } from "./dom.ts";
import { choose, isPublishable, press } from "./publish.ts";
import { spokenText } from "./follow.ts";
import type { Order, Job, Post } from "./server.ts";
import type { Card } from "./state.ts";

// The values that are cast below are of one kind where they are, or the host's word.
/* eslint-disable typescript/no-unsafe-type-assertion */
/* eslint-disable unicorn/prefer-add-event-listener -- one listener of each event, in fewer bytes */

const PLATFORMS = "TikTok YouTube Instagram X Facebook LinkedIn Pinterest Snapchat Threads";

/** The platform's own spelling; the service's id in quotation marks where it isn't known. */
function nameOf(platform: string): string {
  return PLATFORMS.split(" ").find((name) => name.toLowerCase() === platform) ?? quote(platform);
}

/** Without a link nothing but the service's word shows that there is a post. */
function describePost({ platform, url }: Post): string {
  return `${nameOf(platform)}: ${url ? "posted" : "may be posted: check the account"}`;
}

/** Makes the function that shows the card as it is now. */
export function createView(card: Card): () => void {
  const elements = findElements();
  const { progress, final, open, clips, platforms, go, posts } = elements;

  open.onclick = () => openLink(card.job?.finalVideoUrl);
  go.onclick = ({ timeStamp }) => press(card, timeStamp);
  // A held key is one click.
  go.onkeydown = ({ repeat }) => !repeat;

  return () => {
    showJob();
    showPublishing();
  };

  function showJob(): void {
    const { job } = card;
    const order = { ...DEFAULTS, ...card.order, ...job?.arguments };
    setText(elements.topic, cut(spokenText(order.topic), 79));
    setText(elements.facts, describeOrder(order));
    const { done = true, finalVideoUrl, videoUrls = [], progress: counts = {} } = job ?? {};
    const { total = 0, completed = videoUrls.length, failed = 0 } = counts;
    setText(elements.status, job ? describeJob(job, { total, completed, failed }) : card.status);
    setText(elements.error, card.error);
    progress.hidden = done || !total;
    progress.max = total;
    progress.value = completed + failed;
    play(final, "The final video", finalVideoUrl);
    open.hidden = !finalVideoUrl || !card.can.openLinks;
    // The whole video is what matters once it is there.
    clips.hidden = !!finalVideoUrl;
    if (!job) clips.textContent = "";
    for (const [index, url] of videoUrls.entries()) {
      const clip = (clips.children[index] as HTMLElement | undefined) ?? append(clips, "li");
      play(clip, `Clip ${index + 1}`, url, () => offerToOpen(url, clip));
    }
  }

  function showPublishing(): void {
    const { accounts = [], chosen, armedAt, isBusy, outcomes, job } = card;
    const published = job?.publishedTo ?? [];
    elements.publish.hidden = !isPublishable(card);
    for (const [index, { platform, account }] of accounts.entries()) {
      const toggle =
        (platforms.children[index] as HTMLButtonElement | undefined) ??
        appendButton(platforms, "", () => choose(card, platform));
      const post = [...published, ...outcomes].find(
        (each) => each.platform === platform && each.ok !== false,
      );
      const name = nameOf(platform);
      const label = typeof account === "string" ? `${name} ${quote(account)}` : name;
      setText(toggle, post ? describePost(post) : label);
      toggle.disabled = !!post;
      toggle.ariaPressed = `${chosen.has(platform)}`;
    }
    const names = Array.from(chosen, nameOf).join(" and ");
    const publishing = armedAt ? `Yes, publish on ${names} now` : `Publish on ${names}…`;
    const choosing = names ? publishing : "Choose an account";
    setText(go, isBusy ? "One moment…" : card.accounts ? choosing : "Try again");
    go.ariaDisabled = `${isBusy || (!!card.accounts && !names)}`;
    go.className = armedAt ? "armed" : "";
    setText(elements.outcome, card.publishText);
    posts.textContent = "";
    for (const post of published) {
      const { platform, url } = post;
      const isShown = accounts.some((account) => account.platform === platform);
      const place = append(posts, "li", isShown ? "" : describePost(post));
      if (url) offerToOpen(url, place, `Open on ${nameOf(platform)}`);
    }
    // Scrolls to the card's end, which a host may cut off. An armed button stays under the pointer.
    if (card.publishText && !armedAt) scrollTo(0, 10_000);
  }

  function offerToOpen(url: string, place: HTMLElement, text = "Open"): void {
    if (card.can.openLinks) appendButton(place, text, () => openLink(url));
  }

  async function openLink(url?: string): Promise<void> {
    const answer = await card.host.request("ui/open-link", { url }).catch(() => ({ isError: true }));
    if (!(answer as { isError?: boolean }).isError) return;
    card.error = "Your app did not open it.";
    showJob();
  }
}

function describeOrder({ duration, style, language = "", voice }: Order): string {
  // DisplayNames throws if the text is not a language tag.
  const isTag = /^[a-z]{2}$/.test(language);
  const name = isTag ? new Intl.DisplayNames("en", { type: "language" }).of(language) : language;
  const length = duration && `${parseFloat(`${duration}`)} s`;
  return ["sandbox" in body.dataset && "Sandbox", length, style, name, voice].filter(Boolean).join(" · ");
}

function describeJob(
  { status, finalVideoUrl, savedTo }: Job,
  { total, completed, failed }: NonNullable<Job["progress"]>,
): string {
  const all = total ? ` of ${total}` : "";
  const ready = `${completed}${all} clips ready.`;
  const states: Record<JobState, string> = {
    rendering: `Rendering: ${ready} Renders take ${RENDER_TIME}.`,
    ready: finalVideoUrl ? "Your video is ready." : "The final video follows.",
    refunded: "The render failed. Its credits are refunded.",
    other: `Status: ${quote(status)}. ${ready}`,
  };
  return `${states[stateOf(status)]}${failed ? ` ${failed}${all} clips failed.` : ""}${savedTo ? ` Saved to ${savedTo}` : ""}`;
}
