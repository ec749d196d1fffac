// Sends JSON-RPC over stdio as real clients write it, to the server from src in this process.

import { expect, test } from "vitest";
import { GENERATE, JOB_ID, KEY, ON_TIKTOK, PUBLISH, STATUS, VIDEOS } from "../fixtures/constants.ts";
import { startLocal } from "../fixtures/local-server.ts";
import { connectRaw } from "../fixtures/raw-server.ts";
import { scriptedService } from "../fixtures/scripted-service.ts";
import { temporaryFolder } from "../fixtures/folder.ts";

const SANDBOX = { args: ["--sandbox"] };

test("a client that writes its unset fields as null can list, call, read and ask for a prompt", async () => {
  const server = connectRaw(startLocal(SANDBOX));
  const { result } = await server.ask("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: { experimental: null, roots: null, sampling: null, elicitation: null },
    clientInfo: { name: "go-client", title: null, version: "1" },
    _meta: null,
  });
  server.send({ jsonrpc: "2.0", id: null, method: "notifications/initialized", params: null });

  expect(result).toMatchObject({ protocolVersion: "2025-11-25" });
  const lists = ["tools/list", "prompts/list", "resources/list"].map((method) =>
    server.ask(method, { cursor: null, _meta: null }),
  );
  for (const { error } of await Promise.all(lists)) expect(error).toBeUndefined();
  const call = { name: "list_connected_platforms", arguments: null, _meta: { progressToken: null } };
  expect((await server.ask("tools/call", call)).result).toHaveProperty("structuredContent.platforms");
  const order = { topic: "The tide comes in.", duration: null, voice: null };
  const { result: ordered } = await server.ask("tools/call", { name: "generate_video", arguments: order });
  expect(ordered).toHaveProperty("structuredContent.jobId");
  const prompt = { name: "write_video_topic", arguments: { subject: "Tides", style: null } };
  expect((await server.ask("prompts/get", prompt)).result).toHaveProperty("messages");
});

test("a request without params is answered though its params are null", async () => {
  const server = connectRaw(startLocal(SANDBOX));
  await server.open("legacy");
  const answer = new Promise((resolve) => server.onMessage(resolve));

  server.send({ jsonrpc: "2.0", id: 7, method: "tools/list", params: null });

  expect(await answer).toMatchObject({ id: 7, result: { tools: expect.any(Array) } });
});

test("a user's yes counts from a client that writes an answer's unset error as null", async () => {
  const service = await scriptedService({
    [STATUS]: { json: { status: "completed", videoUrls: [] } },
    [VIDEOS]: { json: { videos: [] } },
    [PUBLISH]: { json: { results: [{ platform: "tiktok", ok: true }] } },
  });
  const env = { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: service.url };
  const server = connectRaw(startLocal({ env }));
  server.onMessage((message) => {
    if (typeof message === "string" || message.method !== "elicitation/create") return;
    const schema = Object(message.params?.["requestedSchema"]);
    const [, yes] = schema.properties.decision.enum;
    const result = { action: "accept", content: { decision: yes, note: null }, _meta: null };
    server.send({ jsonrpc: "2.0", id: message.id, result, error: null });
  });
  await server.ask("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: { elicitation: {} },
    clientInfo: { name: "java-client", version: "1" },
  });
  server.send({ jsonrpc: "2.0", method: "notifications/initialized" });

  const { result } = await server.ask("tools/call", { name: "publish_video", arguments: ON_TIKTOK });

  expect(result).toMatchObject({ structuredContent: { results: [{ platform: "tiktok", ok: true }] } });
});

test.each([
  ["no JSON", "hello"],
  ["not UTF-8", Buffer.from([0x22, 0xff, 0x22])],
  ["a batch", JSON.stringify([{ jsonrpc: "2.0", id: 1, method: "ping" }])],
  ["null", "null"],
  ["a request without a version", '{"id":7,"method":"ping"}'],
  ["longer than 10 MB", `{"jsonrpc":"2.0","id":1,"method":"${"x".repeat(11 * 1024 * 1024)}"}`],
  ["nested 100,000 deep", `{"a":null,"b":${"[".repeat(100_000)}${"]".repeat(100_000)}}`],
])("a line that is %s is skipped, and nothing else is lost", async (_, line) => {
  const local = startLocal(SANDBOX);
  const server = connectRaw(local);
  await server.open("legacy");

  local.stdin.write(line);
  local.stdin.write("\n");

  expect((await server.ask("ping")).result).toEqual({});
});

test("a byte order mark before the first line, or a later one, is skipped", async () => {
  const local = startLocal(SANDBOX);
  const server = connectRaw(local);
  const ask = (method: string, params?: object) => {
    local.stdin.write("\uFEFF");
    return server.ask(method, params);
  };
  const clientInfo = { name: "windows-client", version: "1" };
  const hello = await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });

  expect(hello.result).toMatchObject({ protocolVersion: "2025-11-25" });
  expect((await ask("ping")).result).toEqual({});
});

