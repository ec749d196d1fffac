// `doctor --client`: it reads a client's file as strictly as the client does, checks each entry, and fills in a
// placeholder as far as the client does. docs/CLIENTS.md has what the clients say of such files.

import { existsSync, readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { dump } from "js-yaml";
import { expect, test } from "vitest";
import type { ClientName } from "../../src/command-line.ts";
import { filesOf, FORMATS } from "../../src/commands/client-formats.ts";
import { hijackRisk } from "../../src/commands/doctor/client-entry.ts";
import { findInPath, programOf } from "../../src/commands/doctor/start.ts";
import { CANARY } from "../fixtures/canary.ts";
import { VIDEOS } from "../fixtures/constants.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { run } from "../fixtures/run.ts";
import { doctor, type DoctorOptions, problemsIn } from "../fixtures/run-doctor.ts";
import { scriptedService } from "../fixtures/scripted-service.ts";
import { until } from "../fixtures/until.ts";

const SERVER = fileURLToPath(new URL("../fixtures/entry-server.cjs", import.meta.url));
const CAN = "A video can be made.";

type Values = Readonly<Record<string, string>>;

const start = (env: Values, more: object = {}) => ({
  command: process.execPath,
  args: [SERVER],
  env,
  ...more,
});

async function account(): Promise<Values> {
  const { url } = await scriptedService({ [VIDEOS]: { json: { videos: [] } } });
  return { FACELESS_API_KEY: CANARY, FACELESS_BASE_URL: url };
}

/** What doctor says of a user's file with this content. */
async function doctorOn(client: ClientName, content: string | Buffer | object, env: Values = {}) {
  const homeDir = temporaryFolder();
  const [file = ""] = filesOf(FORMATS[client], { env: {}, homeDir, platform: process.platform });
  await mkdir(dirname(file), { recursive: true });
  const isWritten = typeof content === "string" || Buffer.isBuffer(content);
  await writeFile(file, isWritten ? content : JSON.stringify(content, undefined, 2));
  const options: Partial<DoctorOptions> = { client, homeDir, env: { PATH: process.env["PATH"], ...env } };
  const { code, lines } = await doctor(options);
  return { code, headline: lines[0], problems: problemsIn(lines), lines };
}

const JSON_FILES: Readonly<Record<string, (text: string) => string | Buffer>> = {
  "a comment": (text) => text.replace("{\n", "{\n  // mine\n"),
  "a comma before a closing bracket": (text) => text.replace(/\n\}$/, ",\n}"),
  "a byte order mark": (text) => `\uFEFF${text}`,
  "a missing comma": (text) => text.replace('",\n', '"\n'),
  "a single backslash": (text) => text.replace('"NOTE": ""', '"NOTE": "C:\\Users"'),
  UTF16: (text) => Buffer.from(`\uFEFF${text}`, "utf16le"),
};
const LINE =
  /^fail entry Look at line (\d+, column \d+), and at what stands before it\. \(\S+ has a mistake in line \1\)$/;
