// How each client is configured: the user's own files, what an entry looks like, and where its key comes
// from. Data for `config`, which prints an entry, and `doctor`, which reads one.

import { posix, win32 } from "node:path";
import type { ClientName } from "../command-line.ts";
import { inSentences } from "../sentences.ts";
import { valueAt } from "../value-at.ts";
import type { Host } from "./host.ts";
import { EXAMPLE_KEY, EXAMPLE_URL, type Launch, SERVER } from "./server-entry.ts";

/** Some clients end a call after 60 s. */
const CALL_SECONDS = 120;
/** Codex waits for a call as long as its entry says. get_video_status takes up to 240 s. */
const CODEX_CALL_SECONDS = 300;
/** Some clients give npx 10 s, in which it may have to download the package. */
const START_SECONDS = 60;
/** Clients that start servers with a minimal environment don't pass these on. */
const NETWORK_VARIABLES = ["HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "NODE_EXTRA_CA_CERTS"];

/** The entry as it is written into a client's file. */
export interface Entry extends Launch {
  /** Absent for the sandbox. */
  readonly env?: Readonly<Record<string, string>>;
  readonly isInstalled: boolean;
}

export interface Placeholders {
  /** Placeholders for variables of the client's environment. Groups: `name` or `bare`, and `fallback`. */
  readonly ofShell?: RegExp;
  /** Placeholders for values that only the client knows, such as its user's answer. */
  readonly ofClient?: RegExp;
}

export type Permission = "ask" | "allow" | "deny";

export interface ClientFormat {
  readonly title: string;
  /** The user's own files, the one that wins first. `filesOf` names the folder that each begins with. */
  readonly files: readonly string[];
  readonly windowsFiles?: readonly string[];
  /** How to open the file in the application. */
  readonly menu?: string;
  /** The field of the file that holds the entries. Default: mcpServers. */
  readonly root?: string;
  /** The field of an entry that holds the variables. Default: env. */
  readonly envField?: "environment" | "envs";
  /** The key's value in the entry. Absent if the entry has none. */
  readonly key?: string;
  /** Where the client takes the key from, if neither from its entry nor from its shell. */
  readonly keySource?: string;
  /** The fields of an entry after program, arguments and variables. */
  readonly fields?: object;
  /** The whole entry, if it has another form. */
  readonly form?: (entry: Entry) => object;
  /** The fields of the file before its entries. */
  readonly top?: (entry: Entry) => object;
  /** True if the entries are a list, and not fields by their names. */
  readonly isList?: true;
  /** The client's own command that adds the entry, whose parts are in capitals. */
  readonly addCommand?: string;
  readonly removeCommand?: string;
  /** What the client accepts beyond the standard of its files; absent if nobody has tried. */
  readonly reads?: Readonly<
    Partial<Record<"comments" | "trailingCommas" | "missingCommas" | "byteOrderMark", boolean>>
  >;
  /** The placeholders that it fills in. The others reach the server as they stand in the entry. */
  readonly fills?: Placeholders;
  /**
   * `client`: what the client itself does before an order and a post. `server`: whether it shows this server's
   * question. docs/CLIENTS.md has measured both. Absent if nobody has.
   */
  readonly asks?: { readonly client?: Permission; readonly server: boolean };
  /** What the client's file says about one of this server's tools; undefined if nothing. */
  readonly permission?: (tool: string, entry: unknown, document: unknown) => Permission | undefined;
  /** True if it is started in a terminal, so that it has the variables of the shell there. */
  readonly isInTerminal?: true;
  /** True if its command is a batch file on Windows: cmd.exe would obey the && of an entry. */
  readonly isBatchFile?: true;
  /** Where to write the shared fields, if its own command leaves them out, and why they are needed. */
  readonly addition?: string;
  readonly note?: string;
  /**
   * True if it is an application without projects: it starts servers in no project's folder, and looks for
   * programs elsewhere than a terminal.
   */
  readonly isDesktopApp?: true;
  /** True if it starts a server in the folder that the entry's cwd names. Claude Code does not. */
  readonly obeysCwd?: true;
  /** True if the server also gets the variables of the shell that the client starts from. */
  readonly inherits?: true;
}

const STRICT = { comments: false, trailingCommas: false, byteOrderMark: false };
const LENIENT = { comments: true, trailingCommas: true, byteOrderMark: true };
/** ${NAME} and ${NAME:-text}. */
const IN_BRACES = /\$\{(?<name>\w+)(?::-(?<fallback>[^}]*))?\}/g;
/** $NAME, too. */
const IN_BRACES_OR_BARE = /\$(?:\{(?<name>\w+)(?::-(?<fallback>[^}]*))?\}|(?<bare>[A-Za-z_]\w*))/g;
const LIKE_VSCODE: Placeholders = {
  ofShell: /\$\{env:(?<name>\w+)\}/g,
  ofClient: /\$\{(?:input:\w+|userHome|workspaceFolder\w*|pathSeparator|\/)\}/g,
};

