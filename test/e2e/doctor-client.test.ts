// `doctor --client` as a user runs it: with the files of a client in a home directory of their own, and a service on loopback.

import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { CLIENTS, type ClientName } from "../../src/command-line.ts";
import { CLIENT_FILES, pathsOf } from "../../src/commands/doctor/client-files.ts";
import { CANARY, tracesOf } from "../fixtures/canary.ts";
import { BUILT_FILE } from "../fixtures/clients.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { run } from "../fixtures/run.ts";
import { envelope, scriptedService } from "../fixtures/scripted-service.ts";

const VIDEOS = "GET /api/v1/videos";
const PLATFORMS = "/api/v1/connected-platforms";
const CLAUDE_DESKTOP = `${process.platform === "darwin" ? "Library/Application Support" : ".config"}/Claude/claude_desktop_config.json`;
type Values = Readonly<Record<string, string>>;

const service = (videos = {}) =>
  scriptedService({
    [VIDEOS]: { json: { videos: [] }, ...videos },
    "GET /api/v1/openapi.json": {
      json: { paths: { [PLATFORMS]: { get: { operationId: "list_connected_platforms" } } } },
    },
    [`GET ${PLATFORMS}`]: { json: { platforms: ["tiktok"] } },
  });

/** The home directory of a user with this file in it. */
async function homeWith(name: string, content: string | object): Promise<string> {
  const home = temporaryFolder();
  await write(join(home, name), content);
  return home;
}

async function write(file: string, content: string | object): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const isText = typeof content === "string" || Buffer.isBuffer(content);
  await writeFile(file, isText ? content : JSON.stringify(content, undefined, 2));
}

interface Asked {
  readonly client: ClientName;
  readonly home: string;
  readonly env?: Values | undefined;
  /** Within the home directory. */
  readonly folder?: string;
}

/** The report, with ~ for the home directory. The key must not be in it. */
async function doctor({ client, home, env = {}, folder = "." }: Asked) {
  const { code, stdout, stderr } = await run(process.execPath, [BUILT_FILE, "doctor", "--client", client], {
    env: { HOME: home, FACELESS_STATE_DIR: "off", ...env },
    cwd: join(home, folder),
  });
  expect({ stderr, traces: tracesOf(CANARY, stdout) }).toEqual({ stderr: "", traces: [] });
  return { code, lines: stdout.replaceAll(home, "~").trimEnd().split("\n") };
}

/** What `config` prints for this client, with the path of the built file. */
async function printed(client: ClientName, url: string, ...options: readonly string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [BUILT_FILE, "config", client, "--installed", ...options], {
    env: { FACELESS_BASE_URL: url },
  });
  return stdout;
}

interface BrokenSetUp {
  readonly what: string;
  readonly client: ClientName;
  readonly file: string;
  /** With the address of a service that accepts the key. */
  readonly content: (url: string) => string | object;
  readonly env?: Values;
  /** The first sentence of the report: what to do. */
  readonly told: string;
}

const NODE = { command: process.execPath, args: [BUILT_FILE] };
const entry = (env: Values, more: object = {}) => ({ "faceless-video": { ...NODE, env, ...more } });
const servers = (env: Values, more?: object) => ({ mcpServers: entry(env, more) });
/** The names of the checks that are not ok. */
const problems = (lines: readonly string[]) =>
  lines.flatMap((line) => /^(?:fail|warn) {2}(\S+)/.exec(line)?.[1] ?? []);
const good = (url: string) => ({ FACELESS_API_KEY: CANARY, FACELESS_BASE_URL: url });

