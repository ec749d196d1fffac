// npm run docs:card: takes docs/card-light.png and docs/card-dark.png of a sandbox video's card in chromium.

import { fileURLToPath } from "node:url";
import { launchBrowser, openChat } from "../test/checks/card/chat.ts";

const TOPIC = "Three hearts beat in an octopus, and it still saves its strength.";

const browser = await launchBrowser();
for (const theme of ["light", "dark"] as const) {
  const chat = await openChat({
    browser,
    args: ["--sandbox"],
    env: { FACELESS_SANDBOX_SECONDS: "0" },
    hostContext: { theme },
    viewport: { width: 640, height: 700 },
  });
  const card = await chat.generate({ topic: TOPIC, duration: 45, style: "documentary" });
  await card.getByRole("button", { name: 'TikTok "@sandbox.clips"' }).click();
  await card.getByRole("button", { name: 'YouTube "Sandbox Clips"' }).click();
  // The player shows for a moment that it loads.
  await chat.page.waitForTimeout(3_000);
  const path = fileURLToPath(new URL(`../docs/card-${theme}.png`, import.meta.url));
  await card.locator("body").screenshot({ path });
  await chat.close();
}
await browser.close();