const REFUSED: Readonly<Record<string, RegExp>> = {
  "a comment":
    /^fail entry In line 2, column 3, remove the comment\. \(\S+ has a comment in line 2, column 3, which .+ can't read\)$/,
  "a comma before a closing bracket":
    /^fail entry In line 1\d, column 4, remove the comma before a closing bracket\. \(\S+ has a comma before a closing bracket in line 1\d, column 4, which .+ can't read\)$/,
  "a byte order mark":
    /^fail entry Open it in a text editor, .+ \(\S+ begins with a byte order mark, which .+ can't read\)$/,
  "a missing comma": LINE,
  "a single backslash": LINE,
  UTF16:
    /^fail entry Open it in a text editor, and save it again as UTF-8\. \(\S+ is in UTF-16 or another encoding that .+ can't read\)$/,
};

/** The faults that each client was seen to accept in a file. */
const READ: readonly (readonly [ClientName, readonly string[]])[] = [
  ["claude-code", ["a byte order mark"]],
  ["claude-desktop", []],
  ["cline", []],
  ["gemini", ["a comment"]],
  ["copilot", ["a comment", "a comma before a closing bracket", "a byte order mark", "a missing comma"]],
  ["opencode", ["a comment", "a comma before a closing bracket", "a byte order mark"]],
  ["vscode", ["a comment", "a comma before a closing bracket", "a byte order mark"]],
];
const cases = READ.flatMap(([client, read]) =>
  Object.keys(JSON_FILES).map((fault) => [fault, client, read.includes(fault)] as const),
);

test.each(cases)("doctor accepts %s if %s does: %s", async (fault, client, isRead) => {
  const { root = "mcpServers", envField = "env" } = FORMATS[client];
  const env = { ...(await account()), NOTE: "" };
  const entry = { command: process.execPath, args: [SERVER], [envField]: env };
  // Without a permission, nobody asks in opencode.
  const top = client === "opencode" ? { permission: "ask" } : {};
  const text = JSON.stringify({ ...top, [root]: { "faceless-video": entry } }, undefined, 2);

  const { code, headline, problems } = await doctorOn(client, JSON_FILES[fault]?.(text) ?? "");

  const said: unknown = expect.stringMatching(REFUSED[fault] ?? /never/);
  expect([code, headline === CAN, problems]).toEqual(isRead ? [0, true, []] : [1, false, [said]]);
});

test("doctor calls a fault possible if nobody has tried it in that client", async () => {
  const text = JSON.stringify({ mcpServers: { "faceless-video": start(await account()) } }, undefined, 2);

  const { code, headline, problems } = await doctorOn("kiro", text.replace("{\n", "{ // mine\n"));

  expect([code, headline]).toEqual([0, CAN]);
  expect(problems).toEqual([
    expect.stringMatching(
      /^warn entry In line 1, column 3, remove the comment\. \(.+: it isn't known if Kiro reads that\)$/,
    ),
  ]);
});

test.each<[string, ClientName, string, RegExp]>([
  ["a mistake in TOML", "codex", '[mcp_servers.faceless-video]\ncommand = "node\n', /in line \d, column \d+/],
  [
    "a single backslash in TOML",
    "codex",
    '[mcp_servers.faceless-video]\ncommand = "C:\\Program Files\\node.exe"\n',
    /in line 2, column \d+/,
  ],
  ["a mistake in YAML", "goose", "extensions:\n  faceless-video: [\n", /in line \d, column \d+/],
])("doctor names the line of %s", async (_, client, content, told) => {
  const { code, problems } = await doctorOn(client, content);

  expect([code, problems]).toEqual([1, [expect.stringMatching(told)]]);
});

test.each<[string, (path: string) => unknown]>([
  ["a folder", (path) => mkdir(path)],
  ["a pipe, and doesn't wait for its end", (path) => run("mkfifo", [path])],
])("doctor says that a file is %s", async (_, make) => {
  const homeDir = temporaryFolder();
  await mkdir(join(homeDir, ".cursor"));
  await make(join(homeDir, ".cursor/mcp.json"));

  const { code, lines } = await doctor({ client: "cursor", homeDir });

  expect([code, problemsIn(lines)]).toEqual([
    1,
    ["fail entry Look at what is in its place. (~/.cursor/mcp.json isn't a file)"],
  ]);
});

test("doctor says that a file is nested too deeply", async () => {
  const { code, problems } = await doctorOn("cursor", `${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`);

  expect([code, problems]).toEqual([
    1,
    [expect.stringMatching(/^fail entry .+ is nested too deeply to be read\)$/)],
  ]);
});

test("doctor reports an entry in a field that the client doesn't read", async () => {
  const { code, problems } = await doctorOn("vscode", {
    mcpServers: { "faceless-video": start(await account()) },
  });

  expect([code, problems]).toEqual([
    1,
    [
      expect.stringMatching(
        /^fail entry Move it into "servers", .+ \(in \S+ the entry stands in "mcpServers", where VS Code doesn't look\)$/,
      ),
    ],
  ]);
});

test("doctor says that an entry without a program has none, though it has arguments", async () => {
  const { code, problems } = await doctorOn("cursor", {
    mcpServers: { "faceless-video": { args: [SERVER] } },
  });

  expect([code, problems]).toEqual([
    1,
    [
      expect.stringMatching(
        /^fail entry Replace .+ it names no program, or in a form that Cursor can't use\)$/,
      ),
    ],
  ]);
});

test("doctor checks the entry with this server's name first, then the others, and says that one is enough", async () => {
  const env = await account();
  const { code, headline, problems, lines } = await doctorOn(
    "cursor",
    {
      mcpServers: {
        videos: { command: "npx", args: ["-y", "faceless-video-mcp"], env },
        files: start({}, { args: ["/opt/files.cjs", "/home/ann/faceless-video-mcp"] }),
        "faceless-video": start(env),
      },
    },
    { PATH: "/nowhere" },
  );

  expect([code, headline]).toEqual([1, "Before a video can be made, fix this and restart Cursor:"]);
  expect(lines.join("\n")).toMatch(/^ok +start +version 10\.0\.0, 2 tools/m);
  expect(problems).toEqual([
    expect.stringMatching(/^fail start "videos" .+ \(there is no program "npx"\)$/),
    expect.stringMatching(/^warn entry "videos" Replace .+ npx obeys the project's files/),
    expect.stringMatching(
      /^warn entry Remove "videos": .+ \(\S+ starts this server more than once, as "faceless-video" and "videos"\)$/,
    ),
  ]);
});

test.each<[ClientName, string]>([
  ["claude-desktop", "${FACELESS_API_KEY}"],
  ["claude-desktop", "$FACELESS_API_KEY"],
  ["claude-code", "${env:FACELESS_API_KEY}"],
  ["cursor", "${FACELESS_API_KEY}"],
  ["lm-studio", "%FACELESS_API_KEY%"],
  ["gemini", "{env:FACELESS_API_KEY}"],
])("doctor says that %s doesn't fill in %s, and asks for the key itself", async (client, key) => {
  const { FACELESS_BASE_URL = "" } = await account();
  const entry = start({ FACELESS_API_KEY: key, FACELESS_BASE_URL });

  const { code, problems } = await doctorOn(
    client,
    { mcpServers: { "faceless-video": entry } },
    {
      FACELESS_API_KEY: CANARY,
    },
  );

  expect([code, problems]).toEqual([
    1,
    [
      `fail FACELESS_API_KEY Write the value itself in its place. (it holds the placeholder "${key}", which ${FORMATS[client].title} doesn't fill in)`,
    ],
  ]);
});

test.each<[ClientName, string, string]>([
  ["claude-code", "${FACELESS_API_KEY}", CAN],
  ["claude-code", "${FACELESS_UNSET:-fl_fallback_1}", CAN],
  ["gemini", "$FACELESS_API_KEY", CAN],
  ["copilot", "${FACELESS_API_KEY}", CAN],
  [
    "cursor",
    "${env:FACELESS_API_KEY}",
    "Nothing was found that stops this server, but this was not checked:",
  ],
])(
  "doctor fills in placeholders as %s does, such as %s, and checks that key",
  async (client, key, headline) => {
    const { url, requests } = await scriptedService({ [VIDEOS]: { json: { videos: [] } } });
    const entry = start({ FACELESS_API_KEY: key, FACELESS_BASE_URL: url });

    const report = await doctorOn(
      client,
      { mcpServers: { "faceless-video": entry } },
      { FACELESS_API_KEY: CANARY },
    );

    expect([report.code, report.headline]).toEqual([0, headline]);
    const sent = key.includes(":-") ? "fl_fallback_1" : CANARY;
    expect(requests.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${sent}`]);
  },
);

test("doctor sends none of the terminal's other variables, and says which it did not read", async () => {
  const { url, requests } = await scriptedService({ [VIDEOS]: { json: { videos: [] } } });
  const entry = start({
    FACELESS_API_KEY: "${GITHUB_TOKEN}",
    FACELESS_BASE_URL: url,
    NOTE: "${TOKEN:-none}",
  });

  const { headline, problems } = await doctorOn(
    "claude-code",
    { mcpServers: { "faceless-video": entry } },
    { GITHUB_TOKEN: CANARY, TOKEN: CANARY },
  );

  expect(headline).toBe("Nothing was found that stops this server, but this was not checked:");
  expect(problems).toEqual(
    ["FACELESS_API_KEY", "NOTE"].map((variable) =>
      expect.stringMatching(`^skip ${variable} .+ \\(only Claude Code knows its value\\)$`),
    ),
  );
  expect(requests.filter(({ headers }) => headers.authorization === `Bearer ${CANARY}`)).toEqual([]);
});

test("doctor checks goose's key with this shell's, which goose prefers to its secrets", async () => {
  const { FACELESS_API_KEY = "", FACELESS_BASE_URL = "" } = await account();
  const entry = {
    cmd: process.execPath,
    args: [SERVER],
    envs: { FACELESS_BASE_URL },
    env_keys: ["FACELESS_API_KEY"],
  };

  const { code, lines } = await doctorOn("goose", dump({ extensions: { "faceless-video": entry } }), {
    FACELESS_API_KEY,
  });

  expect([code, lines.join("\n")]).toEqual([0, expect.stringMatching(/^ok +key +the service accepts it$/m)]);
});

test("doctor finds Claude Code's file where CLAUDE_CONFIG_DIR puts it", async () => {
  const homeDir = temporaryFolder();
  const folder = temporaryFolder();
  await writeFile(
    join(folder, ".claude.json"),
    JSON.stringify({ mcpServers: { "faceless-video": start(await account()) } }),
  );

  const { code, lines } = await doctor({
    client: "claude-code",
    homeDir,
    env: { CLAUDE_CONFIG_DIR: folder },
  });

  expect([code, lines[0]]).toEqual([0, CAN]);
});

test("a process that an entry has started doesn't outlive doctor", async () => {
  const pidFile = join(temporaryFolder(), "pid");
  // The server ends with its input, and leaves a child.
  const script = `sleep 300 & echo $! >${pidFile}; exec "${process.execPath}" "${SERVER}"`;
  const entry = { command: "/bin/sh", args: ["-c", script], env: await account() };

  const { headline } = await doctorOn("cursor", { mcpServers: { "faceless-video": entry } });

  const pid = Number(await readFile(pidFile, "utf8"));
  expect(headline).toBe(CAN);
  // A busy system ends what was killed a moment later.
  await until(() => !isRunning(pid));
});

/** Also false for a zombie. */
function isRunning(pid: number): boolean {
  const stat = `/proc/${pid}/stat`;
  return existsSync(stat) && !/\) Z /.test(readFileSync(stat, "utf8"));
}

const ON_WINDOWS = {
  platform: "win32",
  env: {
    PATH: String.raw`C:\Windows;C:\Program Files\nodejs`,
    COMSPEC: String.raw`C:\Windows\System32\cmd.exe`,
  },
  exists: (path: string) =>
    [String.raw`C:\Program Files\nodejs\npx.cmd`, String.raw`C:\Program Files\nodejs\node.exe`].includes(
      path,
    ),
} as const;

test("on Windows, npx is npx.cmd, which cmd.exe runs", () => {
  expect(programOf(["npx", "-y", "a&b"], ON_WINDOWS)).toEqual({
    command: String.raw`C:\Windows\System32\cmd.exe`,
    args: ["/d", "/s", "/c", String.raw`""C:\Program Files\nodejs\npx.cmd" "-y" "a&b""`],
    isVerbatim: true,
  });
  expect(findInPath("node", ON_WINDOWS)).toBe(String.raw`C:\Program Files\nodejs\node.exe`);
  expect(programOf(["no-such"], ON_WINDOWS)).toEqual({ command: "no-such", args: [], isVerbatim: false });
});

test("doctor doesn't warn of the documented start in a container", () => {
  const words = "docker run --rm -i -e FACELESS_API_KEY node:22-slim npx -y faceless-video-mcp".split(" ");

  expect(hijackRisk(words, undefined, FORMATS.cursor)).toBeUndefined();
});
