// The parts of the documents that are generated from the code.

import { VSCODE_INPUTS } from "../src/commands/client-formats.ts";
import { NPX_ARGS, SERVER } from "../src/commands/server-entry.ts";
import { type Setting, SETTINGS } from "../src/config.ts";
import { describeRange, STYLE_BRIEFS } from "../src/prompts/prompt-parts.ts";
import { DEFAULTS, STYLES } from "../src/service/options.ts";
import manifest from "../package.json" with { type: "json" };
import { clientsTable, commandsTable, filesTable, otherClient, removalTable } from "./docs-clients.ts";
import { firstWordsTable } from "./docs-errors.ts";
import { choicesTable, promptsList, toolReference, toolsTable } from "./docs-tools.ts";
import { table } from "./markdown.ts";

/** For a page with commands, until the first release. */
const NOT_ON_NPM = `**Not on npm yet.** Run the commands of this page in a clone, after \`npm ci\` and \`npm run build\`.`;
/** Its package.json names the package. */
const NOT_INSTALLABLE = `**Not on npm yet.** Until the first release, \`npm install\` is \`npm install CLONE\`: the path of a clone that you have built.`;
/** Plugins hold the command that starts the server. */
const PLUGINS_LATER =
  "**Not on npm yet.** The plugins start the server with `npx`: they work after the first release.";
/** For commands that start the server with npx below another program. */
const NPX_LATER = `**Not on npm yet.** A command on this page that starts \`npx … faceless-video-mcp\` works after the first release. Until then,
write \`node CLONE/dist/bin.cjs\` in its place, with the path of a clone in which you have run \`npm ci\` and \`npm run build\`.`;
const NPM = { npm: manifest.isOnNpm ? "" : NOT_ON_NPM };
const NPX = { npm: manifest.isOnNpm ? "" : NPX_LATER };

const TRY = "Make a 30-second video about why the sea is salty.";

/** The build needs more than the package. */
const NODE = manifest.isOnNpm ? manifest.engines.node.replace(">=", "") : "20.19";
const RELEASES = "https://github.com/faceless-video/faceless-video-mcp/releases";
const BUNDLE = manifest.isOnNpm
  ? `[latest release](${RELEASES}/latest)`
  : `[preview](${RELEASES}/tag/preview)`;

/** Until the first release, everything but the bundle starts in a clone. */
const OTHER_CLIENTS = manifest.isOnNpm
  ? `install [Node.js](https://nodejs.org) ${NODE} or newer. Run one command in a terminal, and do what it prints. This one is for
   Claude Code; the [other clients](#one-command-per-client) differ only in the name. Without an account, add \`--sandbox\`.

   \`\`\`sh
   cd ~; npx -y faceless-video-mcp config claude-code
   \`\`\``
  : `install [Node.js](https://nodejs.org) ${NODE} or newer and [git](https://git-scm.com). In a terminal, get and build this
   program (in Windows PowerShell, write \`npm.cmd\` for \`npm\`):

   \`\`\`sh
   git clone https://github.com/faceless-video/faceless-video-mcp
   cd faceless-video-mcp
   npm ci
   npm run build
   \`\`\`

   Then run one command, and do what it prints. This one is for Claude Code; the [other clients](#one-command-per-client) differ only in
   the name. Without an account, add \`--sandbox\`.

   \`\`\`sh
   node dist/bin.cjs config claude-code
   \`\`\``;

const START = `1. **Claude Desktop:** download \`faceless-video-mcp.mcpb\` from the ${BUNDLE}, and double-click it. A form asks for your key and
   the service's address; an empty one is the sandbox. To leave the sandbox, open the form again (Settings → Extensions → Faceless Video),
   fill in both, and turn Sandbox off.
2. **Any other client:** ${OTHER_CLIENTS}

3. Say: "${TRY}"`;

/** The settings by the readers who need them. */
const SETTING_GROUPS = {
  "For everyone": ["apiKey", "baseUrl", "saveDir"],
  "For money and posts": ["maxGenerations", "confirmGenerate", "confirmPublish"],
  "For several computers, containers and teams": ["stateDir", "journalUrl"],
  "For networks with a proxy": ["httpsProxy", "httpProxy", "noProxy"],
  "For operators and developers": ["pollSeconds", "webhookPort", "logLevel", "sandboxSeconds"],
} as const satisfies Record<string, readonly (keyof typeof SETTINGS)[]>;
/** Node.js itself reads it. */
const EXTRA_CA = {
  name: "NODE_EXTRA_CA_CERTS",
  meaning: "Certificate authorities that are trusted beside the usual ones, such as a company's",
  values: "the path of a PEM file",
  default: "none",
};