test("a message arrives whole however its bytes are cut", async () => {
  const local = startLocal(SANDBOX);
  const server = connectRaw(local);
  await server.open("legacy");
  const answer = new Promise((resolve) => server.onMessage(resolve));

  const line = JSON.stringify(server.request("é🎬\u2028", "ping"));
  for (const byte of Buffer.from(`${line}\r\n`)) local.stdin.write(Buffer.from([byte]));

  expect(await answer).toMatchObject({ id: "é🎬\u2028", result: {} });
});

const CAFE = '"topic":"The caf? closes at ten."';

test.each<[string, Buffer, RegExp]>([
  // As a pipe in Windows-1252 writes it.
  [
    "bytes that aren't UTF-8",
    Buffer.from(CAFE.replace("?", "\u00E9"), "latin1"),
    /"The caf\uFFFD closes at ten\." has U\+FFFD/,
  ],
  ["half an emoji", Buffer.from(CAFE.replace("?", "\\ud83c")), /"The caf closes at ten\." has U\+D83C/],
  ["a NUL", Buffer.from(CAFE.replace("?", "\\u0000")), /has U\+0000/],
  ["an escape sequence", Buffer.from(CAFE.replace("?", "\\u001b[1m")), /has U\+001B/],
  ["a backspace", Buffer.from(CAFE.replace("?", "\\u0008")), /has U\+0008/],
])("an order with %s is refused unsent, and the place is quoted", async (_, topic, told) => {
  const service = await scriptedService({ [GENERATE]: { json: { jobId: JOB_ID, status: "processing" } } });
  const env = { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: service.url };
  const local = startLocal({ env });
  const server = connectRaw(local);
  await server.open("legacy");
  const answer = new Promise((resolve) => server.onMessage(resolve));

  local.stdin.write(
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"generate_video","arguments":{`,
  );
  local.stdin.write(topic);
  local.stdin.write("}}}\n");

  expect(await answer).toMatchObject({
    result: {
      isError: true,
      content: [
        { text: expect.stringMatching(/^The argument topic was damaged on its way: .+ no credits\./) },
      ],
    },
  });
  expect(await answer).toHaveProperty("result.content.0.text", expect.stringMatching(told));
  expect(service.requests).toEqual([]);
});

test("damaged platforms, codes, cursors and arguments of a prompt are refused, and whole ones are not", async () => {
  const service = await scriptedService();
  const env = { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: service.url };
  const server = connectRaw(startLocal({ env }));
  await server.open("legacy");
  const call = async (name: string, args: object) =>
    JSON.stringify(await server.ask("tools/call", { name, arguments: args }));
  const prompt = async (subject: string) =>
    JSON.stringify(await server.ask("prompts/get", { name: "write_video_topic", arguments: { subject } }));

  expect(await call("publish_video", { jobId: JOB_ID, platforms: ["tik\0tok"] })).toContain(
    "platforms was damaged",
  );
  expect(await call("publish_video", { ...ON_TIKTOK, confirm: "k\uFFFDf2" })).toContain(
    "confirm was damaged",
  );
  expect(await call("list_videos", { cursor: "\uFFFD" })).toContain("cursor was damaged");
  expect(await prompt("Caf\uFFFD")).toContain("subject was damaged on its way");
  expect(service.requests).toEqual([]);
  expect(await prompt("Café 🎬 \u{1F468}\u200D\u{1F469}\u200D\u{1F467} नमस्ते")).toContain("messages");
});

test("a prompt reads numbers and booleans as their digits and words", async () => {
  const server = connectRaw(startLocal(SANDBOX));
  await server.open("legacy");
  const write = async (args: object) =>
    (await server.ask("prompts/get", { name: "write_video_topic", arguments: args })).result;

  const texts = await write({ subject: "true", duration: "45" });

  expect(texts).toHaveProperty("messages");
  expect(await write({ subject: true, duration: 45 })).toEqual(texts);
});

test("an order that is cancelled while the journal is still read is never sent", async () => {
  const service = await scriptedService({ [GENERATE]: { json: { jobId: JOB_ID, status: "processing" } } });
  const env = {
    FACELESS_API_KEY: KEY,
    FACELESS_BASE_URL: service.url,
    FACELESS_STATE_DIR: temporaryFolder(),
  };
  const server = connectRaw(startLocal({ env }));
  await server.open("legacy");
  const order = (topic: string) => ({ name: "generate_video", arguments: { topic } });

  server.send(server.request(1, "tools/call", order("Tides")), {
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: 1 },
  });

  await server.ask("tools/call", order("Salt"));
  expect(service.requests.map(({ json }) => json)).toEqual([{ topic: "Salt" }]);
});

test("the key is removed from everything that is written", async () => {
  const service = await scriptedService();
  const env = { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: service.url };
  const server = connectRaw(startLocal({ env }));
  await server.open("legacy");

  const answer = await server.ask("resources/read", { uri: `faceless://${KEY}` });

  expect(answer).toMatchObject({ error: { data: { uri: "faceless://[redacted]" } } });
  expect(JSON.stringify(answer)).not.toContain(KEY);
});
