// Each entry that `config` prints, read as its client reads it, with the placeholders filled in as that client fills them in,
// and started for real.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { cursorInstallLink, vscodeInstallLink } from "../../src/commands/install-links.ts";
import { CLIENTS, type ClientName } from "../../src/command-line.ts";
import { BUILT_FILE } from "../fixtures/clients.ts";
import { run } from "../fixtures/run.ts";

const KEY = "fl_c4nary_0123456789";
const URL_ = "https://videos.test/prefix";
const PLACEHOLDER_URL = "https://videos.example.com";
/** Of the shell that the client starts from. */
const SHELL: Readonly<Record<string, string>> = { FACELESS_API_KEY: KEY, HTTPS_PROXY: "http://proxy.test:1" };
const TOOLS = [
  "generate_video",
  "get_video_status",
  "publish_video",
  "list_videos",
  "list_connected_platforms",
];

/** What every client reads of an entry, whatever else it reads. */
interface Start {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** That alone, without what one client has more than the others. */
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

/** What the person types where VS Code asks. A key must be asked for as a password. */
function fillInputs(start: Start, inputs: readonly z.infer<typeof promptSchema>[]): Start {
  return fill(start, (written) =>
    written.replace(/\$\{input:([^}]+)\}/g, (_, id: string) => {
      const input = inputs.find((candidate) => candidate.id === id);
      if (input === undefined) throw new Error(`VS Code knows no input ${id}.`);
      return input.password ? KEY : URL_;
    }),
  );
}

/** From the printed text to what the client starts. Throws where the client would refuse the text. */
const LOADERS: Record<ClientName, (printed: string) => Start> = {
  "claude-desktop": (printed) => mcpServers({}).parse(JSON.parse(printed)).mcpServers["faceless-video"],
  "claude-code": (printed) =>
    fill(
      mcpServers({ type: z.literal("stdio") }).parse(JSON.parse(printed)).mcpServers["faceless-video"],
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
};

/** The few forms of TOML that are printed, each of them JSON after its equals sign. */
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
  const { env_vars: forwarded, ...server } = z
    .strictObject({
      command: text,
      args: z.array(text),
      env_vars: z.array(text).default([]),
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

/** A client of what npx would start from the registry, with the built file in the registry's place. */
async function clientOf({ command, args, env: given }: Start): Promise<Client> {
  const words = [command, ...args];
  const start = words.slice(words.indexOf("faceless-video-mcp") + 1);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BUILT_FILE, ...start],
    env: { ...given, FACELESS_STATE_DIR: "off" },
    stderr: "ignore",
  });
  const client = new Client({ name: "pasted-entry", version: "1.0.0" });
  onTestFinished(() => client.close());
  await client.connect(transport);
  return client;
}

describe.each(CLIENTS)("the entry for %s", (client) => {
  const load = async (...options: string[]) => LOADERS[client]((await printed(client, ...options)).entry);

  test("gives the server key and address once its client has filled it in, and starts", async () => {
    const start = await load();

    const hasKeyOfItsOwn = ["claude-desktop", "zed", "cline"].includes(client);
    expect(startOf(start)).toEqual({
      command: "npx",
      args: ["-y", "faceless-video-mcp"],
      env: {
        ...(client === "codex" && { HTTPS_PROXY: SHELL["HTTPS_PROXY"] }),
        FACELESS_API_KEY: hasKeyOfItsOwn ? "fl_example" : KEY,
        FACELESS_BASE_URL: URL_,
      },
    });
    const { tools } = await (await clientOf(start)).listTools();
    expect(tools.map(({ name }) => name)).toEqual(TOOLS);
  });

  test("for the sandbox starts a server that makes a video without key and address", async () => {
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
  ])("for %s goes through cmd in its Windows form, and differs in nothing else", async (_, options) => {
    const usual = await load(...options);

    // No cmd starts here: what stands behind its /c is what the usual form starts.
    expect(await load(...options, "--windows")).toEqual({
      ...usual,
      command: "cmd",
      args: ["/c", usual.command, ...usual.args],
    });
  });

  test("says on stderr, and there alone, where it goes", async () => {
    const { entry, notes } = await printed(client);

    expect(notes).toMatch(/^This goes into .*(\.json|\.toml)/);
    expect(entry).not.toContain("This goes into");
    expect(notes.includes("Replace fl_example with your key.")).toBe(entry.includes("fl_example"));
  });
});

test("an entry printed where no address is set has one to be replaced, or asked for", async () => {
  for (const client of CLIENTS) {
    const { stdout, stderr } = await run(process.execPath, [BUILT_FILE, "config", client]);

    const isAsked = client === "vscode";
    expect([client, stdout.includes(`"${PLACEHOLDER_URL}"`)]).toEqual([client, !isAsked]);
    expect([client, stderr.includes(`${PLACEHOLDER_URL} with the service's address.`)]).toEqual([
      client,
      !isAsked,
    ]);
  }
});

test("a key in the address is not printed either", async () => {
  const { stdout, stderr } = await run(process.execPath, [BUILT_FILE, "config", "zed"], {
    env: { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: `https://videos.test/${KEY}` },
  });

  expect(stdout + stderr).not.toContain(KEY);
  expect(stdout).toContain(PLACEHOLDER_URL);
});

test("the entry for Codex is this TOML", async () => {
  expect((await printed("codex")).entry).toBe(`[mcp_servers.faceless-video]
command = "npx"
args = ["-y", "faceless-video-mcp"]
env_vars = ["FACELESS_API_KEY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "NODE_EXTRA_CA_CERTS"]
startup_timeout_sec = 60
tool_timeout_sec = 120

[mcp_servers.faceless-video.env]
FACELESS_BASE_URL = "https://videos.test/prefix"
`);
  expect((await printed("codex", "--sandbox", "--windows")).entry).toBe(`[mcp_servers.faceless-video]
command = "cmd"
args = ["/c", "npx", "-y", "faceless-video-mcp", "--sandbox"]
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
      "id": "faceless-key",
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
        "FACELESS_API_KEY": "\${input:faceless-key}",
        "FACELESS_BASE_URL": "https://videos.test/prefix"
      }
    }
  }
}
`);
});

test("Claude Code can be told by its own command, which gets the variable and not its value", async () => {
  expect((await printed("claude-code")).notes).toContain(
    "claude mcp add --scope project --env 'FACELESS_API_KEY=${FACELESS_API_KEY}' --env 'FACELESS_BASE_URL=https://videos.test/prefix' --transport stdio faceless-video -- npx -y faceless-video-mcp\n",
  );
});

test("an unknown client gets one line that names the known ones, and exit 2", async () => {
  const { code, stdout, stderr } = await run(process.execPath, [BUILT_FILE, "config", "emacs"]);

  expect({ code, stdout, stderr }).toEqual({
    code: 2,
    stdout: "",
    stderr: `faceless-video-mcp: config knows no client emacs, only ${CLIENTS.join(", ")}; see faceless-video-mcp --help\n`,
  });
});

describe("an install link", () => {
  const usual = { windows: false, sandbox: false };
  const sandbox = { windows: false, sandbox: true };
  const query = (link: string) => Object.fromEntries(new URL(link).searchParams);

  test("for Cursor holds the server's entry in base64, with the environment's key", () => {
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

  test("for VS Code holds the server's entry and the inputs that it names", () => {
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
