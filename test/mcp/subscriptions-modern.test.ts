// What only modern clients do with subscriptions: several listens, each with several resources.

import { expect, test } from "vitest";
import { connectModern } from "../fixtures/clients.ts";
import { JOB_ID, JOB_URI, OTHER_JOB_ID, OTHER_JOB_URI, OTHER_STATUS, STATUS } from "../fixtures/constants.ts";
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
const STAMP = "io.modelcontextprotocol/subscriptionId";

/** A client whose every message the test writes itself, of a service with one running job and another one. */
async function setUpWire(other: object = processing()) {
  const service = await jobService();
  service.become(JOB_ID, processing());
  service.become(OTHER_JOB_ID, other);
  const { send, request, onMessage } = connectRaw(startLocal(service.start), "modern");
  const received: unknown[] = [];
  onMessage((message) => received.push(message));
  const got = (message: object) => expect.poll(() => received).toContainEqual({ jsonrpc: "2.0", ...message });
  const wire = {
    send,
    request,
    listen: (id: string | number, ...uris: string[]) =>
      send(request(id, "subscriptions/listen", { notifications: { resourceSubscriptions: uris } })),
    cancel: (requestId: string | number) =>
      send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } }),
    acknowledged: (id: string | number, ...uris: string[]) =>
      got({
        method: "notifications/subscriptions/acknowledged",
        params: { notifications: { resourceSubscriptions: uris }, _meta: { [STAMP]: id } },
      }),
    updated: (id: string | number, uri: string) =>
      got({ method: "notifications/resources/updated", params: { uri, _meta: { [STAMP]: id } } }),
    refused: (id: string | number, code: number) => got({ id, error: expect.objectContaining({ code }) }),
  };
  return { service, wire };
}

test('the ids 1 and "1" are two listens, and cancelling one keeps the other', async () => {
  const { service, wire } = await setUpWire();
  wire.listen(1, JOB_URI);
  wire.listen("1", OTHER_JOB_URI);
  await wire.acknowledged(1, JOB_URI);
  await wire.acknowledged("1", OTHER_JOB_URI);
  wire.cancel("one");
  wire.cancel("1");
  wire.cancel("1");
  await service.polled(JOB_ID, 2);
  const polls = service.polls(OTHER_JOB_ID);
  await service.polled(JOB_ID, 4);
  expect(service.polls(OTHER_JOB_ID)).toBe(polls);
  service.become(JOB_ID, completed);
  await wire.updated(1, JOB_URI);
});

test("after a listen that is cancelled before its acknowledgement nothing is polled", async () => {
  const { service, wire } = await setUpWire();
  wire.listen(1, JOB_URI);
  wire.cancel(1);
  wire.listen(2, OTHER_JOB_URI);
  await wire.acknowledged(2, OTHER_JOB_URI);
  await service.polled(OTHER_JOB_ID, 4);
  expect(service.polls(JOB_ID)).toBe(0);
});

test("after a refused listen or a legacy subscribe nothing is polled", async () => {
  const { service, wire } = await setUpWire(completed);
  wire.listen(1, OTHER_JOB_URI);
  await wire.updated(1, OTHER_JOB_URI);
  const notAList = { notifications: { resourceSubscriptions: JOB_URI } };
  wire.send(wire.request(2, "subscriptions/listen", notAList));
  await wire.refused(2, -32602);
  const params = { notifications: { resourceSubscriptions: [JOB_URI] } };
  wire.send({ jsonrpc: "2.0", id: 3, method: "subscriptions/listen", params });
  await wire.refused(3, -32602);
  wire.send(wire.request(4, "resources/subscribe", { uri: JOB_URI }));
  await wire.refused(4, -32601);
  expect(service.rest.lines()).toEqual([OTHER_STATUS]);
});
