// Publishing from the card: two clicks of the user, then publish_video with its guard and its question.

import { describe, expect, test } from "vitest";
import { DOCUMENT, JOB_ID, PUBLISH, STATUS } from "../../fixtures/constants.ts";
import { temporaryFolder } from "../../fixtures/folder.ts";
import type { Reply } from "../../fixtures/scripted-service.ts";
import { BROWSER, type ChatStart, DONE_AT_ONCE, PLATFORMS_DOCUMENT, TOPIC, useChats } from "./chat.ts";
import { choose, PATIENCE, press, publications, publishOn, says, secondClick, UNSEEN } from "./user.ts";

const FIRST = "Publish on TikTok…";
const SECOND = "Yes, publish on TikTok now";

describe.skipIf(BROWSER === undefined)("publishing", () => {
  const { open, openScripted } = useChats();

  /** A card of a finished video, with a platform that is chosen. */
  async function readyToPublish(start: Partial<ChatStart> = {}) {
    const chat = await open({ ...DONE_AT_ONCE, ...start });
    const card = await chat.generate(TOPIC);
    await choose(card, 'TikTok "@sandbox.clips"');
    return { chat, card };
  }

  const ALL = ["tiktok", "youtube", "instagram"].map((platform) => ({ platform, account: "@me" }));

  /** A chat with a journal, whose finished videos are published as the test says. */
  async function openFinished(publish: Reply, platforms: readonly object[] = ALL) {
    const scripts = {
      [STATUS]: {
        json: { status: "completed", videoUrls: [], finalVideoUrl: "https://cdn.example/v.mp4" },
      },
      [DOCUMENT]: PLATFORMS_DOCUMENT,
      "GET /api/v1/platforms": { json: { platforms } },
      [PUBLISH]: publish,
    };
    return openScripted(scripts, { env: { FACELESS_STATE_DIR: temporaryFolder() } });
  }

  test("only two separate clicks on the same choice within 15 seconds publish", async () => {
    const { chat, card } = await readyToPublish({ stopsTime: true });
    const go = card.locator("#go");

    await go.dblclick();
    await go.focus();
    // Held for two seconds.
    for (let repeat = 0; repeat < 20; repeat++) {
      await chat.page.keyboard.down("Enter");
      await chat.page.clock.runFor(100);
    }
    await chat.page.keyboard.up("Enter");
    expect(await go.innerText()).toBe(SECOND);
    await choose(card, 'YouTube "Sandbox Clips"');
    expect(await go.innerText()).toBe("Publish on TikTok and YouTube…");
    await go.click();
    await card.getByText("Click again to post it: this can't be undone here.").waitFor();
    await chat.page.clock.runFor(15_100);
    expect(await go.innerText()).toBe("Publish on TikTok and YouTube…");
    await go.click();

    expect(publications(chat)).toEqual([]);
  });

  test("publishing works with the keyboard alone, once on each platform", async () => {
    const chat = await open(DONE_AT_ONCE);
    const card = await chat.generate(TOPIC);
    await card.getByRole("button", { name: 'TikTok "@sandbox.clips"' }).focus();

    await chat.page.keyboard.press("Space");
    for (let tab = 0; tab < 3; tab++) await chat.page.keyboard.press("Tab");
    await chat.page.keyboard.press("Enter");
    await card.getByRole("button", { name: SECOND }).waitFor();
    await expect
      .poll(
        async () => {
          await chat.page.keyboard.press("Enter");
          return publications(chat).length;
        },
        { ...PATIENCE, interval: 200 },
      )
      .toBe(1);

    await card.getByRole("button", { name: "TikTok: posted", disabled: true }).waitFor();
    expect(await card.locator("#go").isHidden()).toBe(true);
    expect(await card.locator("#outcome").getAttribute("class")).toBe("posted");
    await choose(card, 'YouTube "Sandbox Clips"');
    expect(await card.locator("#go").innerText()).toBe("Publish on YouTube…");
  });

  test.each([["legacy"], ["modern"]] as const)(
    "where the app of a %s host asks too, the card says where to answer, and only a yes publishes",
    async (protocol) => {
      const answers: ("yes" | "no")[] = ["no", "yes"];
      const asked = "Publishing… If your app asks, answer there.";
      const answer = async (): Promise<"yes" | "no"> => {
        await card.getByText(asked).waitFor();
        return answers.shift() ?? "no";
      };
      const { chat, card } = await readyToPublish({ protocol, asksUser: true, answer });

      await press(card, FIRST);
      await secondClick(card, SECOND);
      await card.getByText("Not posted: you didn't confirm.").waitFor();
      expect(await chat.modelContext()).toEqual([]);
      await press(card, FIRST);
      await secondClick(card, SECOND);

      await card.getByRole("button", { name: "TikTok: posted" }).waitFor();
      expect(chat.questions[1]).toMatch(
        /^Publish the video "Why the sea is salty" on TikTok \("@sandbox\.clips"\)\?/,
      );
    },
  );

  test("the model and the user are told of a publication whose answer was lost", async () => {
    const { chat } = await openFinished("hang up");
    const card = await chat.generate(TOPIC);

    await publishOn(card, 'TikTok "@me"');

    const unknown = /It is not known whether the video was published/;
    await card.locator("#outcome").filter({ hasText: unknown }).waitFor();
    const told = new RegExp(
      `^The user chose to publish video "${JOB_ID}" in its card\\. .*${unknown.source}`,
    );
    expect(await chat.modelContext()).toEqual([[{ type: "text", text: expect.stringMatching(told) }]]);
  });

  test("a platform has one button with the names of all its accounts, and is posted to once", async () => {
    const { service, chat } = await openFinished({ json: { results: [{ platform: "tiktok", ok: true }] } }, [
      { platform: "tiktok", account: "@one" },
      { platform: "youtube" },
      { platform: "tiktok", account: "@two" },
    ]);
    const card = await chat.generate(TOPIC);
    await card.getByRole("button", { name: "YouTube" }).waitFor();

    const group = card.getByRole("group", { name: "Accounts" });
    expect(await group.getByRole("button").allInnerTexts()).toEqual(['TikTok "@one", "@two"', "YouTube"]);
    await publishOn(card, 'TikTok "@one", "@two"');
    await group.getByRole("button", { name: /^TikTok: / }).waitFor();

    const post = { jobId: JOB_ID, platforms: ["tiktok"] };
    expect(service.requests.map(({ json }) => json)).toContainEqual(post);
  });

  test("a later card shows the posts and offers no platform that may have the video", async () => {
    const posted = { platform: "tiktok", ok: true, url: "https://tiktok.example/1" };
    const { chat } = await openFinished({ status: 500, json: { results: [posted] } });
    const earlier = await chat.generate(TOPIC);
    await publishOn(earlier, 'TikTok "@me"', 'YouTube "@me"');

    const card = await chat.generate({ topic: "The same job" });

    await card.getByRole("button", { name: 'Instagram "@me"' }).waitFor();
    const buttons = await card.getByRole("button").all();
    expect(
      await Promise.all(buttons.map(async (button) => [await button.innerText(), await button.isEnabled()])),
    ).toEqual([
      ["Open the video", true],
      ["TikTok: posted", false],
      ["YouTube: may be posted: check the account", false],
      ['Instagram "@me"', true],
      ["Choose an account", false],
      ["Open on TikTok", true],
    ]);
    await press(card, "Open on TikTok");
    expect(await chat.openedLinks()).toEqual(["https://tiktok.example/1"]);
  });

  test.each(UNSEEN)("a card that was %s shows what was published meanwhile", async (_, set) => {
    const { chat } = await openFinished({ json: { results: [{ platform: "tiktok", ok: true }] } });
    const card = await chat.generate(TOPIC);
    await card.getByRole("button", { name: 'TikTok "@me"' }).waitFor();
    await set(chat, card, true);

    await chat.publish(JOB_ID, "tiktok");
    expect(await card.getByText("TikTok: ").count()).toBe(0);
    await set(chat, card, false);

    // The service gave no link.
    await card.getByRole("button", { name: "TikTok: may be posted: check the account" }).waitFor();
  });

  test("a click shows what the chat has published meanwhile, and does not publish it again", async () => {
    const { chat } = await openFinished({ json: { results: [{ platform: "tiktok", ok: true }] } });
    const card = await chat.generate(TOPIC);
    await choose(card, 'TikTok "@me"');
    await choose(card, 'YouTube "@me"');
    await chat.publish(JOB_ID, "tiktok");

    await press(card, "Publish on TikTok and YouTube…");

    await card.getByRole("button", { name: "TikTok: may be posted: check the account" }).waitFor();
    expect(await card.locator("#go").innerText()).toBe("Publish on YouTube…");
  });

  test("with --no-publish the card offers no publishing, and no account is looked up", async () => {
    const chat = await open({ ...DONE_AT_ONCE, args: ["--sandbox", "--no-publish"] });

    const card = await chat.generate(TOPIC);

    await says(card, "Your video is ready.");
    expect(await card.getByRole("button").allInnerTexts()).toEqual(["Open the video"]);
    expect(chat.sent.filter((line) => line.includes("list_connected_platforms"))).toEqual([]);
  });
});
