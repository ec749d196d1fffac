// How each client is configured: where it keeps its entries, what an entry looks like, and where it takes the
// key from. A client that can ask for the key itself does so. Pure.

import type { ClientName } from "../command-line.ts";
import {
  cursorInstallLink,
  EXAMPLE_KEY,
  EXAMPLE_URL,
  type Launch,
  type LaunchOptions,
  SERVER,
  VSCODE_INPUTS,
  vscodeEntry,
  vscodeInstallLink,
} from "./server-entry.ts";

/** Some clients end a call after 60 s, and waitSeconds may take 50 of them. */
const CALL_SECONDS = 120;
/** Some clients give npx 10 s, in which it may have to download the package. */
const START_SECONDS = 60;
/** Clients that start servers with a minimal environment don't pass these on. */
const NETWORK_VARIABLES = ["HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "NODE_EXTRA_CA_CERTS"];

export interface ClientFormat {
  /** The name of the application. */
  readonly title: string;
  /** The file, and how to get to it. */
  readonly where: string;
  /** The files that doctor reads: the one that wins comes first. Each begins with a folder of `foldersOf`. */
  readonly files: readonly string[];
  /** The field of the file that holds the entries. Default: mcpServers. */
  readonly root?: string;
  /** The field of an entry that holds the variables. Default: env. */
  readonly envField?: "environment" | "envs";
  /** The language of the file, unless it is JSON. */
  readonly language?: "toml" | "yaml";
  /** The key's value in the printed entry; absent if the entry has none. */
  readonly key?: string;
  /** The place from which the client takes the key. Default: the shell, unless the entry holds the key. */
  readonly keySource?: string;
  /** What the client replaces by a variable: the first group is its name, the second its default. */
  readonly placeholder?: RegExp;
  /** The fields of the printed entry after program, arguments and variables. */
  readonly fields?: object;
  /** What the printed file holds, if it is more than an entry with these fields. */
  readonly document?: (entry: Entry) => object;
  /** A link that adds the server, started by npx. */
  readonly link?: (entry: Entry) => string;
  /** What to know about an entry that npx starts. */
  readonly npxHint?: string;
  /** What to know unless the sandbox is used. */
  readonly hint?: string;
  /** Whether the client may keep values in a place of its own, which doctor does not read. */
  readonly hasSecrets?: true;
  /**
   * Whether it is an application without projects: it starts servers in no project's folder, and, started from
   * the desktop, looks for programs elsewhere than this terminal.
   */
  readonly isDesktopApp?: true;
  /** Whether it starts a server in the folder that the entry's cwd names. Claude Code does not. */
  readonly obeysCwd?: true;
  /** Whether the server also gets the variables of the shell that the client starts from. */
  readonly inherits?: true;
}

export interface Entry extends LaunchOptions, Launch {
  readonly baseUrl: string;
  /** Absent for the sandbox. */
  readonly env?: Readonly<Record<string, string>>;
}

// Without $ in the default, so that a text full of beginnings is searched in linear time.
const DOLLAR_BRACES = /\$\{(\w+)(?::-([^$}]*))?\}/;
const DOLLAR = /\$\{?([A-Za-z_]\w*)(?::-([^$}]*))?\}?/;
const ENV_BRACES = /\$\{env:(\w+)\}/;
const FROM_SHELL =
  "The key is taken from the variable FACELESS_API_KEY of the shell that the client starts from.";

const DECLINES =
  "Where no user watches, it declines every question, so that publish_video posts nothing unless FACELESS_CONFIRM_PUBLISH is off.";
const NEEDS_NETWORK_VARIABLES = `Behind a proxy or with a company's own certificates, add ${NETWORK_VARIABLES.join(", ")} to env: this client does not pass them on.`;

