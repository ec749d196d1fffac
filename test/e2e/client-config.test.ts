// Each entry that `config` prints, read and filled in as its client does, and started.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { cp } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse as parseYaml } from "yaml";
import * as z from "zod";
import { cursorInstallLink, vscodeInstallLink } from "../../src/commands/install-links.ts";
import { CLIENTS, type ClientName } from "../../src/command-line.ts";
import { BUILT_FILE } from "../fixtures/clients.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { run } from "../fixtures/run.ts";

const KEY = "fl_c4nary_0123456789";
const URL_ = "https://videos.test/prefix";
const PLACEHOLDER_URL = "https://videos.example.com";
/** The environment of the shell that the client is started from. */
const SHELL: Readonly<Record<string, string>> = { FACELESS_API_KEY: KEY, HTTPS_PROXY: "http://proxy.test:1" };
/** What these clients do to find npx.cmd is in their sources, or in those of the SDK that they use. */
const FIND_NPX: readonly ClientName[] = ["vscode", "codex", "gemini", "zed", "cline", "continue"];
const TOOLS = [
  "generate_video",
  "get_video_status",
  "publish_video",
  "list_videos",
  "list_connected_platforms",
];

/** What every client reads from an entry. */
interface Start {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Without the fields that only some clients have. */
const startOf = ({ command, args, env }: Start): Start => ({ command, args, env });

const text = z.string();
const env = z.record(z.string(), z.string()).default({});
const plain = { command: text, args: z.array(text), env };
const one = <Shape extends z.ZodType>(shape: Shape) => z.strictObject({ "faceless-video": shape });
const mcpServers = <Shape extends z.ZodRawShape>(more: Shape) =>
  z.strictObject({ mcpServers: one(z.strictObject({ ...plain, ...more })) });

const fill = (start: Start, value: (written: string) => string): Start => ({
  ...start,
  env: Object.fromEntries(Object.entries(start.env).map(([name, written]) => [name, value(written)])),
});
const shell = (pattern: RegExp) => (written: string) =>
  // An unset variable is passed on as it is written.
  written.replace(pattern, (whole: string, name: string) => SHELL[name] ?? whole);

const promptSchema = z.strictObject({
  type: z.literal("promptString"),
  id: text,
  description: text,
  password: z.boolean(),
});
const vscodeServer = z.strictObject({ ...plain, type: z.literal("stdio") });
const vscodeSchema = z.strictObject({
  inputs: z.array(promptSchema).default([]),
  servers: one(vscodeServer),
});
/** Visual Studio's own schema allows no hyphen in the id of an input. */
const visualStudioSchema = vscodeSchema.extend({
  inputs: z.array(promptSchema.extend({ id: z.string().regex(/^\w+$/) })).default([]),
});

/** opencode has the program and its arguments in one list. */
const opencodeSchema = z.strictObject({
  $schema: z.literal("https://opencode.ai/config.json"),
  mcp: one(
    z.strictObject({
      type: z.literal("local"),
      command: z.tuple([text], text),
      environment: env,
      enabled: z.literal(true),
      // Milliseconds.
      timeout: z.literal(120_000),
    }),
  ),
});
const continueSchema = z.strictObject({
  name: text,
  version: text,
  schema: z.literal("v1"),
  mcpServers: z.tuple([
    z.strictObject({ name: z.literal("faceless-video"), type: z.literal("stdio"), ...plain }),
  ]),
});
const gooseSchema = z.strictObject({
  extensions: one(
    z.strictObject({
      enabled: z.literal(true),
      type: z.literal("stdio"),
      name: z.literal("faceless-video"),
      description: text,
      cmd: text,
      args: z.array(text),
      envs: env,
      env_keys: z.array(text).default([]),
      timeout: z.literal(120),
    }),
  ),
});

/** Fills in what the user types when VS Code asks. The key must be asked for as a password. */
function fillInputs(start: Start, inputs: readonly z.infer<typeof promptSchema>[]): Start {
  return fill(start, (written) =>
    written.replace(/\$\{input:([^}]+)\}/g, (_, id: string) => {
      const input = inputs.find((candidate) => candidate.id === id);
      if (input === undefined) throw new Error(`The entry names an unknown input ${id}.`);
      return input.password ? KEY : URL_;
    }),
  );
}

