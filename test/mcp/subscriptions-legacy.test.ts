// What only clients of the legacy protocol do with subscriptions.

import { expect, test } from "vitest";
import { connectLegacy } from "../fixtures/clients.ts";
import { JOB_ID, JOB_URI } from "../fixtures/constants.ts";
import { completed, jobService, processing, setUp } from "./job-service.ts";

test("a legacy client can subscribe only to URIs of jobs", async () => {
  const service = await jobService();
  const client = await connectLegacy(service.start);
  const wrong = [
    "faceless://jobs/42",
    `${JOB_URI}/`,
    `${JOB_URI}?x=1`,
    "faceless://jobs/",
    "faceless://catalogue",
    "https://example.com",
    "",
  ];
  for (const uri of wrong) {
    const refusal = await client.subscribe(uri).catch((error: unknown) => error);
    // Clients recognise an unknown resource by the code and exactly this data.
    expect(refusal).toMatchObject({
      code: -32602,
      message: expect.stringContaining(`Resource not found: ${uri}`),
      data: { uri },
    });
    expect(refusal).not.toHaveProperty(["data", "faceless/error"]);
    await expect(client.raw.unsubscribeResource({ uri })).resolves.toEqual({});
  }
  expect(service.rest.requests).toEqual([]);
});

test("a legacy client that subscribes twice is notified once, and not after one unsubscribe", async () => {
  const { service, client } = await setUp(connectLegacy, processing());
  await client.read(JOB_URI);
  await client.subscribe(JOB_URI);
  await client.subscribe(JOB_URI);
  service.become(JOB_ID, processing(1));
  await client.updated(JOB_URI);
  await client.raw.unsubscribeResource({ uri: JOB_URI });
  await service.letPollsPass(client);
  const polls = service.polls(JOB_ID);
  service.become(JOB_ID, completed);
  await service.letPollsPass(client);
  expect({ updates: client.updates, polls: service.polls(JOB_ID) }).toEqual({ updates: [JOB_URI], polls });
});