/** A field of an entry that approves all tools, or those that it lists. */
const approvedBy =
  (field: string): NonNullable<ClientFormat["permission"]> =>
  (tool, entry) => {
    const approved = valueAt(entry, field);
    const isListed = Array.isArray(approved) && [tool, "*"].some((name) => approved.includes(name));
    return approved === true || isListed ? "allow" : undefined;
  };

/** A tool's own mode in Codex's entry, or that of all. */
function codexPermission(tool: string, entry: unknown): Permission | undefined {
  const mode =
    valueAt(entry, "tools", tool, "approval_mode") ?? valueAt(entry, "default_tools_approval_mode");
  if (mode === "approve") return "allow";
  return mode === "prompt" ? "ask" : undefined;
}

/** The last of opencode's rules for the tool wins. Its patterns have * and ?. */
function opencodePermission(tool: string, _: unknown, document: unknown): Permission | undefined {
  const written = valueAt(document, "permission");
  const rules =
    typeof written === "string" ? { "*": written } : { ...(typeof written === "object" && written) };
  const isFor = (pattern: string) => {
    const source = pattern
      .replace(/[^\w*?-]/g, "\\$&")
      .replaceAll("?", ".")
      .replaceAll("*", ".*");
    return new RegExp(`^${source}$`).test(`${SERVER}_${tool}`);
  };
  const last = Object.entries<unknown>(rules).findLast(([pattern]) => isFor(pattern))?.[1];
  return (["ask", "allow", "deny"] as const).find((each) => each === (valueAt(last, "*") ?? last));
}

/** Without these lines, opencode orders and posts without asking. */
const OPENCODE_PERMISSION = {
  permission: { [`${SERVER}_generate_video`]: "ask", [`${SERVER}_publish_video`]: "ask" },
};

const NEEDS_NETWORK_VARIABLES = inSentences(
  `Behind a proxy or with a company's own certificates, add ${NETWORK_VARIABLES.join(", ")} to env:`,
  "this client does not pass them on.",
);

