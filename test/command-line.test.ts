import { describe, expect, test } from "vitest";
import { CLIENTS, type Command, parseCommandLine } from "../src/command-line.ts";
import { type Flags, readConfig } from "../src/config.ts";

const ENV = { FACELESS_API_KEY: "fl_canary", FACELESS_BASE_URL: "https://videos.example.com" };
const NO_FLAGS: Flags = { sandbox: false, readOnly: false, noPublish: false };

describe("the command line", () => {
  test.each<[string[], Command, Partial<Flags>]>([
    [[], { name: "serve" }, {}],
    [["--sandbox"], { name: "serve" }, { sandbox: true }],
    [["--read-only"], { name: "serve" }, { readOnly: true }],
    [["--no-publish"], { name: "serve" }, { noPublish: true }],
    [
      ["--no-publish", "--sandbox", "--read-only"],
      { name: "serve" },
      { sandbox: true, readOnly: true, noPublish: true },
    ],
    [["--sandbox", "--sandbox"], { name: "serve" }, { sandbox: true }],
    [["demo"], { name: "demo" }, { sandbox: true }],
    [["sandbox"], { name: "sandbox", port: 0 }, { sandbox: true }],
    [["sandbox", "--port", "0"], { name: "sandbox", port: 0 }, { sandbox: true }],
    [["sandbox", "--port", "8080"], { name: "sandbox", port: 8080 }, { sandbox: true }],
    [["sandbox", "--port=65535"], { name: "sandbox", port: 65535 }, { sandbox: true }],
    [["doctor"], { name: "doctor", json: false }, {}],
    [["doctor", "--json"], { name: "doctor", json: true }, {}],
    [
      ["config", "cursor"],
      { name: "config", client: "cursor", form: { windows: false, sandbox: false } },
      {},
    ],
    [
      ["config", "--sandbox", "Claude-Desktop", "--windows"],
      { name: "config", client: "claude-desktop", form: { windows: true, sandbox: true } },
      {},
    ],
    [["--help"], { name: "help" }, {}],
    [["-h"], { name: "help" }, {}],
    [["--version"], { name: "version" }, {}],
    [["-v"], { name: "version" }, {}],
    [["--bogus", "--help"], { name: "help" }, {}],
    [["sandbox", "--port", "x", "--help"], { name: "help" }, {}],
    [["--version", "--sandbox"], { name: "version" }, {}],
  ])("%j is understood, and the environment is read beside it", (argv, command, flags) => {
    expect(parseCommandLine(argv, ENV)).toEqual({
      ok: true,
      command,
      config: readConfig(ENV, { ...NO_FLAGS, ...flags }),
    });
  });

  test.each<[string[], string]>([
    [["--bogus"], "unknown option --bogus"],
    [["--sandbox", "--bogus"], "unknown option --bogus"],
    [["serve"], "unknown command serve"],
    [["sandboxx"], "unknown command sandboxx"],
    [["--sandbox", "demo"], "unknown command demo"],
    [["--read-only=true"], "option --read-only takes no value"],
    [[""], "unknown empty argument"],
    [["demo", "--sandbox"], "demo takes no option --sandbox"],
    [["demo", "now"], "demo takes no command now"],
    [["doctor", "--verbose"], "doctor takes --json only, not option --verbose"],
    [["doctor", "--json", "now"], "doctor takes --json only, not command now"],
    [["doctor", "--json=yes"], "doctor takes --json only, not option --json"],
    [["config"], `config takes the name of a client: ${CLIENTS.join(", ")}`],
    [["config", "--windows"], `config takes the name of a client: ${CLIENTS.join(", ")}`],
    [["config", "emacs"], `config knows no client emacs, only ${CLIENTS.join(", ")}`],
    [["config", "cursor", "--mac"], "config takes no option --mac"],
    [["config", "cursor", "zed"], "config takes one client at a time"],
    [["sandbox", "8080"], "sandbox takes --port N only, not command 8080"],
    [["sandbox", "--prot", "80"], "sandbox takes --port N only, not option --prot"],
    [["sandbox", "--port", "80", "90"], "sandbox takes --port N only, not command 90"],
    [["sandbox", "--port=80", "--read-only"], "sandbox takes --port N only, not option --read-only"],
    [["sandbox", "--port"], "--port takes a number from 0 to 65535"],
    [["sandbox", "--port="], "--port takes a number from 0 to 65535"],
    [["sandbox", "--port", "65536"], "--port takes a number from 0 to 65535"],
    [["sandbox", "--port", "-1"], "--port takes a number from 0 to 65535"],
    [["sandbox", "--port", "80.5"], "--port takes a number from 0 to 65535"],
    [["sandbox", "--port", "0x50"], "--port takes a number from 0 to 65535"],
  ])("%j is refused with one line that names what is wrong", (argv, problem) => {
    expect(parseCommandLine(argv, ENV)).toEqual({
      ok: false,
      usageError: `faceless-video-mcp: ${problem}; see faceless-video-mcp --help`,
    });
  });

  const hint = "argument (the key belongs in FACELESS_API_KEY, never on a command line)";
  test.each<[string[], string]>([
    [["fl_canary"], `unknown ${hint}`],
    [["--fl_canary"], `unknown ${hint}`],
    [["demo", "fl_canary"], `demo takes no ${hint}`],
    [["doctor", "fl_canary"], `doctor takes --json only, not ${hint}`],
    [["config", "fl_canary"], `config knows no ${hint}, only ${CLIENTS.join(", ")}`],
    [["config", "cursor", "fl_canary"], `config knows no ${hint}, only ${CLIENTS.join(", ")}`],
    [["config", "--key=fl_canary"], "config takes no option --key"],
    [["sandbox", "fl_canary"], `sandbox takes --port N only, not ${hint}`],
    [["--api-key=fl_canary"], "unknown option --api-key"],
    [["--api-key", "fl_canary"], "unknown option --api-key"],
    [["--api-key=x\nfl_canary"], "unknown option --api-key"],
    [["--sandbox=fl_canary"], "option --sandbox takes no value"],
    [["FACELESS_API_KEY=fl_canary"], "unknown command FACELESS_API_KEY"],
    [["sandbox", "--port", "fl_canary"], "--port takes a number from 0 to 65535"],
    [["sandbox", "--port=fl_canary"], "--port takes a number from 0 to 65535"],
  ])("%j does not get its key repeated on stderr", (argv, problem) => {
    const config = parseCommandLine(argv, {});

    expect(config).toEqual({
      ok: false,
      usageError: `faceless-video-mcp: ${problem}; see faceless-video-mcp --help`,
    });
    expect(JSON.stringify(config)).not.toContain("canary");
  });

  test("shows a strange argument cut and without control characters, on one line", () => {
    expect(parseCommandLine([`--a\u001B[31m\nb\u009B${"c".repeat(100)}`], {})).toEqual({
      ok: false,
      usageError: `faceless-video-mcp: unknown option --a[31mb${"c".repeat(32)}; see faceless-video-mcp --help`,
    });
  });

  test("is not refused for what is wrong in the environment", () => {
    const config = parseCommandLine([], { FACELESS_API_KEY: "wrong", FACELESS_LOG_LEVEL: "loud" });

    expect(config.ok && config.config.problems.map(({ variable }) => variable)).toEqual([
      "FACELESS_API_KEY",
      "FACELESS_BASE_URL",
      "FACELESS_LOG_LEVEL",
    ]);
  });
});
