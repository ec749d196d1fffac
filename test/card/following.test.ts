// The card follows its video: as a user of a chat has it, in a real browser, with the real AppBridge, over the built server on stdio.

import { readFileSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { scriptedService, type Scripts } from "../fixtures/scripted-service.ts";
import { BROWSER, type ChatStart } from "./chat.ts";
import {
  choose,
  plays,
  postsOf,
  press,
  publications,
  says,
  secondClick,
  setHidden,
  setOutOfSight,
  useChats,
} from "./user.ts";

const TOPIC = { topic: "Why the sea is salty" };
const DONE_AT_ONCE = { args: ["--sandbox"], env: { FACELESS_SANDBOX_SECONDS: "0" } };
const JOB = "0f4b6f2e-3c1d-4e5a-9b7c-8d6e5f4a3b2c";
const STATUS = `GET /api/v1/status/${JOB}`;
const VIDEO = {
  headers: { "content-type": "video/mp4" },
  body: readFileSync(new URL("../../src/sandbox/media/final.mp4", import.meta.url)),
};

if (BROWSER === undefined)
  process.stderr.write("The tests of the card are skipped without a browser: apt-get install -y chromium.\n");

describe.skipIf(BROWSER === undefined)("the card", () => {
  const open = useChats();

  /** A chat with a service that the test scripts. */
  async function openScripted(scripts: Scripts, { env = {}, ...start }: Partial<ChatStart> = {}) {
    const service = await scriptedService({
      "POST /api/v1/generate": { json: { jobId: JOB, status: "processing" } },
      "GET /api/v1/videos": { json: { videos: [] } },
      ...scripts,
    });
    const account = { FACELESS_API_KEY: "fl_test_key_0123456789", FACELESS_BASE_URL: service.url };
    return { service, chat: await open({ ...start, env: { ...account, ...env } }) };
  }

  test("follows a whole render: clips arrive, the video plays, and two clicks publish it", async () => {
    let nowMs = Date.now();
    const sandbox = await startSandbox({ renderSeconds: 100, now: () => nowMs, requestsPerMinute: 10_000 });
    onTestFinished(() => sandbox.close());
    const account = { FACELESS_API_KEY: sandbox.apiKey, FACELESS_BASE_URL: sandbox.url };
    const chat = await open({ env: { ...account, FACELESS_POLL_SECONDS: "0.5" } });

    const card = await chat.generate({ ...TOPIC, duration: 30, style: "documentary" });
    await says(card, "Rendering: 0 of 4 clips ready.");
    nowMs += 60_000;
    await says(card, "Rendering: 2 of 4 clips ready.");
    await plays(card, chat.page, "Clip 2");
    expect(await card.locator("#topic, #settings").allInnerTexts()).toEqual([
      "Why the sea is salty",
      "30 s · documentary",
    ]);
    nowMs += 60_000;
    await says(card, "Your video is ready.");
    await plays(card, chat.page, "The final video");
    await choose(card, "tiktok @sandbox.clips");
    await choose(card, "instagram @sandbox.reels");
    await press(card, "Publish on tiktok and instagram…");
    await secondClick(card, "Yes, publish on tiktok and instagram now");

    expect(await postsOf(card, 2)).toEqual([
      expect.stringMatching(/^tiktok: published\s+Open$/),
      expect.stringMatching(/^instagram: not published: The instagram access token has expired/),
    ]);
    expect(publications(chat)).toHaveLength(1);
    await card.getByRole("button", { name: "tiktok: public" }).waitFor();
    const told =
      /^The user chose to publish video [\w-]+ in its card\. Published on tiktok\. Not published on instagram/;
    expect(await chat.modelContext()).toEqual([[{ type: "text", text: expect.stringMatching(told) }]]);
    await card.getByRole("listitem").getByRole("button", { name: "Open" }).click();
    expect(await chat.openedLinks()).toEqual([expect.stringMatching(/\/media\/posts\/tiktok\//)]);
    expect(chat.errors).toEqual([]);
  });

  test("is read with the call, before any link is known: the first video of a new user plays", async () => {
    const chat = await open({ ...DONE_AT_ONCE, readsCard: "with the call" });

    const card = await chat.generate(TOPIC);

    await plays(card, chat.page, "The final video");
    expect(chat.errors).toEqual([]);
  });

  test.each<[string, Partial<ChatStart>]>([
    ["strips the structured content of results", { stripsStructuredContent: true }],
    ["lets the card call tools, but read no resources", { hostCapabilities: { serverTools: {} } }],
    ["speaks the modern protocol", { protocol: "modern" }],
  ])("follows the job in a host that %s", async (_, start) => {
    const chat = await open({ ...DONE_AT_ONCE, ...start });

    const card = await chat.generate(TOPIC);

    await says(card, "Your video is ready.");
    await card.getByRole("button", { name: "youtube Sandbox Clips" }).waitFor();
    expect(chat.errors).toEqual([]);
  });

  test("shows no dead buttons in a host that passes nothing on, and says where to ask", async () => {
    const chat = await open({ ...DONE_AT_ONCE, hostCapabilities: {} });

    const card = await chat.generate(TOPIC);

    await says(card, "Started. Ask in the chat how far it is.");
    expect(await card.getByRole("button").count()).toBe(0);
    expect(chat.sent.at(-1)).toBe("resources/read ui://faceless-video/card");
  });

  test("plays but does not publish in a host without serverTools", async () => {
    const chat = await open({ ...DONE_AT_ONCE, hostCapabilities: { serverResources: {}, openLinks: {} } });

    const card = await chat.generate(TOPIC);

    await plays(card, chat.page, "The final video");
    expect(await card.getByRole("button").allInnerTexts()).toEqual(["Open"]);
  });

  test("says so where the host does not open its link", async () => {
    const chat = await open({ ...DONE_AT_ONCE, refusesLinks: true });
    const card = await chat.generate(TOPIC);

    await press(card, "Open");

    await card.getByRole("alert").filter({ hasText: "Your app did not open the link." }).waitFor();
    expect(await chat.openedLinks()).toHaveLength(1);
  });

  test("says of media that the app blocks that it can't play, and opens it; the next card plays it", async () => {
    const media = await scriptedService({ "GET /final.mp4": VIDEO, "GET /1.mp4": VIDEO });
    const [finalVideoUrl, clip] = [`${media.url}/final.mp4`, `${media.url}/1.mp4`];
    const scripts = { [STATUS]: { json: { status: "completed", videoUrls: [clip], finalVideoUrl } } };
    const { chat } = await openScripted(scripts, { readsCard: "with the call" });

    const blocked = await chat.generate(TOPIC);

    await blocked.getByText(/^The final video can't play here/).waitFor();
    expect(await blocked.getByLabel("The final video").isVisible()).toBe(false);
    await blocked.getByRole("button", { name: "Open" }).first().click();
    await blocked.getByText("Clips", { exact: true }).click();
    await blocked.locator("#clips").getByRole("button", { name: "Open" }).click();
    expect(await chat.openedLinks()).toEqual([finalVideoUrl, clip]);
    expect(media.requests).toEqual([]);

    const card = await chat.generate(TOPIC);
    await plays(card, chat.page, "The final video");
  });

  test("plays a link that was signed anew, where the one it knew has expired", async () => {
    let reads = 0;
    const { service, chat } = await openScripted(
      {
        [STATUS]: () => ({
          json: {
            status: "completed",
            videoUrls: [],
            finalVideoUrl: `${service.url}/v.mp4?signed=${++reads}`,
          },
        }),
        "GET /v.mp4": ({ path }) => (path.endsWith("=1") ? { status: 403 } : VIDEO),
      },
      // A call looks anew, where the resource may be some seconds old.
      { hostCapabilities: { serverTools: {} } },
    );

    const card = await chat.generate(TOPIC);

    await plays(card, chat.page, "The final video");
    expect(service.lines("GET /v.mp4")).toContain("GET /v.mp4?signed=1");
  });

  test("says that a link has expired for good, once, and reads no more", async () => {
    const { service, chat } = await openScripted({
      [STATUS]: () => ({
        json: { status: "completed", videoUrls: [], finalVideoUrl: `${service.url}/v.mp4` },
      }),
      "GET /v.mp4": { status: 403 },
    });

    const card = await chat.generate(TOPIC);

    await card
      .getByText(/can't play here: this app may block its host, or its link has expired\.$/)
      .waitFor();
    expect(service.lines("GET /v.mp4")).toHaveLength(1);
  });

  test("plays the clips and the voiceover of a job whose final video is not listed", async () => {
    const { service, chat } = await openScripted({
      [STATUS]: () => ({
        json: {
          status: "completed",
          videoUrls: [`${service.url}/1.mp4`],
          audioUrl: `${service.url}/voice.mp4`,
        },
      }),
      "GET /1.mp4": VIDEO,
      "GET /voice.mp4": VIDEO,
    });

    const card = await chat.generate(TOPIC);

    await says(card, "The clips are ready, the final video follows.");
    await plays(card, chat.page, "Clip 1");
    await plays(card, chat.page, "The voiceover");
    expect(await card.getByLabel("The final video").isVisible()).toBe(false);
  });

  test("says why a job can't be looked up, and what it is that the server no longer watches", async () => {
    const { chat } = await openScripted({
      [STATUS]: { status: 404, json: { error: { code: "not_found" } } },
    });

    const card = await chat.generate(TOPIC);

    await card
      .getByRole("alert")
      .filter({ hasText: /^The video can't be looked up: / })
      .waitFor();
    expect(await card.getByRole("button").count()).toBe(0);
  });

  test("a failed render says that it is refunded, and offers nothing to publish", async () => {
    const chat = await open(DONE_AT_ONCE);

    const card = await chat.generate({ topic: "Why the sea is salty [fail]" });

    await says(card, "The render failed. Its credits are refunded.");
    expect(await card.getByRole("button").count()).toBe(0);
    expect(await card.getByLabel("The final video").isVisible()).toBe(false);
    expect(chat.errors).toEqual([]);
  });

  test("without credits it says that nothing was started, and why", async () => {
    const chat = await open(DONE_AT_ONCE);

    const card = await chat.generate({ topic: "Why the sea is salty [out_of_credits]" });

    await says(card, "No video was started.");
    expect(await card.getByRole("alert").innerText()).toMatch(/out_of_credits, HTTP 402/);
    expect(chat.sent.at(-1)).toBe("resources/read ui://faceless-video/card");
  });

  /** A card of a video that renders for long, in a browser whose time the test moves. */
  async function longRender() {
    const chat = await open({
      args: ["--sandbox"],
      env: { FACELESS_SANDBOX_SECONDS: "3600" },
      stopsTime: true,
    });
    const card = await chat.generate(TOPIC);
    await says(card, /^Rendering/);
    return {
      chat,
      card,
      reads: () => chat.sent.filter((line) => line.includes("faceless://jobs/")).length,
      setHidden: (isHidden: boolean) => setHidden(card, isHidden),
      setOutOfSight: (isOut: boolean) => setOutOfSight(chat, isOut),
    };
  }

  test.each(["setHidden", "setOutOfSight"] as const)(
    "makes no request while it is hidden, and goes on after that: %s",
    async (set) => {
      const { chat, reads, ...render } = await longRender();

      await render[set](true);
      await chat.pass(4);
      const before = reads();
      await chat.pass(24);
      expect(reads()).toBe(before);

      await render[set](false);
      await expect.poll(reads, { timeout: 30_000 }).toBe(before + 1);
    },
  );

  test("makes no request after it was torn down, and loads no more of its media", async () => {
    const { chat, card, reads } = await longRender();

    await chat.tearDown();

    const before = reads();
    await chat.pass(24);
    expect(reads()).toBe(before);
    expect(await card.locator("video[src], audio[src]").count()).toBe(0);
  });
});
