import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { testSandbox } from "./fixture.ts";

describe("the server", () => {
  test("keeps a record of its requests", async () => {
    const sandbox = await testSandbox();
    await sandbox.get("/api/v1/videos?limit=5");
    await sandbox.post("/api/v1/generate", {});

    expect(sandbox.requests()).toEqual([
      { method: "GET", path: "/api/v1/videos?limit=5", status: 200 },
      { method: "POST", path: "/api/v1/generate", status: 400 },
    ]);
  });

  test("rejects when its port is taken", async () => {
    const sandbox = await testSandbox();
    const port = Number(new URL(sandbox.url).port);

    await expect(startSandbox({ port })).rejects.toMatchObject({ code: "EADDRINUSE" });
  });

  test("ends open connections when it closes, and frees the port", async () => {
    const sandbox = await startSandbox();
    const open = fetch(`${sandbox.url}/api/v1/generate`, {
      method: "POST",
      headers: { Authorization: "Bearer fl_x", "Content-Type": "application/json" },
      // A body that never ends, so that the request is still open.
      body: new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from("{")) }),
      duplex: "half",
    });
    // Answered, so the one before has arrived as well.
    await fetch(sandbox.url);

    const ended = open.catch((error: unknown) => error);
    await sandbox.close();

    expect(await ended).toBeInstanceOf(TypeError);

    const next = await startSandbox({ port: Number(new URL(sandbox.url).port) });
    await next.close();
  });

  test.each([
    ["lets the program end by itself", "", "ended"],
    ["keeps the program running where asked to", "keepAlive: true", "still running"],
  ])("%s", async (_, options, outcome) => {
    const program = `
      import { startSandbox } from "./src/sandbox/sandbox.ts";
      const { url } = await startSandbox({ ${options} });
      const response = await fetch(url);
      await response.arrayBuffer();
      // Unreferenced, so it only fires in a program that something else keeps running.
      setTimeout(() => { console.log("still running"); process.exit(); }, 300).unref();
      process.on("exit", () => console.log("ended"));
    `;
    const { stdout } = await promisify(execFile)(process.execPath, [
      "--import",
      "tsx",
      "--input-type=module",
      "--eval",
      program,
    ]);

    expect(stdout.split("\n")[0]).toBe(outcome);
  });
});
