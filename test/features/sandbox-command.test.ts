// What `sandbox` prints at a terminal.

import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { runSandbox } from "../../src/commands/sandbox.ts";

test.each([60, 80, 120])(
  "what sandbox prints fits %i columns, also the command to paste",
  async (columns) => {
    const output = Object.assign(new PassThrough({ encoding: "utf8" }), { isTTY: true, columns });
    const interrupt = new AbortController();
    let printed = "";
    output.on("data", (text: string) => {
      printed += text;
      if (printed.includes("-d '")) interrupt.abort();
    });
    const code = await runSandbox(
      { name: "sandbox", port: 0, webhook: "http://127.0.0.1:1/hook" },
      {
        input: new PassThrough(),
        output,
        errors: new PassThrough(),
        env: {},
        homeDir: "/home/user",
        interrupted: interrupt.signal,
      },
    );

    expect(code).toBe(0);
    expect(printed.replace(/\s*\\?\s+/g, " ")).toMatch(
      /^The sandbox service is at (\S+) and takes the key fl_sandbox\. Ctrl\+C ends it\. It delivers .+ Try: curl -s \1\/api\/v1\/generate -H 'Authorization: Bearer fl_sandbox' .+ $/,
    );
    expect(printed.split("\n").filter((line) => line.length > columns)).toEqual([]);
  },
);
