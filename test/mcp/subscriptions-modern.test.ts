// What only modern clients do with subscriptions: several listens, each with several resources.

import { expect, test } from "vitest";
import { connectModern } from "../fixtures/clients.ts";
import { JOB_ID, JOB_URI, OTHER_JOB_ID, OTHER_JOB_URI, STATUS } from "../fixtures/constants.ts";
import { startLocal } from "../fixtures/local-server.ts";
import { connectRaw } from "../fixtures/raw-server.ts";
import { completed, jobService, processing, setUp } from "./job-service.ts";

test("a modern client may name URIs that are not jobs, which are ignored", async () => {
  const { service, client } = await setUp(connectModern, completed);
  await client.subscribe("faceless://jobs/42", `${JOB_URI}?x=1`, "https://example.com", JOB_URI);
  await client.updated(JOB_URI);
  expect(service.rest.lines()).toEqual([STATUS]);
});

test("a modern client that closes one of two listens is notified by the other", async () => {
  const { service, client } = await setUp(connectModern, processing());
  service.become(OTHER_JOB_ID, processing());
  await client.read(JOB_URI);
  const closeFirst = await client.subscribe(JOB_URI, OTHER_JOB_URI);
  await client.subscribe(JOB_URI);
  service.become(JOB_ID, processing(1));
  await client.updated(JOB_URI, JOB_URI);
  await closeFirst();
  service.become(JOB_ID, processing(2));
  await client.updated(JOB_URI, JOB_URI, JOB_URI);
  service.become(JOB_ID, completed);
  await client.updated(JOB_URI, JOB_URI, JOB_URI, JOB_URI);
  expect(await client.read(JOB_URI)).toEqual({ jobId: JOB_ID, done: true, ...completed });
});

test("a modern client is not notified of list changes unless it listens to them", async () => {
  const client = await connectModern({ args: ["--sandbox"], env: { FACELESS_SANDBOX_SECONDS: "0" } });
  await client.call("generate_video", { topic: "Waves" });
  const { structuredContent } = await client.call("generate_video", { topic: "Tides" });
  const uri = String(structuredContent?.["resourceUri"]);
  await client.subscribe(uri);
  await client.call("get_video_status", { jobId: uri.replace(/^.*\//, "") });
  await client.call("generate_video", { topic: "Moons" });
  await client.updated(uri);
  expect(client.listChanges()).toBe(0);
});

test("after a listen that is cancelled before its acknowledgement nothing is polled", async () => {
  const service = await jobService();
  for (const jobId of [JOB_ID, OTHER_JOB_ID]) service.become(jobId, processing());
  const { send, request } = connectRaw(startLocal(service.start), "modern");
  const listen = (id: number, uri: string) =>
    request(id, "subscriptions/listen", { notifications: { resourceSubscriptions: [uri] } });

  send(
    listen(1, JOB_URI),
    { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } },
    listen(2, OTHER_JOB_URI),
  );

  await service.polled(OTHER_JOB_ID, 4);
  expect(service.polls(JOB_ID)).toBe(0);
});
