// What a user does with a card, and sees of it.

import type { Browser, FrameLocator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { type Chat, type ChatStart, launchBrowser, openChat } from "./chat.ts";

/** Far above what a busy machine needs. */
const PATIENCE = { timeout: 30_000 };

/** Opens chats in one browser, which is closed after the tests of the file; each chat is closed after its test. */
export function useChats(): (start: Omit<ChatStart, "browser">) => Promise<Chat> {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());
  return async (start) => {
    const chat = await openChat({ browser, ...start });
    onTestFinished(() => chat.close());
    return chat;
  };
}

/** Waits until the card's status line says this. */
export async function says(card: FrameLocator, text: string | RegExp): Promise<void> {
  await card.locator("#status").filter({ hasText: text }).waitFor();
}

/** Starts it with the keyboard, and waits until it moves. */
export async function plays(card: FrameLocator, page: Page, label: string): Promise<void> {
  const media = card.getByLabel(label, { exact: true });
  await expect
    .poll(() => media.evaluate((element) => Reflect.get(element, "readyState")), PATIENCE)
    .toBeGreaterThan(0);
  await media.focus();
  await page.keyboard.press("Space");
  await expect
    .poll(() => media.evaluate((element) => Reflect.get(element, "currentTime")), PATIENCE)
    .toBeGreaterThan(0);
}

export async function choose(card: FrameLocator, name: string): Promise<void> {
  const button = card.getByRole("button", { name, exact: true });
  await button.click();
  expect(await button.getAttribute("aria-pressed")).toBe("true");
}

export async function press(card: FrameLocator, name: string): Promise<void> {
  await card.getByRole("button", { name, exact: true }).click();
}

/** Later than a double click, of which only the first counts: until it does, the button stays as it is. */
export async function secondClick(card: FrameLocator, name: string): Promise<void> {
  const button = card.getByRole("button", { name, exact: true });
  await expect
    .poll(async () => {
      await button.click({ timeout: 1_000 }).catch(() => {});
      return button.isVisible();
    }, PATIENCE)
    .toBe(false);
}

export async function postsOf(card: FrameLocator, count: number): Promise<readonly string[]> {
  const items = card.locator("#posts li");
  await expect.poll(() => items.count(), PATIENCE).toBe(count);
  return items.allInnerTexts();
}

export function publications({ sent }: Chat): readonly string[] {
  return sent.filter((line) => line === "tools/call publish_video");
}

/** As when another tab is in front. */
export async function setHidden(card: FrameLocator, isHidden: boolean): Promise<void> {
  await card.locator("body").evaluate((body, hidden) => {
    const page = Reflect.get(body, "ownerDocument");
    Object.defineProperty(page, "hidden", { value: hidden, configurable: true });
    page.dispatchEvent(new Event("visibilitychange"));
  }, isHidden);
}

/** As when the chat has scrolled on. */
export async function setOutOfSight({ page }: Chat, isOut: boolean): Promise<void> {
  await page.locator("iframe").evaluate(
    (frame, display) => {
      Reflect.get(frame, "style").display = display;
    },
    isOut ? "none" : "block",
  );
}
