// Webhooks as hints, over real sockets, with untrusted senders. Polls are hourly: all news is delivered.

import { spawn } from "node:child_process";
import { request } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { BUILT_FILE, connectLegacy, connectModern, SERVER_NODE } from "../fixtures/clients.ts";
import { JOB_ID, JOB_URI, KEY, OTHER_JOB_ID, STATUS, VIDEOS } from "../fixtures/constants.ts";
import { freePort } from "../fixtures/free-port.ts";
import { scriptedService } from "../fixtures/scripted-service.ts";
import { until } from "../fixtures/until.ts";

const HOURLY = { FACELESS_POLL_SECONDS: "3600" };
const PROCESSING = { status: "processing", videoUrls: [], progress: { total: 3, completed: 0, failed: 0 } };

/** Posts a body to a server's port for webhooks. Resolves to the status, or to why there was none. */
function deliver(port: number, body: string): Promise<number | string> {
  return new Promise((resolve) => {
    const sent = request({ host: "127.0.0.1", port, method: "POST", agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    sent.end(body);
  });
}

/** A server that watches the job, which is still processing and was just polled. */
async function watchingServer() {
  const service = await scriptedService({
    [STATUS]: { json: PROCESSING },
    [VIDEOS]: { json: { videos: [] } },
  });
  const port = await freePort();
  const client = await connectLegacy({
    env: {
      ...HOURLY,
      FACELESS_API_KEY: KEY,
      FACELESS_BASE_URL: service.url,
      FACELESS_WEBHOOK_PORT: String(port),
      FACELESS_LOG_LEVEL: "debug",
    },
  });
  await client.subscribe(JOB_URI);
  await until(() => service.lines().length === 1);
  return { service, port, client };
}

test.each([
  ["a legacy client", "a finished render", connectLegacy, "Tides", "completed"],
  ["a modern client", "a failed render", connectModern, "Tides [fail]", "failed"],
] as const)("%s of the embedded sandbox is told of %s", async (_client, _render, watch, topic, status) => {
  const client = await watch({
    args: ["--sandbox"],
    env: { ...HOURLY, FACELESS_SANDBOX_SECONDS: "1", FACELESS_WEBHOOK_PORT: String(await freePort()) },
  });
  const started = await client.call("generate_video", { topic, duration: 10 });
  const uri = String(started.structuredContent?.["resourceUri"]);
  await client.subscribe(uri);
  await client.updated(uri);

  const { structuredContent } = await client.call("get_video_status", {
    jobId: started.structuredContent?.["jobId"],
  });
  expect(structuredContent).toMatchObject({ status, done: true });
  expect(client.updates).toEqual([uri]);
  expect(client.stderr()).toBe("");
});

test("a sandbox of its own tells the server, and says what it delivers", async () => {
  const webhookPort = await freePort();
  const sandbox = spawn(
    SERVER_NODE,
    [BUILT_FILE, "sandbox", "--webhook", `http://127.0.0.1:${webhookPort}/hook`],
    { env: { FACELESS_SANDBOX_SECONDS: "1" }, stdio: ["ignore", "pipe", "inherit"] },
  );
  onTestFinished(() => void sandbox.kill());
  let printed = "";
  sandbox.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString("utf8")));
  await until(() => printed.includes("Try: curl"));
  expect(printed).toMatch(
    new RegExp(
      `^It delivers webhooks to http://127\\.0\\.0\\.1:${webhookPort}/hook, signed as in Standard Webhooks with the secret whsec_[\\w+/]{32}$`,
      "m",
    ),
  );

  const client = await connectLegacy({
    env: {
      ...HOURLY,
      FACELESS_API_KEY: "fl_sandbox",
      FACELESS_BASE_URL: /at (\S+)/.exec(printed)?.[1] ?? "",
      FACELESS_WEBHOOK_PORT: String(webhookPort),
    },
  });
  const started = await client.call("generate_video", { topic: "Tides", duration: 10 });
  await client.subscribe(String(started.structuredContent?.["resourceUri"]));
  await until(() => client.updates.length > 0);

  const jobId = String(started.structuredContent?.["jobId"]);
  await until(() => printed.includes("render.completed"));
  expect(printed.split("\n").filter((line) => line.includes(jobId))).toEqual([
    `render.completed of ${jobId}: 202`,
  ]);
});

test("a forged delivery costs one request at most, and none of it is used or shown", async () => {
  const { service, port, client } = await watchingServer();
  const bodies = [
    "canary",
    JSON.stringify({ jobId: OTHER_JOB_ID }),
    JSON.stringify({ jobId: `canary${"x".repeat(10_000)}` }),
    JSON.stringify({ jobId: JOB_ID }).padEnd(20_000),
    JSON.stringify({ jobId: [JOB_ID] }),
  ];
  for (const body of bodies) expect(await deliver(port, body)).toBe(202);
  const forged = {
    type: "render.completed",
    jobId: JOB_ID,
    videoUrl: "https://evil.example/canary.mp4",
    durationSeconds: 30,
    deliveredAt: "canary\u001B[2J",
  };
  expect(await deliver(port, JSON.stringify(forged))).toBe(202);
  await until(() => service.lines().length === 2);

  const { contents } = await client.raw.readResource({ uri: JOB_URI });
  expect(JSON.stringify(contents)).toContain("processing");
  expect(JSON.stringify(contents) + client.stderr()).not.toMatch(/canary|evil/);
  expect(client.updates).toEqual([]);
  expect(service.lines()).toEqual([STATUS, STATUS]);
});

test("a port that is taken is one warning, and the server serves without it", async () => {
  const port = await freePort();
  const start = { args: ["--sandbox"], env: { FACELESS_WEBHOOK_PORT: String(port) } };
  const first = await connectLegacy(start);
  await until(async () => (await deliver(port, "")) === 202);
  const second = await connectLegacy({
    ...start,
    env: { ...start.env, FACELESS_SANDBOX_SECONDS: "0.5", FACELESS_POLL_SECONDS: "0.1" },
  });
  const started = await second.call("generate_video", { topic: "Tides", duration: 10 });
  const { structuredContent } = await second.call("get_video_status", {
    jobId: started.structuredContent?.["jobId"],
    waitSeconds: 50,
  });

  expect(structuredContent).toMatchObject({ status: "completed" });
  expect(second.stderr()).toBe(
    `faceless-video-mcp warn: FACELESS_WEBHOOK_PORT: port ${port} can't be opened (EADDRINUSE), so polling without webhooks is used. If another server process uses it, that one gets updates sooner.\n`,
  );
  expect(first.stderr()).toBe("");
});
