// How the built file treats an unusable setting.

import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { BUILT_FILE, connectLegacy, SERVER_NODE } from "../fixtures/clients.ts";
import { run } from "../fixtures/run.ts";

test("an unusable setting with a harmless default causes one warning on stderr", async () => {
  const env = { FACELESS_POLL_SECONDS: "often", FACELESS_LOG_LEVEL: "loud" };
  expect(await run(SERVER_NODE, [BUILT_FILE, "--sandbox"], { env })).toEqual({
    code: 0,
    stdout: "",
    stderr:
      "faceless-video-mcp warn: FACELESS_POLL_SECONDS is not a number of seconds from 0.1 to 3600, so the usual schedule is used. Set it to a number of seconds from 0.1 to 3600, or remove it.\n" +
      "faceless-video-mcp warn: FACELESS_LOG_LEVEL is not one of debug, info, warn, error, silent, so warn is used. Set it to one of debug, info, warn, error, silent, or remove it.\n",
  });
});

test("an unusable setting that guards money makes every call fail with its name and the fix", async () => {
  const client = await connectLegacy({ args: ["--sandbox"], env: { FACELESS_STATE_DIR: "state" } });

  expect(await client.call("generate_video", { topic: "The tide" })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/FACELESS_STATE_DIR is a relative path.+absolute path/) }],
  });
});

test("the sandbox command warns about the render time, and ends with exit 1 if its port is taken", async () => {
  const other = createServer();
  onTestFinished(() => void other.close());
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const address = other.address();
  const port = typeof address === "object" ? address?.port : undefined;

  const env = { FACELESS_SANDBOX_SECONDS: "never", FACELESS_STATE_DIR: "state" };
  expect(await run(SERVER_NODE, [BUILT_FILE, "sandbox", `--port=${port}`], { env })).toEqual({
    code: 1,
    stdout: "",
    stderr:
      "faceless-video-mcp: FACELESS_SANDBOX_SECONDS is not a number of seconds from 0 to 3600, so 20 is used. Set it to a number of seconds from 0 to 3600, or remove it.\n" +
      `faceless-video-mcp: the sandbox can't listen on port ${port}: EADDRINUSE\n`,
  });
});
