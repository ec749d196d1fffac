// The output of `sandbox` at a terminal.

import { expect, test } from "vitest";
import { runSandbox } from "../../src/commands/sandbox.ts";
import { computer } from "../fixtures/host.ts";

test.each([60, 80, 120])(
  "sandbox's output fits %i columns, and so does the command to paste",
  async (columns) => {
    const interrupt = new AbortController();
    const { host, output } = computer({ interrupted: interrupt.signal }, { isTTY: true, columns });
    let printed = "";
    output.on("data", (text: string) => {
      printed += text;
      if (printed.includes("-d '")) interrupt.abort();
    });

    const webhook = "http://127.0.0.1:1/hook";
    const code = await runSandbox({ name: "sandbox", port: 0, webhook }, host);

    expect(code).toBe(0);
    expect(printed.replace(/\s*\\?\s+/g, " ")).toMatch(
      /^The sandbox service is at (\S+) and takes the key fl_sandbox\. Ctrl\+C ends it\. It delivers .+ Try: curl -s \1\/api\/v1\/generate -H 'Authorization: Bearer fl_sandbox' .+ $/,
    );
    expect(printed.split("\n").filter((line) => line.length > columns)).toEqual([]);
  },
);
