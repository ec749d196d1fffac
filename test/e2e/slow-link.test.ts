// A distant host with two addresses: the first one answers after a second, the second one refuses.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { JOB_ID } from "../fixtures/constants.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { startRaw } from "../fixtures/raw-server.ts";
import { until } from "../fixtures/until.ts";

/** Accepts no connection before it reads a byte: two fill its backlog, and the kernel drops any other's SYN. */
const BUSY_SERVICE = `
  const server = require("node:http").createServer((_, response) => response.end('{"status":"processing"}'));
  server.listen(0, "127.0.0.1", 1, () => {
    console.log(server.address().port);
    require("node:fs").readSync(0, Buffer.alloc(1));
  });
`;
const TWO_ADDRESSES = `
  const dns = require("node:dns");
  dns.lookup = (host, options, callback) => {
    console.error("A connection begins.");
    callback(null, ["127.0.0.1", "127.0.0.2"].map((address) => ({ address, family: 4 })));
  };
`;

/** True if a connection to the port waits for its SYN to be answered. */
function isConnecting(port: number): boolean {
  const remote = `:${port.toString(16).toUpperCase().padStart(4, "0")} 02 `;
  return readFileSync("/proc/net/tcp", "utf8").includes(remote);
}

test.runIf(process.platform === "linux")(
  "the server waits for an address that takes a second to connect",
  async () => {
    const service = spawn(process.execPath, ["-e", BUSY_SERVICE], { stdio: ["pipe", "pipe", "inherit"] });
    onTestFinished(() => void service.kill());
    const [printed]: unknown[] = await once(service.stdout, "data");
    const port = Number(String(printed));
    const fillers = [connect(port, "127.0.0.1"), connect(port, "127.0.0.1")];
    onTestFinished(() => fillers.forEach((socket) => socket.destroy()));
    await Promise.all(fillers.map((socket) => once(socket, "connect")));
    const stub = join(temporaryFolder(), "two-addresses.cjs");
    writeFileSync(stub, TWO_ADDRESSES);
    const env = { FACELESS_API_KEY: "fl_example_key", FACELESS_BASE_URL: `http://distant.localhost:${port}` };
    const server = startRaw({ env, nodeArgs: ["--require", stub] });
    onTestFinished(() => void server.child.kill());
    await server.open("modern");

    const calling = server.ask("tools/call", { name: "get_video_status", arguments: { jobId: JOB_ID } });
    await until(() => isConnecting(port));
    service.stdin.write("!");

    expect((await calling).result).toMatchObject({ structuredContent: { status: "processing" } });
    // A call that fails to connect is tried again.
    expect(server.stderr()).toBe("A connection begins.\n");
  },
);
