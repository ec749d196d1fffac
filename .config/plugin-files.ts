// The plugin's manifest for each client: names, versions and the server's entry. Pure. `npm run docs` writes
// them as JSON.

import * as z from "zod";
import manifest from "../package.json" with { type: "json" };
import { FORMATS } from "../src/commands/client-formats.ts";
import { launch, SERVER } from "../src/commands/server-entry.ts";

const NAME = "faceless-video";
/** Below docs/, because each of its files would otherwise stand at the top level of the repository. */
const FOLDER = "docs/plugin";
const DISPLAY_NAME = "Faceless Video";

const { version, description, homepage, license, keywords } = manifest;
const repository = manifest.repository.url.replace(/^git\+|\.git$/g, "");
const author = { name: manifest.author };
const about = { name: NAME, version, description, author, homepage, repository, license, keywords };

const OPTIONS = { windows: false, sandbox: false };
const { command, args } = launch(OPTIONS);
/** Starts the sandbox until the user has given a key or an address. */
const START = { ...OPTIONS, command, args: [...args, "--sandbox=auto"], baseUrl: "" };

const KEY = {
  title: "API key",
  description:
    "Begins with fl_. Create it in the account settings of the service, section API. To try the sandbox first, leave this and the address empty.",
};
const URL = {
  title: "Service address",
  description: "The address of your Faceless Video service, such as https://videos.example.com",
};

/** The text of each file by its path. */
export const PLUGIN_FILES: Readonly<Record<string, string>> = {
  // Claude Code. It asks for the values and keeps the key in the system's key store.
  [`${FOLDER}/.claude-plugin/plugin.json`]: json({
    ...about,
    displayName: DISPLAY_NAME,
    userConfig: {
      api_key: { type: "string", ...KEY, sensitive: true },
      base_url: { type: "string", ...URL },
    },
    mcpServers: servers("claude-code", (setting) => `\${user_config.${setting}}`),
  }),
  ".claude-plugin/marketplace.json": json({
    name: NAME,
    description: DISPLAY_NAME,
    owner: author,
    plugins: [{ name: NAME, source: `./${FOLDER}`, description }],
  }),

  // Codex. It starts servers with few variables, and passes those on from its shell that its list names.
  [`${FOLDER}/.codex-plugin/plugin.json`]: json({
    ...about,
    skills: "./skills/",
    mcpServers: "./codex-mcp.json",
    interface: {
      displayName: DISPLAY_NAME,
      shortDescription: description,
      category: "Creativity",
      websiteURL: homepage,
    },
  }),
  [`${FOLDER}/codex-mcp.json`]: json({
    mcpServers: codexServers(),
  }),
  ".agents/plugins/marketplace.json": json({
    name: NAME,
    interface: { displayName: DISPLAY_NAME },
    plugins: [
      {
        name: NAME,
        source: { source: "local", path: `./${FOLDER}` },
        policy: { installation: "AVAILABLE", authentication: "ON_INSTALL" },
        category: "Creativity",
      },
    ],
  }),

  // Cursor. It fills in variables of the shell that it was started from.
  [`${FOLDER}/.cursor-plugin/plugin.json`]: json({
    ...about,
    displayName: DISPLAY_NAME,
    skills: "./skills/",
    mcpServers: servers("cursor", (_, variable) => `\${env:${variable}}`),
  }),
  ".cursor-plugin/marketplace.json": json({
    name: NAME,
    owner: author,
    metadata: { description: DISPLAY_NAME },
    plugins: [{ name: NAME, source: FOLDER, description }],
  }),

  // Gemini CLI. It asks for the settings at installation and keeps the key in the system's key store.
  [`${FOLDER}/gemini-extension.json`]: json({
    name: NAME,
    version,
    description,
    settings: [
      { name: KEY.title, description: KEY.description, envVar: "FACELESS_API_KEY", sensitive: true },
      { name: URL.title, description: URL.description, envVar: "FACELESS_BASE_URL" },
    ],
    mcpServers: servers("gemini", (_, variable) => `\${${variable}}`),
  }),
};

/** What `config` writes for the client, with the client's own placeholders for the user's values. */
function servers(
  client: "claude-code" | "cursor" | "gemini",
  placeholder: (setting: string, variable: string) => string,
): object {
  const env = {
    FACELESS_API_KEY: placeholder("api_key", "FACELESS_API_KEY"),
    FACELESS_BASE_URL: placeholder("base_url", "FACELESS_BASE_URL"),
  };
  return z
    .object({ mcpServers: z.record(z.string(), z.looseObject({})) })
    .parse(FORMATS[client].document({ ...START, env })).mcpServers;
}

/** The table that `config` writes, as JSON: the address comes from the shell too. */
function codexServers(): object {
  const { mcp_servers: tables } = z
    .object({ mcp_servers: z.record(z.string(), z.looseObject({ env_vars: z.array(z.string()) })) })
    .parse(FORMATS.codex.document({ ...START, env: {} }));
  const { env_vars: variables = [], ...table } = tables[SERVER] ?? {};
  return { [SERVER]: { ...table, env: undefined, env_vars: [...variables, "FACELESS_BASE_URL"] } };
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
