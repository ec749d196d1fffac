// What doctor says of FACELESS_WEBHOOK_PORT.

import { createServer } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { checkWebhooks } from "../../../src/commands/doctor/webhooks.ts";
import { readConfig } from "../../../src/config.ts";
import { freePort } from "../../fixtures/free-port.ts";

function check(port: string) {
  const flags = { sandbox: true, readOnly: false, noPublish: false };
  return checkWebhooks(readConfig({ FACELESS_WEBHOOK_PORT: port }, flags, "/home/user"));
}

test("doctor says nothing of webhooks while no port is set", async () => {
  expect(await check("")).toEqual([]);
});

test("doctor says that a port is free, and leaves it free", async () => {
  const port = await freePort();
  const free = {
    name: "webhooks",
    status: "ok",
    detail: `port ${port} is free: the server opens it on 127.0.0.1`,
  };

  expect(await check(String(port))).toEqual([free]);
  expect(await check(String(port))).toEqual([free]);
});

test("doctor warns of a port that is taken, which may be as it should be", async () => {
  const port = await freePort();
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(port, "127.0.0.1", resolve));
  onTestFinished(() => void other.close());

  expect(await check(String(port))).toEqual([
    {
      name: "webhooks",
      status: "warn",
      detail: `port ${port} can't be opened: another program has it (EADDRINUSE). Jobs are polled as ever without it`,
      fix: "If your client runs this server now, the port is in use as it should be. Otherwise set FACELESS_WEBHOOK_PORT to another one",
    },
  ]);
});
