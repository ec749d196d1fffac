// What the server reads of lines as clients in Go, PHP, Python, n8n and other programs write them.

import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { MAX_LINE_BYTES, readLines, type Refusal } from "../../src/mcp/inbound-lines.ts";

/** The lines that the SDK gets of these bytes, and the errors that are written. */
async function readText(...chunks: readonly (string | Buffer)[]) {
  const input = new PassThrough();
  const refused: Refusal[] = [];
  for (const chunk of chunks) input.write(chunk);
  input.end();
  let text = "";
  for await (const lines of readLines(input, String, (one) => refused.push(one)))
    text += lines.toString("utf8");
  return { text, refused };
}

async function read(...chunks: readonly (string | Buffer)[]) {
  const { text, refused } = await readText(...chunks);
  const lines = text.split("\n").filter(Boolean);
  return { delivered: lines.map((line): unknown => JSON.parse(line)), refused };
}

const call = (params: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
const called = (params?: object) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  ...(params && { params }),
});
const initialize = (params: string) => `{"jsonrpc":"2.0","id":"a","method":"initialize","params":${params}}`;
const invalid = (id: unknown) => ({
  jsonrpc: "2.0",
  id,
  error: { code: -32600, message: expect.any(String) },
});

test.each<[string, string, object]>([
  ["Go", call('{"name":"list_videos","arguments":null,"_meta":null}'), called({ name: "list_videos" })],
  ["Go", call("null"), called()],
  [
    "C#",
    call('{"name":"list_videos","arguments":{"cursor":null,"limit":5}}'),
    called({ name: "list_videos", arguments: { limit: 5 } }),
  ],
  [
    "Java",
    '{"jsonrpc":"2.0","id":null,"method":"notifications/initialized"}',
    { jsonrpc: "2.0", method: "notifications/initialized" },
  ],
  [
    "PHP",
    call('{"name":"list_videos","arguments":[],"_meta":[]}'),
    called({ name: "list_videos", arguments: {}, _meta: {} }),
  ],
  ["PHP", call("[]"), called({})],
  [
    "PHP",
    initialize('{"capabilities":{"roots":[],"elicitation":[]},"clientInfo":{"name":"php"}}'),
    {
      jsonrpc: "2.0",
      id: "a",
      method: "initialize",
      params: { capabilities: { roots: {}, elicitation: {} }, clientInfo: { name: "php" } },
    },
  ],
  [
    "PHP",
    initialize('{"capabilities":[]}'),
    { jsonrpc: "2.0", id: "a", method: "initialize", params: { capabilities: {} } },
  ],
  [
    "Python",
    call('{"name":"x","arguments":{"a":1e400}}'),
    called({ name: "x", arguments: { a: "Infinity" } }),
  ],
  [
    "n8n",
    call('{"name":"x","arguments":"{\\"limit\\": 5}"}'),
    called({ name: "x", arguments: { limit: 5 } }),
  ],
  ["n8n", call('{"name":"x","arguments":"[]"}'), called({ name: "x", arguments: {} })],
  ["n8n", call('{"name":"x","arguments":" "}'), called({ name: "x" })],
  ["n8n", `${call('{"name":"x"}').slice(0, -1)},"sessionId":"s"}`, called({ name: "x" })],
  [
    "a list within arguments",
    call('{"name":"x","arguments":{"platforms":[]}}'),
    called({ name: "x", arguments: { platforms: [] } }),
  ],
  [
    "an answer to a form",
    '{"jsonrpc":"2.0","id":7,"result":{"action":"decline","content":null}}',
    { jsonrpc: "2.0", id: 7, result: { action: "decline" } },
  ],
])("a message as %s writes it is read: %s", async (_, line, message) => {
  expect(await read(`${line}\r\n`)).toEqual({ delivered: [message], refused: [] });
});

test.each<[string, string, readonly unknown[]]>([
  ["an id of 1.5", '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', [null]],
  ["an id of true", '{"jsonrpc":"2.0","id":true,"method":"ping"}', [null]],
  ["an id that is an object", '{"jsonrpc":"2.0","id":{},"method":"ping"}', [null]],
  ["an id of null", '{"jsonrpc":"2.0","id":null,"method":"ping"}', [null]],
  ["no version", '{"id":3,"method":"ping"}', [3]],
  ["no method", '{"jsonrpc":"2.0","id":"b"}', ["b"]],
  ["a method that is a number", '{"jsonrpc":"2.0","id":4,"method":5}', [4]],
  ["params that are a number", '{"jsonrpc":"2.0","id":5,"method":"ping","params":6}', [5]],
  ["a progress token that is an object", call('{"_meta":{"progressToken":{}}}'), [1]],
  ["a batch", `[${call("{}")},{"jsonrpc":"2.0","method":"notifications/x"},${initialize("{}")}]`, [1, "a"]],
  ["an empty batch", "[]", [null]],
])("a request with %s is answered with an error: %s", async (_, line, ids) => {
  expect(await read(`${line}\n`)).toEqual({ delivered: [], refused: ids.map(invalid) });
});

test.each(['"tides"', "[1]", "5"])(
  "arguments that are not an object are refused in plain words: %s",
  async (args) => {
    const error = { code: -32602, message: "The arguments must be one JSON object." };

    expect(await read(`${call(`{"name":"x","arguments":${args}}`)}\n`)).toEqual({
      delivered: [],
      refused: [{ jsonrpc: "2.0", id: 1, error }],
    });
  },
);

const LONG = "x".repeat(MAX_LINE_BYTES * 1.5);

test.each([
  ["first", `{"jsonrpc": "2.0", "id": "c", "method": "tools/call", "params": {"a": "${LONG}"}}`, "c"],
  ["after the method", `{"jsonrpc":"2.0","method":"tools/call","id":7,"params":{"a":"${LONG}"}}`, 7],
  ["last", `{"method":"tools/call","params":{"a":"${LONG}"},"jsonrpc":"2.0","id":7}`, 7],
  ["nowhere", `{"method":"tools/call","params":{"a":"${LONG}","id":7}}`, null],
  ["in no JSON", `{"id":7,"method":"${LONG}`, null],
])(
  "a line of 15 MB is answered with an error, and so is the next line: its id stands %s",
  async (_, line, id) => {
    const chunks = Buffer.from(`${line}\n${call("{}")}\n`);
    const parts = Array.from({ length: 300 }, (__, index) =>
      chunks.subarray(index * 60_000, (index + 1) * 60_000),
    );

    expect(await read(...parts)).toEqual({ delivered: [called({})], refused: [invalid(id)] });
  },
);

test("a line that is not a message affects no other line", async () => {
  const noise = ["tides", "{", "7", "null", '{"a":1}', ""];
  const { text, refused } = await readText(...noise.map((line) => `${line}\n`), `\uFEFF${call("{}")}\n`);

  expect([text, refused]).toEqual([`${noise.join("\n")}\n${call("{}")}\n`, []]);
});

test("arguments that are nested 100,000 levels deep are passed on as they are", async () => {
  const line = call(`{"name":"x","arguments":{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}}`);

  expect(await readText(`${line}\n`)).toEqual({ text: `${line}\n`, refused: [] });
});

test("characters that are cut by the end of a chunk arrive whole", async () => {
  const bytes = Buffer.from(`${call('{"name":"Größe 🎬"}')}\n`);
  const halves = [bytes.subarray(0, 70), bytes.subarray(70, 72), bytes.subarray(72)];

  expect((await read(...halves)).delivered).toEqual([called({ name: "Größe 🎬" })]);
});
