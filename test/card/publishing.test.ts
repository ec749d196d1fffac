// Publishing from the card: two clicks of the user, then publish_video with its guard and its question.

import { describe, expect, test } from "vitest";
import { BROWSER, type ChatStart } from "./chat.ts";
import { choose, postsOf, press, publications, says, secondClick, useChats } from "./user.ts";

const TOPIC = { topic: "Why the sea is salty" };
const DONE_AT_ONCE = { args: ["--sandbox"], env: { FACELESS_SANDBOX_SECONDS: "0" } };
const FIRST = "Publish on tiktok…";
const SECOND = "Yes, publish on tiktok now";

describe.skipIf(BROWSER === undefined)("publishing from the card", () => {
  const open = useChats();

  /** A card of a finished video, with a platform that is chosen. */
  async function readyToPublish(start: Partial<ChatStart> = {}) {
    const chat = await open({ ...DONE_AT_ONCE, ...start });
    const card = await chat.generate(TOPIC);
    await choose(card, "tiktok @sandbox.clips");
    return { chat, card };
  }

  test("one click never publishes, nor does a double click, a held key, or a click after another choice", async () => {
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
    await choose(card, "youtube Sandbox Clips");
    expect(await go.innerText()).toBe("Publish on tiktok and youtube…");
    await go.click();
    await card.getByText("Click again to make it public. That can't be undone from here.").waitFor();

    expect(publications(chat)).toEqual([]);
  });

  test("the first click is forgotten after 15 seconds", async () => {
    const { chat, card } = await readyToPublish({ stopsTime: true });
    await press(card, FIRST);
    await chat.page.clock.runFor(14_000);
    await card.getByRole("button", { name: SECOND }).waitFor();

    await chat.page.clock.runFor(1_100);

    await press(card, FIRST);
    expect(publications(chat)).toEqual([]);
  });

  test("works with the keyboard alone", async () => {
    const chat = await open(DONE_AT_ONCE);
    const card = await chat.generate(TOPIC);
    await card.getByRole("button", { name: "tiktok @sandbox.clips" }).focus();

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
        { timeout: 30_000, interval: 200 },
      )
      .toBe(1);

    expect(await postsOf(card, 1)).toEqual([expect.stringMatching(/^tiktok: published/)]);
  });

  test.each([["legacy"], ["modern"]] as const)(
    "where the app of a %s host asks too, the card says where to answer, and only a yes publishes",
    async (protocol) => {
      const answers: ("yes" | "no")[] = ["no", "yes"];
      let decide: () => void = () => {};
      const answer = async () => {
        await new Promise<void>((resolve) => {
          decide = resolve;
        });
        return answers.shift() ?? "no";
      };
      const { chat, card } = await readyToPublish({ protocol, asksUser: true, answer });
      const askedBy =
        "Publishing… If your app asks you to confirm, answer there: beside the chat input or in its notifications.";

      await press(card, FIRST);
      await secondClick(card, SECOND);
      await card.getByText(askedBy).waitFor();
      await expect.poll(() => chat.questions.length, { timeout: 30_000 }).toBe(1);
      decide();
      await card.getByText("The user was asked and did not agree to publish.").waitFor();
      expect(await card.locator("#posts li").count()).toBe(0);
      await press(card, FIRST);
      await secondClick(card, SECOND);
      await expect.poll(() => chat.questions.length, { timeout: 30_000 }).toBe(2);
      decide();

      await card.getByText("Published on tiktok.").waitFor();
      expect(chat.questions[1]).toMatch(/^Publish the video "Why the sea is salty" on tiktok\?/);
    },
  );

  test("a platform that has the video is shown so, and can't be chosen again", async () => {
    const { chat, card } = await readyToPublish();
    await press(card, FIRST);
    await secondClick(card, SECOND);
    await card.getByText("Published on tiktok.").waitFor();

    const button = card.getByRole("button", { name: "tiktok: public" });
    expect(await button.isDisabled()).toBe(true);
    expect(await card.locator("#go").innerText()).toBe("Choose where to publish");
    await card.locator("#go").dispatchEvent("click");
    expect(publications(chat)).toHaveLength(1);
  });

  test("a later card of the same video shows where it is public", async () => {
    const { chat, card } = await readyToPublish();
    await press(card, FIRST);
    await secondClick(card, SECOND);
    await card.getByText("Published on tiktok.").waitFor();

    const later = await chat.generate(TOPIC);

    await later.getByRole("button", { name: "tiktok: public" }).waitFor();
    await later.getByRole("button", { name: "youtube Sandbox Clips" }).waitFor();
    expect(await later.getByRole("button").allInnerTexts()).toEqual([
      "Open",
      "tiktok: public",
      "youtube Sandbox Clips",
      "instagram @sandbox.reels",
      "Choose where to publish",
    ]);
    expect(chat.errors).toEqual([]);
  });

  test("with --no-publish there is none, and no account is looked up", async () => {
    const chat = await open({ ...DONE_AT_ONCE, args: ["--sandbox", "--no-publish"] });

    const card = await chat.generate(TOPIC);

    await says(card, "Your video is ready.");
    expect(await card.getByRole("button").allInnerTexts()).toEqual(["Open"]);
    expect(chat.sent.filter((line) => line.includes("list_connected_platforms"))).toEqual([]);
  });
});