const BROKEN: readonly BrokenSetUp[] = [
  {
    what: "no entry at all",
    client: "cursor",
    file: ".cursor/mcp.json",
    content: () => ({ mcpServers: {} }),
    told: 'Run "npx -y faceless-video-mcp config cursor" and put what it prints into the file that it names.',
  },
  {
    what: "a missing comma",
    client: "cursor",
    file: ".cursor/mcp.json",
    content: () => '{\n  "mcpServers": {\n    "a": {}\n    "b": {}\n  }\n}\n',
    told: "Repair ~/.cursor/mcp.json near line 4: a comma, a quote or a bracket is missing or too many.",
  },
  {
    what: "a missing quote in TOML",
    client: "codex",
    file: ".codex/config.toml",
    content: () => '[mcp_servers.faceless-video]\ncommand = "npx\n',
    told: "Repair ~/.codex/config.toml near line 2: a comma, a quote or a bracket is missing or too many.",
  },
  {
    what: "a missing bracket in YAML",
    client: "goose",
    file: ".config/goose/config.yaml",
    content: () => 'extensions:\n  faceless-video:\n    args: ["-y"\n    enabled: true\n',
    told: "Repair ~/.config/goose/config.yaml near line 4: a comma, a quote or a bracket is missing or too many.",
  },
  {
    what: "an entry in the form of another client",
    client: "vscode",
    file: ".vscode/mcp.json",
    content: (url) => servers(good(url)),
    told: 'Rename "mcpServers" to "servers" in ~/.vscode/mcp.json.',
  },
  {
    what: "variables in the field of another client",
    client: "opencode",
    file: ".config/opencode/opencode.json",
    content: (url) => ({
      mcp: { "faceless-video": { type: "local", command: Object.values(NODE).flat(), env: good(url) } },
    }),
    told: 'Rename "env" to "environment" in ~/.config/opencode/opencode.json.',
  },
  {
    what: "a server that is switched off",
    client: "cline",
    file: ".cline/data/settings/cline_mcp_settings.json",
    content: (url) => servers(good(url), { disabled: true }),
    told: "Switch this server on in Cline.",
  },
  {
    what: "a program that is gone",
    client: "zed",
    file: ".config/zed/settings.json",
    content: (url) => ({
      context_servers: entry(good(url), { command: process.execPath, args: ["/opt/old/dist/bin.cjs"] }),
    }),
    told: 'Run "faceless-video-mcp config zed --installed" and replace the entry with what it prints.',
  },
  {
    what: "no key",
    client: "windsurf",
    file: ".codeium/windsurf/mcp_config.json",
    content: (url) => servers({ FACELESS_BASE_URL: url }),
    told: "Create a key in the account settings of the service, section API, and put it in this server's settings in your client.",
  },
  {
    what: "key and address in each other's place",
    client: "claude-desktop",
    file: CLAUDE_DESKTOP,
    content: (url) => servers({ FACELESS_API_KEY: url, FACELESS_BASE_URL: CANARY }),
    told: "If the values of FACELESS_API_KEY and FACELESS_BASE_URL were swapped, swap them back.",
  },
  {
    what: "quotes around the key",
    client: "lm-studio",
    file: ".lmstudio/mcp.json",
    content: (url) => servers({ ...good(url), FACELESS_API_KEY: `"${CANARY}"` }),
    told: "Remove the quotes around it.",
  },
  {
    what: "the key of the example",
    client: "claude-desktop",
    file: CLAUDE_DESKTOP,
    content: (url) => servers({ ...good(url), FACELESS_API_KEY: "fl_example" }),
    told: "Replace it with your own key: account settings of the service, section API.",
  },
  {
    what: "a variable that is not set",
    client: "codex",
    file: ".codex/config.toml",
    content: (url) =>
      `[mcp_servers.faceless-video]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(BUILT_FILE)}]\nenv_vars = ["FACELESS_API_KEY"]\n[mcp_servers.faceless-video.env]\nFACELESS_BASE_URL = "${url}"\n`,
    told: "Write the value itself into the entry, or set FACELESS_API_KEY where Codex starts.",
  },
  {
    what: "a placeholder of another client",
    client: "cursor",
    file: ".cursor/mcp.json",
    content: (url) => servers({ ...good(url), FACELESS_API_KEY: "${FACELESS_API_KEY}" }),
    env: { FACELESS_API_KEY: CANARY },
    told: "Write ${env:FACELESS_API_KEY} instead.",
  },
  {
    what: "a placeholder where the client has none",
    client: "claude-desktop",
    file: CLAUDE_DESKTOP,
    content: (url) => servers({ ...good(url), FACELESS_API_KEY: "${FACELESS_API_KEY}" }),
    env: { FACELESS_API_KEY: CANARY },
    told: "Write the value itself instead.",
  },
  {
    what: "a placeholder without braces in a client that needs them",
    client: "kiro",
    file: ".kiro/settings/mcp.json",
    content: (url) => servers({ ...good(url), FACELESS_API_KEY: "$FACELESS_API_KEY" }),
    env: { FACELESS_API_KEY: CANARY },
    told: "Write ${FACELESS_API_KEY} instead.",
  },
  {
    what: "an entry without a program",
    client: "cursor",
    file: ".cursor/mcp.json",
    content: () => ({
      mcpServers: { "faceless-video": { url: "http://127.0.0.1:1/mcp", env: good("http://127.0.0.1:1") } },
    }),
    told: 'Run "npx -y faceless-video-mcp config cursor" and replace the entry with what it prints.',
  },
  {
    what: "an option that the server does not have",
    client: "cursor",
    file: ".cursor/mcp.json",
    content: (url) => servers(good(url), { args: [BUILT_FILE, "--readonly"] }),
    told: 'Correct "args" in ~/.cursor/mcp.json.',
  },
  {
    what: "an entry in the form for Windows on another system",
    client: "claude-code",
    file: ".mcp.json",
    content: (url) => servers(good(url), { command: "cmd", args: ["/c", "npx", "-y", "faceless-video-mcp"] }),
    told: 'Run "npx -y faceless-video-mcp config claude-code" and replace the entry with what it prints.',
  },
  {
    what: "a file in UTF-16",
    client: "cursor",
    file: ".cursor/mcp.json",
    content: (url) => Buffer.from(`\uFEFF${JSON.stringify(servers(good(url)))}`, "utf16le"),
    told: "Save ~/.cursor/mcp.json as UTF-8: it is in UTF-16, as Windows PowerShell writes it with >.",
  },
  {
    what: "a program that this computer does not have",
    client: "gemini",
    file: ".gemini/settings.json",
    content: (url) => servers(good(url), { command: "npx", args: ["-y", "faceless-video-mcp"] }),
    env: { PATH: "/nowhere" },
    told: "Install Node.js from https://nodejs.org, and restart Gemini CLI.",
  },
  {
    what: "a file of variables that is not there",
    client: "vscode",
    file: ".vscode/mcp.json",
    content: (url) => ({ servers: entry(good(url), { envFile: "${workspaceFolder}/.env" }) }),
    told: 'Correct the path of "envFile" in ~/.vscode/mcp.json, or create that file.',
  },
  {
    what: "a file of variables in a client that reads none",
    client: "claude-desktop",
    file: CLAUDE_DESKTOP,
    content: () => servers({}, { envFile: "/home/me/.env" }),
    told: `Write its variables under "env" in ~/${CLAUDE_DESKTOP}.`,
  },
  {
    what: "the key as an argument",
    client: "kiro",
    file: ".kiro/settings/mcp.json",
    content: (url) => servers({ FACELESS_BASE_URL: url }, { args: [BUILT_FILE, "--key", CANARY] }),
    told: 'Move the key from "args" to FACELESS_API_KEY under "env".',
  },
];

