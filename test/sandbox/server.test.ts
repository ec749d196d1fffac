import { expect, test } from "vitest";
import { startSandbox } from "../../src/sandbox/sandbox.ts";

test("the sandbox closes open connections when it closes, and releases the port", async () => {
  const sandbox = await startSandbox();
  const open = fetch(`${sandbox.url}/api/v1/generate`, {
    method: "POST",
    headers: { Authorization: "Bearer fl_sandbox", "Content-Type": "application/json" },
    // A body without an end keeps the request open.
    body: new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from("{")) }),
    duplex: "half",
  });
  // Once this is answered, the request before has arrived too.
  await fetch(sandbox.url);

  const ended = open.catch((error: unknown) => error);
  await sandbox.close();

  expect(await ended).toBeInstanceOf(TypeError);

  const next = await startSandbox({ port: Number(new URL(sandbox.url).port) });
  await next.close();
});
