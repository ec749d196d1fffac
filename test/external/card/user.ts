// A user's actions on a card, and their view of it.

import type { FrameLocator } from "playwright-core";
import { expect } from "vitest";
import type { Chat } from "./chat.ts";

/** Far above what a busy machine needs. */
export const PATIENCE = { timeout: 30_000 };

/** Waits until the card's status line says this. */
export async function says(card: FrameLocator, text: string | RegExp): Promise<void> {
  await card.locator("#status").filter({ hasText: text }).waitFor();
}

/** Starts it with the keyboard, and waits until it moves. */
export async function plays(card: FrameLocator, { page }: Chat, label: string): Promise<void> {
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

/** Chooses these accounts and publishes by two clicks. */
export async function publishOn(card: FrameLocator, ...accounts: readonly string[]): Promise<void> {
  for (const account of accounts) await choose(card, account);
  const platforms = accounts.map((account) => account.split(" ")[0]).join(" and ");
  await press(card, `Publish on ${platforms}…`);
  await secondClick(card, `Yes, publish on ${platforms} now`);
}

export function publications({ sent }: Chat): readonly string[] {
  return sent.filter((line) => line === "tools/call publish_video");
}

/** A card that nobody sees: another tab is in front, or the chat has scrolled on. */
export const UNSEEN: [string, (chat: Chat, card: FrameLocator, isUnseen: boolean) => Promise<void>][] = [
  [
    "hidden",
    (_, card, isUnseen) =>
      card.locator("body").evaluate((body, hidden) => {
        const page = Reflect.get(body, "ownerDocument");
        Object.defineProperty(page, "hidden", { value: hidden, configurable: true });
        page.dispatchEvent(new Event("visibilitychange"));
      }, isUnseen),
  ],
  [
    "out of sight",
    async ({ page }, _, isUnseen) => {
      await page
        .locator("iframe")
        .evaluate(
          (frame, display) => Reflect.set(frame, "style", `display: ${display}`),
          isUnseen ? "none" : "block",
        );
    },
  ],
];
