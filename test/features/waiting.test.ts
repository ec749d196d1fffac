// How long a client is offered to wait, which depends on how long it was measured to wait before it gives up.

import { expect, test } from "vitest";
import { connectLegacy, connectModern } from "../fixtures/clients.ts";
import { JOB_ID } from "../fixtures/constants.ts";
import { jobService, processing } from "../fixtures/job-service.ts";

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
