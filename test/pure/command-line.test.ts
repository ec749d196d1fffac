import { expect, test } from "vitest";
import { CLIENT_NAMES, type Command, parseCommandLine, UsageError } from "../../src/command-line.ts";
import type { Flags } from "../../src/config.ts";

const serve = (flags: Partial<Flags>): Command => ({
  name: "serve",
  flags: { sandbox: false, readOnly: false, noPublish: false, ...flags },
});

test.each<[string[], Command]>([
  [[], serve({})],
  [["--no-publish", "--sandbox", "--read-only"], serve({ sandbox: true, readOnly: true, noPublish: true })],
  [["--sandbox=auto"], serve({ sandbox: "auto" })],
  [["--sandbox", "false", "--read-only", "true", "--no-publish", "false"], serve({ readOnly: true })],
  [["sandbox"], { name: "sandbox", port: 0, webhook: undefined }],
  [
    ["sandbox", "--webhook=HTTPS://Hooks.example/a?b=c", "--port=80"],
    { name: "sandbox", port: 80, webhook: "https://hooks.example/a?b=c" },
  ],
  [["doctor", "--client", "Cursor"], { name: "doctor", json: false, shapes: false, client: "cursor" }],
  [
    ["config", "cursor"],
    { name: "config", client: "cursor", windows: false, sandbox: false, installed: false },
  ],
  [
    ["config", "--sandbox", "Claude-Desktop", "--windows", "--installed"],
    {
      name: "config",
      client: "claude-desktop",
      windows: true,
      sandbox: true,
      installed: true,
    },
  ],
  [
    ["--sandbox", "call", "list_videos", "--limit", "5", "--help"],
    { name: "call", argv: ["--sandbox", "list_videos", "--limit", "5", "--help"] },
  ],
  [["--help"], { name: "help", of: "" }],
  [["doctor", "-h", "--client", "cursor"], { name: "help", of: "doctor" }],
  [["--version"], { name: "version" }],
  [["-v", "--sandbox", "false"], { name: "version" }],
  [["--help", "call"], { name: "call", argv: ["--help"] }],
])("the command line %j is understood", (argv, command) => {
  expect(parseCommandLine(argv)).toEqual(command);
});

const clients = `the clients are ${CLIENT_NAMES.join(", ")}`;
test.each<[string[], string]>([
  [["--bogus"], "the server has no option --bogus"],
  [["--read-only=yes"], "option --read-only takes no value but true or false"],
  [["--read-only", "yes"], "unknown command yes"],
  [["-x"], "the server has no option -x"],
  [["--", "demo"], "demo has no option --"],
  [
    ["doctor", "--client", "--json"],
    "option --client needs a value; one that begins with - is written --client=VALUE",
  ],
  [["doctor", "--client="], `unknown client ; ${clients}`],
  [[""], "unknown empty argument"],
  [["doctor", "--client", "emacs"], `unknown client emacs; ${clients}`],
  [["config"], `config needs a client; ${clients}`],
  [["history", "--json", "--json"], "option --json was given twice"],
  [
    ["sandbox", "--webhook", "--port=80"],
    "option --webhook needs a value; one that begins with - is written --webhook=VALUE",
  ],
  [["sandbox", "--webhook", "file:///etc/passwd"], "option --webhook takes an http or https URL"],
  [["sandbox", "--port", "65536"], "option --port takes a number from 0 to 65535"],
])("the command line %j is refused with one line that names the mistake", (argv, problem) => {
  expect(() => parseCommandLine(argv)).toThrow(new UsageError(problem));
});

const hint = "argument (the key belongs in FACELESS_API_KEY, never on a command line)";
test.each<[string[], string]>([
  [["fl_canary"], `unknown ${hint}`],
  [["doctor", "--client", "fl_canary"], `unknown ${hint}; ${clients}`],
  [["--api-key=x\nfl_canary"], "the server has no option --api-key"],
])("the command line %j is refused without showing its key", (argv, problem) => {
  expect(() => parseCommandLine(argv)).toThrow(new UsageError(problem));
});

test("an unusual argument is shown shortened, on one line and without control characters", () => {
  const argument = `--a\u001B[31m\nb\u009B${"c".repeat(100)}`;

  expect(() => parseCommandLine([argument])).toThrow(
    new UsageError(`the server has no option --a[31mb${"c".repeat(32)}`),
  );
});
