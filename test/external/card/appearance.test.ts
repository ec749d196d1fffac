// How the card looks and reads: themes, sizes, languages, assistive technology, and texts that mean harm.

import type { McpUiHostContext } from "@modelcontextprotocol/ext-apps/app-bridge";
import axe from "axe-core";
import type { FrameLocator } from "playwright-core";
import { describe, expect, test } from "vitest";
import { DOCUMENT, PUBLISH, STATUS } from "../../fixtures/constants.ts";
import { BROWSER, DONE_AT_ONCE, PLATFORMS_DOCUMENT, TOPIC, useChats } from "./chat.ts";
import { choose, PATIENCE, press, publishOn, says, secondClick } from "./user.ts";

const RENDERING = { args: ["--sandbox"], env: { FACELESS_SANDBOX_SECONDS: "3600" } };
const ALERT = "<img src=x onerror=alert(1)><script>alert(2)</script>";

describe.skipIf(BROWSER === undefined)("the card", () => {
  const { open, openScripted } = useChats();

  describe.each(["light", "dark"] as const)("in the %s theme", (theme) => {
    const hostContext = { theme };

    test("the card is accessible in each of its states", async () => {
      const rendering = await open({ ...RENDERING, hostContext });
      const first = await rendering.generate(TOPIC);
      await says(first, /^Rendering/);
      await first.getByRole("progressbar", { name: "Clips" }).waitFor();
      expect(await violations(first)).toEqual([]);

      const chat = await open({ ...DONE_AT_ONCE, hostContext });
      const card = await chat.generate(TOPIC);
      await choose(card, 'TikTok "@sandbox.clips"');
      await press(card, "Publish on TikTok…");
      expect(await violations(card)).toEqual([]);
      await secondClick(card, "Yes, publish on TikTok now");
      await card.getByRole("button", { name: "TikTok: posted" }).waitFor();
      expect(await violations(card)).toEqual([]);

      const failed = await chat.generate({ topic: "Refused [out_of_credits]" });
      await says(failed, "HTTP 402");
      expect(await violations(failed)).toEqual([]);
      expect([...rendering.errors, ...chat.errors]).toEqual([]);
    });
  });

  test("the card takes the host's theme, colours and font, and follows their change", async () => {
    // A host may name only some of the variables.
    const context = (theme: "light" | "dark", background: string): McpUiHostContext => {
      const variables = { "--color-background-primary": background, "--font-sans": "monospace" };
      return { theme, ...JSON.parse(JSON.stringify({ styles: { variables } })) };
    };
    const chat = await open({ ...RENDERING, hostContext: context("dark", "rgb(1, 2, 3)") });
    const card = await chat.generate(TOPIC);
    const look = () =>
      card.locator("body").evaluate((body) => {
        const style = Reflect.get(globalThis, "getComputedStyle")(body);
        return [style.backgroundColor, style.colorScheme, style.fontFamily];
      });

    expect(await look()).toEqual(["rgb(1, 2, 3)", "dark", "monospace"]);
    await chat.changeContext(context("light", "rgb(200, 201, 202)"));
    await expect.poll(look, PATIENCE).toEqual(["rgb(200, 201, 202)", "light", "monospace"]);
  });

  test("the card fits a chat of 240 pixels, and every button is at least 32 pixels high", async () => {
    const chat = await open({ ...DONE_AT_ONCE, viewport: { width: 240, height: 900 } });
    const card = await chat.generate({ topic: "A".repeat(300) });
    await choose(card, 'TikTok "@sandbox.clips"');
    await choose(card, 'Instagram "@sandbox.reels"');

    expect(await card.locator("#topic").innerText()).toBe(`${"A".repeat(79)}…`);
    expect(await card.locator("html").evaluate(({ scrollWidth }) => scrollWidth)).toBe(240);
    for (const button of await card.getByRole("button").all())
      expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(32);
  });

  test("hostile texts and links of the model and of the service do nothing in the card", async () => {
    const { service, chat } = await openScripted({
      [STATUS]: () => ({
        json: {
          status: "completed",
          videoUrls: ["javascript:alert(3)", `${service.url}/1.mp4?"><script>alert(4)</script>`],
          finalVideoUrl: `${service.url}/final.mp4#"onerror="alert(5)`,
          summary: ALERT,
        },
      }),
      [DOCUMENT]: PLATFORMS_DOCUMENT,
      "GET /api/v1/platforms": { json: { platforms: [{ platform: "tiktok", account: ALERT }] } },
      [PUBLISH]: {
        json: {
          results: [
            { platform: "tiktok", ok: true, url: "javascript:alert(6)" },
            { platform: ALERT, ok: false, error: ALERT, url: "data:text/html,<script>alert(7)</script>" },
          ],
        },
      },
    });
    const dialogs: string[] = [];
    chat.page.on("dialog", (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });

    const refused = await chat.generate({ topic: ALERT, voice: "clone:deep&lt;b" });
    await says(refused, /^Not sent, .*<img src=x onerror=alert\(1\)>.* no credits\.$/);
    expect(await refused.locator("#topic").innerText()).toBe(ALERT);
    const card = await chat.generate(TOPIC);
    await publishOn(card, `TikTok ${JSON.stringify(ALERT)}`);

    await expect
      .poll(() => card.locator("#outcome").innerText(), PATIENCE)
      .toContain(`Not posted to ${JSON.stringify(ALERT)}`);
    expect(await card.locator("#posts button").count()).toBe(0);
    expect(await card.locator("img, a, iframe, script:not(body > script)").count()).toBe(0);
    expect(dialogs).toEqual([]);
    expect(await chat.openedLinks()).toEqual([]);
  });
});

/** The findings of axe-core, whatever their impact, and their elements. */
async function violations(card: FrameLocator): Promise<readonly unknown[]> {
  const body = card.locator("body");
  await body.evaluate(axe.source);
  return body.evaluate(async (element) => {
    const { violations: found } = await Reflect.get(globalThis, "axe").run(
      Reflect.get(element, "ownerDocument"),
    );
    return found.map(({ id, nodes }: { id: string; nodes: unknown }) => [id, JSON.stringify(nodes)]);
  });
}