/** From the printed text to what the client starts. Throws if the client would refuse the text. */
const LOADERS: Record<ClientName, (printed: string) => Start> = {
  "claude-desktop": (printed) => mcpServers({}).parse(JSON.parse(printed)).mcpServers["faceless-video"],
  "claude-code": (printed) =>
    fill(
      mcpServers({ type: z.literal("stdio"), alwaysLoad: z.literal(true) }).parse(JSON.parse(printed))
        .mcpServers["faceless-video"],
      shell(/\$\{([A-Z_]+)\}/g),
    ),
  cursor: (printed) =>
    fill(
      mcpServers({}).parse(JSON.parse(printed)).mcpServers["faceless-video"],
      shell(/\$\{env:([A-Z_]+)\}/g),
    ),
  vscode(printed) {
    const { inputs, servers } = vscodeSchema.parse(JSON.parse(printed));
    return fillInputs(servers["faceless-video"], inputs);
  },
  codex: loadToml,
  gemini: (printed) =>
    fill(mcpServers({}).parse(JSON.parse(printed)).mcpServers["faceless-video"], shell(/\$\{?([A-Z_]+)\}?/g)),
  zed: (printed) =>
    z
      .strictObject({ context_servers: one(z.strictObject({ ...plain, timeout: z.literal(120) })) })
      .parse(JSON.parse(printed)).context_servers["faceless-video"],
  cline: (printed) =>
    mcpServers({
      disabled: z.literal(false),
      autoApprove: z.array(z.never()),
      timeout: z.literal(120),
    }).parse(JSON.parse(printed)).mcpServers["faceless-video"],
  windsurf: (printed) =>
    fill(
      mcpServers({}).parse(JSON.parse(printed)).mcpServers["faceless-video"],
      shell(/\$\{env:([A-Z_]+)\}/g),
    ),
  copilot: (printed) =>
    fill(
      mcpServers({ type: z.literal("local"), tools: z.tuple([z.literal("*")]) }).parse(JSON.parse(printed))
        .mcpServers["faceless-video"],
      shell(/\$\{([A-Z_]+)\}/g),
    ),
  opencode(printed) {
    const { command, environment } = opencodeSchema.parse(JSON.parse(printed)).mcp["faceless-video"];
    const [program, ...args] = command;
    return fill({ command: program, args, env: environment }, shell(/\{env:([A-Z_]+)\}/g));
  },
  continue: (printed) =>
    fill(continueSchema.parse(parseYaml(printed)).mcpServers[0], shell(/\$\{\{ secrets\.([A-Z_]+) \}\}/g)),
  goose(printed) {
    const { cmd, args, envs, env_keys } = gooseSchema.parse(parseYaml(printed)).extensions["faceless-video"];
    const secrets = Object.entries(SHELL).filter(([name]) => env_keys.includes(name));
    return { command: cmd, args, env: { ...Object.fromEntries(secrets), ...envs } };
  },
  "lm-studio": (printed) => mcpServers({}).parse(JSON.parse(printed)).mcpServers["faceless-video"],
  kiro: (printed) =>
    fill(mcpServers({}).parse(JSON.parse(printed)).mcpServers["faceless-video"], shell(/\$\{([A-Z_]+)\}/g)),
  "visual-studio"(printed) {
    const { inputs, servers } = visualStudioSchema.parse(JSON.parse(printed));
    return fillInputs(servers["faceless-video"], inputs);
  },
};

/** Reads the TOML that is printed, whose values are JSON. */
function loadToml(printed: string): Start {
  const tables = new Map<string, Map<string, unknown>>();
  let table = new Map<string, unknown>();
  for (const line of printed.split("\n").filter((candidate) => candidate !== "")) {
    const header = /^\[([\w.-]+)\]$/.exec(line)?.[1];
    if (header === undefined) {
      const [, name = "", value = ""] = /^(\w+) = (.+)$/.exec(line) ?? [];
      table.set(name, JSON.parse(value));
    } else tables.set(header, (table = new Map()));
  }
  const {
    env_vars: forwarded,
    required: _,
    ...server
  } = z
    .strictObject({
      command: text,
      args: z.array(text),
      env_vars: z.array(text).default([]),
      required: z.literal(true).optional(),
      startup_timeout_sec: z.literal(60),
      tool_timeout_sec: z.literal(120),
    })
    .parse(Object.fromEntries(tables.get("mcp_servers.faceless-video") ?? []));
  const own = env.parse(Object.fromEntries(tables.get("mcp_servers.faceless-video.env") ?? []));
  const shared = Object.entries(SHELL).filter(([name]) => forwarded.includes(name));
  return { ...server, env: { ...Object.fromEntries(shared), ...own } };
}

