// npm run card: makes the README's pictures of the card in a chat, with the built server and a video of the
// sandbox: docs/card.webp, which moves, docs/card-light.png and docs/card-dark.png. The assistant's words are staged.
// It needs Debian's chromium and webp.

import type { McpUiStyles } from "@modelcontextprotocol/ext-apps/app-bridge";
import { fileURLToPath } from "node:url";
import type { FrameLocator, Locator, Page } from "playwright-core";
import { TOPIC } from "../../src/commands/demo.ts";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { launchBrowser, openChat } from "../../test/external/card/chat.ts";
import { says } from "../../test/external/card/user.ts";
import { asService } from "./as-service.ts";
import { Film } from "./film.ts";
import { FONT_BASE64, FONT_STYLE } from "./product-font.ts";

const ORDER = { topic: TOPIC, duration: 30, style: "documentary", music: "cinematic" };
const WISH = "Make a 30-second video about why the sea is salty. Show me the text first.";
/** A reader has two seconds before the first clip. */
const SHOWN_LINES = 3;
const QUESTION = "Shall I make it? It costs credits.";
const YES = "Love it. Make it.";
const FONT: Partial<McpUiStyles> = { "--font-sans": "Inter" };
const PLATFORMS = ["TikTok", "YouTube"];
const CLIPS = 4;
/** The final video, in real time. */
const PLAYED = { fromSeconds: 0.3, toSeconds: 12.9, stepSeconds: 0.3, shownSeconds: 0.15 } as const;
/** A player shows for a moment that it loads. */
const LOADING_MS = 2_000;

const STYLE = `${FONT_STYLE}
  html{background:#f5f3ee}
  body{display:flex;flex-direction:column;gap:14px;margin:0;padding:18px 22px 84px;font:15px/1.6 Inter;color:#24221e}
  .user{align-self:flex-end;padding:8px 15px;border-radius:18px;background:#e4dfd2}
  .lines{margin:10px 0;padding-left:14px;border-left:3px solid #d5cfbf;}
  .lines div{margin:6px 0}
  .lines span{color:#77725f}
  iframe{flex:none;border:1px solid #0000001f!important;border-radius:18px;background:#fff}
  #composer{position:fixed;left:0;right:0;bottom:0;padding:10px 22px 16px;background:#f5f3ee}
  #composer div{padding:10px 18px;border:1px solid #d5cfbf;border-radius:24px;background:#fff}
  #composer div:empty::before{content:"Reply…";color:#8b8672}
  #pointer{position:fixed;left:-99px;width:24px;z-index:1;pointer-events:none}`;
/** From memory: the card's policy allows no font from elsewhere. */
const LOAD_FONT = `new FontFace("Inter", Uint8Array.from(atob("${FONT_BASE64}"), (byte) => byte.charCodeAt(0)), { weight: "100 900" })
  .load().then((face) => { document.fonts.add(face) })`;
const POINTER =
  '<svg id="pointer" viewBox="0 0 22 26"><path d="M2 1v20l5-4 4 8 4-2-4-7h7z" stroke="#fff" stroke-width="1.5"/></svg>';

const picture = (name: string) => fileURLToPath(new URL(`../../docs/${name}`, import.meta.url));
const browser = await launchBrowser();
for (const theme of ["light", "dark"] as const) await takeStill(theme);
await record();
await browser.close();

/** A chat of the width at which pictures are shown, and a clock that only the pictures move. */
async function openPicture(theme: "light" | "dark", height: number, pixelRatio: number) {
  let nowMs = Date.now();
  const sandbox = await startSandbox({ renderSeconds: 100, requestsPerMinute: 10_000, now: () => nowMs });
  const service = await asService(sandbox);
  const chat = await openChat({
    browser,
    env: {
      FACELESS_API_KEY: service.apiKey,
      FACELESS_BASE_URL: service.url,
      FACELESS_POLL_SECONDS: "0.5",
      FACELESS_STATE_DIR: "off",
      FACELESS_CONFIRM_GENERATE: "off",
    },
    // The type wants a value for each of its variables.
    // eslint-disable-next-line typescript/no-unsafe-type-assertion
    hostContext: { theme, styles: { variables: FONT as McpUiStyles } },
    viewport: { width: 640, height },
    pixelRatio,
  });
  return {
    page: chat.page,
    /** Gives the card the typeface that the host's variables name, as hosts do. */
    async generate() {
      const card = await chat.generate(ORDER);
      await chat.page.frames().at(-1)?.evaluate(LOAD_FONT);
      return card;
    },
    pass: (seconds: number) => void (nowMs += seconds * 1000),
    async close() {
      await chat.close();
      await service.close();
      await sandbox.close();
    },
  };
}

