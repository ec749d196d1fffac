// The entry of this server in each client's own configuration, ready to paste, with the key as the client's own input
// wherever it has one. Pure: the only thing of the environment that it may show is the service's URL.

import type { ClientName, EntryForm } from "../command-line.ts";
import { cursorInstallLink, vscodeInstallLink } from "./install-links.ts";
import { EXAMPLE_KEY, EXAMPLE_URL, launch, SERVER, VSCODE_INPUTS, vscodeEntry } from "./server-entry.ts";

export interface ClientEntry {
  /** The entry itself, for stdout. */
  readonly text: string;
  /** Where it goes and what is left to do, for stderr. */
  readonly notes: string;
}

/** Seconds. Some clients give up at 60 and count the 50 of waitSeconds in, or allow an npx that must fetch 10. */
const CALL_SECONDS = 120;
const START_SECONDS = 60;
/** Not passed on by clients that start servers with a bare environment. */
const NETWORK_VARIABLES = ["HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "NODE_EXTRA_CA_CERTS"];

interface Form {
  /** The file, and how to get to it. */
  readonly where: string;
  /** How the key is written in env; absent where it is not. */
  readonly key?: string;
  /** Where the client has the key from, unless it stands in the entry itself. */
  readonly keySource?: string;
  readonly write: (entry: Entry) => string;
  /** What more there is to know. */
  readonly hints?: (entry: Entry) => readonly string[];
}

interface Entry extends EntryForm {
  readonly baseUrl: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Absent for the sandbox. */
  readonly env?: Readonly<Record<string, string>>;
}

const FROM_VARIABLE =
  "The key is taken from the variable FACELESS_API_KEY of the shell that the client starts from.";
const bareEnvironment = ({ env }: Entry): readonly string[] =>
  env === undefined
    ? []
    : [
        `Behind a proxy or a company's own certificates, add ${NETWORK_VARIABLES.join(", ")} to env: this client passes none of them on.`,
      ];

const FORMS: Record<ClientName, Form> = {
  "claude-desktop": {
    where:
      "claude_desktop_config.json (Config, Developer, Edit Config): ~/Library/Application Support/Claude/ on macOS, %APPDATA%\\Claude\\ on Windows. Then quit Claude Desktop entirely and start it again.",
    key: EXAMPLE_KEY,
    write: servers("mcpServers", ({ command, args, env }) => ({ command, args, env })),
    hints: bareEnvironment,
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
    hints: (form) => [
      `Or open this link${form.sandbox ? "" : ", which takes the service's address from FACELESS_BASE_URL"}: ${cursorInstallLink(form)}`,
    ],
  },
  vscode: {
    where:
      '.vscode/mcp.json in a project, or the file that the command "MCP: Open User Configuration" opens.',
    key: "${input:faceless-key}",
    keySource: "VS Code asks for the key and keeps it.",
    write: ({ baseUrl, ...form }) => {
      const url = baseUrl === EXAMPLE_URL ? undefined : baseUrl;
      const inputs = VSCODE_INPUTS.filter(({ password }) => password || url === undefined);
      return json({
        ...(!form.sandbox && { inputs }),
        servers: { [SERVER]: vscodeEntry(form, url) },
      });
    },
    hints: (form) => [`Or open this link: ${vscodeInstallLink(form)}`],
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
    hints: bareEnvironment,
  },
  windsurf: {
    where:
      "~/.codeium/windsurf/mcp_config.json, or in later versions ~/.config/devin/mcp_config.json (%APPDATA%\\devin\\mcp_config.json on Windows).",
    keySource: FROM_VARIABLE,
    key: "${env:FACELESS_API_KEY}",
    write: servers("mcpServers", ({ command, args, env }) => ({ command, args, env })),
  },
};

/** `baseUrl` as the environment has it, if it can be used. */
export function clientEntry(client: ClientName, form: EntryForm, baseUrl: URL | undefined): ClientEntry {
  const { where, key, keySource, write, hints } = FORMS[client];
  const url = shownUrl(baseUrl);
  const entry: Entry = {
    ...form,
    baseUrl: url,
    ...launch(form),
    ...(!form.sandbox && {
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
    ...(keySource === undefined || form.sandbox ? [] : [keySource]),
    ...(examples.length > 0 ? [`Replace ${examples.join(", and ")}.`] : []),
    ...(hints?.(entry) ?? []),
  ];
  return { text, notes: `${notes.join("\n")}\n` };
}

/** A key that was pasted in the wrong place is shown no more than one in the right place. */
function shownUrl(baseUrl: URL | undefined): string {
  if (baseUrl === undefined || baseUrl.href.includes("fl_")) return EXAMPLE_URL;
  return baseUrl.href.replace(/\/$/, "");
}

function servers(root: string, shape: (entry: Entry) => object): (entry: Entry) => string {
  return (entry) => json({ [root]: { [SERVER]: shape(entry) } });
}

/** With each list of words on one line. */
function json(value: unknown): string {
  const text = JSON.stringify(value, undefined, 2).replace(
    /\[\n\s+("[^[\]{}]*)\n\s+\]/g,
    (_, words: string) => `[${words.replace(/\n\s+/g, " ")}]`,
  );
  return `${text}\n`;
}

/** What JSON writes for strings and lists of strings is TOML too. */
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

/** In single quotes, so that it is Claude Code that fills the variable in, and not the shell. */
function claudeMcpAdd({ command, args, env = {} }: Entry): string {
  const variables = Object.entries(env).map(([name, value]) => `--env '${name}=${value}'`);
  const options = ["--scope project", ...variables, "--transport stdio"].join(" ");
  return `claude mcp add ${options} ${SERVER} -- ${[command, ...args].join(" ")}`;
}