test.each(BROKEN)("doctor --client tells of $what in one sentence that says what to do", async (setUp) => {
  const { url } = await service();
  const home = await homeWith(setUp.file, setUp.content(url));

  const { code, lines } = await doctor({ client: setUp.client, home, env: setUp.env });

  expect(code).toBe(1);
  expect(lines[0]).toMatch(/^Before a video can be made, fix this and restart .+:$/);
  expect(lines[2]).toMatch(/^fail {2}(entry|settings|FACELESS_\w+) +/);
  expect(lines[2]?.replace(/^fail {2}\S+ +/, "")).toBe(setUp.told);
  // Nothing else is wrong.
  expect(problems(lines)).toHaveLength(1);
});

test("doctor --client tells of a refused key, and that the client has to be restarted", async () => {
  const { url } = await service(envelope(401, "unauthorized", "No such key."));
  const home = await homeWith(".cursor/mcp.json", servers(good(url)));

  const { code, lines } = await doctor({ client: "cursor", home });

  expect(code).toBe(1);
  expect(lines.slice(0, 3)).toEqual([
    "Before a video can be made, fix this and restart Cursor:",
    "",
    expect.stringMatching(
      /^fail {2}key +Check FACELESS_API_KEY: create a key in the service's account settings/,
    ),
  ]);
});

