// npm run docs:card: opens the card of a sandbox video in chromium and takes docs/card-light.png and docs/card-dark.png.

import { fileURLToPath } from "node:url";
import { launchBrowser, openChat } from "../test/card/chat.ts";

const TOPIC = "Three hearts beat in an octopus, and it still saves its strength.";

const browser = await launchBrowser();
for (const theme of ["light", "dark"] as const) {
  const chat = await openChat({
    browser,
    args: ["--sandbox"],
    env: { FACELESS_SANDBOX_SECONDS: "0" },
    hostContext: { theme },
    viewport: { width: 560, height: 700 },
  });
  const card = await chat.generate({ topic: TOPIC, duration: 45, style: "documentary", voice: "charlotte" });
  const button = (name: string) => card.getByRole("button", { name });
  await button("tiktok @sandbox.clips").click();
  await button("youtube Sandbox Clips").click();
  await button("Publish on tiktok and youtube…").click();
  await button("Yes, publish on tiktok and youtube now").waitFor();
  const path = fileURLToPath(new URL(`../docs/card-${theme}.png`, import.meta.url));
  await card.locator("body").screenshot({ path });
  await chat.close();
}
await browser.close();