async function printed(client: ClientName, ...options: string[]): Promise<{ entry: string; notes: string }> {
  const result = await run(process.execPath, [BUILT_FILE, "config", client, ...options], {
    env: { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: URL_ },
  });
  expect({ code: result.code, leaks: (result.stdout + result.stderr).includes(KEY) }).toEqual({
    code: 0,
    leaks: false,
  });
  return { entry: result.stdout, notes: result.stderr };
}

/** Connects to what npx would start, with the built file instead of the published package. */
function clientOf({ command, args, env: given }: Start): Promise<Client> {
  const words = [command, ...args];
  const start = words.slice(words.indexOf("faceless-video-mcp") + 1);
  return connect({ command: process.execPath, args: [BUILT_FILE, ...start], env: given });
}

async function connect(start: Start): Promise<Client> {
  const transport = new StdioClientTransport({
    command: start.command,
    args: [...start.args],
    env: { ...start.env, FACELESS_STATE_DIR: "off" },
    stderr: "ignore",
  });
  const client = new Client({ name: "pasted-entry", version: "1.0.0" });
  onTestFinished(() => client.close());
  await client.connect(transport);
  return client;
}

describe.each(CLIENTS)("the entry for %s", (client) => {
  const load = async (...options: string[]) => LOADERS[client]((await printed(client, ...options)).entry);

  test("starts a server with key and address", async () => {
    const start = await load();

    const holdsKey = ["claude-desktop", "zed", "cline", "lm-studio"].includes(client);
    expect(startOf(start)).toEqual({
      command: "npx",
      args: ["-y", "faceless-video-mcp"],
      env: {
        ...(client === "codex" && { HTTPS_PROXY: SHELL["HTTPS_PROXY"] }),
        FACELESS_API_KEY: holdsKey ? "fl_example" : KEY,
        FACELESS_BASE_URL: URL_,
      },
    });
    const { tools } = await (await clientOf(start)).listTools();
    expect(tools.map(({ name }) => name)).toEqual(TOOLS);
  });

  test("with --sandbox starts a server that makes a video without key and address", async () => {
    const { entry, notes } = await printed(client, "--sandbox");
    const start = LOADERS[client](entry);

    expect(startOf(start)).toEqual({
      command: "npx",
      args: ["-y", "faceless-video-mcp", "--sandbox"],
      env: {},
    });
    expect(entry + notes).not.toContain("FACELESS_");
    const started = await clientOf(start);
    expect(
      await started.callTool({ name: "generate_video", arguments: { topic: "The tide" } }),
    ).toMatchObject({
      structuredContent: {
        jobId: expect.any(String),
        status: "processing",
        resourceUri: expect.stringMatching(/^faceless:\/\/jobs\//),
      },
    });
  });

  test.each([
    ["the service", []],
    ["the sandbox", ["--sandbox"]],
  ])(
    "for %s with --windows starts npx through cmd if the client does not find npx.cmd",
    async (_, options) => {
      const usual = await load(...options);

      // There is no cmd here to start: after its /c comes what the usual entry starts.
      expect(await load(...options, "--windows")).toEqual(
        FIND_NPX.includes(client)
          ? usual
          : { ...usual, command: "cmd", args: ["/c", usual.command, ...usual.args] },
      );
    },
  );

  test("with --windows comes with a note that names Windows' folders alone", async () => {
    const { notes } = await printed(client, "--windows");

    expect(notes.replace(/https:\S+/g, "")).not.toMatch(/~|macOS|on Windows|\.\w+\//);
  });

  test("with --installed starts this very file with this Node.js, without npx", async () => {
    const usual = await load();
    const { entry, notes } = await printed(client, "--installed");
    const start = LOADERS[client](entry);

    expect(start).toEqual({ ...usual, command: process.execPath, args: [BUILT_FILE] });
    expect(notes).toContain("print it again after you move or update either");
    expect(notes).not.toContain("open this link");
    const { tools } = await (await connect(start)).listTools();
    expect(tools.map(({ name }) => name)).toEqual(TOOLS);
  });

  test("comes with a note on stderr that says where it goes", async () => {
    const { entry, notes } = await printed(client);

    expect(notes).toMatch(/^This goes into .*\.(json|toml|yaml)/);
    expect(entry).not.toContain("This goes into");
    expect(notes.includes("Replace fl_example with your key.")).toBe(entry.includes("fl_example"));
  });
});

test("without an address the entry has a placeholder, or its client asks for the address", async () => {
  for (const client of CLIENTS) {
    const { stdout, stderr } = await run(process.execPath, [BUILT_FILE, "config", client]);

    const asksForUrl = ["vscode", "visual-studio"].includes(client);
    expect([client, stdout.includes(`"${PLACEHOLDER_URL}"`)]).toEqual([client, !asksForUrl]);
    expect([client, stderr.includes(`${PLACEHOLDER_URL} with the service's address.`)]).toEqual([
      client,
      !asksForUrl,
    ]);
  }
});

test("the address is taken from the environment even without a key there", async () => {
  const { stdout } = await run(process.execPath, [BUILT_FILE, "config", "zed"], {
    env: { FACELESS_BASE_URL: URL_ },
  });

  expect(stdout).toContain(`"${URL_}"`);
});

test("a key in the address is not printed", async () => {
  const { stdout, stderr } = await run(process.execPath, [BUILT_FILE, "config", "zed"], {
    env: { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: `https://videos.test/${KEY}` },
  });

  expect(stdout + stderr).not.toContain(KEY);
  expect(stdout).toContain(PLACEHOLDER_URL);
});

test("the entry for Codex is TOML", async () => {
  expect((await printed("codex")).entry).toBe(`[mcp_servers.faceless-video]
command = "npx"
args = ["-y", "faceless-video-mcp"]
env_vars = ["FACELESS_API_KEY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "NODE_EXTRA_CA_CERTS"]
required = true
startup_timeout_sec = 60
tool_timeout_sec = 120

[mcp_servers.faceless-video.env]
FACELESS_BASE_URL = "https://videos.test/prefix"
`);
  expect((await printed("codex", "--sandbox")).entry).toBe(`[mcp_servers.faceless-video]
command = "npx"
args = ["-y", "faceless-video-mcp", "--sandbox"]
required = true
startup_timeout_sec = 60
tool_timeout_sec = 120
`);
});

test("the entry for VS Code asks for the key as a password", async () => {
  const { entry } = await printed("vscode");

  expect(entry).toBe(`{
  "inputs": [
    {
      "type": "promptString",
      "id": "faceless_key",
      "description": "Faceless Video API key, begins with fl_",
      "password": true
    }
  ],
  "servers": {
    "faceless-video": {
      "type": "stdio",
      "command": "npx",
      "args": ["-y", "faceless-video-mcp"],
      "env": {
        "FACELESS_API_KEY": "\${input:faceless_key}",
        "FACELESS_BASE_URL": "https://videos.test/prefix"
      }
    }
  }
}
`);
});

test("Codex waits for a server that npx starts, and not for one that is installed", async () => {
  const script = join(dirname(BUILT_FILE), "bin.cjs");
  const { stdout, stderr } = await run(process.execPath, [script, "config", "codex", "--installed"]);

  expect((await printed("codex")).notes).toContain("starts no session without it");
  expect(stdout + stderr).not.toMatch(/required|starts no session/);
});

test("the command for Claude Code contains the variable, not its value", async () => {
  expect((await printed("claude-code")).notes).toContain(
    `Or run there: claude mcp add-json --scope project faceless-video '{"type":"stdio","command":"npx","args":["-y","faceless-video-mcp"],"env":{"FACELESS_API_KEY":"\${FACELESS_API_KEY}","FACELESS_BASE_URL":"https://videos.test/prefix"},"alwaysLoad":true}'\n`,
  );
  expect((await printed("claude-code", "--windows")).notes).toContain(
    "Or run there in PowerShell: claude mcp add --scope project --env 'FACELESS_API_KEY=${FACELESS_API_KEY}' --env 'FACELESS_BASE_URL=https://videos.test/prefix' --transport stdio faceless-video -- cmd /c npx -y faceless-video-mcp\n",
  );
});

test("the commands for Claude Code keep a path with blanks together", async () => {
  const folder = join(temporaryFolder(), "two words");
  await cp(dirname(BUILT_FILE), folder, { recursive: true });
  const script = join(folder, "bin.cjs");
  const notes = async (...options: readonly string[]) =>
    (await run(process.execPath, [script, "config", "claude-code", "--installed", ...options])).stderr;

  expect(await notes()).toContain(`"args":[${JSON.stringify(script)}]`);
  expect(await notes("--windows")).toContain(`faceless-video -- ${process.execPath} '${script}'\n`);
});

test("--installed is refused in npx's cache, and names the installation to make first", async () => {
  const folder = join(temporaryFolder(), "_npx/0123456789abcdef/node_modules/faceless-video-mcp/dist");
  await cp(dirname(BUILT_FILE), folder, { recursive: true });

  const { code, stdout, stderr } = await run(process.execPath, [
    join(folder, "bin.cjs"),
    "config",
    "cursor",
    "--installed",
  ]);

  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: "",
    stderr:
      "faceless-video-mcp: npx runs this from its cache, which npm may empty. Install it first: npm install --global faceless-video-mcp && faceless-video-mcp config cursor --installed\n",
  });
});