test("doctor --client reads the file of the project before that of the user", async () => {
  const { url } = await service();
  const home = await homeWith(".cursor/mcp.json", servers({}));
  await write(join(home, "project/.cursor/mcp.json"), servers(good(url)));

  const ofUser = await doctor({ client: "cursor", home });
  const ofProject = await doctor({ client: "cursor", home, folder: "project" });

  expect(problems(ofUser.lines)).toEqual(["FACELESS_API_KEY", "FACELESS_BASE_URL"]);
  expect(problems(ofProject.lines)).toEqual([]);
});

test("doctor --client leaves alone what another client has in the same file", async () => {
  const home = await homeWith(".mcp.json", servers({}));

  const { lines } = await doctor({ client: "visual-studio", home });

  expect(lines[2]).toMatch(/^fail {2}entry +Run "npx -y faceless-video-mcp config visual-studio"/);
});

test("doctor --client reads files with comments and further commas", async () => {
  const { url } = await service();
  const text = JSON.stringify({ context_servers: entry({ ...good(url), NOTE: "// , }" }) });
  const home = await homeWith(
    ".config/zed/settings.json",
    `// Zed, 100 %\n{ /* mine, */ "theme": "One",\n${text.slice(1, -1)}, // end\n}\n`,
  );

  expect((await doctor({ client: "zed", home })).lines[0]).toBe("A video can be made.");
});

test("doctor --client reads a file with a byte-order mark and Windows' line ends", async () => {
  const { url } = await service();
  const text = JSON.stringify(servers(good(url)), undefined, 2);
  const home = await homeWith(".cursor/mcp.json", `\uFEFF${text.replaceAll("\n", "\r\n")}`);

  expect((await doctor({ client: "cursor", home })).lines[0]).toBe("A video can be made.");
});

test("doctor --client reads what `claude mcp add` keeps for a project", async () => {
  const { url } = await service();
  const home = await homeWith("project/README.md", "");
  await write(join(home, ".claude.json"), {
    projects: { [join(home, "project")]: servers(good(url)) },
  });

  const inProject = await doctor({ client: "claude-code", home, folder: "project" });
  const elsewhere = await doctor({ client: "claude-code", home });

  expect(problems(inProject.lines)).toEqual([]);
  expect(problems(elsewhere.lines)).toEqual(["entry"]);
});

test("doctor --client takes Continue's key from its .env file", async () => {
  const { url } = await service();
  const home = await homeWith(".continue/config.yaml", await printed("continue", url));

  expect(problems((await doctor({ client: "continue", home })).lines)).toEqual(["FACELESS_API_KEY"]);
  await write(join(home, ".continue/.env"), `FACELESS_API_KEY="${CANARY}"\n`);
  expect((await doctor({ client: "continue", home })).lines[0]).toBe("A video can be made.");
});

test.each([
  ["cursor", ".cursor/mcp.json", "mcpServers"],
  ["vscode", ".vscode/mcp.json", "servers"],
] as const)(
  "doctor --client %s reads the file that envFile names, before the entry's own variables",
  async (client, file, root) => {
    const { url } = await service();
    const home = await homeWith(file, {
      [root]: entry({ FACELESS_BASE_URL: url }, { envFile: "${workspaceFolder}/secrets.env" }),
    });
    await write(join(home, "secrets.env"), `FACELESS_API_KEY="${CANARY}"\nFACELESS_BASE_URL=nonsense\n`);

    expect((await doctor({ client, home })).lines[0]).toBe("A video can be made.");
  },
);

