// The card of a call whose result is late, or never comes: VS Code runs the call as a task and gives the card
// its result when the video is ready. So the card looks for its job itself.

import type { FrameLocator } from "playwright-core";
import { describe, expect, test } from "vitest";
import {
  GENERATE,
  JOB_ID,
  JOB_URI,
  OTHER_JOB_ID,
  OTHER_STATUS,
  STATUS,
  VIDEOS,
} from "../../fixtures/constants.ts";
import { firstSpokenWords } from "../../../src/service/spoken-words.ts";
import type { Scripts } from "../../fixtures/scripted-service.ts";
import { BROWSER, type Chat, type ChatStart, TOPIC, useChats } from "./chat.ts";
import { PATIENCE, plays, publications, publishOn, says } from "./user.ts";

const { topic: WANTED } = TOPIC;

/** Longer than the list shows. */
const LONG = `${WANTED}.\nThe rain takes a little salt out of the rocks, and rivers carry it to the sea. The sun takes the
water away again, but the salt stays where it is. So the sea has become saltier for millions of years.`;
/** Has fewer than 40 letters in 80 characters: the others are marks and spaces. */
const HINDI = "समुद्र का पानी खारा क्यों होता है? ".repeat(4);

const HOUR_AGO = new Date(Date.now() - 3_600_000).toISOString();
const video = (jobId: string, status: string, topic?: string) => ({ jobId, status, topic });
const rendering = (total: number) => ({
  json: { status: "processing", videoUrls: [], progress: { total, completed: 0 } },
});