export const FORMATS: Readonly<Record<ClientName, ClientFormat>> = {
  "claude-desktop": {
    title: "Claude Desktop",
    files: ["$settings/Claude/claude_desktop_config.json"],
    // The first is the one of the installer from claude.ai, whatever the menu opens.
    windowsFiles: [
      "$local/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude/claude_desktop_config.json",
      "$settings/Claude/claude_desktop_config.json",
    ],
    menu: "Settings, Developer, Edit Config",
    key: EXAMPLE_KEY,
    reads: STRICT,
    fills: {},
    note: NEEDS_NETWORK_VARIABLES,
    isDesktopApp: true,
  },
  "claude-code": {
    title: "Claude Code",
    files: ["$claude/.claude.json"],
    key: "${FACELESS_API_KEY}",
    // Claude Code hides tools without alwaysLoad behind its search: the model has to know that they exist.
    fields: { type: "stdio", alwaysLoad: true },
    // `claude mcp add` can't set alwaysLoad.
    addCommand: `claude mcp add-json --scope user ${SERVER} ENTRY`,
    removeCommand: `claude mcp remove --scope user ${SERVER}`,
    asks: { client: "ask", server: true },
    reads: { ...STRICT, byteOrderMark: true },
    fills: { ofShell: IN_BRACES },
    isInTerminal: true,
    inherits: true,
  },
  cursor: { title: "Cursor", files: ["~/.cursor/mcp.json"], key: EXAMPLE_KEY, fills: LIKE_VSCODE },
  vscode: {
    title: "VS Code",
    files: [
      "$settings/Code/User/mcp.json",
      "$settings/Code*/User/mcp.json",
      "$settings/Code*/User/profiles/*/mcp.json",
    ],
    menu: "the command MCP: Open User Configuration",
    root: "servers",
    keySource:
      "VS Code asks for the key when the server starts, and for the address if the entry has none." +
      " It keeps both.",
    form: vscodeForm,
    top: vscodeInputs,
    addCommand: "code --add-mcp JSON",
    asks: { client: "ask", server: true },
    isBatchFile: true,
    reads: LENIENT,
    fills: LIKE_VSCODE,
    obeysCwd: true,
    inherits: true,
  },
  codex: {
    title: "Codex",
    files: ["$codex/config.toml"],
    root: "mcp_servers",
    // In a terminal, a daemon starts the servers: a variable of a later shell doesn't reach them.
    key: EXAMPLE_KEY,
    form: ({ isInstalled, ...start }) => ({
      ...start,
      ...(start.env && { env_vars: NETWORK_VARIABLES }),
      // Codex gives a server 1 s before the first message, too short for npx, unless it is required.
      ...(!isInstalled && { required: true }),
      startup_timeout_sec: START_SECONDS,
      tool_timeout_sec: CODEX_CALL_SECONDS,
    }),
    addCommand: `codex mcp add ${SERVER} ENV -- START`,
    removeCommand: `codex mcp remove ${SERVER}`,
    asks: { client: "ask", server: true },
    permission: codexPermission,
    isInTerminal: true,
    reads: { byteOrderMark: true },
    fills: {},
    obeysCwd: true,
    note: "The desktop app of ChatGPT reads the same file: restart that too, if you use it.",
  },
  gemini: {
    title: "Gemini CLI",
    files: ["$gemini/.gemini/settings.json"],
    key: "${FACELESS_API_KEY}",
    addCommand: `gemini mcp add --scope user ENV ${SERVER} START`,
    removeCommand: `gemini mcp remove --scope user ${SERVER}`,
    asks: { client: "ask", server: false },
    permission: approvedBy("trust"),
    reads: { comments: true, trailingCommas: false, byteOrderMark: false },
    fills: { ofShell: IN_BRACES_OR_BARE },
    isInTerminal: true,
    note: inSentences(
      "Gemini CLI starts servers only in folders that you trust.",
      "If it asks about the folder, answer that you trust it; /permissions asks again.",
    ),
    obeysCwd: true,
  },
  antigravity: {
    title: "Antigravity",
    files: ["~/.gemini/config/mcp_config.json", "~/.gemini/antigravity/mcp_config.json"],
    menu: "…, MCP Servers, Manage MCP Servers, View raw config",
    key: EXAMPLE_KEY,
    // Since version 1.1.24.
    reads: { comments: true, trailingCommas: true },
  },
  zed: {
    title: "Zed",
    files: ["$config/zed/settings.json"],
    windowsFiles: ["$config/Zed/settings.json"],
    menu: "the command zed: open settings",
    root: "context_servers",
    key: EXAMPLE_KEY,
    reads: { comments: true, trailingCommas: true },
    fills: {},
    fields: { timeout: CALL_SECONDS },
  },
  cline: {
    title: "Cline",
    files: [
      "$settings/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
      "$settings/*/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
      "~/.cline/data/settings/cline_mcp_settings.json",
    ],
    asks: { server: false },
    permission: approvedBy("autoApprove"),
    menu: "MCP Servers, Configure",
    key: EXAMPLE_KEY,
    reads: STRICT,
    fills: {},
    fields: { disabled: false, autoApprove: [], timeout: CALL_SECONDS },
    note: NEEDS_NETWORK_VARIABLES,
  },
  windsurf: {
    title: "Devin Desktop (Windsurf)",
    fills: { ofShell: /\$\{env:(?<name>\w+)\}/g, ofClient: /\$\{file:[^}]*\}/g },
    files: ["$config/devin/mcp_config.json", "~/.codeium/windsurf/mcp_config.json"],
    key: EXAMPLE_KEY,
  },
  copilot: {
    title: "Copilot CLI",
    files: ["$copilot/mcp-config.json"],
    key: "${FACELESS_API_KEY}",
    fields: { type: "local", tools: ["*"] },
    addCommand: `copilot mcp add ${SERVER} ENV -- START`,
    removeCommand: `copilot mcp remove ${SERVER}`,
    asks: { client: "ask", server: true },
    reads: { ...LENIENT, missingCommas: true },
    fills: { ofShell: IN_BRACES_OR_BARE },
    isInTerminal: true,
  },
  opencode: {
    title: "opencode",
    files: [
      "$opencode/opencode.jsonc",
      "$opencode/opencode.json",
      "$opencodeFile",
      "$xdg/opencode/opencode.jsonc",
      "$xdg/opencode/opencode.json",
    ],
    root: "mcp",
    envField: "environment",
    key: "{env:FACELESS_API_KEY}",
    top: () => ({ $schema: "https://opencode.ai/config.json", ...OPENCODE_PERMISSION }),
    addCommand: `opencode mcp add ${SERVER} ENV -- START`,
    reads: LENIENT,
    fills: { ofShell: /\{env:(?<name>\w+)\}/g, ofClient: /\{file:[^}]*\}/g },
    isInTerminal: true,
    addition: inSentences(
      `Then write this into the file that the command named, after its first {, or add it to the "permission" that is there.`,
      "Without it, opencode orders and posts without asking you.",
    ),
    asks: { client: "allow", server: false },
    permission: opencodePermission,
    form: ({ command, args, env }) => ({
      type: "local",
      command: [command, ...args],
      environment: env,
      enabled: true,
      timeout: CALL_SECONDS * 1000,
    }),
    inherits: true,
  },
  continue: {
    title: "Continue",
    files: ["~/.continue/mcpServers/faceless-video.yaml", "~/.continue/config.yaml"],
    key: "${{ secrets.FACELESS_API_KEY }}",
    fills: { ofClient: /\$\{\{[^}]*\}\}/g },
    keySource: "Continue takes the key from FACELESS_API_KEY in ~/.continue/.env: write it in there.",
    top: () => ({ name: SERVER, version: "0.0.1", schema: "v1" }),
    isList: true,
    asks: { server: false },
    form: ({ command, args, env }) => ({ name: SERVER, type: "stdio", command, args, env }),
  },
  goose: {
    title: "goose",
    files: ["$config/goose/config.yaml"],
    windowsFiles: ["$config/Block/goose/config/config.yaml"],
    root: "extensions",
    envField: "envs",
    fills: {},
    form: ({ command, args, env }) => ({
      enabled: true,
      type: "stdio",
      name: SERVER,
      description: "Makes and publishes short faceless videos",
      cmd: command,
      args,
      envs: env,
      ...(env && { env_keys: ["FACELESS_API_KEY"] }),
      timeout: CALL_SECONDS,
    }),
  },
  "lm-studio": {
    title: "LM Studio",
    files: ["~/.lmstudio/mcp.json"],
    menu: "Program, Install, Edit mcp.json",
    key: EXAMPLE_KEY,
    fills: {},
    isDesktopApp: true,
  },
  kiro: {
    title: "Kiro",
    files: ["~/.kiro/settings/mcp.json"],
    key: EXAMPLE_KEY,
    permission: approvedBy("autoApprove"),
    fills: { ofShell: /\$\{(?:env:)?(?<name>\w+)\}/g },
  },
  "visual-studio": {
    title: "Visual Studio",
    files: ["~/.mcp.json"],
    root: "servers",
    fills: LIKE_VSCODE,
    keySource: "Visual Studio asks for the key, and for the address if the entry has none.",
    form: vscodeForm,
    top: vscodeInputs,
  },
  // The form that most clients read.
  other: { title: "your client", files: [], key: EXAMPLE_KEY },
};

