// A restarted server still knows what it must, whatever has happened to its disk.

import { mkdirSync, readdirSync, renameSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { connectLegacy, textOf } from "../fixtures/clients.ts";
import { GENERATE, JOB_ID, KEY, PUBLISH, STATUS, VIDEOS } from "../fixtures/constants.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { envelope, type Reply, scriptedService, type Scripts } from "../fixtures/scripted-service.ts";

const TIDES = { topic: "The “sea’s” tides 🌊 — 潮. [the sea, blue light]", duration: 20 };
const POST = { jobId: JOB_ID, platforms: ["tiktok"] };
const STARTED = { json: { jobId: JOB_ID, status: "processing" } };
const READY = { status: "completed", videoUrls: [], finalVideoUrl: "https://media.example/final.mp4" };
const POSTED = { platform: "tiktok", ok: true, url: "https://tiktok.example/1" };

/** A service, and a function that starts a server for it with this journal. */
async function computer(folder: string, scripts: Scripts = {}) {
  const rest = await scriptedService({
    [GENERATE]: STARTED,
    [PUBLISH]: { json: { results: [POSTED] } },
    [STATUS]: { json: READY },
    [VIDEOS]: { json: { videos: [{ jobId: JOB_ID, ...READY }] } },
    ...scripts,
  });
  const env = { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: rest.url, FACELESS_STATE_DIR: folder };
  return {
    start: () => connectLegacy({ env }),
    sent: () => [GENERATE, PUBLISH].map((route) => rest.lines(route).length),
  };
}

test("a restarted server neither orders nor posts anything twice, and still knows both", async () => {
  const { start, sent } = await computer(temporaryFolder());
  const first = await start();
  await first.call("generate_video", TIDES);
  await first.call("publish_video", POST);
  const again = await start();

  const ordered = await again.call("generate_video", TIDES);
  const posted = await again.call("publish_video", POST);
  const status = await again.call("get_video_status", { jobId: JOB_ID });

  expect(ordered.structuredContent).toMatchObject({ jobId: JOB_ID, alreadyStarted: true });
  expect(posted.structuredContent).toMatchObject({ results: [{ ...POSTED, alreadyPublished: true }] });
  expect(status.structuredContent).toMatchObject({
    arguments: TIDES,
    publishedTo: [{ platform: "tiktok", url: POSTED.url }],
  });
  expect(sent()).toEqual([1, 1]);
});

/** A journal whose file takes no outcome once a request is answered, until it is put back. */
function breakableJournal(folder: string) {
  const away = join(temporaryFolder(), "away");
  let file = "";
  return {
    answering: (reply: Reply) => () => {
      file = join(folder, readdirSync(folder)[0] ?? "");
      renameSync(file, away);
      // A folder can't be written like a file.
      mkdirSync(file);
      return reply;
    },
    putBack(): void {
      rmdirSync(file);
      renameSync(away, file);
    },
  };
}

test.each([
  ["of an order", "generate_video", TIDES, STARTED],
  ["that refuses an order", "generate_video", TIDES, envelope(402, "out_of_credits", "None left.")],
  ["of a post", "publish_video", POST, { json: { results: [POSTED] } }],
] as const)("a result says that the journal did not take the answer %s", async (_, tool, args, reply) => {
  const folder = temporaryFolder();
  const { answering, putBack } = breakableJournal(folder);
  const { start } = await computer(folder, { [GENERATE]: answering(reply), [PUBLISH]: answering(reply) });
  const client = await start();

  expect(textOf(await client.call(tool, args))).toMatch(
    /The journal can't be written \(EISDIR: .+\), so it doesn't have this outcome yet\. Keep this answer: a later call may not know it\. Tell the user: put the files that this folder holds in its place\./,
  );
  putBack();
  await client.call("list_videos");
  expect(textOf(await client.call("list_videos"))).not.toContain("The journal");
});

test("an answer that the disk did not take is known to every server once the disk takes it", async () => {
  const folder = temporaryFolder();
  const { answering, putBack } = breakableJournal(folder);
  const { start, sent } = await computer(folder, { [GENERATE]: answering(STARTED) });
  const first = await start();
  await first.call("generate_video", TIDES);
  putBack();
  await first.call("list_videos");

  const ordered = await (await start()).call("generate_video", TIDES);

  expect(ordered.structuredContent).toMatchObject({ jobId: JOB_ID, alreadyStarted: true });
  expect(sent()).toEqual([1, 0]);
});

test("an answer that the disk did not take is written by a server whose client leaves at once", async () => {
  const folder = temporaryFolder();
  const { answering, putBack } = breakableJournal(folder);
  const { start, sent } = await computer(folder, { [GENERATE]: answering(STARTED) });
  const first = await start();
  await first.call("generate_video", TIDES);
  putBack();
  await first.raw.close();

  await expect
    .poll(async () => (await (await start()).call("generate_video", TIDES)).structuredContent)
    .toMatchObject({ jobId: JOB_ID, alreadyStarted: true });
  expect(sent()).toEqual([1, 0]);
});

test("nothing is ordered while the folder that the user has set isn't mounted, and the text names it", async () => {
  const folder = join(temporaryFolder(), "mounted later");
  const { start, sent } = await computer(folder);
  const client = await start();

  const refused = await client.call("generate_video", TIDES);
  expect(refused._meta?.["faceless/error"]).toMatchObject({
    code: "journal_unreadable",
    outcome: "not_sent",
  });
  expect(textOf(refused)).toContain(
    `can't be read (ENOENT: ${folder}). This call started no video and spent no credits. Calling again is safe. Tell the user: create that folder, or mount the disk that holds it, then call again.`,
  );
  expect(sent()).toEqual([0, 0]);
  mkdirSync(folder);

  expect((await client.call("generate_video", TIDES)).structuredContent).toMatchObject({ jobId: JOB_ID });
});