describe.skipIf(BROWSER === undefined)("late results", () => {
  const { openScripted, openSandbox } = useChats();

  /** A chat whose time stands still: JOB_ID has 4 clips, OTHER_JOB_ID has 6, and `list` sets the list. */
  async function openHeld(scripts: Scripts = {}, start: Partial<ChatStart> = {}) {
    const { service, chat } = await openScripted(
      { [STATUS]: rendering(4), [OTHER_STATUS]: rendering(6), ...scripts },
      { holdsResult: true, stopsTime: true, ...start },
    );
    /** They have just been created, unless they say when. */
    const list = (...videos: readonly object[]) =>
      service.on(VIDEOS, () => {
        const createdAt = new Date().toISOString();
        return { json: { videos: videos.map((each) => ({ createdAt, ...each })) } };
      });
    return { service, chat, list };
  }

  test.each<[string, Partial<ChatStart>]>([
    ["runs it as a task", { runsTasks: true }],
    ["holds its result, and passes on the text alone", { holdsResult: true, stripsResults: true }],
    [
      "holds its result, and reads no resources",
      { holdsResult: true, hostCapabilities: { serverTools: {} } },
    ],
  ])(
    "in a host that %s the card of a call shows the clips and the video, and publishes it",
    async (_, start) => {
      const { chat, passMinute } = await openSandbox(start);

      const card = await chat.generate({ topic: LONG, duration: 30 });
      await says(card, "Rendering: 0 of 4 clips ready.");
      passMinute();
      await says(card, "Rendering: 2 of 4 clips ready.");
      await plays(card, chat, "Clip 2");
      expect(publications(chat)).toEqual([]);
      passMinute();
      await says(card, "Your video is ready.");
      await plays(card, chat, "The final video");
      const accounts = await card.getByRole("group", { name: "Accounts" }).count();
      expect(start.runsTasks === true || accounts === 0).toBe(true);
      if (start.holdsResult === true) await chat.sendResult();
      await publishOn(card, 'TikTok "@sandbox.clips"');

      await card.getByRole("button", { name: "TikTok: posted" }).waitFor();
      expect(searches(chat)).toHaveLength(1);
      expect(chat.sent.some(isRead)).toBe(start.hostCapabilities === undefined);
      expect(chat.errors).toEqual([]);
    },
  );

  test.each([
    ["was ordered before", { ...video(OTHER_JOB_ID, "processing", WANTED), createdAt: HOUR_AGO }],
    ["is of unknown age", { ...video(OTHER_JOB_ID, "processing", WANTED), createdAt: null }],
    ["has another topic", video(OTHER_JOB_ID, "processing", `${WANTED} and blue`)],
    ["has no topic", video(OTHER_JOB_ID, "processing")],
  ])(
    "a card without a result takes no video that %s, and finds its own when it is listed",
    async (_, listed) => {
      const { chat, list } = await openHeld();
      list(listed);
      const card = await chat.generate(TOPIC);

      await chat.pass(20);
      await expect.poll(() => searches(chat).length, PATIENCE).toBeGreaterThan(1);
      expect(await card.locator("#status").innerText()).toBe("Starting…");
      expect(await card.getByRole("button").count()).toBe(0);

      list(video(JOB_ID, "processing", WANTED), listed);
      await saysInTime(chat, card, "Rendering: 0 of 4 clips ready.");
    },
  );

  test("while the user is asked, the card lists the videos less and less often, showing none", async () => {
    let agree = () => {};
    const agreed = new Promise<void>((resolve) => {
      agree = resolve;
    });
    const { chat, list } = await openHeld({}, { asksUser: true, agreed });
    const earlier = { ...video(OTHER_JOB_ID, "processing", WANTED), createdAt: HOUR_AGO };
    list(earlier);
    const card = await chat.generate(TOPIC);

    await chat.pass(180);
    expect(await card.locator("#status").innerText()).toBe("Starting… If your app asks, answer there.");
    expect(searches(chat).length).toBeLessThanOrEqual(6);
    agree();

    list(video(JOB_ID, "processing", WANTED), earlier);
    await saysInTime(chat, card, "Rendering: 0 of 4 clips ready.");
  });

  test.each([
    ["whatever the white space in it", ` ${WANTED.replace(" ", "\n")}\n`, WANTED],
    ["cut at 80 characters", "salt ".repeat(40), `${"salt ".repeat(40).slice(0, 79)}…`],
    [
      "without what is seen in it",
      `${WANTED} [rain [on black] rock]. Rivers. [a delta]`,
      `${WANTED} . Rivers.`,
    ],
    ["cut in a script of many marks", HINDI, firstSpokenWords(HINDI)],
  ])(
    "a card without a result takes the newest video that renders its topic, %s",
    async (_, topic, listed) => {
      const { chat, list } = await openHeld();
      list(
        video(OTHER_JOB_ID, "processing", "Why the moon is round"),
        video(JOB_ID, "processing", listed),
        video("older", "processing", listed),
      );

      const card = await chat.generate({ topic });

      await saysInTime(chat, card, "Rendering: 0 of 4 clips ready.");
      expect(new Set(chat.sent.filter(isRead))).toEqual(new Set([`resources/read ${JOB_URI}`]));
    },
  );

  test.each<[string, Scripts, (chat: Chat) => Promise<void>, string]>([
    [
      "was cancelled",
      {},
      (chat) => chat.sendCancelled(),
      "The call was cancelled. It is not known whether a video was started.",
    ],
    [
      "has lost its answer",
      { [GENERATE]: "hang up" },
      (chat) => chat.sendResult(),
      "It is not known whether a video was started and credits were spent.",
    ],
  ])(
    "the card of a call that %s says so, and follows its video once that is listed",
    async (_, scripts, end, text) => {
      const { chat, list } = await openHeld(scripts);
      const card = await chat.generate(TOPIC);

      await end(chat);

      await saysInTime(chat, card, text);
      list(video(JOB_ID, "processing", WANTED));
      await saysInTime(chat, card, "Rendering: 0 of 4 clips ready.");
      expect(await card.getByRole("alert").count()).toBe(0);
    },
  );
});

function searches({ sent }: Chat): readonly string[] {
  return sent.filter((line) => line === "tools/call list_videos");
}

function isRead(line: string): boolean {
  return line.includes("faceless://jobs/");
}

/** Moves the stopped time until the card's status line says this. */
async function saysInTime(chat: Chat, card: FrameLocator, text: string): Promise<void> {
  await expect
    .poll(async () => {
      await chat.pass(4);
      return card.locator("#status").innerText();
    }, PATIENCE)
    .toContain(text);
}
