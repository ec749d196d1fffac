// The entry of this server in each client's own configuration, ready to paste, with the key as the client's own input
// wherever it has one. Pure: of the environment it shows only the service's URL.

import type { ClientName, EntryOptions } from "../command-line.ts";
import { cursorInstallLink, vscodeInstallLink } from "./install-links.ts";
import { EXAMPLE_KEY, EXAMPLE_URL, launch, SERVER, VSCODE_INPUTS, vscodeEntry } from "./server-entry.ts";

export interface ClientEntry {
  /** The entry itself, for stdout. */
  readonly text: string;
  /** Where it goes and what is left to do, for stderr. */
  readonly notes: string;
}

/** Some clients end a call after 60 s, of which waitSeconds may take 50. */
const CALL_SECONDS = 120;
/** Some clients give npx 10 s, in which it may have to download the package. */
const START_SECONDS = 60;
/** Clients that start servers with a minimal environment don't pass these on. */
const NETWORK_VARIABLES = ["HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "NODE_EXTRA_CA_CERTS"];

/** How one client is configured. */
interface ClientFormat {
  /** The file, and how to get to it. */
  readonly where: string;
  /** The key's value in env; absent if the entry has none. */
  readonly key?: string;
  /** Where the client takes the key from, unless the entry holds it. */
  readonly keySource?: string;
  readonly write: (entry: Entry) => string;
  /** Further notes for the user. */
  readonly hints?: (entry: Entry) => readonly string[];
}

interface Entry extends EntryOptions {
  readonly baseUrl: string;
  readonly command: string;
  readonly args: readonly string[];
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

const FORMATS: Record<ClientName, ClientFormat> = {
  "claude-desktop": {
    where:
      "claude_desktop_config.json (Settings, Developer, Edit Config): ~/Library/Application Support/Claude/ on macOS, %APPDATA%\\Claude\\ on Windows. Then quit Claude Desktop entirely and start it again.",
    key: EXAMPLE_KEY,
    write: servers("mcpServers", ({ command, args, env }) => ({ command, args, env })),
    hints: networkHint,
  },
  "claude-code": {
    where: ".mcp.json in the project's folder.",
    keySource: FROM_VARIABLE,
    key: "${FACELESS_API_KEY}",
    write: servers("mcpServers", ({ command, args, env }) => ({ type: "stdio", command, args, env })),
    hints: (entry) => (entry.windows ? [] : [`Or run there: ${claudeMcpAdd(entry)}`]),
  },
  cursor: {
    where: "~/.cursor/mcp.json, or .cursor/mcp.json in a project.",
    keySource: FROM_VARIABLE,
    key: "${env:FACELESS_API_KEY}",
    write: servers("mcpServers", ({ command, args, env }) => ({ command, args, env })),
    hints: (entry) => [
      `Or open this link${entry.sandbox ? "" : ", which takes the service's address from FACELESS_BASE_URL"}: ${cursorInstallLink(entry)}`,
    ],
  },
  vscode: {
    where:
      '.vscode/mcp.json in a project, or the file that the command "MCP: Open User Configuration" opens.',
    key: "${input:faceless-key}",
    keySource: "VS Code asks for the key and keeps it.",
    write: ({ baseUrl, ...entry }) => {
      const url = baseUrl === EXAMPLE_URL ? undefined : baseUrl;
      const inputs = VSCODE_INPUTS.filter(({ password }) => password || url === undefined);
      return json({
        ...(!entry.sandbox && { inputs }),
        servers: { [SERVER]: vscodeEntry(entry, url) },
      });
    },
    hints: (entry) => [`Or open this link: ${vscodeInstallLink(entry)}`],
  },
  codex: {
    where: "~/.codex/config.toml.",
    keySource: FROM_VARIABLE,
    write: codexToml,
  },
  gemini: {
    where: "~/.gemini/settings.json, or .gemini/settings.json in a project.",
    keySource: FROM_VARIABLE,
    key: "$FACELESS_API_KEY",
    write: servers("mcpServers", ({ command, args, env }) => ({ command, args, env })),
  },
  zed: {
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
    where: "cline_mcp_settings.json (MCP Servers, Configure), or ~/.cline/mcp.json.",
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
    where:
      "~/.codeium/windsurf/mcp_config.json, or in later versions ~/.config/devin/mcp_config.json (%APPDATA%\\devin\\mcp_config.json on Windows).",
    keySource: FROM_VARIABLE,
    key: "${env:FACELESS_API_KEY}",
    write: servers("mcpServers", ({ command, args, env }) => ({ command, args, env })),
  },
};

/** `baseUrl` as the environment has it, if it is usable. */
export function clientEntry(
  client: ClientName,
  options: EntryOptions,
  baseUrl: URL | undefined,
): ClientEntry {
  const { where, key, keySource, write, hints } = FORMATS[client];
  const url = shownUrl(baseUrl);
  const entry: Entry = {
    ...options,
    baseUrl: url,
    ...launch(options),
    ...(!options.sandbox && {
      env: { ...(key !== undefined && { FACELESS_API_KEY: key }), FACELESS_BASE_URL: url },
    }),
  };
  const text = write(entry);
  const examples = [
    ...(text.includes(JSON.stringify(EXAMPLE_KEY)) ? [`${EXAMPLE_KEY} with your key`] : []),
    ...(text.includes(JSON.stringify(EXAMPLE_URL)) ? [`${EXAMPLE_URL} with the service's address`] : []),
  ];
  const notes = [
    `This goes into ${where}`,
    ...(keySource === undefined || options.sandbox ? [] : [keySource]),
    ...(examples.length > 0 ? [`Replace ${examples.join(", and ")}.`] : []),
    ...(hints?.(entry) ?? []),
  ];
  return { text, notes: `${notes.join("\n")}\n` };
}

/** A key that was set as the URL by mistake must not be shown either. */
function shownUrl(baseUrl: URL | undefined): string {
  if (baseUrl === undefined || baseUrl.href.includes("fl_")) return EXAMPLE_URL;
  return baseUrl.href.replace(/\/$/, "");
}

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

/** JSON strings and lists of strings are valid TOML. */
function codexToml({ command, args, env }: Entry): string {
  const variables = ["FACELESS_API_KEY", ...NETWORK_VARIABLES];
  const list = (values: readonly string[]) => `[${values.map((value) => JSON.stringify(value)).join(", ")}]`;
  const lines = [
    `[mcp_servers.${SERVER}]`,
    `command = ${JSON.stringify(command)}`,
    `args = ${list(args)}`,
    ...(env === undefined ? [] : [`env_vars = ${list(variables)}`]),
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

/** In single quotes, so that Claude Code fills the variable in, not the shell. */
function claudeMcpAdd({ command, args, env = {} }: Entry): string {
  const variables = Object.entries(env).map(([name, value]) => `--env '${name}=${value}'`);
  const options = ["--scope project", ...variables, "--transport stdio"].join(" ");
  return `claude mcp add ${options} ${SERVER} -- ${[command, ...args].join(" ")}`;
}