test.each([
  ["vscode", "VS Code", ".vscode/mcp.json"],
  ["goose", "goose", ".config/goose/config.yaml"],
] as const)(
  "doctor --client %s says that it can't see the key that %s keeps",
  async (client, title, file) => {
    const { url } = await service(envelope(401, "unauthorized", "Who are you?"));
    const home = await homeWith(file, await printed(client, url));

    const { code, lines } = await doctor({ client, home });

    expect(code).toBe(0);
    expect(lines.slice(0, 4)).toEqual([
      "Nothing wrong was found.",
      "",
      "warn  FACELESS_API_KEY  To have it checked too, set it in this terminal and run doctor again.",
      `                        (${title} keeps it, so doctor can't see it)`,
    ]);
    expect(lines).toContain(`ok    service           ${url} answers`);
  },
);

test("doctor --client does not object to placeholders that only the client knows", async () => {
  const { url } = await service();
  const values = { ...good(url), FACELESS_STATE_DIR: "${userHome}/state", NOTE: "${workspaceFolder}" };
  const home = await homeWith(".cursor/mcp.json", servers(values));
  await write(
    join(home, ".codeium/windsurf/mcp_config.json"),
    servers({ ...good(url), FACELESS_API_KEY: "${file:/key}" }),
  );

  const { lines } = await doctor({ client: "cursor", home });
  expect(problems(lines)).toEqual([]);
  expect(lines.join("\n")).toContain("~/state keeps what was paid and posted");
  expect(problems((await doctor({ client: "windsurf", home })).lines)).toEqual(["FACELESS_API_KEY"]);
});

test("doctor --client warns of a program that a desktop application may not find", async () => {
  const { url } = await service();
  const home = await homeWith(
    CLAUDE_DESKTOP,
    servers(good(url), { command: "npx", args: ["-y", "faceless-video-mcp"] }),
  );
  const folder = join(home, ".nvm/versions/node/v20.0.0/bin");
  await mkdir(folder, { recursive: true });
  await symlink(process.execPath, join(folder, "npx"));

  const { code, lines } = await doctor({ client: "claude-desktop", home, env: { PATH: folder } });

  expect(code).toBe(0);
  expect(lines.slice(2, 4)).toEqual([
    'warn  entry      Run "faceless-video-mcp config claude-desktop --installed" and replace the entry with what it prints.',
    "                 (this terminal has npx in ~/.nvm/versions/node/v20.0.0/bin/npx, where Claude Desktop may not look)",
  ]);
});

test("an entry that starts the sandbox for want of a key and an address is found healthy", async () => {
  const printedEntry = await printed("claude-desktop", "", "--sandbox");
  const home = await homeWith(CLAUDE_DESKTOP, printedEntry.replace("--sandbox", "--sandbox=auto"));

  const { code, lines } = await doctor({ client: "claude-desktop", home });

  expect(code).toBe(0);
  expect(lines).toContain("ok    settings  the sandbox: nothing is rendered, charged or posted");
  expect(lines.join("\n")).not.toContain("Not checked");
});

describe.each(CLIENTS)("the entry that `config %s` prints", (client) => {
  const places = pathsOf(CLIENT_FILES[client].files, {
    env: {},
    homeDir: "home",
    workingDir: "work",
    platform: process.platform,
  });
  const file = (places.at(-1) ?? "").replace(/^home\//, "");

  test("is found healthy in that client's file, in about ten lines", async () => {
    const { url } = await service();
    const text = await printed(client, url);
    const home = await homeWith(file, text.replace("fl_example", CANARY));

    const { code, lines } = await doctor({ client, home, env: { FACELESS_API_KEY: CANARY } });

    expect({ code, lines: lines.map((line) => line.split(/ {2,}/).slice(0, 2).join(" ")) }).toEqual({
      code: 0,
      lines: [
        "A video can be made.",
        "",
        "ok Node.js",
        "ok entry",
        "ok settings",
        "ok service",
        "ok key",
        "ok platforms",
        "ok journal",
        "",
        "Not checked: requests.",
      ],
    });
  });

  test("for the sandbox is found healthy without a service", async () => {
    const home = await homeWith(file, await printed(client, "", "--sandbox"));

    const { code, lines } = await doctor({ client, home });

    expect(code).toBe(0);
    expect(lines).toContain("ok    settings  the sandbox: nothing is rendered, charged or posted");
    expect(lines.join("\n")).not.toContain("Not checked");
  });
});
