// What a card that follows a video does for it besides showing it.

import { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport, McpServer } from "@modelcontextprotocol/server";
import { expect, onTestFinished, test } from "vitest";
import { createApplication } from "../../../src/commands/create-application.ts";
import { systemClock } from "../../../src/clock.ts";
import { readConfig } from "../../../src/config.ts";
import { registerResources } from "../../../src/mcp/resources.ts";
import { NOTHING_SAVED } from "../../../src/saved-videos/saved-videos.ts";
import { JOB_ID, KEY, STATUS } from "../../fixtures/constants.ts";
import { connect } from "../../service/bridge.ts";
import { scriptedService } from "../../fixtures/scripted-service.ts";

const FLAGS = { sandbox: false, readOnly: false, noPublish: false };

/** The jobs whose video is to be saved after a client that shows cards has read one that has this status. */
async function savedAfterReading(status: string): Promise<readonly string[]> {
  const rest = await scriptedService({ [STATUS]: { json: { status } } });
  const env = { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: rest.url, FACELESS_STATE_DIR: "off" };
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const application = createApplication({
    clock: systemClock,
    config: readConfig(env, FLAGS, "/home/user"),
    service: connect({ baseUrl: rest.url }),
    log,
    redact: (text) => text,
  });
  const saved: string[] = [];
  const savedVideos = { ...NOTHING_SAVED, saveWhenFinished: (jobId: string) => void saved.push(jobId) };
  const server = new McpServer({ name: "server", version: "1.0.0" });
  registerResources(server, { ...application, savedVideos });
  const extensions = { "io.modelcontextprotocol/ui": {} };
  const client = new Client({ name: "test", version: "1.0.0" }, { capabilities: { extensions } });
  onTestFinished(() => client.close());
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(serverSide), client.connect(clientSide)]);
  await client.readResource({ uri: `faceless://jobs/${JOB_ID}` });
  return saved;
}

test("A running video that a card follows is saved, and one that had ended is not", async () => {
  expect(await savedAfterReading("processing")).toEqual([JOB_ID]);
  expect(await savedAfterReading("failed")).toEqual([]);
});
