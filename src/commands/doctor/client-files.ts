// Lists where each client keeps its entries, in which fields, and which placeholders it fills in. Pure.
// The formats that this server prints are in ../client-formats.ts.

import { join } from "node:path";
import type { ClientName } from "../../command-line.ts";
import type { Environment } from "../../config.ts";

/** The computer, and the terminal that doctor was started in. */
export interface Machine {
  readonly env: Environment;
  /** What `~` stands for. */
  readonly homeDir: string;
  /** The folder of the project, if there is one. */
  readonly workingDir: string;
  readonly platform: NodeJS.Platform;
}

export interface ClientFiles {
  /** The file that wins comes first. Each begins with a folder of `foldersOf`. */
  readonly files: readonly string[];
  /** The field of the file that holds the entries. */
  readonly root: string;
  /** The field of the entry that holds the variables. */
  readonly envField: "env" | "environment" | "envs";
  /** What the client replaces by a variable: the first group is its name, the second its default. */
  readonly placeholder?: RegExp;
  /** Whether the client may keep values in a place of its own, which doctor does not read. */
  readonly hasSecrets?: true;
  /** Whether the application, started from the desktop, looks for programs elsewhere than this terminal. */
  readonly hasOwnPath?: true;
  /** Whether the server also gets the variables of the shell that the client starts from. */
  readonly inherits?: true;
}

/** The paths of these files on this machine. */
export function pathsOf(files: readonly string[], machine: Machine): readonly string[] {
  const folders = foldersOf(machine);
  return files.map((file) => join(file.replace(/^[.~$]\w*/, (folder) => folders[folder] ?? folder)));
}

function foldersOf(machine: Machine): Readonly<Record<string, string>> {
  const { env, homeDir, workingDir } = machine;
  return {
    ".": workingDir,
    "~": homeDir,
    $settings: settingsDir(machine, "Library/Application Support"),
    $config: settingsDir(machine, ".config"),
    $codex: env["CODEX_HOME"] ?? join(homeDir, ".codex"),
  };
}

/** The platform's folder for the settings of applications. */
function settingsDir({ env, homeDir, platform }: Machine, onMac: string): string {
  if (platform === "win32") return env["APPDATA"] ?? join(homeDir, "AppData/Roaming");
  if (platform === "darwin") return join(homeDir, onMac);
  return env["XDG_CONFIG_HOME"] ?? join(homeDir, ".config");
}

const DOLLAR_BRACES = /\$\{(\w+)(?::-([^}]*))?\}/;
const DOLLAR = /\$\{?([A-Za-z_]\w*)(?::-([^}]*))?\}?/;
const ENV_BRACES = /\$\{env:(\w+)\}/;
const usual = { root: "mcpServers", envField: "env" } as const;

export const CLIENT_FILES: Readonly<Record<ClientName, ClientFiles>> = {
  "claude-desktop": {
    ...usual,
    files: ["$settings/Claude/claude_desktop_config.json"],
    hasOwnPath: true,
  },
  "claude-code": {
    ...usual,
    files: ["./.mcp.json", "~/.claude.json"],
    placeholder: DOLLAR_BRACES,
    inherits: true,
  },
  cursor: {
    ...usual,
    files: ["./.cursor/mcp.json", "~/.cursor/mcp.json"],
    placeholder: ENV_BRACES,
  },
  vscode: {
    ...usual,
    files: ["./.vscode/mcp.json", "$settings/Code/User/mcp.json"],
    root: "servers",
    placeholder: ENV_BRACES,
    inherits: true,
  },
  codex: { ...usual, files: ["$codex/config.toml"], root: "mcp_servers" },
  gemini: {
    ...usual,
    files: ["./.gemini/settings.json", "~/.gemini/settings.json"],
    placeholder: DOLLAR,
  },
  zed: { ...usual, files: ["./.zed/settings.json", "$config/zed/settings.json"], root: "context_servers" },
  cline: {
    ...usual,
    files: [
      "$settings/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
      "~/.cline/data/settings/cline_mcp_settings.json",
    ],
    placeholder: ENV_BRACES,
  },
  windsurf: {
    ...usual,
    files: [
      "./.devin/mcp_config.json",
      "$config/devin/mcp_config.json",
      "~/.codeium/windsurf/mcp_config.json",
    ],
    placeholder: ENV_BRACES,
  },
  copilot: {
    ...usual,
    files: ["./.mcp.json", "./.github/mcp.json", "~/.copilot/mcp-config.json"],
    placeholder: DOLLAR,
  },
  opencode: {
    files: [
      "./opencode.json",
      "./opencode.jsonc",
      "~/.config/opencode/opencode.json",
      "~/.config/opencode/opencode.jsonc",
    ],
    root: "mcp",
    envField: "environment",
    placeholder: /\{env:(\w+)\}/,
    inherits: true,
  },
  continue: {
    ...usual,
    files: [
      "./.continue/mcpServers/faceless-video.yaml",
      "~/.continue/mcpServers/faceless-video.yaml",
      "~/.continue/config.yaml",
    ],
    placeholder: /\$\{\{\s*secrets\.(\w+)\s*\}\}/,
    hasSecrets: true,
  },
  goose: {
    // The second is its place on Windows.
    files: ["$config/goose/config.yaml", "$config/Block/goose/config/config.yaml"],
    root: "extensions",
    envField: "envs",
    hasSecrets: true,
  },
  "lm-studio": { ...usual, files: ["~/.lmstudio/mcp.json"], hasOwnPath: true },
  kiro: {
    ...usual,
    files: ["./.kiro/settings/mcp.json", "~/.kiro/settings/mcp.json"],
    placeholder: DOLLAR_BRACES,
  },
  "visual-studio": { ...usual, files: ["./.mcp.json", "~/.mcp.json"], root: "servers" },
};