export const FORMATS: Readonly<Record<ClientName, ClientFormat>> = {
  "claude-desktop": {
    title: "Claude Desktop",
    where:
      "claude_desktop_config.json (Settings, Developer, Edit Config): ~/Library/Application Support/Claude/ on macOS, %APPDATA%\\Claude\\ on Windows. Then quit Claude Desktop entirely and start it again.",
    files: ["$settings/Claude/claude_desktop_config.json"],
    key: EXAMPLE_KEY,
    hint: NEEDS_NETWORK_VARIABLES,
    isDesktopApp: true,
  },
  "claude-code": {
    title: "Claude Code",
    where: "~/.claude.json for all projects, or .mcp.json in a project.",
    files: ["./.mcp.json", "~/.claude.json"],
    key: "${FACELESS_API_KEY}",
    placeholder: DOLLAR_BRACES,
    // Claude Code hides tools without alwaysLoad behind its search: the model has to know that they exist.
    fields: { type: "stdio", alwaysLoad: true },
    inherits: true,
  },
  cursor: {
    title: "Cursor",
    where: "~/.cursor/mcp.json, or .cursor/mcp.json in a project.",
    files: ["./.cursor/mcp.json", "~/.cursor/mcp.json"],
    key: "${env:FACELESS_API_KEY}",
    placeholder: ENV_BRACES,
    link: cursorInstallLink,
  },
  vscode: {
    title: "VS Code",
    where:
      '.vscode/mcp.json in a project, or the file that the command "MCP: Open User Configuration" opens.',
    files: ["./.vscode/mcp.json", "$settings/Code/User/mcp.json"],
    root: "servers",
    keySource: "VS Code asks for the key and keeps it.",
    placeholder: ENV_BRACES,
    document: vscodeDocument,
    link: vscodeInstallLink,
    obeysCwd: true,
    inherits: true,
  },
  codex: {
    title: "Codex",
    where: "~/.codex/config.toml.",
    files: ["$codex/config.toml"],
    root: "mcp_servers",
    language: "toml",
    keySource: FROM_SHELL,
    document: ({ command, args, env, sandbox, installation }) => ({
      mcp_servers: {
        [SERVER]: {
          command,
          args,
          ...(!sandbox && { env_vars: ["FACELESS_API_KEY", ...NETWORK_VARIABLES] }),
          // Codex gives a server 1 s before the first message, too short for npx, unless it is required.
          ...(installation === undefined && { required: true }),
          startup_timeout_sec: START_SECONDS,
          tool_timeout_sec: 300,
          env,
        },
      },
    }),
    npxHint:
      "Codex then waits for this server before a session's first message, and starts no session without it. The entry of --installed needs no waiting.",
    hint: DECLINES,
    obeysCwd: true,
  },
  gemini: {
    title: "Gemini CLI",
    where: "~/.gemini/settings.json, or .gemini/settings.json in a project.",
    files: ["./.gemini/settings.json", "~/.gemini/settings.json"],
    // Gemini CLI leaves an unset variable as it is; this server recognizes this form as a placeholder.
    key: "${FACELESS_API_KEY}",
    placeholder: DOLLAR,
    obeysCwd: true,
  },
  zed: {
    title: "Zed",
    where: 'Zed\'s settings.json (the command "zed: open settings").',
    files: ["./.zed/settings.json", "$config/zed/settings.json"],
    root: "context_servers",
    key: EXAMPLE_KEY,
    fields: { timeout: CALL_SECONDS },
  },
  cline: {
    title: "Cline",
    where:
      "cline_mcp_settings.json: in the editor through MCP Servers, Configure; for the CLI in ~/.cline/data/settings/.",
    files: [
      "$settings/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
      "~/.cline/data/settings/cline_mcp_settings.json",
    ],
    key: EXAMPLE_KEY,
    placeholder: ENV_BRACES,
    fields: { disabled: false, autoApprove: [], timeout: CALL_SECONDS },
    hint: NEEDS_NETWORK_VARIABLES,
  },
  windsurf: {
    title: "Windsurf",
    where:
      "~/.codeium/windsurf/mcp_config.json, or in later versions ~/.config/devin/mcp_config.json (%APPDATA%\\devin\\mcp_config.json on Windows) or .devin/mcp_config.json in a project.",
    files: [
      "./.devin/mcp_config.json",
      "$config/devin/mcp_config.json",
      "~/.codeium/windsurf/mcp_config.json",
    ],
    key: "${env:FACELESS_API_KEY}",
    placeholder: ENV_BRACES,
  },
  copilot: {
    title: "Copilot CLI",
    where: "~/.copilot/mcp-config.json, or .mcp.json in a project.",
    files: ["./.mcp.json", "./.github/mcp.json", "~/.copilot/mcp-config.json"],
    key: "${FACELESS_API_KEY}",
    placeholder: DOLLAR,
    fields: { type: "local", tools: ["*"] },
    hint: DECLINES,
  },
  opencode: {
    title: "opencode",
    where: "~/.config/opencode/opencode.json, or opencode.json in a project.",
    files: [
      "./opencode.json",
      "./opencode.jsonc",
      "~/.config/opencode/opencode.json",
      "~/.config/opencode/opencode.jsonc",
    ],
    root: "mcp",
    envField: "environment",
    key: "{env:FACELESS_API_KEY}",
    placeholder: /\{env:(\w+)\}/,
    document: ({ command, args, env }) => ({
      $schema: "https://opencode.ai/config.json",
      mcp: {
        [SERVER]: {
          type: "local",
          command: [command, ...args],
          environment: env,
          enabled: true,
          timeout: CALL_SECONDS * 1000,
        },
      },
    }),
    inherits: true,
  },
  continue: {
    title: "Continue",
    where:
      ".continue/mcpServers/faceless-video.yaml in a project. In ~/.continue/config.yaml, which the CLI reads, only the list under mcpServers is needed.",
    files: [
      "./.continue/mcpServers/faceless-video.yaml",
      "~/.continue/mcpServers/faceless-video.yaml",
      "~/.continue/config.yaml",
    ],
    language: "yaml",
    key: "${{ secrets.FACELESS_API_KEY }}",
    keySource:
      "The key is taken from FACELESS_API_KEY in ~/.continue/.env, in .env of the project, or in the environment.",
    placeholder: /\$\{\{\s*secrets\.(\w+)\s*\}\}/,
    document: ({ command, args, env }) => ({
      name: SERVER,
      version: "0.0.1",
      schema: "v1",
      mcpServers: [{ name: SERVER, type: "stdio", command, args, env }],
    }),
    hasSecrets: true,
  },
  goose: {
    title: "goose",
    where:
      "~/.config/goose/config.yaml (%APPDATA%\\Block\\goose\\config\\config.yaml on Windows). If it has extensions already, add this one to them.",
    // The second is its place on Windows.
    files: ["$config/goose/config.yaml", "$config/Block/goose/config/config.yaml"],
    root: "extensions",
    envField: "envs",
    language: "yaml",
    keySource:
      "The key is taken from the variable FACELESS_API_KEY of the shell that goose starts from, or from goose's own secrets.",
    document: ({ command, args, env, sandbox }) => ({
      extensions: {
        [SERVER]: {
          enabled: true,
          type: "stdio",
          name: SERVER,
          description: "Makes and publishes short faceless videos",
          cmd: command,
          args,
          envs: env,
          ...(!sandbox && { env_keys: ["FACELESS_API_KEY"] }),
          timeout: CALL_SECONDS,
        },
      },
    }),
    hasSecrets: true,
  },
  "lm-studio": {
    title: "LM Studio",
    where: "~/.lmstudio/mcp.json (Program, Install, Edit mcp.json).",
    files: ["~/.lmstudio/mcp.json"],
    key: EXAMPLE_KEY,
    isDesktopApp: true,
  },
  kiro: {
    title: "Kiro",
    where: "~/.kiro/settings/mcp.json, or .kiro/settings/mcp.json in a project.",
    files: ["./.kiro/settings/mcp.json", "~/.kiro/settings/mcp.json"],
    key: "${FACELESS_API_KEY}",
    keySource: `${FROM_SHELL} Kiro fills in only variables that its setting "Mcp Approved Env Vars" names.`,
    placeholder: DOLLAR_BRACES,
  },
  "visual-studio": {
    title: "Visual Studio",
    where: "%USERPROFILE%\\.mcp.json, or .mcp.json beside the solution.",
    files: ["./.mcp.json", "~/.mcp.json"],
    root: "servers",
    keySource: "Visual Studio asks for the key.",
    document: vscodeDocument,
  },
};

/** The key's place, in a sentence; undefined if the printed entry holds the key. */
export function keySourceOf({ key, keySource }: ClientFormat): string | undefined {
  return keySource ?? (key === EXAMPLE_KEY ? undefined : FROM_SHELL);
}

export function documentOf({ root = "mcpServers", fields, document }: ClientFormat, entry: Entry): object {
  const { command, args, env } = entry;
  return document?.(entry) ?? { [root]: { [SERVER]: { command, args, env, ...fields } } };
}

/** VS Code asks for the URL too if it is not known. */
function vscodeDocument({ baseUrl, ...entry }: Entry): object {
  const url = baseUrl === EXAMPLE_URL ? undefined : baseUrl;
  const inputs = VSCODE_INPUTS.filter(({ password }) => password || url === undefined);
  return { ...(!entry.sandbox && { inputs }), servers: { [SERVER]: vscodeEntry(entry, url) } };
}
