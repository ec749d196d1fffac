// Shows what the card knows. Text from outside is only ever set as text.

import { type JobState, stateOf } from "../../../job.ts";
import { DEFAULTS, RENDER_TIME } from "../../../service/options.ts";
import { append, appendButton, body, findElements, on, play, setText } from "./dom.ts";
import { choose, isPublishable, press } from "./publish.ts";
import type { Job, Order } from "./server.ts";
import type { Card } from "./state.ts";

/** Makes the function that shows the card as it is now. */
export function createView(card: Card): () => void {
  const elements = findElements();
  const { progress, final, open, clips, platforms, go, posts } = elements;

  on(open, "click", () => openLink(card.job?.finalVideoUrl));
  on(go, "click", ({ timeStamp }) => press(card, timeStamp));
  // A held key is one click.
  on(go, "keydown", (event) => {
    if (event.repeat) event.preventDefault();
  });

  return () => {
    showJob();
    showPublishing();
  };

  function showJob(): void {
    const { job } = card;
    const order = { ...DEFAULTS, ...card.order, ...job?.arguments };
    setText(elements.topic, order.topic);
    setText(elements.facts, describeOrder(order));
    setText(elements.status, job ? describeJob(job) : card.status);
    setText(elements.problem, card.error);
    const { done = true, finalVideoUrl, videoUrls = [], progress: counts = {} } = job ?? {};
    const { total = 0, completed = videoUrls.length, failed = 0 } = counts;
    progress.hidden = done || !total;
    progress.max = total;
    progress.value = completed + failed;
    play(final, "The final video", finalVideoUrl);
    open.hidden = !finalVideoUrl || !card.can.openLinks;
    // The whole video is what matters once it is there.
    clips.hidden = !!finalVideoUrl;
    if (!job) clips.textContent = "";
    for (const [index, url] of videoUrls.entries()) {
      const clip = clips.querySelectorAll("li")[index] ?? append(clips, "li");
      play(clip, `Clip ${index + 1}`, url, () => offerToOpen(url, clip));
    }
  }

  function showPublishing(): void {
    const { accounts = [], chosen, armedAt, isBusy, outcomes, job } = card;
    const published = job?.publishedTo ?? [];
    elements.publish.hidden = !isPublishable(card);
    for (const [index, { platform, account }] of accounts.entries()) {
      const toggle =
        platforms.querySelectorAll("button")[index] ??
        appendButton(platforms, "", () => choose(card, platform));
      const post = [...published, ...outcomes].find(
        (each) => each.platform === platform && each.ok !== false,
      );
      const name = typeof account === "string" ? `${platform} ${account}` : platform;
      const state = post?.unknown ? "may have been posted: look at the account" : "posted";
      setText(toggle, post ? `${platform}: ${state}` : name);
      toggle.dataset["letter"] = platform[0]?.toUpperCase();
      toggle.disabled = !!post;
      toggle.ariaPressed = String(chosen.has(platform));
    }
    const names = [...chosen].join(" and ");
    const publishing = armedAt ? `Yes, publish on ${names} now` : `Publish on ${names}…`;
    const choosing = names ? publishing : "Choose an account";
    setText(go, isBusy ? "One moment…" : card.accounts ? choosing : "Try again");
    go.ariaDisabled = String(isBusy || (!!card.accounts && !names));
    go.className = armedAt ? "armed" : "";
    setText(elements.outcome, card.publishText);
    posts.textContent = "";
    for (const { platform, url } of published)
      if (url) offerToOpen(url, append(posts, "li"), `Open on ${platform}`);
    // Scrolls to the card's end, which a host may cut off. An armed button stays under the pointer.
    if (card.publishText && !armedAt) scrollTo(0, 10_000);
  }

  function offerToOpen(url: string, place: HTMLElement, text = "Open"): void {
    if (card.can.openLinks) appendButton(place, text, () => openLink(url));
  }

  async function openLink(url?: string): Promise<void> {
    const answer = await card.host.request("ui/open-link", { url }).catch(() => ({ isError: true }));
    // eslint-disable-next-line typescript/no-unsafe-type-assertion -- the host's word
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

function describeJob({ status, videoUrls, finalVideoUrl, savedTo, progress = {} }: Job): string {
  const { total, completed = videoUrls.length, failed } = progress;
  const all = total ? ` of ${total}` : "";
  const ready = `${completed}${all} clips ready.`;
  const states: Record<JobState, string> = {
    rendering: `Rendering: ${ready} Renders take ${RENDER_TIME}.`,
    ready: finalVideoUrl ? "Your video is ready." : "The final video follows.",
    refunded: "The render failed. Its credits are refunded.",
    other: `Status: “${status}”. ${ready}`,
  };
  return `${states[stateOf(status)]}${failed ? ` ${failed}${all} clips failed.` : ""}${savedTo ? ` Saved to ${savedTo}` : ""}`;
}
