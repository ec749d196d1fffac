// How each client is configured: its file, the shape of an entry, and where it takes the key from. The key is the client's own input
// wherever it has one. Pure.

import type { ClientName } from "../command-line.ts";
import { cursorInstallLink, vscodeInstallLink } from "./install-links.ts";
import {
  EXAMPLE_KEY,
  EXAMPLE_URL,
  type Launch,
  type LaunchOptions,
  SERVER,
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
  /** Where that is another folder than the same one below the user's. */
  readonly whereOnWindows?: string;
  /** Whether the client itself finds npx on Windows, where it is npx.cmd: known from its source. The others need cmd for that. */
  readonly findsNpx?: true;
  /** The key's value in env; absent if the entry has none. */
  readonly key?: string;
  /** Where the client takes the key from, unless the entry holds it. */
  readonly keySource?: string;
  readonly write: (entry: Entry) => string;
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
    whereOnWindows:
      "claude_desktop_config.json (Settings, Developer, Edit Config) in %APPDATA%\\Claude\\. Then quit Claude Desktop entirely and start it again.",
    key: EXAMPLE_KEY,
    write: servers("mcpServers", ({ command, args, env }) => ({ command, args, env })),
    hints: networkHint,
  },
  "claude-code": {
    title: "Claude Code",
    where: ".mcp.json in the project's folder.",
    keySource: FROM_VARIABLE,
    key: "${FACELESS_API_KEY}",
    write: servers("mcpServers", claudeCodeServer),
    hints: (entry) => [`Or run there${entry.windows ? " in PowerShell" : ""}: ${claudeMcpAdd(entry)}`],
  },
  cursor: {
    title: "Cursor",
    where: "~/.cursor/mcp.json, or .cursor/mcp.json in a project.",
    keySource: FROM_VARIABLE,
    key: "${env:FACELESS_API_KEY}",
    write: servers("mcpServers", ({ command, args, env }) => ({ command, args, env })),
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
    key: "${input:faceless-key}",
    keySource: "VS Code asks for the key and keeps it.",
    write: vscodeJson,
    hints: linkHint((entry) => `Or open this link: ${vscodeInstallLink(entry)}`),
  },
  codex: {
    title: "Codex",
    findsNpx: true,
    where: "~/.codex/config.toml.",
    keySource: FROM_VARIABLE,
    write: codexToml,
    hints: ({ installation }) =>
      installation === undefined
        ? [
            "Codex then waits for this server before a session's first message, and starts no session without it. The entry of --installed needs no waiting.",
          ]
        : [],
  },
  gemini: {
    title: "Gemini CLI",
    findsNpx: true,
    where: "~/.gemini/settings.json, or .gemini/settings.json in a project.",
    keySource: FROM_VARIABLE,
    // Gemini CLI leaves an unset variable as it is written, and this form is known for a placeholder.
    key: "${FACELESS_API_KEY}",
    write: servers("mcpServers", ({ command, args, env }) => ({ command, args, env })),
  },
  zed: {
    title: "Zed",
    findsNpx: true,
    where: 'Zed\'s settings.json (the command "zed: open settings").',
    key: EXAMPLE_KEY,
    write: servers("context_servers", ({ command, args, env }) => ({
      command,
      args,
      env,
      timeout: CALL_SECONDS,
    })),
  },
  cline: {
    title: "Cline",
    findsNpx: true,
    where:
      "cline_mcp_settings.json: in the editor through MCP Servers, Configure; for the CLI in ~/.cline/data/settings/.",
    key: EXAMPLE_KEY,
    write: servers("mcpServers", ({ command, args, env }) => ({
      command,
      args,
      env,
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
    whereOnWindows:
      "%USERPROFILE%\\.codeium\\windsurf\\mcp_config.json, or in later versions %APPDATA%\\devin\\mcp_config.json or .devin\\mcp_config.json in a project.",
    keySource: FROM_VARIABLE,
    key: "${env:FACELESS_API_KEY}",
    write: servers("mcpServers", ({ command, args, env }) => ({ command, args, env })),
  },
  copilot: {
    title: "Copilot CLI",
    where: "~/.copilot/mcp-config.json, or .mcp.json in a project.",
    keySource: FROM_VARIABLE,
    key: "${FACELESS_API_KEY}",
    write: servers("mcpServers", ({ command, args, env }) => ({
      type: "local",
      command,
      args,
      env,
      tools: ["*"],
    })),
  },
  opencode: {
    title: "opencode",
    where: "~/.config/opencode/opencode.json, or opencode.json in a project.",
    keySource: FROM_VARIABLE,
    key: "{env:FACELESS_API_KEY}",
    write: ({ command, args, env }) =>
      json({
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
  },
  continue: {
    title: "Continue",
    findsNpx: true,
    where:
      ".continue/mcpServers/faceless-video.yaml in a project. In ~/.continue/config.yaml, which the CLI reads, only the list under mcpServers is needed.",
    keySource:
      "The key is taken from FACELESS_API_KEY in ~/.continue/.env, in .env of the project, or in the environment.",
    key: "${{ secrets.FACELESS_API_KEY }}",
    write: continueYaml,
  },
  goose: {
    title: "goose",
    where:
      "~/.config/goose/config.yaml (%APPDATA%\\Block\\goose\\config\\config.yaml on Windows). If it has extensions already, add this one to them.",
    whereOnWindows:
      "%APPDATA%\\Block\\goose\\config\\config.yaml. If it has extensions already, add this one to them.",
    keySource:
      "The key is taken from the variable FACELESS_API_KEY of the shell that goose starts from, or from goose's own secrets.",
    write: gooseYaml,
  },
  "lm-studio": {
    title: "LM Studio",
    where: "~/.lmstudio/mcp.json (Program, Install, Edit mcp.json).",
    key: EXAMPLE_KEY,
    write: servers("mcpServers", ({ command, args, env }) => ({ command, args, env })),
  },
  kiro: {
    title: "Kiro",
    where: "~/.kiro/settings/mcp.json, or .kiro/settings/mcp.json in a project.",
    keySource: `${FROM_VARIABLE} Kiro fills in only variables that its setting "Mcp Approved Env Vars" names.`,
    key: "${FACELESS_API_KEY}",
    write: servers("mcpServers", ({ command, args, env }) => ({ command, args, env })),
  },
  "visual-studio": {
    title: "Visual Studio",
    where: "%USERPROFILE%\\.mcp.json, or .mcp.json beside the solution.",
    key: "${input:faceless_key}",
    keySource: "Visual Studio asks for the key.",
    // Its inputs may have no hyphens in their names.
    write: (entry) => vscodeJson(entry).replaceAll(/faceless-(key|url)\b/g, "faceless_$1"),
  },
};

function servers(root: string, shape: (entry: Entry) => object): (entry: Entry) => string {
  return (entry) => json({ [root]: { [SERVER]: shape(entry) } });
}

/** With each list of strings on one line. */
function json(value: unknown): string {
  const text = JSON.stringify(value, undefined, 2).replace(
    /\[\n\s+("[^[\]{}]*)\n\s+\]/g,
    (_, words: string) => `[${words.replace(/\n\s+/g, " ")}]`,
  );
  return `${text}\n`;
}

/** Links to an entry with npx. */
function linkHint(hint: (entry: Entry) => string): (entry: Entry) => readonly string[] {
  return (entry) => (entry.installation === undefined ? [hint(entry)] : []);
}

/** The URL is one more question if it is not known. */
function vscodeJson({ baseUrl, ...entry }: Entry): string {
  const url = baseUrl === EXAMPLE_URL ? undefined : baseUrl;
  const inputs = VSCODE_INPUTS.filter(({ password }) => password || url === undefined);
  return json({
    ...(!entry.sandbox && { inputs }),
    servers: { [SERVER]: vscodeEntry(entry, url) },
  });
}

/** JSON strings and lists of strings are valid TOML and YAML. */
function list(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(", ")}]`;
}

function continueYaml({ command, args, env }: Entry): string {
  const lines = [
    `name: ${SERVER}`,
    "version: 0.0.1",
    "schema: v1",
    "mcpServers:",
    `  - name: ${SERVER}`,
    "    type: stdio",
    `    command: ${JSON.stringify(command)}`,
    `    args: ${list(args)}`,
    ...(env === undefined ? [] : ["    env:", ...yamlMap(env, "      ")]),
  ];
  return `${lines.join("\n")}\n`;
}

function gooseYaml({ command, args, env }: Entry): string {
  const lines = [
    "extensions:",
    `  ${SERVER}:`,
    "    enabled: true",
    "    type: stdio",
    `    name: ${SERVER}`,
    "    description: Makes and publishes short faceless videos",
    `    cmd: ${JSON.stringify(command)}`,
    `    args: ${list(args)}`,
    ...(env === undefined
      ? []
      : ["    envs:", ...yamlMap(env, "      "), `    env_keys: ${list(["FACELESS_API_KEY"])}`]),
    `    timeout: ${CALL_SECONDS}`,
  ];
  return `${lines.join("\n")}\n`;
}

function yamlMap(values: Readonly<Record<string, string>>, indent: string): readonly string[] {
  return Object.entries(values).map(([name, value]) => `${indent}${name}: ${JSON.stringify(value)}`);
}

/** Codex gives a server 1 s to be ready for the first message, which npx misses, unless the server is required. */
function codexToml({ command, args, env, installation }: Entry): string {
  const variables = ["FACELESS_API_KEY", ...NETWORK_VARIABLES];
  const lines = [
    `[mcp_servers.${SERVER}]`,
    `command = ${JSON.stringify(command)}`,
    `args = ${list(args)}`,
    ...(env === undefined ? [] : [`env_vars = ${list(variables)}`]),
    ...(installation === undefined ? ["required = true"] : []),
    `startup_timeout_sec = ${START_SECONDS}`,
    `tool_timeout_sec = ${CALL_SECONDS}`,
    ...(env === undefined
      ? []
      : [
          "",
          `[mcp_servers.${SERVER}.env]`,
          ...Object.entries(env).map(([name, value]) => `${name} = ${JSON.stringify(value)}`),
        ]),
  ];
  return `${lines.join("\n")}\n`;
}

/** Claude Code keeps tools behind its own search unless told otherwise, and the model then has to know that they exist. */
function claudeCodeServer({ command, args, env }: Entry): object {
  return { type: "stdio", command, args, env, alwaysLoad: true };
}

/** In single quotes, so that Claude Code fills the variable in, not the shell. PowerShell loses the quotes within JSON. */
function claudeMcpAdd(entry: Entry): string {
  const { command, args, env = {}, windows } = entry;
  if (!windows)
    return `claude mcp add-json --scope project ${SERVER} '${JSON.stringify(claudeCodeServer(entry))}'`;
  const variables = Object.entries(env).map(([name, value]) => `--env '${name}=${value}'`);
  const options = ["--scope project", ...variables, "--transport stdio"].join(" ");
  const words = [command, ...args].map((word) => (/^[\w./:@\\-]+$/.test(word) ? word : `'${word}'`));
  return `claude mcp add ${options} ${SERVER} -- ${words.join(" ")}`;
}
