// The plugin's files for each client, made from the code: names, versions and the server's entry, and the
// skill from the prompts' craft. Pure. `npm run docs` writes them.

import * as z from "zod";
import manifest from "../package.json" with { type: "json" };
import { CLIENTS } from "../src/command-line.ts";
import { FORMATS } from "../src/commands/client-formats.ts";
import { launch, SERVER } from "../src/commands/server-entry.ts";
import * as craft from "../src/prompts/craft.ts";
import { STYLE_BRIEFS } from "../src/prompts/style-briefs.ts";
import { DEFAULTS, DURATION, STYLES } from "../src/service/options.ts";

const NAME = "faceless-video";
/** Below docs/, because each of its files would otherwise stand at the top level of the repository. */
const FOLDER = "docs/plugin";
const DISPLAY_NAME = "Faceless Video";
const SKILL = "make-faceless-video";

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

  // Cline's marketplace looks for it at the top level and nowhere else.
  "llms-install.md": installation(),
  [`${FOLDER}/skills/${SKILL}/SKILL.md`]: skill(),
  [`${FOLDER}/skills/${SKILL}/references/styles.md`]: styles(),
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

/** For a model that sets the server up for its user. */
function installation(): string {
  return `# Installing ${manifest.name}

For an AI agent that sets this MCP server up for its user.

1. Node.js ${manifest.engines.node.replace(">=", "")} or newer is needed: \`node --version\`.
2. Ask the user for the address of their Faceless Video service, such as https://videos.example.com, and whether they have an API key. A key
   begins with \`fl_\` and comes from the service's account settings, section API. Without an account, add \`--sandbox\` to the command in
   the next step: it needs neither, and charges and posts nothing.
3. Print the entry for the client, and read what it says about the place of the entry:

   \`\`\`sh
   FACELESS_BASE_URL=https://videos.example.com npx -y ${manifest.name} config CLIENT
   \`\`\`

   CLIENT is one of ${CLIENTS.join(", ")}. On Windows add \`--windows\`.

4. Add the entry to the client's file beside what is there. Let the user put the key in its place themselves: don't ask for it in the chat, don't
   repeat it, and never pass it as an argument.
5. Check the entry. It costs nothing, never shows the key, and says what to fix:

   \`\`\`sh
   npx -y ${manifest.name} doctor --client CLIENT
   \`\`\`

6. Restart the client. It should list five tools: \`generate_video\`, \`get_video_status\`, \`publish_video\`, \`list_videos\` and
   \`list_connected_platforms\`. Try \`list_videos\`: it is free. Don't try \`generate_video\`, which spends credits, or \`publish_video\`, which is
   public.
`;
}

/** https://agentskills.io/specification */
function skill(): string {
  return `---
name: ${SKILL}
description: >-
  Makes a good faceless short video with the ${SERVER} tools: decides what the viewer gets from it, writes what is spoken and seen in words
  that fill the seconds, asks before spending credits, follows the render and publishes only when asked. Use it when the user wants a
  short video, a reel, a TikTok or a YouTube Short from a topic.
license: ${license}
---

# Make a faceless short video

This needs the tools of the MCP server \`${SERVER}\`. If a summary says that this is a sandbox, tell the user so: real videos need their API key
and the service's address in the plugin's settings (\`FACELESS_API_KEY\`, \`FACELESS_BASE_URL\`).

## Write

If the user gave no language, take the one they write in, and say so; if they gave no length, take ${DEFAULTS.duration} seconds. Lengths are ${DURATION.min} to
${DURATION.max} seconds. The numbers below are for ${DEFAULTS.duration} seconds of English; change them in proportion (\`slow\` a seventh fewer words, \`fast\` a tenth
more). If the user gave a style, take that one. [references/styles.md](references/styles.md) has the rules of each: read those of the chosen one first.

${markdown(toModel(craft.writingRules({})))}

## Then

1. Show the user the topic, its count, the settings and what they should check. Say that the video ${craft.WHAT_IT_COSTS}.
   Ask the user whether to make it, and wait for the answer.
2. Only when the user has agreed, call \`generate_video\`, exactly once, without \`voice\` unless they name one.
3. ${toModel(craft.FOLLOW_THE_JOB)}
   After ten minutes tell the user that it takes longer than usual, and look again only when they ask.
4. Give the user the link. ${toModel(craft.PUBLISH_IF_ASKED)}
`;
}

/** The prompts speak for the user, a skill speaks of the user. */
function toModel(text: string): string {
  return text
    .replaceAll(/\bI (want|sell|name|ask)\b/g, "the user $1s")
    .replaceAll("I or you", "first person")
    .replaceAll(/\bI\b/g, "the user")
    .replaceAll(/\bmine\b/g, "the user's")
    .replaceAll(/\bme\b/g, "the user");
}

function styles(): string {
  const rules = STYLES.map((style) => {
    const { settings, course, telling, pictures } = STYLE_BRIEFS[style];
    return `## \`${style}\`

Pacing \`${settings.pacing}\`, music \`${settings.music}\`, ${craft.describeRange({ style })} for ${DEFAULTS.duration} seconds of English.

- ${course}
- ${telling}
- Pictures: ${pictures}`;
  });
  return toModel(`# What each style needs\n\n${rules.join("\n\n")}\n`);
}

/** With the empty line after a list that the formatter wants. */
function markdown(text: string): string {
  return text.replaceAll(/^(- .*)\n(?! *- |\n)/gm, "$1\n\n");
}
