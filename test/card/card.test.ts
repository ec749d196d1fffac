import { expect, test } from "vitest";
import { launchBrowser, openChat } from "./chat.ts";
test("try", async () => {
  const browser = await launchBrowser();
  const chat = await openChat({ browser, args: ["--sandbox"], env: { FACELESS_SANDBOX_SECONDS: "6", FACELESS_POLL_SECONDS: "0.3" } });
  const card = await chat.generate({ topic: "Why the sea is salty", duration: 30, style: "documentary" });
  await chat.page.waitForTimeout(5000);
  await chat.page.screenshot({ path: "/tmp/card1.png" });
  await chat.page.waitForTimeout(5000);
  await chat.page.screenshot({ path: "/tmp/card2.png" });
  console.log(chat.sent, chat.errors, await card.locator("main").innerText());
  await chat.close(); await browser.close();
  expect(1).toBe(1);
});
