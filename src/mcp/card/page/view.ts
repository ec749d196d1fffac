// Shows what the card knows. Text from outside is only ever set as text.

import { create, createButton, createPlayer, findElements, on, type Player, setText } from "./dom.ts";
import { read } from "./follow.ts";
import { choose, isPublishable, press } from "./publish.ts";
import type { Account, Job, PlatformResult } from "./server.ts";
import type { Card } from "./state.ts";

/** Makes the function that shows the card as it is now. */
export function createView(card: Card): () => void {
  const elements = findElements();
  const { go, open } = elements;
  const clips: Player[] = [];
  /** By platform. */
  const toggles = new Map<string, HTMLButtonElement>();

  const final = createPlayer("video", "The final video", elements.final, () => {
    if (!card.isRenewed) void read(card);
    card.isRenewed = true;
  });
  const voice = createPlayer("audio", "The voiceover", elements.voice, offerToOpen);

  on(open, "click", () => openLink(card.job?.finalVideoUrl ?? ""));
  on(go, "click", ({ timeStamp }) => press(card, timeStamp));
  // A held key is one click.
  on(go, "keydown", (event) => {
    if (event.repeat) event.preventDefault();
  });

  return () => {
    showJob();
    elements.publish.hidden = !isPublishable(card);
    if (isPublishable(card)) showPublishing();
  };

  function showJob(): void {
    const { job } = card;
    const { parts, progress } = elements;
    const {
      topic = "Video",
      duration,
      style,
      language,
      voice: speaker,
    } = { ...job?.settings, ...card.order };
    setText(elements.topic, topic);
    setText(
      elements.settings,
      [duration && `${duration} s`, style, language, speaker].filter(Boolean).join(" · "),
    );
    setText(elements.status, job ? describe(job) : card.notice);
    setText(elements.problem, card.problem);
    const { done = true, finalVideoUrl, audioUrl, videoUrls = [], progress: counts = {} } = job ?? {};
    const { total, completed = videoUrls.length, failed = 0 } = counts;
    progress.hidden = done;
    progress.max = total || 1;
    progress.value = total ? completed + failed : 0;
    while (clips.length < videoUrls.length) clips.push(addClip(clips.length + 1));
    for (const [index, clip] of clips.entries()) clip(videoUrls[index]);
    voice(audioUrl);
    parts.hidden = !videoUrls.length && !audioUrl;
    final(finalVideoUrl);
    // The whole video is what matters now.
    if (elements.final.hidden && finalVideoUrl) parts.open = false;
    elements.final.hidden = !finalVideoUrl;
    open.hidden = !finalVideoUrl || !card.can.openLinks;
  }

  function showPublishing(): void {
    const { accounts, chosen, armedAt, isBusy, remark, results, job } = card;
    const posted = new Set(job?.publishedTo);
    for (const { platform, ok } of results) if (ok) posted.add(platform);
    for (const account of accounts ?? []) if (!toggles.has(account.platform)) addToggle(account);
    for (const [platform, toggle] of toggles) {
      toggle.disabled = posted.has(platform);
      toggle.ariaPressed = toggle.disabled ? null : String(chosen.has(platform));
      if (toggle.disabled) setText(toggle, `${platform}: public`);
    }
    const names = [...chosen].join(" and ");
    const publishing = armedAt ? `Yes, publish on ${names} now` : `Publish on ${names}…`;
    const choosing = names ? publishing : "Choose where to publish";
    setText(go, isBusy ? "One moment…" : accounts ? choosing : "Try again");
    go.ariaDisabled = String(isBusy || (!!accounts && !names));
    go.classList.toggle("armed", armedAt > 0);
    setText(elements.outcome, remark);
    elements.posts.replaceChildren(...results.map(describePost));
  }

  function addToggle({ platform, account }: Account): void {
    const text = typeof account === "string" ? `${platform} ${account}` : platform;
    const toggle = createButton(text, () => choose(card, platform));
    toggles.set(platform, toggle);
    elements.platforms.append(toggle);
  }

  function describePost({ platform, ok, alreadyPublished, url, error }: PlatformResult): HTMLElement {
    const item = create("li");
    const state = ok ? (alreadyPublished ? "was public already" : "published") : "not published";
    setText(item, `${platform}: ${state}${typeof error === "string" ? `: ${error}` : ""}`);
    if (typeof url === "string") offerToOpen(url, item);
    return item;
  }

  function addClip(number: number): Player {
    const item = create("li");
    elements.clips.append(item);
    return createPlayer("video", `Clip ${number}`, item, offerToOpen);
  }

  function offerToOpen(url: string, place: HTMLElement): void {
    if (card.can.openLinks)
      place.append(
        " ",
        createButton("Open", () => openLink(url)),
      );
  }

  async function openLink(url: string): Promise<void> {
    const answer = await card.host.request("ui/open-link", { url }).catch(() => ({ isError: true }));
    // eslint-disable-next-line typescript/no-unsafe-type-assertion -- the host's word
    if (!(answer as { isError?: boolean }).isError) return;
    card.problem = "Your app did not open the link.";
    showJob();
  }
}

function describe({ status, done, videoUrls, finalVideoUrl, savedTo, progress = {} }: Job): string {
  const { total, completed = videoUrls.length, failed } = progress;
  if (!done)
    return `Rendering: ${completed}${total ? ` of ${total}` : ""} clips ready${failed ? `, ${failed} failed` : ""}. Renders take 2 to 4 minutes.`;
  if (status === "failed") return "The render failed. Its credits are refunded.";
  if (!finalVideoUrl) return "The clips are ready, the final video follows.";
  return `Your video is ready.${savedTo ? ` Saved to ${savedTo}` : ""}`;
}
