// A server for the sandbox as real clients of both protocols see it.

import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { TEST_CLIENTS, type TestClient, textOf } from "../fixtures/clients.ts";
import { JOB_URI } from "../fixtures/constants.ts";
import { startLocal } from "../fixtures/local-server.ts";
import { connectRaw, type Message } from "../fixtures/raw-server.ts";
import { CALLS, TOOLS } from "../fixtures/tools.ts";

/** Ready by the first poll: the sandbox's rate limit delays what follows the second. */
const FAST_SANDBOX = {
  args: ["--sandbox"],
  env: { FACELESS_SANDBOX_SECONDS: "0.1", FACELESS_POLL_SECONDS: "0.1" },
};

const ajv = new Ajv2020({ strict: false });

/** Includes the sandbox's notice, if nothing was called before. */
async function startVideo(client: TestClient, topic = "Why the sea is salty"): Promise<string> {
  const { structuredContent } = await client.call("generate_video", { topic, duration: 12.5 });
  return String(structuredContent?.["jobId"]);
}

describe.each(TEST_CLIENTS)("With %s", (_, connect) => {
  test("every result is structured content that begins with the summary, and equivalent text", async () => {
    const client = await connect(FAST_SANDBOX);
    const jobId = await startVideo(client);
    const calls: readonly (readonly [string, Record<string, unknown>])[] = [
      ["generate_video", { topic: "Second" }],
      ["get_video_status", { jobId }],
      ["get_video_status", { jobId, waitSeconds: 50 }],
      ["list_videos", { limit: 1 }],
      ["list_connected_platforms", {}],
    ];
    const { tools } = await client.raw.listTools();
    for (const [name, args] of calls) {
      const result = await client.call(name, args);
      const { summary, nextStep, ...facts } = result.structuredContent ?? {};
      expect(Object.keys(result.structuredContent ?? {})[0]).toBe("summary");
      expect(summary).not.toContain("This is a sandbox");
      const guidance = [summary, nextStep].filter((part) => typeof part === "string").join(" ");
      expect(textOf(result)).toBe(`${guidance}\n${JSON.stringify(facts)}`);
      expect(result.isError).toBeUndefined();
      const schema: object = tools.find((tool) => tool.name === name)?.outputSchema ?? {};
      const isValid = ajv.validate(schema, result.structuredContent);
      expect(isValid, ajv.errorsText()).toBe(true);
    }
  });

  test("the sandbox says that a post is pretended, and mentions no label", async () => {
    const client = await connect(FAST_SANDBOX);
    const jobId = await startVideo(client);
    await client.call("get_video_status", { jobId, waitSeconds: 50 });
    const { structuredContent } = await client.call("publish_video", { jobId, platforms: ["tiktok"] });
    expect(structuredContent).toMatchObject({
      summary: "The sandbox pretends to have posted the sample to TikTok.",
      nextStep: "Give the user the links of the posts.",
    });
  });

  test("in the sandbox no text claims to cost credits, to post or to take minutes", async () => {
    const client = await connect(FAST_SANDBOX);
    const first = await client.call("generate_video", { topic: "Why the sea is salty" });
    const { tools } = await client.raw.listTools();
    const { prompts } = await client.raw.listPrompts();
    const texts = await Promise.all(
      prompts.map(async ({ name }) => {
        const args = { subject: "Tides", theme: "Tides", video: "The sea breathes.", language: "German" };
        const known = prompts.find((prompt) => prompt.name === name)?.arguments ?? [];
        const given = Object.entries(args).filter(([argument]) => known.some((one) => one.name === argument));
        return client.raw.getPrompt({ name, arguments: Object.fromEntries(given) });
      }),
    );
    const { contents } = await client.raw.readResource({ uri: "faceless://catalog" });
    const said = JSON.stringify([client.raw.getInstructions(), tools, texts, contents]);

    expect(first.structuredContent?.["summary"]).toMatch(
      / This is a sandbox: sample clips, nothing was rendered, charged or posted\.$/,
    );
    expect(said).not.toMatch(
      /spends|minutes|pays|paid|costs again|refunded|public at once|posts a completed/i,
    );
    expect(said).toContain('\\"typicalRenderSeconds\\":{\\"min\\":0.1,\\"max\\":0.1}');
  });

  test("a failed call says what failed, what was spent and what to do", async () => {
    const client = await connect(FAST_SANDBOX);
    const result = await client.call("generate_video", { topic: "A story [out_of_credits]" });
    expect(result).toMatchObject({
      isError: true,
      _meta: {
        "faceless/error": { code: "out_of_credits", status: 402, outcome: "rejected", retryable: false },
      },
    });
    expect(result).not.toHaveProperty("structuredContent");
    expect(textOf(result)).toMatch(
      /not have enough credits .*The service's words: ".* A restarted sandbox has new ones\." This call started no video and spent no credits\. Tell the user: For new credits, restart this server/,
    );
  });

  test("a client reads a job resource as the object that get_video_status returns, with its whole topic", async () => {
    const client = await connect(FAST_SANDBOX);
    const topic = `Why the sea is salty. ${"[the grey sea, from above] ".repeat(180)}`.trim();
    const jobId = await startVideo(client, topic);
    await client.call("get_video_status", { jobId, waitSeconds: 50 });
    const { structuredContent } = await client.call("get_video_status", { jobId });
    const cut = `${topic.slice(0, 3_999)}…`;
    expect(structuredContent).toMatchObject({ done: true, arguments: { topic: cut } });
    const uri = `faceless://jobs/${jobId}`;
    const { contents } = await client.raw.readResource({ uri });
    const [content] = contents;
    if (content === undefined || !("text" in content)) throw new Error("The resource has no text.");
    expect(contents).toEqual([{ uri, mimeType: "application/json", text: content.text }]);
    const note = ` The topic is cut here: ${uri} has it whole.`;
    const whole = JSON.stringify(structuredContent).replace(note, "").replace(cut, topic);
    expect(JSON.parse(content.text)).toEqual(JSON.parse(whole));
  });

  test("a client lists recent jobs by their first spoken words, and finds their ids by any of them", async () => {
    const client = await connect(FAST_SANDBOX);
    const jobId = await startVideo(client, "[a grey beach, waves] The tide comes in.");
    const { resources } = await client.raw.listResources();
    expect(resources).toEqual([
      expect.objectContaining({ uri: "faceless://catalog" }),
      expect.objectContaining({
        uri: `faceless://jobs/${jobId}`,
        name: "The tide comes in.",
        title: "The tide comes in.",
        mimeType: "application/json",
      }),
    ]);
    const complete = async (value: string) => {
      const ref = { type: "ref/resource", uri: "faceless://jobs/{jobId}" } as const;
      return (await client.raw.complete({ ref, argument: { name: "jobId", value } })).completion.values;
    };
    const found = await Promise.all([jobId.slice(0, 4), "tide", "comes TID", "beach"].map(complete));
    expect(found).toEqual([[jobId], [jobId], [jobId], []]);
  });

  test("unknown jobs and prompts and invalid job ids are JSON-RPC errors", async () => {
    const client = await connect(FAST_SANDBOX);
    for (const id of ["00000000-0000-4000-8000-000000000000", "nonsense"]) {
      const uri = `faceless://jobs/${id}`;
      await expect(client.raw.readResource({ uri })).rejects.toMatchObject({ code: -32602, data: { uri } });
    }
    await expect(client.raw.getPrompt({ name: "nothing" })).rejects.toMatchObject({ code: -32602 });
    await expect(
      client.raw.getPrompt({ name: "write_video_topic", arguments: { subject: "x", style: "noir" } }),
    ).rejects.toMatchObject({ code: -32602, message: expect.stringContaining("story, education") });
  });

  test("a client completes prompt arguments and finds its videos by their words", async () => {
    const client = await connect(FAST_SANDBOX);
    const complete = async (prompt: string, name: string, value: string) => {
      const ref = { type: "ref/prompt" as const, name: prompt };
      return (await client.raw.complete({ ref, argument: { name, value } })).completion.values;
    };
    expect(await complete("write_video_topic", "style", "d")).toEqual(["documentary"]);
    expect(await complete("write_video_topic", "subject", "")).toEqual([]);
    const jobId = await startVideo(client, "The tide");
    const [video = ""] = await complete("localize_video", "video", "tide");
    expect(video).toBe(`The tide (${jobId})`);
    const { messages } = await client.raw.getPrompt({ name: "review_video", arguments: { jobId: video } });
    expect(JSON.stringify(messages)).toContain(`Video: jobId \`${jobId}\``);
  });

  test("without settings every tool is listed, and each call says what to set", async () => {
    const client = await connect({
      env: { FACELESS_API_KEY: "", FACELESS_BASE_URL: "${FACELESS_BASE_URL}" },
    });
    expect((await client.raw.listTools()).tools).toHaveLength(TOOLS.length);
    expect((await client.raw.listPrompts()).prompts).toHaveLength(4);
    expect((await client.raw.listResources()).resources).toHaveLength(1);
    for (const [name, args] of CALLS) {
      const result = await client.call(name, args);
      expect(result).toMatchObject({
        isError: true,
        _meta: { "faceless/error": { code: "not_configured", outcome: "not_sent", retryable: false } },
      });
      expect(textOf(result)).toMatch(
        /FACELESS_API_KEY is not set; FACELESS_BASE_URL is not set.*account settings of the service, section API/,
      );
    }
    await expect(client.raw.readResource({ uri: JOB_URI })).rejects.toMatchObject({
      message: expect.stringContaining("FACELESS_API_KEY"),
    });
  });
});

