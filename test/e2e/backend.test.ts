// The worker of docs/examples/backend with `call` as it is built. test/external/ has it with its queue and a database.

import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { callingComputer, STARTED } from "../fixtures/call.ts";
import { BUILT_FILE, SERVER_NODE } from "../fixtures/clients.ts";
import { GENERATE, JOB_ID, STATUS } from "../fixtures/constants.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { run } from "../fixtures/run.ts";
import { envelope } from "../fixtures/scripted-service.ts";

/** Hands the worker one order, and prints what it makes of it. */
const QUEUE = `export const ORDERS = "orders";
const order = { data: JSON.parse(process.env.ORDER), createdOn: 0, startedOn: 0, retryCount: 0 };
const work = (_, __, carryOut) =>
  carryOut([order]).then(({ status }) => console.log(status), () => console.log("tried again"));
export const openQueue = async () => ({ work });
`;
const ORDER = { order: "1", topic: "The tide comes in." };
const REFUSED = envelope(400, "bad_request", "No.");

test.each([
  ["an order that the service refuses is refused", ORDER, REFUSED, "refused"],
  ["an order whose look is refused is tried again", ORDER, STARTED, "tried again"],
  ["a paid video whose look is refused is tried again", { ...ORDER, jobId: JOB_ID }, REFUSED, "tried again"],
])("the backend's worker never calls a paid video refused: %s", async (_, order, answer, becomes) => {
  const { env } = await callingComputer({ [GENERATE]: answer, [STATUS]: REFUSED });
  const folder = temporaryFolder();
  cpSync("docs/examples/backend/worker.mjs", join(folder, "worker.mjs"));
  writeFileSync(join(folder, "queue.mjs"), QUEUE);
  mkdirSync(join(folder, "node_modules/.bin"), { recursive: true });
  symlinkSync(BUILT_FILE, join(folder, "node_modules/.bin/faceless-video-mcp"));

  const ran = await run(SERVER_NODE, [join(folder, "worker.mjs")], {
    env: { ...env, ORDER: JSON.stringify(order) },
  });

  expect(ran.stdout.split("\n")).toContain(becomes);
});