/** The text of each document between the marks of these names, formatted like oxfmt. */
export const PARTS = {
  "README.md": {
    status: badges(),
    start: START,
    links: manifest.isOnNpm ? installLink() : "",
    clients: commandsTable(),
    other: otherClient(),
    choices: choicesTable(),
    tools: toolsTable(),
    prompts: promptsList(),
    shows: clientsTable(),
    removal: removalTable(),
  },
  "docs/SETTINGS.md": { ...NPM, variables: settingsTables() },
  "docs/TOOLS.md": { tools: toolReference() },
  "docs/CLIENTS.md": { ...NPM, files: filesTable() },
  "docs/ERRORS.md": { ...NPM, words: firstWordsTable() },
  "docs/GATEWAYS.md": NPX,
  "docs/examples/backend/README.md": { npm: manifest.isOnNpm ? "" : NOT_INSTALLABLE },
  "docs/plugin/README.md": { npm: manifest.isOnNpm ? "" : PLUGINS_LATER },
  "llms-install.md": { ...NPM, node: `1. Check that \`node --version\` says ${NODE} or newer.` },
  "docs/plugin/skills/make-faceless-video/references/styles.md": { styles: styleRules() },
  "llms.txt": NPM,
};

/** The document with the text between its marks replaced. Throws if it has no such marks. */
export function withPart(document: string, name: string, text: string): string {
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const from = document.indexOf(open);
  const to = document.indexOf(close);
  if (from === -1 || to < from) throw new Error(`The document has no marks named ${name}.`);
  const between = text === "" ? "" : `${text}\n\n`;
  return `${document.slice(0, from + open.length)}\n\n${between}${document.slice(to)}`;
}

/** VS Code's works on every system, and asks for the key. Cursor's would need another link for Windows, and can't ask. */
function installLink(): string {
  return `[![Add to VS Code](https://img.shields.io/badge/VS_Code-add-0098FF)](${vscodeInstallLink()})`;
}

function vscodeInstallLink(): string {
  const env = { FACELESS_API_KEY: "${input:faceless_key}", FACELESS_BASE_URL: "${input:faceless_url}" };
  const entry = { type: "stdio", command: "npx", args: NPX_ARGS, cwd: "${userHome}", env };
  const [config, inputs] = [entry, VSCODE_INPUTS].map((part) => encodeURIComponent(JSON.stringify(part)));
  return `https://insiders.vscode.dev/redirect/mcp/install?name=${SERVER}&config=${config}&inputs=${inputs}`;
}

function badges(): string {
  const status = manifest.isOnNpm
    ? "[![npm](https://img.shields.io/npm/v/faceless-video-mcp)](https://www.npmjs.com/package/faceless-video-mcp)"
    : "![Status: pre-release](https://img.shields.io/badge/status-pre--release-orange)";
  return `![Node.js ${NODE} or newer](https://img.shields.io/badge/Node.js-%E2%89%A5_${NODE}-339933)\n${status}`;
}

function settingsTables(): string {
  const groups = Object.entries<readonly (keyof typeof SETTINGS)[]>(SETTING_GROUPS);
  const named = new Set<string>(groups.flatMap(([, names]) => names));
  const all = Object.entries<Setting<unknown>>(SETTINGS);
  const missing = all.flatMap(([key, { name }]) => (named.has(key) ? [] : [name]));
  if (missing.length > 0) throw new Error(`Say in docs-parts.ts who needs ${missing.join(", ")}.`);
  const tables = groups.map(([title, keys]) => {
    const settings = keys.map((key): SettingRow => SETTINGS[key]);
    const rows = keys.includes("noProxy") ? [...settings, EXTRA_CA] : settings;
    return `### ${title}\n\n${table(
      ["variable", "meaning", "value", "default"],
      rows.map(({ name, meaning, values, default: value }) => [`\`${name}\``, meaning, values, value]),
    )}`;
  });
  const harmless = all.flatMap(([, { name, isHarmless }]) => (isHarmless ? [`\`${name}\``] : []));
  return `${tables.join("\n\n")}

### Wrong values

If a value can't be used, every call fails with an error that names the fix. For ${harmless.slice(0, -1).join(", ")} and ${harmless.at(-1)},
the default is used instead, with a warning on stderr.`;
}

type SettingRow = Pick<Setting<unknown>, "name" | "meaning" | "values" | "default">;

function styleRules(): string {
  return STYLES.map((style) => {
    const { settings, course, telling, pictures } = STYLE_BRIEFS[style];
    return `## \`${style}\`

Pacing \`${settings.pacing}\`, music \`${settings.music}\`, ${describeRange({ style })} for ${DEFAULTS.duration} seconds of English.

- ${course}
- ${telling}
- Pictures: ${pictures}`;
  }).join("\n\n");
}