test("an unknown client gets one line that lists the clients, and exit 2", async () => {
  const { code, stdout, stderr } = await run(process.execPath, [BUILT_FILE, "config", "emacs"]);

  expect({ code, stdout, stderr }).toEqual({
    code: 2,
    stdout: "",
    stderr: `faceless-video-mcp: unknown client emacs; the clients are ${CLIENTS.join(", ")}; see faceless-video-mcp --help\n`,
  });
});

describe("an install link", () => {
  const usual = { command: "npx", args: ["-y", "faceless-video-mcp"], sandbox: false };
  const sandbox = { command: "npx", args: ["-y", "faceless-video-mcp", "--sandbox"], sandbox: true };
  const query = (link: string) => Object.fromEntries(new URL(link).searchParams);

  test("for Cursor contains the server's entry in base64, with the environment's key", () => {
    const link = cursorInstallLink(usual);
    const { name, config = "", ...more } = query(link);

    expect(link).toMatch(/^https:\/\/cursor\.com\/en\/install-mcp\?name=faceless-video&config=[\w%]+$/);
    expect({ name, more }).toEqual({ name: "faceless-video", more: {} });
    expect(JSON.parse(Buffer.from(config, "base64").toString())).toEqual({
      command: "npx",
      args: ["-y", "faceless-video-mcp"],
      env: { FACELESS_API_KEY: "${env:FACELESS_API_KEY}", FACELESS_BASE_URL: "${env:FACELESS_BASE_URL}" },
    });
  });

  test("for VS Code contains the server's entry and the inputs that it names", () => {
    const link = vscodeInstallLink(usual);
    const { name, config = "", inputs = "", ...more } = query(link);

    expect(link).toMatch(/^https:\/\/insiders\.vscode\.dev\/redirect\/mcp\/install\?name=[^()\s]+$/);
    expect({ name, more }).toEqual({ name: "faceless-video", more: {} });
    const start = fillInputs(
      vscodeServer.parse(JSON.parse(config)),
      z.array(promptSchema).parse(JSON.parse(inputs)),
    );
    expect(start).toEqual({
      type: "stdio",
      command: "npx",
      args: ["-y", "faceless-video-mcp"],
      env: { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: URL_ },
    });
  });

  test("for the sandbox needs neither key nor address", () => {
    const start = { command: "npx", args: ["-y", "faceless-video-mcp", "--sandbox"] };
    const { config: cursor = "" } = query(cursorInstallLink(sandbox));
    const { config: vscode = "", ...more } = query(vscodeInstallLink(sandbox));

    expect(JSON.parse(Buffer.from(cursor, "base64").toString())).toEqual(start);
    expect(JSON.parse(vscode)).toEqual({ type: "stdio", ...start });
    expect(more).toEqual({ name: "faceless-video" });
  });
});