test.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])(
  "a client of %s is answered in its version and sees every tool",
  async (version) => {
    const server = connectRaw(startLocal());
    const clientInfo = { name: "raw", version: "1" };
    const { result } = await server.ask("initialize", {
      protocolVersion: version,
      capabilities: {},
      clientInfo,
    });
    server.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    expect(result?.["protocolVersion"]).toBe(version);
    expect((await server.ask("tools/list")).result).toMatchObject({ tools: { length: TOOLS.length } });
  },
);

const INITIALIZE =
  '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":[],"clientInfo":{"name":"php","version":"1"}}}';
const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized","params":[]}';
const toolCall = (params: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
const LISTED = { id: 1, result: { structuredContent: { videos: [] } } };
const invalidRequest = (id: unknown) => ({ id, error: { code: -32600 } });
const LONG = "x".repeat(15 * 1024 * 1024);

test.each<[string, string, object]>([
  [
    "PHP writes an empty object as a list",
    toolCall('{"name":"list_videos","arguments":[],"_meta":[]}'),
    LISTED,
  ],
  [
    "PHP lists the tools with empty params",
    '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}',
    { id: 1, result: { tools: expect.any(Array) } },
  ],
  [
    "Go writes unset fields as null",
    toolCall('{"name":"list_videos","arguments":{"limit":null,"cursor":null},"_meta":null}'),
    LISTED,
  ],
  [
    "Go lists the resources with a cursor of null",
    '{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{"cursor":null}}',
    { id: 1, result: { resources: expect.any(Array) } },
  ],
  [
    "Python writes the arguments as one text",
    toolCall('{"name":"list_videos","arguments":"{\\"limit\\": \\"5\\"}"}'),
    LISTED,
  ],
  [
    "n8n adds arguments of its own",
    toolCall(
      '{"name":"list_videos","arguments":{"sessionId":"s","action":"sendMessage","chatInput":"Hi","toolCallId":"c"}}',
    ),
    LISTED,
  ],
  [
    "a prompt's argument is a number",
    '{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"write_video_topic","arguments":{"subject":1984,"language":null}}}',
    { id: 1, result: { messages: [{ content: { text: expect.stringContaining("1984") } }] } },
  ],
  [
    "the arguments are a text",
    toolCall('{"name":"list_videos","arguments":"all"}'),
    { id: 1, error: { code: -32602, message: "The arguments must be one JSON object." } },
  ],
  ["an id is 1.5", '{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}', invalidRequest(null)],
  ["an id is true", '{"jsonrpc":"2.0","id":true,"method":"tools/list"}', invalidRequest(null)],
  ["a request comes in a batch", '[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]', invalidRequest(1)],
  [
    "a line has 15 MB",
    toolCall(`{"name":"generate_video","arguments":{"topic":"${LONG}"}}`),
    invalidRequest(1),
  ],
  [
    "a tool's name has 1 MB",
    toolCall(`{"name":"${LONG.slice(0, 1_000_000)}"}`),
    { id: 1, error: { code: -32602, message: expect.stringMatching(/^Tool x{1994}…$/) } },
  ],
])("a client is answered if %s", async (_, line, answer) => {
  const { stdin, stdout } = startLocal({ args: ["--sandbox"] });
  const answers: Message[] = [];
  connectRaw({ stdin, stdout }).onMessage((message) => {
    if (typeof message === "object") answers.push(message);
  });
  stdin.write(`${INITIALIZE}\n${INITIALIZED}\n${line}\n`);

  await expect.poll(() => answers).toHaveLength(2);
  const [first, second] = answers;
  // A refusal needn't wait for the handshake.
  const inOrder = first?.id === 0 ? [first, second] : [second, first];
  expect(inOrder).toMatchObject([{ id: 0, result: { protocolVersion: "2025-06-18" } }, answer]);
});
