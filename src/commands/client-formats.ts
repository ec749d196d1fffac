// How each client is configured: its file, the shape of an entry, and where it takes the key from: from an
// input of its own wherever it has one. Pure.

import type { ClientName } from "../command-line.ts";
import {
  EXAMPLE_KEY,
  EXAMPLE_URL,
  type Launch,
  type LaunchOptions,
  SERVER,
  type ServerStart,
  VSCODE_INPUTS,
  vscodeEntry,
} from "./server-entry.ts";

/** Some clients end a call after 60 s, of which waitSeconds may take 50. */
const CALL_SECONDS = 120;
/** Some clients give npx 10 s, in which it may have to download the package. */
const START_SECONDS = 60;
/** Clients that start servers with a minimal environment don't pass these on. */
const NETWORK_VARIABLES = ["HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "NODE_EXTRA_CA_CERTS"];

/** How one client is configured. */
interface ClientFormat {
  /** The name of the application. */
  readonly title: string;
  /** The file, and how to get to it. */
  readonly where: string;
  /** Whether it finds npx.cmd on Windows by itself, as its source shows. The others start npx through cmd. */
  readonly findsNpx?: true;
  /** The key's value in env; absent if the entry has none. */
  readonly key?: string;
  /** The place from which the client takes the key, unless the entry holds it. */
  readonly keySource?: string;
  /** What the file holds. */
  readonly document: (entry: Entry) => object;
  /** The language of the file, unless it is JSON. */
  readonly language?: "toml" | "yaml";
  /** Further notes for the user. */
  readonly hints?: (entry: Entry) => readonly string[];
}

export interface Entry extends LaunchOptions, Launch {
  readonly baseUrl: string;
  /** Absent for the sandbox. */
  readonly env?: Readonly<Record<string, string>>;
}

const FROM_VARIABLE =
  "The key is taken from the variable FACELESS_API_KEY of the shell that the client starts from.";
const declinesHint = ({ sandbox }: Entry): readonly string[] =>
  sandbox
    ? []
    : [
        "Where no user watches, it declines every question, so that publish_video posts nothing unless FACELESS_CONFIRM_PUBLISH is off.",
      ];
const networkHint = ({ env }: Entry): readonly string[] =>
  env === undefined
    ? []
    : [
        `Behind a proxy or with a company's own certificates, add ${NETWORK_VARIABLES.join(", ")} to env: this client does not pass them on.`,
      ];

export const FORMATS: Readonly<Record<ClientName, ClientFormat>> = {
  "claude-desktop": {
    title: "Claude Desktop",
    where:
      "claude_desktop_config.json (Settings, Developer, Edit Config): ~/Library/Application Support/Claude/ on macOS, %APPDATA%\\Claude\\ on Windows. Then quit Claude Desktop entirely and start it again.",
    key: EXAMPLE_KEY,
    document: servers("mcpServers"),
    hints: networkHint,
  },
  "claude-code": {
    title: "Claude Code",
    where: ".mcp.json in the project's folder.",
    keySource: FROM_VARIABLE,
    key: "${FACELESS_API_KEY}",
    document: servers("mcpServers", claudeCodeServer),
    // PowerShell would lose the quotes of the JSON.
    hints: (entry) => (entry.windows ? [] : [`Or run there: ${claudeMcpAdd(entry)}`]),
  },
  cursor: {
    title: "Cursor",
    where: "~/.cursor/mcp.json, or .cursor/mcp.json in a project.",
    keySource: FROM_VARIABLE,
    key: "${env:FACELESS_API_KEY}",
    document: servers("mcpServers"),
    hints: linkHint(
      (entry) =>
        `Or open this link${entry.sandbox ? "" : ", which takes the service's address from FACELESS_BASE_URL"}: ${cursorInstallLink(entry)}`,
    ),
  },
  vscode: {
    title: "VS Code",
    findsNpx: true,
    where:
      '.vscode/mcp.json in a project, or the file that the command "MCP: Open User Configuration" opens.',
    key: "${input:faceless_key}",
    keySource: "VS Code asks for the key and keeps it.",
    document: vscodeDocument,
    hints: linkHint((entry) => `Or open this link: ${vscodeInstallLink(entry)}`),
  },
  codex: {
    title: "Codex",
    findsNpx: true,
    where: "~/.codex/config.toml.",
    keySource: FROM_VARIABLE,
    language: "toml",
    document: servers("mcp_servers", ({ command, args, env, sandbox, installation }) => ({
      command,
      args,
      ...(!sandbox && { env_vars: ["FACELESS_API_KEY", ...NETWORK_VARIABLES] }),
      // Codex gives a server 1 s before the first message, too short for npx, unless the server is required.
      ...(installation === undefined && { required: true }),
      startup_timeout_sec: START_SECONDS,
      tool_timeout_sec: CALL_SECONDS,
      env,
    })),
    hints: (entry) => [
      ...(entry.installation === undefined
        ? [
            "Codex then waits for this server before a session's first message, and starts no session without it. The entry of --installed needs no waiting.",
          ]
        : []),
      ...declinesHint(entry),
    ],
  },
  gemini: {
    title: "Gemini CLI",
    findsNpx: true,
    where: "~/.gemini/settings.json, or .gemini/settings.json in a project.",
    keySource: FROM_VARIABLE,
    // Gemini CLI leaves an unset variable as it is; this server recognizes this form as a placeholder.
    key: "${FACELESS_API_KEY}",
    document: servers("mcpServers"),
  },
  zed: {
    title: "Zed",
    findsNpx: true,
    where: 'Zed\'s settings.json (the command "zed: open settings").',
    key: EXAMPLE_KEY,
    document: servers("context_servers", (entry) => ({ ...startOf(entry), timeout: CALL_SECONDS })),
  },
  cline: {
    title: "Cline",
    findsNpx: true,
    where:
      "cline_mcp_settings.json: in the editor through MCP Servers, Configure; for the CLI in ~/.cline/data/settings/.",
    key: EXAMPLE_KEY,
    document: servers("mcpServers", (entry) => ({
      ...startOf(entry),
      disabled: false,
      autoApprove: [],
      timeout: CALL_SECONDS,
    })),
    hints: networkHint,
  },
  windsurf: {
    title: "Windsurf",
    where:
      "~/.codeium/windsurf/mcp_config.json, or in later versions ~/.config/devin/mcp_config.json (%APPDATA%\\devin\\mcp_config.json on Windows) or .devin/mcp_config.json in a project.",
    keySource: FROM_VARIABLE,
    key: "${env:FACELESS_API_KEY}",
    document: servers("mcpServers"),
  },
  copilot: {
    title: "Copilot CLI",
    where: "~/.copilot/mcp-config.json, or .mcp.json in a project.",
    keySource: FROM_VARIABLE,
    key: "${FACELESS_API_KEY}",
    document: servers("mcpServers", (entry) => ({ type: "local", ...startOf(entry), tools: ["*"] })),
    hints: declinesHint,
  },
  opencode: {
    title: "opencode",
    where: "~/.config/opencode/opencode.json, or opencode.json in a project.",
    keySource: FROM_VARIABLE,
    key: "{env:FACELESS_API_KEY}",
    document: (entry) => ({
      $schema: "https://opencode.ai/config.json",
      ...servers("mcp", ({ command, args, env }) => ({
        type: "local",
        command: [command, ...args],
        environment: env,
        enabled: true,
        timeout: CALL_SECONDS * 1000,
      }))(entry),
    }),
  },
  continue: {
    title: "Continue",
    findsNpx: true,
    where:
      ".continue/mcpServers/faceless-video.yaml in a project. In ~/.continue/config.yaml, which the CLI reads, only the list under mcpServers is needed.",
    keySource:
      "The key is taken from FACELESS_API_KEY in ~/.continue/.env, in .env of the project, or in the environment.",
    key: "${{ secrets.FACELESS_API_KEY }}",
    language: "yaml",
    document: (entry) => ({
      name: SERVER,
      version: "0.0.1",
      schema: "v1",
      mcpServers: [{ name: SERVER, type: "stdio", ...startOf(entry) }],
    }),
  },
  goose: {
    title: "goose",
    where:
      "~/.config/goose/config.yaml (%APPDATA%\\Block\\goose\\config\\config.yaml on Windows). If it has extensions already, add this one to them.",
    keySource:
      "The key is taken from the variable FACELESS_API_KEY of the shell that goose starts from, or from goose's own secrets.",
    language: "yaml",
    document: servers("extensions", ({ command, args, env, sandbox }) => ({
      enabled: true,
      type: "stdio",
      name: SERVER,
      description: "Makes and publishes short faceless videos",
      cmd: command,
      args,
      envs: env,
      ...(!sandbox && { env_keys: ["FACELESS_API_KEY"] }),
      timeout: CALL_SECONDS,
    })),
  },
  "lm-studio": {
    title: "LM Studio",
    where: "~/.lmstudio/mcp.json (Program, Install, Edit mcp.json).",
    key: EXAMPLE_KEY,
    document: servers("mcpServers"),
  },
  kiro: {
    title: "Kiro",
    where: "~/.kiro/settings/mcp.json, or .kiro/settings/mcp.json in a project.",
    keySource: `${FROM_VARIABLE} Kiro fills in only variables that its setting "Mcp Approved Env Vars" names.`,
    key: "${FACELESS_API_KEY}",
    document: servers("mcpServers"),
  },
  "visual-studio": {
    title: "Visual Studio",
    where: "%USERPROFILE%\\.mcp.json, or .mcp.json beside the solution.",
    key: "${input:faceless_key}",
    keySource: "Visual Studio asks for the key.",
    document: vscodeDocument,
  },
};

/** What most clients need of an entry. */
function startOf({ command, args, env }: Entry): object {
  return { command, args, env };
}

function servers(root: string, server: (entry: Entry) => object = startOf): (entry: Entry) => object {
  return (entry) => ({ [root]: { [SERVER]: server(entry) } });
}

/** Links to an entry with npx. */
function linkHint(hint: (entry: Entry) => string): (entry: Entry) => readonly string[] {
  return (entry) => (entry.installation === undefined ? [hint(entry)] : []);
}

/** VS Code asks for the URL too if it is not known. */
function vscodeDocument({ baseUrl, ...entry }: Entry): object {
  const url = baseUrl === EXAMPLE_URL ? undefined : baseUrl;
  const inputs = VSCODE_INPUTS.filter(({ password }) => password || url === undefined);
  return { ...(!entry.sandbox && { inputs }), servers: { [SERVER]: vscodeEntry(entry, url) } };
}

/** Claude Code hides tools without alwaysLoad behind its search: the model has to know that they exist. */
function claudeCodeServer(entry: Entry): object {
  return { type: "stdio", ...startOf(entry), alwaysLoad: true };
}

/** Quoted for a POSIX shell, because Claude Code fills in the variable, not the shell. */
function claudeMcpAdd(entry: Entry): string {
  const json = JSON.stringify(claudeCodeServer(entry)).replaceAll("'", String.raw`'\''`);
  return `claude mcp add-json --scope project ${SERVER} '${json}'`;
}

/**
 * Adds this server to Cursor with one click, through a web page that redirects to cursor://, because GitHub
 * removes such links from a README. Holds no key: Cursor takes it from the environment.
 */
export function cursorInstallLink({ command, args, sandbox }: ServerStart): string {
  const env = {
    FACELESS_API_KEY: "${env:FACELESS_API_KEY}",
    FACELESS_BASE_URL: "${env:FACELESS_BASE_URL}",
  };
  const entry = { command, args, ...(!sandbox && { env }) };
  const config = Buffer.from(JSON.stringify(entry)).toString("base64");
  return `https://cursor.com/en/install-mcp?name=${SERVER}&config=${encodeURIComponent(config)}`;
}

/** Adds this server to VS Code, which asks for the key. */
export function vscodeInstallLink(start: ServerStart): string {
  const config = encodeURIComponent(JSON.stringify(vscodeEntry(start)));
  const inputs = encodeURIComponent(JSON.stringify(VSCODE_INPUTS));
  const link = `https://insiders.vscode.dev/redirect/mcp/install?name=${SERVER}&config=${config}`;
  return start.sandbox ? link : `${link}&inputs=${inputs}`;
}
