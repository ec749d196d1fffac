// Orders and posts with the sandbox's key are practice. The journal that they share with the account's orders
// and posts separates the two.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readConfig, NO_FLAGS } from "../../src/config.ts";
import { runCall } from "../../src/commands/call.ts";
import { runHistory } from "../../src/commands/history.ts";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { connectLegacy, textOf } from "../fixtures/clients.ts";
import { GENERATE, JOB_ID, KEY, PUBLISH, STATUS, TIDES, VIDEOS } from "../fixtures/constants.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { computer } from "../fixtures/host.ts";
import { scriptedService } from "../fixtures/scripted-service.ts";

const SANDBOX_KEY = "fl_sandbox";
const READY = { status: "completed", videoUrls: [], finalVideoUrl: "https://media.example/final.mp4" };
const POST = { jobId: JOB_ID, platforms: ["tiktok"] };
const posted = (url: string) => ({ json: { results: [{ platform: "tiktok", ok: true, url }] } });

/** A sandbox of its own and the service, with one journal for both. */
async function twoServices() {
  const service = await scriptedService({
    [GENERATE]: { json: { jobId: JOB_ID, status: "processing" } },
    [PUBLISH]: posted("https://tiktok.example/1"),
    [STATUS]: { json: READY },
    [VIDEOS]: { json: { videos: [{ jobId: JOB_ID, ...READY }] } },
  });
  const sandbox = await startSandbox({ renderSeconds: 0 });
  const folder = temporaryFolder();
  const env = (key: string) => ({
    FACELESS_API_KEY: key,
    FACELESS_BASE_URL: key === KEY ? service.url : sandbox.url,
    FACELESS_STATE_DIR: folder,
    FACELESS_CONFIRM_PUBLISH: "off",
    FACELESS_CONFIRM_GENERATE: "off",
    FACELESS_MAX_GENERATIONS: "1",
  });
  const start = (key: string) => connectLegacy({ env: env(key) });
  return { service, sandbox, folder, env, start };
}

test("a sandbox order neither answers the same order to the account nor counts toward its limit", async () => {
  const { service, sandbox, start } = await twoServices();
  const practice = await start(SANDBOX_KEY);
  const practised = await practice.call("generate_video", TIDES);
  const client = await start(KEY);

  const ordered = await client.call("generate_video", TIDES);

  expect(ordered.structuredContent).toMatchObject({ jobId: JOB_ID });
  expect(ordered.structuredContent).not.toHaveProperty("alreadyStarted");
  expect(service.lines(GENERATE)).toHaveLength(1);
  // And the other way round.
  expect((await practice.call("generate_video", TIDES)).structuredContent).toMatchObject({
    jobId: practised.structuredContent?.["jobId"],
    alreadyStarted: true,
  });
  await sandbox.close();
});

test("after a restart of the sandbox the same order makes a new video, which --wait follows to its end", async () => {
  const { sandbox, env } = await twoServices();
  const order = async () => {
    const args = ["generate_video", "--topic", TIDES.topic, "--yes", "--wait", "--json"];
    const settings = { ...env(SANDBOX_KEY), FACELESS_MAX_GENERATIONS: "" };
    const { host, output } = computer({ env: settings });
    const code = await runCall(args, host);
    return { code, ...JSON.parse(String(output.read())) };
  };
  const lost = await order();
  await sandbox.close();
  const restarted = await startSandbox({ renderSeconds: 0, port: Number(new URL(sandbox.url).port) });

  const again = await order();

  expect(again).toMatchObject({ code: 0, status: "completed" });
  expect(again).not.toHaveProperty("alreadyStarted");
  expect(again.jobId).not.toBe(lost.jobId);
  await restarted.close();
});

