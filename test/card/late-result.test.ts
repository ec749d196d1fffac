// The card of a call that is a task: VS Code gives it the result only when the video is ready, so the card looks for its job itself.

import type { FrameLocator } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { scriptedService, type Scripts } from "../fixtures/scripted-service.ts";
import { BROWSER, type Chat, type ChatStart } from "./chat.ts";
import { plays, says, setHidden, setOutOfSight, useChats } from "./user.ts";

const TOPIC = "Why the sea is salty";
const JOB = "0f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c";
const OTHER = "1f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c";
const SEARCH = "tools/call list_videos";
const PATIENCE = { timeout: 30_000 };

const video = (jobId: string, status: string, topic?: string) => ({
  jobId,
  status,
  ...(topic !== undefined && { topic }),
});
const rendering = (total: number) => ({
  json: { status: "processing", videoUrls: [], progress: { total, completed: 0 } },
});

describe.skipIf(BROWSER === undefined)("the card of a call whose result is late", () => {
  const open = useChats();

  /** Its time stands still; JOB is started, has 4 clips and is listed as the test says; OTHER has 6 clips. */
  async function openScripted(scripts: Scripts, start: Partial<ChatStart> = {}) {
    const service = await scriptedService({
      "POST /api/v1/generate": { json: { jobId: JOB, status: "processing" } },
      "GET /api/v1/videos": { json: { videos: [] } },
      [`GET /api/v1/status/${JOB}`]: rendering(4),
      [`GET /api/v1/status/${OTHER}`]: rendering(6),
      ...scripts,
    });
    const env = { FACELESS_API_KEY: "fl_test_key_0123456789", FACELESS_BASE_URL: service.url };
    const chat = await open({ holdsResult: true, stopsTime: true, ...start, env });
    const list = (...videos: readonly object[]) => service.on("GET /api/v1/videos", { json: { videos } });
    return { service, chat, list };
  }

  test.each<[string, Partial<ChatStart>]>([
    ["speaks a legacy protocol", {}],
    ["speaks the modern protocol", { protocol: "modern" }],
    ["strips the structured content of results", { stripsStructuredContent: true }],
    ["reads no resources for it", { hostCapabilities: { serverTools: {}, openLinks: {} } }],
  ])(
    "in a host that %s shows the clips and the video, and can publish it once the result is there",
    async (_, start) => {
      let nowMs = Date.now();
      const sandbox = await startSandbox({
        renderSeconds: 100,
        now: () => nowMs,
        requestsPerMinute: 10_000,
      });
      onTestFinished(() => sandbox.close());
      const account = { FACELESS_API_KEY: sandbox.apiKey, FACELESS_BASE_URL: sandbox.url };
      const env = { ...account, FACELESS_POLL_SECONDS: "0.5" };
      const chat = await open({ ...start, env, holdsResult: true });

      // Longer than the list shows.
      const card = await chat.generate({
        topic: `${TOPIC}. ${"Rivers carry salt. ".repeat(20)}`,
        duration: 30,
      });
      await says(card, "Rendering: 0 of 4 clips ready.");
      nowMs += 60_000;
      await says(card, "Rendering: 2 of 4 clips ready.");
      await plays(card, chat.page, "Clip 2");
      nowMs += 60_000;
      await says(card, "Your video is ready.");
      await plays(card, chat.page, "The final video");
      expect(await card.getByRole("button").allInnerTexts()).toEqual(["Open"]);
      await chat.sendResult();

      await card.getByRole("button", { name: "youtube Sandbox Clips" }).waitFor();
      expect(await statusOf(card)).toBe("Your video is ready.");
      expect(searches(chat)).toHaveLength(1);
      expect(chat.errors).toEqual([]);
    },
  );

  test.each<[string, readonly object[], string]>([
    ["has ended", [video(OTHER, "completed", TOPIC), video(OTHER, "failed", TOPIC)], "processing"],
    ["has ended, and whose list lags behind", [video(OTHER, "processing", TOPIC)], "completed"],
    ["has another topic", [video(OTHER, "processing", `${TOPIC} and blue`)], "processing"],
    ["has a topic that only begins like it", [video(OTHER, "processing", "Why…")], "processing"],
    ["has no topic", [video(OTHER, "queued")], "processing"],
  ])("takes no video that %s, and finds its own when it is listed", async (_, listed, status) => {
    const finalVideoUrl = "https://cdn.example/other.mp4";
    const { chat, list } = await openScripted({
      [`GET /api/v1/status/${OTHER}`]: { json: { status, videoUrls: [], finalVideoUrl } },
    });
    list(...listed);
    const card = await chat.generate({ topic: TOPIC });

    await chat.pass(20);
    await expect.poll(() => searches(chat).length, PATIENCE).toBeGreaterThan(1);
    expect(await statusOf(card)).toBe("Starting…");
    expect(await card.getByRole("button").count()).toBe(0);

    list(video(JOB, "processing", TOPIC), ...listed);
    await saysInTime(chat, card, "Rendering: 0 of 4 clips ready.");
  });

  test("takes the newest that renders its topic, whatever the white space in it", async () => {
    const { chat, list } = await openScripted({});
    list(
      video(OTHER, "processing", "Why the moon is round"),
      video(JOB, "processing", TOPIC),
      video("older", "processing", TOPIC),
    );

    const card = await chat.generate({ topic: ` ${TOPIC.replace(" ", "\n")}\n` });

    await saysInTime(chat, card, "Rendering: 0 of 4 clips ready.");
    const reads = chat.sent.filter((line) => line.includes("faceless://jobs/"));
    expect(new Set(reads)).toEqual(new Set([`resources/read faceless://jobs/${JOB}`]));
  });

  test("a result that names another job wins: nothing of the job that was found stays", async () => {
    const { service, chat, list } = await openScripted({
      [`GET /api/v1/status/${OTHER}`]: () => ({
        json: {
          status: "processing",
          videoUrls: [`${service.url}/1.mp4`],
          progress: { total: 6, completed: 1 },
        },
      }),
    });
    list(video(OTHER, "processing", TOPIC));
    const card = await chat.generate({ topic: TOPIC });
    await saysInTime(chat, card, "Rendering: 1 of 6 clips ready.");
    await card.getByText("Clips", { exact: true }).waitFor();

    await chat.sendResult();

    await saysInTime(chat, card, "Rendering: 0 of 4 clips ready.");
    expect(await card.getByText("Clips", { exact: true }).isVisible()).toBe(false);
    expect(await card.locator("video[src], audio[src]").count()).toBe(0);
    const before = chat.sent.filter(isOfCard).length;
    await chat.pass(24);
    const reads = chat.sent.filter(isOfCard).slice(before);
    expect(new Set(reads)).toEqual(new Set([`resources/read faceless://jobs/${JOB}`]));
  });

  test("a result that says that nothing was started ends it all", async () => {
    const { chat, list } = await openScripted({
      "POST /api/v1/generate": { status: 402, json: { error: { code: "out_of_credits", message: "None." } } },
    });
    list(video(OTHER, "processing", TOPIC));
    const card = await chat.generate({ topic: TOPIC });
    await saysInTime(chat, card, "Rendering: 0 of 6 clips ready.");

    await chat.sendResult();

    await says(card, "No video was started.");
    expect(await card.getByRole("alert").innerText()).toMatch(/out_of_credits/);
    expect(await card.getByRole("progressbar").count()).toBe(0);
    const before = chat.sent.filter(isOfCard);
    await chat.pass(24);
    expect(chat.sent.filter(isOfCard)).toEqual(before);
  });

  /** A card that has looked in vain, more than once. */
  async function openSearching() {
    const { chat } = await openScripted({});
    const card = await chat.generate({ topic: TOPIC });
    await chat.pass(20);
    await expect.poll(() => searches(chat).length, PATIENCE).toBeGreaterThan(1);
    return { chat, card };
  }

  test.each<[string, (chat: Chat, card: FrameLocator, isOut: boolean) => Promise<void>]>([
    ["hidden", (_, card, isHidden) => setHidden(card, isHidden)],
    ["out of sight", (chat, _, isOut) => setOutOfSight(chat, isOut)],
  ])("does not look while it is %s, and goes on after that", async (_, set) => {
    const { chat, card } = await openSearching();

    await set(chat, card, true);
    await chat.pass(8);
    const before = searches(chat).length;
    await chat.pass(60);
    expect(searches(chat)).toHaveLength(before);

    await set(chat, card, false);
    await expect.poll(() => searches(chat).length, PATIENCE).toBeGreaterThan(before);
  });

  test.each<[string, (chat: Chat) => Promise<void>]>([
    ["it was torn down", (chat) => chat.tearDown()],
    ["the call was cancelled", (chat) => chat.sendCancelled()],
    ["the result came", (chat) => chat.sendResult()],
  ])("does not look any more after %s", async (_, end) => {
    const { chat, card } = await openSearching();

    await end(chat);
    await setHidden(card, true);
    await setHidden(card, false);

    await chat.pass(8);
    const before = searches(chat).length;
    await chat.pass(60);
    expect(searches(chat)).toHaveLength(before);
  });

  test.each<[string, Partial<ChatStart>]>([
    ["passes nothing on", { hostCapabilities: {} }],
    ["lets it call no tools", { hostCapabilities: { serverResources: {} } }],
    ["gives the result in time", { holdsResult: false }],
  ])("does not look at all in a host that %s", async (_, start) => {
    const { chat } = await openScripted({}, start);
    await chat.generate({ topic: TOPIC });

    await chat.pass(60);

    expect(searches(chat)).toEqual([]);
    expect(chat.errors).toEqual([]);
  });
});

function searches({ sent }: Chat): readonly string[] {
  return sent.filter((line) => line === SEARCH);
}

/** Requests that a card makes of its own accord. */
function isOfCard(line: string): boolean {
  return line === SEARCH || line.includes("faceless://jobs/") || line.includes("get_video_status");
}

async function statusOf(card: FrameLocator): Promise<string> {
  return card.locator("#status").innerText();
}

/** Moves the stopped time until the card's status line says this. */
async function saysInTime(chat: Chat, card: FrameLocator, text: string): Promise<void> {
  await expect
    .poll(async () => {
      await chat.pass(4);
      return statusOf(card);
    }, PATIENCE)
    .toContain(text);
}
