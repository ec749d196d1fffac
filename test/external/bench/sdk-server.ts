// A minimal SDK server: five tools, each of which sends its request and returns the answer. Like ours, it
// loads its HTTP client with the first call.

import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import * as z from "zod";

const { FACELESS_BASE_URL: baseUrl, FACELESS_API_KEY: key } = process.env;
let loaded: ReturnType<typeof load> | undefined;

async function load() {
  const { Agent, request } = await import("undici");
  return { request, dispatcher: new Agent() };
}

async function ask(path: string, body?: object): Promise<unknown> {
  const { request, dispatcher } = await (loaded ??= load());
  const answer = await request(`${baseUrl}/api/v1/${path}`, {
    dispatcher,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
  });
  return answer.body.json();
}

interface Tool {
  readonly description: string;
  readonly inputSchema: z.ZodObject;
  readonly outputSchema: z.ZodObject;
  run(args: object): Promise<unknown>;
}

const job = z.looseObject({ jobId: z.string(), status: z.string() });
const TOOLS: Readonly<Record<string, Tool>> = {
  generate_video: {
    description: "Starts one video and spends credits.",
    inputSchema: z.object({
      topic: z.string().min(3).max(5_000),
      language: z.string().optional(),
      duration: z.number().int().min(10).max(90).optional(),
      style: z.enum(["cinematic", "documentary", "anime"]).optional(),
      voice: z.string().optional(),
      music: z.enum(["calm", "upbeat", "none"]).optional(),
    }),
    outputSchema: job,
    run: (body) => ask("generate", body),
  },
  get_video_status: {
    description: "Reports a video's progress.",
    inputSchema: z.object({ jobId: z.string(), waitSeconds: z.number().min(0).max(50).optional() }),
    outputSchema: z.looseObject({ status: z.string(), videoUrls: z.array(z.string()) }),
    run: (args) => ask(`status/${String(Reflect.get(args, "jobId"))}`),
  },
  publish_video: {
    description: "Posts a video publicly.",
    inputSchema: z.object({ jobId: z.string(), platforms: z.array(z.string()).min(1).max(20) }),
    outputSchema: z.looseObject({
      results: z.array(z.looseObject({ platform: z.string(), ok: z.boolean() })),
    }),
    run: (body) => ask("publish", body),
  },
  list_videos: {
    description: "Lists the account's videos.",
    inputSchema: z.object({ limit: z.number().optional(), cursor: z.string().optional() }),
    outputSchema: z.looseObject({ videos: z.array(job), nextCursor: z.string().optional() }),
    run: () => ask("videos"),
  },
  list_connected_platforms: {
    description: "Lists the connected accounts.",
    inputSchema: z.object({}),
    outputSchema: z.looseObject({ platforms: z.array(z.looseObject({ platform: z.string() })) }),
    run: () => ask("platforms"),
  },
};

serveStdio(() => {
  const server = new McpServer({ name: "minimal", version: "1.0.0" });
  for (const [name, { run, ...tool }] of Object.entries(TOOLS))
    server.registerTool(name, tool, async (args) => {
      const structuredContent = tool.outputSchema.parse(await run(args));
      return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
    });
  return server;
});
