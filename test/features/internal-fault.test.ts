import { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport } from "@modelcontextprotocol/server";
import { expect, onTestFinished, test } from "vitest";
import { openApplication } from "../../src/commands/create-application.ts";
import { systemClock } from "../../src/clock.ts";
import { readConfig } from "../../src/config.ts";
import { openLog } from "../../src/log.ts";
import { Tasks } from "../../src/mcp/tasks.ts";
import { Elicitation } from "../../src/mcp/elicitation.ts";
import { ConnectedClient } from "../../src/mcp/connected-client.ts";
import { createServer } from "../../src/mcp/server.ts";
import { registerTools } from "../../src/mcp/tools.ts";
import { ServiceClient } from "../../src/service/client.ts";
import { JOB_ID } from "../fixtures/constants.ts";

const ENV = {
  FACELESS_API_KEY: "fl_example_key",
  FACELESS_BASE_URL: "https://service.example",
  FACELESS_STATE_DIR: "off",
};

class FaultyClient extends ServiceClient {
  override generate() {
    return fail();
  }
  override publish() {
    return fail();
  }
  override getJob() {
    return fail();
  }
}

function fail(): Promise<never> {
  return Promise.reject(new TypeError("A fault in the code."));
}

/** A client of a server whose service client throws an unexpected error. */
async function clientOfFaultyServer(): Promise<Client> {
  const config = readConfig(ENV, { sandbox: false, readOnly: false, noPublish: false }, "/home/user");
  const service = new FaultyClient({ connect: fail, clock: systemClock, random: Math.random });
  const application = openApplication(
    config,
    systemClock,
    openLog({ ...config, logLevel: "silent" }, () => {}),
    { service },
  );
  const connected = new ConnectedClient();
  const server = createServer(application.config, "legacy", connected);
  const elicitation = new Elicitation({ ...application, client: connected });
  registerTools(server, application, connected, new Tasks(application, connected), elicitation);
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: "test", version: "1.0.0" });
  onTestFinished(() => client.close());
  await Promise.all([server.connect(serverSide), client.connect(clientSide)]);
  return client;
}

test.each([
  [
    "generate_video",
    { topic: "Tides" },
    "unknown",
    "It is not known whether a video was started and credits were spent.",
  ],
  [
    "publish_video",
    { jobId: JOB_ID, platforms: ["tiktok"] },
    "unknown",
    "It is not known whether the video was published.",
  ],
  [
    "get_video_status",
    { jobId: JOB_ID },
    "rejected",
    "This call only reads: it spent and published nothing.",
  ],
])(
  "a fault of this server in %s is reported as one, with what it may have done",
  async (name, args, outcome, words) => {
    const client = await clientOfFaultyServer();

    expect(await client.callTool({ name, arguments: args })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining(`This server itself failed. ${words}`) }],
      _meta: { "faceless/error": { code: "internal", outcome, retryable: false } },
    });
  },
);
