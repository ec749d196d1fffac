// Where each client keeps its entries, in which fields, and which placeholders it fills in. Pure. The formats that this server prints
// are in ../client-formats.ts.

import { join } from "node:path";
import type { ClientName } from "../../command-line.ts";
import type { Environment } from "../../config.ts";

/** What the places of files depend on. */
export interface Machine {
  readonly env: Environment;
  readonly homeDir: string;
  /** The folder that doctor was started in: that of the project, if there is one. */
  readonly workingDir: string;
  readonly platform: NodeJS.Platform;
}

export interface ClientFiles {
  /** The file that wins comes first. */
  readonly files: (machine: Machine) => readonly string[];
  /** The field of the file that holds the entries. */
  readonly root: string;
  /** The field of the entry that holds the variables. */
  readonly envField: "env" | "environment" | "envs";
  /** What the client replaces by the variable that the first group names, with the second group as default. */
  readonly placeholder?: RegExp;
  /** Files of variables that placeholders are also filled in from. */
  readonly envFiles?: (machine: Machine) => readonly string[];
  /** Whether an entry may name a file with further variables, in `envFile`. */
  readonly readsEnvFile?: true;
  /** Whether the client may have further values in a store of its own, which nobody else can read. */
  readonly hasSecrets?: true;
  /** Whether the application, started from the desktop, looks for programs elsewhere than this terminal. */
  readonly hasOwnPath?: true;
  /** Whether the server also gets the variables of the shell that the client starts from. */
  readonly inherits?: true;
}

const inProject =
  (...names: readonly string[]) =>
  ({ workingDir }: Machine) =>
    names.map((name) => join(workingDir, name));
const inHome =
  (...names: readonly string[]) =>
  ({ homeDir }: Machine) =>
    names.map((name) => join(homeDir, name));
/** In the platform's folder for the settings of applications; `windows` is the name there. */
const inSettings =
  (name: string, windows = name) =>
  (machine: Machine) => [
    join(settingsDir(machine, "Library/Application Support"), nameOn(machine, name, windows)),
  ];
/** In the folder that command line tools use on macOS too. */
const inConfig =
  (name: string, windows = name) =>
  (machine: Machine) => [join(settingsDir(machine, ".config"), nameOn(machine, name, windows))];
const all =
  (...places: readonly ((machine: Machine) => readonly string[])[]) =>
  (machine: Machine) =>
    places.flatMap((place) => place(machine));

function settingsDir({ env, homeDir, platform }: Machine, onMac: string): string {
  if (platform === "win32") return env["APPDATA"] ?? join(homeDir, "AppData/Roaming");
  if (platform === "darwin") return join(homeDir, onMac);
  return env["XDG_CONFIG_HOME"] ?? join(homeDir, ".config");
}

function nameOn({ platform }: Machine, name: string, windows: string): string {
  return platform === "win32" ? windows : name;
}

const DOLLAR_BRACES = /\$\{(\w+)(?::-([^}]*))?\}/g;
const DOLLAR = /\$\{?([A-Za-z_]\w*)(?::-([^}]*))?\}?/g;
const ENV_BRACES = /\$\{env:(\w+)\}/g;
const usual = { root: "mcpServers", envField: "env" } as const;

export const CLIENT_FILES: Readonly<Record<ClientName, ClientFiles>> = {
  "claude-desktop": {
    ...usual,
    files: inSettings("Claude/claude_desktop_config.json"),
    hasOwnPath: true,
  },
  "claude-code": {
    ...usual,
    files: all(inProject(".mcp.json"), inHome(".claude.json")),
    placeholder: DOLLAR_BRACES,
    inherits: true,
  },
  cursor: {
    ...usual,
    files: all(inProject(".cursor/mcp.json"), inHome(".cursor/mcp.json")),
    placeholder: ENV_BRACES,
    readsEnvFile: true,
  },
  vscode: {
    ...usual,
    files: all(inProject(".vscode/mcp.json"), inSettings("Code/User/mcp.json")),
    root: "servers",
    placeholder: ENV_BRACES,
    readsEnvFile: true,
    inherits: true,
  },
  codex: {
    ...usual,
    files: ({ env, homeDir }) => [join(env["CODEX_HOME"] ?? join(homeDir, ".codex"), "config.toml")],
    root: "mcp_servers",
  },
  gemini: {
    ...usual,
    files: all(inProject(".gemini/settings.json"), inHome(".gemini/settings.json")),
    placeholder: DOLLAR,
  },
  zed: {
    ...usual,
    files: all(inProject(".zed/settings.json"), inConfig("zed/settings.json", "Zed/settings.json")),
    root: "context_servers",
  },
  cline: {
    ...usual,
    files: all(
      inSettings("Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
      inHome(".cline/data/settings/cline_mcp_settings.json"),
    ),
    placeholder: ENV_BRACES,
  },
  windsurf: {
    ...usual,
    files: all(
      inProject(".devin/mcp_config.json"),
      inConfig("devin/mcp_config.json"),
      inHome(".codeium/windsurf/mcp_config.json"),
    ),
    placeholder: ENV_BRACES,
  },
  copilot: {
    ...usual,
    files: all(inProject(".mcp.json", ".github/mcp.json"), inHome(".copilot/mcp-config.json")),
    placeholder: DOLLAR,
  },
  opencode: {
    files: all(
      inProject("opencode.json", "opencode.jsonc"),
      inHome(".config/opencode/opencode.json", ".config/opencode/opencode.jsonc"),
    ),
    root: "mcp",
    envField: "environment",
    placeholder: /\{env:(\w+)\}/g,
    inherits: true,
  },
  continue: {
    ...usual,
    files: all(
      inProject(".continue/mcpServers/faceless-video.yaml"),
      inHome(".continue/mcpServers/faceless-video.yaml", ".continue/config.yaml"),
    ),
    placeholder: /\$\{\{\s*secrets\.(\w+)\s*\}\}/g,
    envFiles: all(inHome(".continue/.env"), inProject(".continue/.env", ".env")),
  },
  goose: {
    files: inConfig("goose/config.yaml", "Block/goose/config/config.yaml"),
    root: "extensions",
    envField: "envs",
    hasSecrets: true,
  },
  "lm-studio": { ...usual, files: inHome(".lmstudio/mcp.json"), hasOwnPath: true },
  kiro: {
    ...usual,
    files: all(inProject(".kiro/settings/mcp.json"), inHome(".kiro/settings/mcp.json")),
    placeholder: DOLLAR_BRACES,
  },
  "visual-studio": { ...usual, files: all(inProject(".mcp.json"), inHome(".mcp.json")), root: "servers" },
};
