// The built server never writes its key anywhere, even if the service echoes it escaped or encoded.
// test/network/faults looks for it after every fault of the network.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { CANARY, tracesOf } from "../fixtures/canary.ts";
import { GENERATE, JOB_ID, PUBLISH, STATUS, VIDEOS } from "../fixtures/constants.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { startRaw } from "../fixtures/raw-server.ts";
import { type Reply, scriptedService } from "../fixtures/scripted-service.ts";
import { CALLS } from "../fixtures/tools.ts";

const ECHOES = [
  CANARY,
  `Bearer ${CANARY}`,
  JSON.stringify(CANARY),
  JSON.stringify(JSON.stringify(CANARY)),
  encodeURIComponent(CANARY),
  // The service's words are cut at 80 and 500 characters.
  ...[45, 53, 61, 67, 460, 470, 480, 490].map((length) => "y".repeat(length) + CANARY),
];
const echoed = { ...Object.fromEntries(ECHOES.entries()), [CANARY]: CANARY };

test("the search finds a key in every encoding, and nothing else", () => {
  expect(ECHOES.map((echo) => tracesOf(CANARY, JSON.stringify(echo)).length > 0)).not.toContain(false);
  expect(tracesOf(CANARY, "fl_[redacted], ZmxfQzRuYXJ5 and fl_C4nary")).toEqual([]);
});

test.each(["legacy", "modern"] as const)(
  "The built server shows no trace of its key (%s protocol)",
  async (protocol) => {
    const failures = ECHOES.map((message, index): Reply => ({
      status: 400 + (index % 4),
      json: { error: { code: message, message } },
    }));
    const rest = await scriptedService({
      [GENERATE]: [
        { json: { jobId: JOB_ID, status: "processing", ...echoed } },
        ...failures,
        { status: 307, headers: { location: `https://elsewhere.example/${encodeURIComponent(CANARY)}` } },
        { status: 200, body: CANARY },
        "reset",
      ],
      [PUBLISH]: { json: { results: [{ platform: CANARY, ok: false, error: CANARY }] } },
      [STATUS]: { json: { status: CANARY, videoUrls: [`https://x.example/${CANARY}`] } },
      [VIDEOS]: { json: { videos: [{ jobId: JOB_ID, status: CANARY, ...echoed }] } },
    });
    const folder = temporaryFolder();
    const settings = { FACELESS_API_KEY: CANARY, FACELESS_LOG_LEVEL: "debug" };
    const server = startRaw({
      env: { ...settings, FACELESS_BASE_URL: rest.url, FACELESS_STATE_DIR: folder },
    });
    onTestFinished(async () => {
      server.child.kill("SIGKILL");
      await server.ended;
    });
    const call = (name: string, args: object = {}) => server.ask("tools/call", { name, arguments: args });
    let stdout = "";
    server.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString("utf8")));
    await server.open(protocol);

    for (let index = 0; index < ECHOES.length + 4; index++) {
      const order = { topic: `${index} ${ECHOES[index] ?? ""}` };
      // Encoded text looks damaged, and is ordered once more as it is.
      const [, confirm] =
        /confirm: \\+"(\w+)/.exec(JSON.stringify(await call("generate_video", order))) ?? [];
      if (confirm !== undefined) await call("generate_video", { ...order, confirm });
    }
    for (const [name, args] of CALLS) await call(name, args);
    await call("publish_video", { jobId: CANARY, platforms: [], [CANARY]: CANARY });
    await server.ask("resources/list");
    await server.ask("resources/read", { uri: `faceless://jobs/${JOB_ID}` });
    await server.ask("resources/read", { uri: `faceless://jobs/${encodeURIComponent(CANARY)}` });
    server.stdin.write(`${CANARY}\n`);
    server.stdin.end();
    const { code } = await server.ended;
    const journal = readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), "utf8"))
      .join("\n");

    expect(code).toBe(0);
    expect(rest.lines(GENERATE).length).toBe(ECHOES.length + 5);
    expect(journal.split("\n").length).toBeGreaterThan(2 * ECHOES.length);
    expect([stdout, server.stderr(), journal].map((text) => tracesOf(CANARY, text))).toEqual([[], [], []]);
    // The echoes did reach the server.
    expect(stdout.split("[redacted]").length).toBeGreaterThan(50);
  },
);