/** The finished video, and two accounts that are chosen. */
async function takeStill(theme: "light" | "dark"): Promise<void> {
  const { page, generate, pass, close } = await openPicture(theme, 700, 2);
  const card = await generate();
  pass(100);
  await says(card, "Your video is ready.");
  await startPlaying(page);
  await seek(page, 1.2);
  for (const platform of PLATFORMS) await click(toggle(card, platform));
  await page.waitForTimeout(LOADING_MS);
  await card.locator("body").screenshot({ path: picture(`card-${theme}.png`) });
  await close();
}

/** The result, then the wish, the proposal, the yes, the render, the video, and the post. */
async function record(): Promise<void> {
  const { page, generate, pass, close } = await openPicture("light", 600, 1.5);
  await page.addStyleTag({ content: STYLE });
  await add(page, `${POINTER}<div id="composer"><div></div></div>`);
  const film = new Film(page);

  const spoken = TOPIC.replace(/\s*\[.*?\]/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "");
  const lines = [...spoken.slice(0, SHOWN_LINES), "…"].map((line) => `<div>${line}</div>`).join("");
  await add(
    page,
    `<div class="user">${WISH}</div><div>Here is the text:<div class="lines">${lines}</div>${QUESTION}</div>`,
  );
  await page.evaluate("document.fonts.ready.then(() => {})");
  await film.shoot(1.6);
  await page.evaluate(`composer.firstChild.textContent = ${JSON.stringify(YES)}`);
  await film.shoot(0.5);
  await page.evaluate('composer.firstChild.textContent = ""');
  await add(page, `<div class="user">${YES}</div>`);

  const card = await generate();
  for (let clips = 0; clips < CLIPS; clips++) {
    await says(card, `Rendering: ${clips} of ${CLIPS} clips ready.`);
    await settle(page);
    await film.shoot(clips === 0 ? 0.6 : 0.9);
    // The first clip is ready after 38 s, the last one after 90.
    pass(clips === 0 ? 40 : 20);
  }
  await says(card, "Your video is ready.");
  await settle(page);
  await film.shoot(1);
  await play(film);
  await post(card, film);
  await film.hidePointer();
  await film.shoot(2);
  await close();
  film.develop(picture("card.webp"));
}

async function post(card: FrameLocator, film: Film): Promise<void> {
  for (const platform of PLATFORMS) {
    await film.pointAt(toggle(card, platform));
    await click(toggle(card, platform));
    await film.shoot(0.6);
  }
  const go = card.locator("#go");
  await film.pointAt(go);
  await click(go);
  await film.shoot(1.8);
  // Less would be a double click.
  await film.page.waitForTimeout(800);
  await click(go);
  await card.getByRole("button", { name: "Open on YouTube" }).waitFor();
  await settle(film.page);
}

/** A screenshot moves what a real pointer would hit. */
async function click(element: Locator): Promise<void> {
  await element.dispatchEvent("click");
}

function toggle(card: FrameLocator, platform: string) {
  return card.locator("#platforms").getByRole("button", { name: platform });
}

async function play(film: Film): Promise<void> {
  await startPlaying(film.page);
  for (let seconds: number = PLAYED.fromSeconds; seconds < PLAYED.toSeconds; seconds += PLAYED.stepSeconds) {
    await seek(film.page, seconds);
    await film.shoot(PLAYED.shownSeconds);
  }
}

/** Plays so slowly that a picture can be taken of any moment. A player hides its controls meanwhile. */
async function startPlaying(page: Page): Promise<void> {
  await runInCard(page, "Object.assign(video, { muted: true, controls: false, playbackRate: 0.07 }).play()");
}

async function seek(page: Page, seconds: number): Promise<void> {
  const sought = "new Promise((resolve) => { video.onseeked = () => resolve(); })";
  await runInCard(page, `(video.currentTime = ${seconds}, ${sought})`);
}

/** Evaluates the expression, in which `video` is the final one. */
async function runInCard(page: Page, expression: string): Promise<void> {
  const video = 'document.querySelector("#final video")';
  await page.frames().at(-1)?.evaluate(`((video) => ${expression})(${video})`);
}

/** Waits until players show their pictures, and scrolls to the end. */
async function settle(page: Page): Promise<void> {
  await page.waitForTimeout(LOADING_MS);
  await page.evaluate("scrollTo(0, document.body.scrollHeight)");
}

/** Adds to the end of the chat. */
async function add(page: Page, html: string): Promise<void> {
  await page.evaluate(`document.body.insertAdjacentHTML("beforeend", ${JSON.stringify(html)})`);
  await page.evaluate("scrollTo(0, document.body.scrollHeight)");
}
