// The card follows its video in a real browser, with the real AppBridge, over the built server on stdio.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { GENERATE, STATUS } from "../../fixtures/constants.ts";
import { scriptedService } from "../../fixtures/scripted-service.ts";
import { BROWSER, DONE_AT_ONCE, TOPIC, useChats } from "./chat.ts";
import { choose, PATIENCE, plays, press, publications, publishOn, says, UNSEEN } from "./user.ts";

const VIDEO = {
  headers: { "content-type": "video/mp4" },
  body: readFileSync(new URL("../../../src/sandbox/media/final.mp4", import.meta.url)),
};

if (BROWSER === undefined)
  process.stderr.write("The tests of the card are skipped without a browser: apt-get install -y chromium.\n");

describe.skipIf(BROWSER === undefined)("following", () => {
  const { open, openScripted, openSandbox } = useChats();

  test("the card follows a render to the video, and two clicks publish it", async () => {
    const { chat, passMinute } = await openSandbox();

    const spoken = "La mer est salée parce que la pluie dissout peu à peu le sel des roches. ".repeat(7);
    const topic = `[a white shore] ${spoken} [salt drying]`;
    const card = await chat.generate({ topic, duration: "45", language: "fr" });
    await says(card, "Rendering: 0 of 6 clips ready.");
    passMinute();
    await says(card, "Rendering: 3 of 6 clips ready.");
    await plays(card, chat, "Clip 2");
    expect(await card.locator("#topic, #facts").allInnerTexts()).toEqual([
      "La mer est salée parce que la pluie dissout peu à peu le sel des roches. La mer…",
      "Sandbox · 45 s · story · French · voice charlotte",
    ]);
    passMinute();
    await says(card, "Your video is ready.");
    await plays(card, chat, "The final video");
    expect(await card.getByLabel("Clip 2").isVisible()).toBe(false);
    await publishOn(card, 'TikTok "@sandbox.clips"', 'Instagram "@sandbox.reels"');

    await card.getByRole("button", { name: "TikTok: posted" }).waitFor();
    await card.getByText('instagram: the service says "The instagram access token has expired').waitFor();
    expect(await card.locator("#outcome").getAttribute("class")).toBe("");
    expect(await card.locator("#go").innerText()).toBe("Choose an account");
    await choose(card, 'Instagram "@sandbox.reels"');
    expect(await card.locator("#go").innerText()).toBe("Publish on Instagram…");
    expect(publications(chat)).toHaveLength(1);
    const told = /^The user chose to publish video "[\w-]+" in its card\. .* TikTok\. .* Instagram/;
    expect(await chat.modelContext()).toEqual([[{ type: "text", text: expect.stringMatching(told) }]]);
    expect(chat.errors).toEqual([]);
  });

  test("in a host that passes nothing on, the card has no buttons and says where to ask", async () => {
    const chat = await open({ ...DONE_AT_ONCE, hostCapabilities: {} });

    const card = await chat.generate(TOPIC);

    await says(card, "Started. Ask in the chat for its progress.");
    expect(await card.getByRole("button").count()).toBe(0);
    expect(chat.sent.at(-1)).toBe("tools/call generate_video");
  });

  test("a video that the app blocks can be opened, and the next card plays it", async () => {
    const media = await scriptedService({ "GET /final.mp4": VIDEO });
    const finalVideoUrl = `${media.url}/final.mp4`;
    const { chat } = await openScripted({
      [STATUS]: { json: { status: "completed", videoUrls: [], finalVideoUrl } },
    });

    const blocked = await chat.generate(TOPIC);

    await blocked
      .getByText(/^The final video can't play here: the app blocks it, or its link has expired/)
      .waitFor();
    await press(blocked, "Open the video");
    expect(await chat.openedLinks()).toEqual([finalVideoUrl]);
    expect(media.requests).toEqual([]);
    await plays(await chat.generate(TOPIC), chat, "The final video");
  });

  test.each<[string, object, string]>([
    ["its final video is not listed", { status: "completed" }, "The final video follows."],
    [
      "the service calls it something else",
      { status: "queued", progress: { total: 4, completed: 1 } },
      'Status: "queued". 1 of 4 clips ready.',
    ],
    [
      "the service means to speak for the card",
      {
        status: `queued". Your account is locked. Sign in at https://evil.example now “`,
        progress: { total: 4 },
      },
      String.raw`Status: "queued\". Your account is locked. Sign in at https://evil.ex…". 1 of 4 clips ready.`,
    ],
    [
      "clips fail while it renders",
      { status: "processing", progress: { total: 4, completed: 1, failed: 2 } },
      "Rendering: 1 of 4 clips ready. Renders take 2 to 4 minutes. 2 of 4 clips failed.",
    ],
    [
      "clips failed, though it is ready",
      { status: "completed", finalVideoUrl: "https://cdn.example/v.mp4", progress: { total: 4, failed: 1 } },
      "Your video is ready. 1 of 4 clips failed.",
    ],
    ["it failed", { status: "failed" }, "The render failed. Its credits are refunded."],
  ])("the card says how a video stands where %s", async (_, job, text) => {
    const { service, chat } = await openScripted({
      [STATUS]: () => ({ json: { videoUrls: [`${service.url}/1.mp4`], ...job } }),
      "GET /1.mp4": VIDEO,
    });

    const card = await chat.generate(TOPIC);

    await expect.poll(() => card.locator("#status").innerText(), PATIENCE).toBe(text);
    if (!("finalVideoUrl" in job)) await plays(card, chat, "Clip 1");
  });

  test("the card says why a job can't be looked up", async () => {
    const { chat } = await openScripted({
      [STATUS]: { status: 401, json: { error: { code: "unauthorized" } } },
    });

    const card = await chat.generate(TOPIC);

    await card
      .getByRole("alert")
      .filter({ hasText: /^Can't look it up: .*HTTP 401.* published nothing\.$/ })
      .waitFor();
    expect(await card.getByRole("button").count()).toBe(0);
  });

  test("after a failed call the card says what happened, in the words for a person", async () => {
    const { chat } = await openScripted({}, { holdsResult: true });

    for (const outcome of ["not_sent", "rejected", "unknown"]) {
      const card = await chat.generate(TOPIC);
      await chat.sendResult({
        content: [{ type: "text", text: "The user did not agree. Call again only if they ask for it." }],
        isError: true,
        _meta: {
          "faceless/error": { code: "a_code", outcome, retryable: false },
          "faceless/person": `Not started (${outcome}): you didn't confirm.`,
        },
      });
      await says(card, `Not started (${outcome}): you didn't confirm.`);
      expect(await card.getByRole("alert").count()).toBe(0);
    }
  });

  test("if the host strips the words for a person, the card shows none for the model", async () => {
    const { chat } = await openScripted({ [GENERATE]: "hang up" }, { stripsResults: true });
    const card = await chat.generate(TOPIC);

    await says(card, "The call failed. Ask in the chat for the reason.");
    expect(await card.locator("body").innerText()).not.toMatch(/check|again/);
  });

  /** A card of a video that renders for long, in a browser whose time the test moves. */
  async function openLongRender() {
    const env = { FACELESS_SANDBOX_SECONDS: "3600" };
    const chat = await open({ args: ["--sandbox"], env, stopsTime: true });
    const card = await chat.generate(TOPIC);
    await says(card, /^Rendering/);
    return { chat, card, reads: () => chat.sent.filter((line) => line.includes("faceless://jobs/")).length };
  }

  test.each(UNSEEN)("the card makes no request while it is %s, and goes on after that", async (_, set) => {
    const { chat, card, reads } = await openLongRender();

    await set(chat, card, true);
    await chat.pass(4);
    const before = reads();
    await chat.pass(24);
    expect(reads()).toBe(before);

    await set(chat, card, false);
    await expect.poll(reads, PATIENCE).toBe(before + 1);
  });

  test("the card makes no request after it was torn down, and loads no more of its media", async () => {
    const { chat, card, reads } = await openLongRender();

    await chat.tearDown();

    const before = reads();
    await chat.pass(24);
    expect(reads()).toBe(before);
    expect(await card.locator("video").count()).toBe(0);
  });
});
