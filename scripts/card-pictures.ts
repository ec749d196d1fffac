// npm run docs:card: makes the README's pictures of the card in a chat, with a video of the sandbox: docs/card.gif,
// which moves, and docs/card-light.png and docs/card-dark.png. It needs Debian's chromium and ffmpeg.

import { fileURLToPath } from "node:url";
import type { FrameLocator } from "playwright-core";
import { startSandbox } from "../src/sandbox/sandbox.ts";
import { launchBrowser, openChat } from "../test/checks/card/chat.ts";
import { choose, says } from "../test/checks/card/user.ts";
import { Film } from "./film.ts";

const ORDER = {
  topic: "Every river is secretly salty. [clear mountain river over pale stones, first light]",
  style: "documentary",
};
const WISH = "Make a 30-second video about why the sea is salty.";
const TIKTOK = 'TikTok "@sandbox.clips"';
const YOUTUBE = 'YouTube "Sandbox Clips"';
const CLIPS = 4;
/** Of the final video, which is shown at more than twice its speed. */
const PLAYED = { frames: 20, everyMs: 480, shownSeconds: 0.2 } as const;
/** A player shows for a moment that it loads. */
const LOADING_MS = 3_000;

const picture = (name: string) => fileURLToPath(new URL(`../docs/${name}`, import.meta.url));
const browser = await launchBrowser();
for (const theme of ["light", "dark"] as const) await takeStill(theme);
await record();
await browser.close();

/** The finished video, and two accounts that are chosen. */
async function takeStill(theme: "light" | "dark"): Promise<void> {
  const chat = await openChat({
    browser,
    args: ["--sandbox"],
    env: { FACELESS_SANDBOX_SECONDS: "0" },
    hostContext: { theme },
    viewport: { width: 640, height: 700 },
  });
  const card = await chat.generate(ORDER);
  await choose(card, TIKTOK);
  await choose(card, YOUTUBE);
  await chat.page.waitForTimeout(LOADING_MS);
  await card.locator("body").screenshot({ path: picture(`card-${theme}.png`) });
  await chat.close();
}

/** Rendering, ready and playing, armed, posted. */
async function record(): Promise<void> {
  // Rendered as fast as this clock goes.
  let nowMs = Date.now();
  const sandbox = await startSandbox({ renderSeconds: 100, now: () => nowMs });
  const chat = await openChat({
    browser,
    env: { FACELESS_API_KEY: sandbox.apiKey, FACELESS_BASE_URL: sandbox.url },
    hostContext: { theme: "light" },
    viewport: { width: 660, height: 540 },
  });
  const { page } = chat;
  await page.addStyleTag({
    content: `body{padding:16px;background:#f1efe8;font:15px system-ui}
      iframe{box-sizing:border-box;border:1px solid #0002;border-radius:16px;background:#fff}
      #wish{width:fit-content;margin:0 0 14px auto;padding:9px 14px;border-radius:16px;background:#dcd7c6}
      #pointer{position:absolute;width:22px;z-index:1;pointer-events:none}`,
  });
  const pointer =
    '<svg id="pointer" viewBox="0 0 22 26" style="left:-99px"><path d="M2 1v20l5-4 4 8 4-2-4-7h7z" stroke="#fff" stroke-width="1.5"/></svg>';
  await page.evaluate(
    `document.body.insertAdjacentHTML("afterbegin", ${JSON.stringify(`<div id="wish">${WISH}</div>${pointer}`)})`,
  );
  const film = new Film(chat.page);
  const card = await chat.generate(ORDER);
  for (let clips = 0; clips < CLIPS; clips++) {
    await says(card, `Rendering: ${clips} of ${CLIPS} clips ready.`);
    await page.waitForTimeout(LOADING_MS);
    await film.shoot(clips === 0 ? 1.6 : 0.9);
    // The first clip is ready after 38 s, the last one after 90.
    nowMs += clips === 0 ? 40_000 : 20_000;
  }
  await says(card, "Your video is ready.");
  await page.waitForTimeout(LOADING_MS);
  await film.shoot(1);
  await play(card, film);
  await film.pointAt(card.getByRole("button", { name: TIKTOK }));
  await choose(card, TIKTOK);
  await film.shoot(0.7);
  await film.pointAt(card.getByRole("button", { name: YOUTUBE }));
  await choose(card, YOUTUBE);
  await film.shoot(0.9);
  const go = card.locator("#go");
  await film.pointAt(go);
  await go.click();
  await film.shoot(2);
  // Less would be a double click.
  await page.waitForTimeout(800);
  await go.click();
  await card.getByRole("button", { name: "YouTube: posted" }).waitFor();
  await card.getByRole("button", { name: "Open on YouTube" }).waitFor();
  await film.hidePointer();
  await film.shoot(3);
  await chat.close();
  await sandbox.close();
  film.develop(picture("card.gif"));
}

/** Plays the final video almost to its end. */
async function play(card: FrameLocator, film: Film): Promise<void> {
  const video = card.getByLabel("The final video", { exact: true });
  await video.focus();
  await film.page.keyboard.press("Space");
  const startMs = performance.now();
  for (let frame = 1; frame <= PLAYED.frames; frame++) {
    await film.page.waitForTimeout(startMs + frame * PLAYED.everyMs - performance.now());
    await film.shoot(PLAYED.shownSeconds);
  }
}