/** The paths of a client's files on this computer. * stands for any part of a folder's name. */
export function filesOf(
  { files, windowsFiles = files }: ClientFormat,
  { env, homeDir, platform }: Pick<Host, "env" | "homeDir" | "platform">,
): readonly string[] {
  const onWindows = platform === "win32";
  const { join } = onWindows ? win32 : posix;
  const roaming = env["APPDATA"] ?? join(homeDir, "AppData/Roaming");
  const config = onWindows ? roaming : (env["XDG_CONFIG_HOME"] ?? join(homeDir, ".config"));
  const folders: Readonly<Record<string, string | undefined>> = {
    "~": homeDir,
    $settings: platform === "darwin" ? join(homeDir, "Library/Application Support") : config,
    $config: platform === "darwin" ? join(homeDir, ".config") : config,
    $xdg: env["XDG_CONFIG_HOME"] || join(homeDir, ".config"),
    $local: env["LOCALAPPDATA"] ?? join(homeDir, "AppData/Local"),
    $claude: env["CLAUDE_CONFIG_DIR"] ?? homeDir,
    $codex: env["CODEX_HOME"] ?? join(homeDir, ".codex"),
    $copilot: env["COPILOT_HOME"] || join(homeDir, ".copilot"),
    $gemini: env["GEMINI_CLI_HOME"] || homeDir,
    $opencode: env["OPENCODE_CONFIG_DIR"],
    $opencodeFile: env["OPENCODE_CONFIG"],
  };
  return (onWindows ? windowsFiles : files).flatMap((file) => {
    const [name = "", ...path] = file.split("/");
    const folder = folders[name] ?? "";
    return folder === "" ? [] : [join(folder, ...path)];
  });
}

