// Webhooks as hints, over real sockets. Polls are hourly: all news is delivered. Forged ones are in
// test/network/webhook-receiver.test.ts and test/pure/poller.test.ts.

import { spawn } from "node:child_process";
import { expect, onTestFinished, test } from "vitest";
import { BUILT_FILE, connectLegacy, connectModern, SERVER_NODE } from "../fixtures/clients.ts";
import { freePort } from "../fixtures/free-port.ts";
import { scriptedService } from "../fixtures/scripted-service.ts";
import { until } from "../fixtures/until.ts";

const HOURLY = { FACELESS_POLL_SECONDS: "3600" };

test.each([
  ["a legacy client", "a finished render", connectLegacy, "Tides", "completed"],
  ["a modern client", "a failed render", connectModern, "Tides [fail]", "failed"],
] as const)(
  "with the embedded sandbox, %s is notified of %s",
  async (_client, _render, watch, topic, status) => {
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
  },
);

test("a separate sandbox delivers webhooks to the server, and logs each delivery", async () => {
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
  const told =
    /^It delivers webhooks to (\S+), signed as in Standard Webhooks with the secret whsec_[\w+/]{32}$/m;
  expect(told.exec(printed)?.[1]).toBe(`http://127.0.0.1:${webhookPort}/hook`);

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

test("a webhook port that is taken causes one warning, and the server runs without it", async () => {
  const { port } = await scriptedService();
  const client = await connectLegacy({
    args: ["--sandbox"],
    env: {
      FACELESS_WEBHOOK_PORT: String(port),
      FACELESS_SANDBOX_SECONDS: "0.5",
      FACELESS_POLL_SECONDS: "0.1",
    },
  });
  const started = await client.call("generate_video", { topic: "Tides", duration: 10 });
  const jobId = started.structuredContent?.["jobId"];
  const ended = await client.call("get_video_status", { jobId, waitSeconds: 50 });

  expect(ended.structuredContent).toMatchObject({ status: "completed" });
  expect(client.stderr()).toBe(
    `faceless-video-mcp warn: FACELESS_WEBHOOK_PORT: port ${port} can't be opened (EADDRINUSE), so polling without webhooks is used. If another server process uses it, that one gets updates sooner.\n`,
  );
});