test("--wait doesn't follow a job that its sandbox doesn't know any more", async () => {
  const { sandbox, env } = await twoServices();
  const call = async (...args: string[]) => {
    const { host, output } = computer({ env: env(SANDBOX_KEY) });
    return { code: await runCall([...args, "--json"], host), ...JSON.parse(String(output.read())) };
  };
  const { jobId } = await call("generate_video", "--topic", TIDES.topic, "--yes");
  await sandbox.close();
  const restarted = await startSandbox({ renderSeconds: 0, port: Number(new URL(sandbox.url).port) });

  expect(await call("get_video_status", "--job-id", jobId, "--wait")).toMatchObject({
    code: 1,
    error: { code: "not_found", retryable: false },
  });
  await restarted.close();
});

test("the account's lists and resources show no sandbox orders, and the sandbox's show none of the account's", async () => {
  const { sandbox, start } = await twoServices();
  const practice = await start(SANDBOX_KEY);
  const practised = await practice.call("generate_video", { topic: "Practice" });
  const client = await start(KEY);
  await client.call("generate_video", TIDES);

  const lists = await Promise.all(
    [client, practice].map(async (one) => [
      textOf(await one.call("list_videos")),
      JSON.stringify(await one.raw.listResources()),
    ]),
  );

  for (const text of lists[0] ?? []) {
    expect(text).not.toContain("Practice");
    expect(text).not.toContain(String(practised.structuredContent?.["jobId"]));
  }
  for (const text of lists[1] ?? []) expect(text).not.toContain(JOB_ID);
  await sandbox.close();
});

test("with the sandbox's key every text is the sandbox's, wherever it runs", async () => {
  const { sandbox, start } = await twoServices();
  const practice = await start(SANDBOX_KEY);

  expect(practice.raw.getInstructions()).toContain("A sandbox: nothing is rendered, charged or posted.");
  expect(textOf(await practice.call("generate_video", TIDES))).toContain("This is a sandbox");
  await sandbox.close();
});

test("history lists the account's orders or the sandbox's, never both", async () => {
  const { sandbox, start, env } = await twoServices();
  for (const key of [SANDBOX_KEY, KEY]) await (await start(key)).call("generate_video", TIDES);
  await (await start(KEY)).call("publish_video", POST);
  const show = async (shown: Readonly<Record<string, string>>) => {
    const { host, stdout } = computer({ env: shown, homeDir: "/" });
    expect(await runHistory(true, host)).toBe(0);
    return JSON.parse(stdout());
  };
  const { FACELESS_API_KEY: _, ...unnamed } = env(KEY);

  const [account, withoutKey, practice] = [
    await show(env(KEY)),
    await show(unnamed),
    await show(env(SANDBOX_KEY)),
  ];

  expect(account.entries.map(({ operation }: { operation: string }) => operation)).toEqual([
    "publish",
    "generate",
  ]);
  expect(withoutKey).toEqual(account);
  expect(practice.entries).toMatchObject([{ operation: "generate", topic: TIDES.topic, sandbox: true }]);
  expect(practice.summary).toMatch(/^Orders and posts of the sandbox/);
  await sandbox.close();
});

test("entries without a mark are the account's, and sandbox entries carry one", async () => {
  const { sandbox, folder, start } = await twoServices();
  for (const key of [SANDBOX_KEY, KEY]) await (await start(key)).call("generate_video", TIDES);

  const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"));
  const marks = lines.filter(Boolean).map((line) => JSON.parse(line).sandbox);
  expect(marks).toEqual([true, true, undefined, undefined]);
  await sandbox.close();
});

test.each([
  ["--sandbox", {}, { sandbox: true }, true],
  ["its key", { FACELESS_API_KEY: SANDBOX_KEY, FACELESS_BASE_URL: "http://127.0.0.1:1" }, {}, false],
] as const)("%s means the sandbox", (_, env, flags, startsSandbox) => {
  expect(readConfig(env, { ...NO_FLAGS, ...flags }, "/home/user")).toMatchObject({
    sandbox: true,
    startsSandbox,
    problems: [],
  });
});