function formOf({ form, fields }: ClientFormat, entry: Entry): object {
  const { isInstalled: _, ...start } = entry;
  return form?.(entry) ?? { ...start, ...fields };
}

/** The content of a client's file that has nothing but this entry. */
export function documentOf(format: ClientFormat, entry: Entry): object {
  const { root = "mcpServers", top, isList } = format;
  const form = formOf(format, entry);
  return { ...top?.(entry), [root]: isList === true ? [form] : { [SERVER]: form } };
}

/** The fields that a file with other entries needs besides the entry. It may have some of them already. */
export function sharedFieldsOf(format: ClientFormat, entry: Entry): object {
  const fields = Object.entries<unknown>({ ...format.top?.(entry) });
  return Object.fromEntries(fields.filter(([, value]) => typeof value === "object"));
}

/** The words of the client's own command. It holds no key: others can read a command line, and shells keep it. */
export function addCommandOf(format: ClientFormat, entry: Entry): readonly string[] | undefined {
  const { command, args, env } = entry;
  const form = formOf(format, entry);
  const parts: Readonly<Record<string, readonly string[]>> = {
    ENV: Object.entries({ ...env }).map(([name, value]) => `--env=${name}=${value}`),
    START: [command, ...args],
    ENTRY: [JSON.stringify(form)],
    JSON: [JSON.stringify({ name: SERVER, ...form, ...format.top?.(entry) })],
  };
  return format.addCommand?.split(" ").flatMap((word) => parts[word] ?? word);
}

/** The inputs that VS Code and Visual Studio ask for once. Visual Studio allows no hyphen in an id. */
export const VSCODE_INPUTS = [
  promptFor("faceless_key", "Faceless Video API key, begins with fl_", true),
  promptFor("faceless_url", "Faceless Video service address, begins with https://", false),
];

function promptFor(id: string, description: string, password: boolean) {
  return { type: "promptString", id, description, password };
}

/** The inputs, which also ask for the address if it is not known. */
function vscodeInputs({ env }: Entry): object {
  const count = env?.["FACELESS_BASE_URL"] === EXAMPLE_URL ? 2 : 1;
  return env === undefined ? {} : { inputs: VSCODE_INPUTS.slice(0, count) };
}

function vscodeForm({ command, args, env }: Entry): object {
  const url = env?.["FACELESS_BASE_URL"];
  const asked = {
    FACELESS_API_KEY: "${input:faceless_key}",
    FACELESS_BASE_URL: url === EXAMPLE_URL ? "${input:faceless_url}" : url,
  };
  return { type: "stdio", command, args, ...(env && { env: asked }) };
}
