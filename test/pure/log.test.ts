import { expect, test } from "vitest";
import { openLog } from "../../src/log.ts";
import { type LogLevel, NO_FLAGS, readConfig } from "../../src/config.ts";

function record(level: LogLevel, key?: string) {
  const env = { FACELESS_API_KEY: key, FACELESS_BASE_URL: "http://localhost", FACELESS_LOG_LEVEL: level };
  const lines: string[] = [];
  const { log } = openLog(readConfig(env, NO_FLAGS, "/home/user"), (line) => lines.push(line));
  return { log, lines };
}

test.each<[LogLevel, string[]]>([
  ["debug", ["debug", "info", "warn", "error"]],
  ["warn", ["warn", "error"]],
  ["silent", []],
])("the log at level %s writes %j", (level, written) => {
  const { log, lines } = record(level);
  log.debug("happened");
  log.info("happened");
  log.warn("happened");
  log.error("happened");

  expect(lines).toEqual(written.map((own) => `faceless-video-mcp ${own}: happened\n`));
});

test("the log writes one line per event, whatever the message contains", () => {
  const { log, lines } = record("warn");
  log.warn("one  \r\n\n  two\rthree\u2028four\n");

  expect(lines).toEqual(["faceless-video-mcp warn: one | two | three | four\n"]);
});

test("the log shows a cause at level debug only", () => {
  const cause = new Error("the cause");
  cause.stack = "Error: the cause\n    at somewhere\n    at elsewhere";
  for (const [level, expected] of [
    ["debug", "faceless-video-mcp error: failed Error: the cause | at somewhere | at elsewhere\n"],
    ["info", "faceless-video-mcp error: failed\n"],
  ] as const) {
    const { log, lines } = record(level);
    log.error("failed", cause);
    expect(lines).toEqual([expected]);
  }
});

test("the log never shows the key, not even with invisible characters within it", () => {
  const { log, lines } = record("debug", "fl_canary");
  log.error("fl_canary and fl_\u200Bcan\u001B[0mary", new Error("Bearer fl_canary"));

  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(
    /^faceless-video-mcp error: \[redacted\] and \[redacted\] Error: Bearer \[redacted\]/,
  );
  expect(lines[0]).not.toContain("canary");
});
