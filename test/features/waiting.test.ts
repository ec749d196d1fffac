// The wait that a client is offered, which depends on the wait that was measured before it gives up.

import { expect, test } from "vitest";
import { connectLegacy, connectModern } from "../fixtures/clients.ts";
import { GENERATE, JOB_ID, KEY, STATUS } from "../fixtures/constants.ts";
import { jobService, processing } from "../fixtures/job-service.ts";
import { envelope, type Reply, scriptedService } from "../fixtures/scripted-service.ts";

const LINK = "https://media.example/final.mp4";

const PROTOCOLS = [
  ["legacy", connectLegacy],
  ["modern", connectModern],
] as const;

test.each(
  PROTOCOLS.flatMap(([protocol, connect]) => [
    { protocol, connect, name: "claude-code", withToken: 240, without: 240 },
    { protocol, connect, name: "codex-mcp-client", withToken: 240, without: 240 },
    { protocol, connect, name: "gemini-cli-mcp-client", withToken: 240, without: 240 },
    { protocol, connect, name: "copilot-cli", withToken: 240, without: 50 },
    { protocol, connect, name: "opencode", withToken: 240, without: 50 },
    { protocol, connect, name: "claude-ai", withToken: 50, without: 50 },
  ]),
)(
  "$name ($protocol) is offered a wait of $withToken s if it gets progress, and else of $without s",
  async ({ connect, name, withToken, without }) => {
    const service = await jobService();
    service.become(JOB_ID, processing());
    const client = await connect({ ...service.start, clientInfo: { name, version: "1.0.0" } });

    const { tools } = await client.raw.listTools();
    const schema = tools.find((tool) => tool.name === "get_video_status")?.inputSchema;
    const nextStep = async (onprogress?: () => void) => {
      const options = onprogress === undefined ? {} : { onprogress };
      const { structuredContent } = await client.call("get_video_status", { jobId: JOB_ID }, options);
      return structuredContent?.["nextStep"];
    };

    expect(schema?.properties?.["waitSeconds"]).toEqual({
      type: "number",
      default: 0,
      minimum: 0,
      maximum: withToken,
      description: `Seconds to wait; ${withToken} works well`,
    });
    expect(await nextStep(() => {})).toContain(`waitSeconds ${withToken}.`);
    expect(await nextStep()).toContain(`waitSeconds ${without}.`);
  },
);

test.each<[string, Reply]>([
  ["an outage", { status: 503 }],
  ["a list that lags", envelope(404, "job_not_found", "No such job.")],
])("a wait for a job that was just started survives %s, and ends with the video", async (_, failing) => {
  let looks = 0;
  const service = await scriptedService({
    [GENERATE]: { json: { jobId: JOB_ID, status: "processing" } },
    // The first read has three attempts at most.
    [STATUS]: () =>
      ++looks <= 4 ? failing : { json: { status: "completed", videoUrls: [], finalVideoUrl: LINK } },
  });
  const client = await connectLegacy({
    env: { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: service.url, FACELESS_POLL_SECONDS: "0.1" },
  });
  await client.call("generate_video", { topic: "The tide comes in.", duration: 10 });

  const { structuredContent } = await client.call("get_video_status", { jobId: JOB_ID, waitSeconds: 50 });

  expect(structuredContent).toMatchObject({ done: true, finalVideoUrl: LINK });
});

test.each<[number, string]>([
  [404, "not_found"],
  [503, "service_failed"],
])(
  "a wait for a job that this computer didn't start ends with the first read that fails (%i)",
  async (status, code) => {
    const service = await scriptedService({ [STATUS]: envelope(status, "the_code", "No such job.") });
    const client = await connectLegacy({ env: { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: service.url } });

    const { isError, _meta } = await client.call("get_video_status", { jobId: JOB_ID, waitSeconds: 50 });

    expect({ isError, _meta }).toMatchObject({
      isError: true,
      _meta: { "faceless/error": { code } },
    });
    // A read has three attempts at most.
    expect(service.lines(STATUS)).toHaveLength(status === 404 ? 1 : 3);
  },
);
