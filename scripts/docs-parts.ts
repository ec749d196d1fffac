// The parts of the documents that are generated from the code.

import { entryOf, printDocument } from "../src/commands/client-config.ts";
import { FORMATS, VSCODE_INPUTS } from "../src/commands/client-formats.ts";
import { EXAMPLE_URL, launch, NPX_ARGS, SERVER } from "../src/commands/server-entry.ts";
import { CLIENTS, type ClientName } from "../src/command-line.ts";
import { type Setting, SETTINGS } from "../src/config.ts";
import { describeRange } from "../src/prompts/prompt-parts.ts";
import { STYLE_BRIEFS } from "../src/prompts/style-briefs.ts";
import { DEFAULTS, STYLES } from "../src/service/options.ts";
import { toolsFor } from "../src/tools/catalog.ts";
import manifest from "../package.json" with { type: "json" };

const TOOLS = toolsFor({ readOnly: false, noPublish: false });

/** What the documents that a user meets first say until the first release. */
const NOT_ON_NPM = `**The package is not on npm yet.** Until its first release, run \`npm ci\` and \`npm run build\` in a clone. There, run \`node dist/bin.cjs\`
wherever a document has \`cd ~ && npx … faceless-video-mcp\`: \`node dist/bin.cjs config cursor\` prints the entry for Cursor, which starts a copy.
\`npm run bundle\` makes the bundle. Links and plugins come with the release.`;
/** Its package.json names the package. */
const NOT_INSTALLABLE = `**The package is not on npm yet.** Until its first release, \`npm install\` is \`npm install CLONE\`: the path of a clone that you have built.`;
const NPM = { npm: manifest.isOnNpm ? "" : NOT_ON_NPM };

/** The text of each document between the marks of these names, formatted like oxfmt. */
export const PARTS = {
  "README.md": {
    ...NPM,
    entry: fenced(shortEntry(), "json"),
    links: manifest.isOnNpm ? installLinks() : "",
    tools: toolsTable(),
  },
  "docs/SETTINGS.md": { variables: variablesTable() },
  "docs/CLIENTS.md": { ...NPM, clients: `${CLIENTS.map(nameOf).join(", ")}.` },
  "docs/examples/backend/README.md": { npm: manifest.isOnNpm ? "" : NOT_INSTALLABLE },
  "docs/plugin/README.md": NPM,
  "llms-install.md": NPM,
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

/** A Markdown table with aligned columns. No cell may contain a vertical bar. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) =>
    Math.max(3, ...[head, ...rows].map((cells) => cells[column]?.length ?? 0)),
  );
  const lines = [head, widths.map((width) => "-".repeat(width)), ...rows];
  return lines
    .map((cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`)
    .join("\n");
}

/** For Claude Desktop, which starts no server in a project's folder. */
function shortEntry(): string {
  const installation = { command: "npx", args: ["-y", "faceless-video-mcp"] };
  const entry = entryOf("claude-desktop", { windows: false, sandbox: false, installation }, EXAMPLE_URL);
  // With each list on one line, as oxfmt writes it.
  return printDocument(FORMATS["claude-desktop"], entry).replace(
    /\[\n\s+("[^[\]{}]*)\n\s+\]/g,
    (_, words: string) => `[${words.replace(/\n\s+/g, " ")}]`,
  );
}

/** The code ends in a newline. */
function fenced(code: string, language: string): string {
  return `\`\`\`${language}\n${code}\`\`\``;
}

/** VS Code's works on every system, Cursor's wherever there is a shell. They hold no key. */
function installLinks(): string {
  const badge = (client: string, colour: string, link: string) =>
    `[![Add to ${client}](https://img.shields.io/badge/${client.replace(" ", "_")}-add-${colour})](${link})`;
  return [
    badge("VS Code", "0098FF", vscodeInstallLink()),
    badge("Cursor", "black", cursorInstallLink()),
  ].join("\n");
}

function vscodeInstallLink(): string {
  const env = { FACELESS_API_KEY: "${input:faceless_key}", FACELESS_BASE_URL: "${input:faceless_url}" };
  const entry = { type: "stdio", command: "npx", args: NPX_ARGS, cwd: "${userHome}", env };
  const [config, inputs] = [entry, VSCODE_INPUTS].map((part) => encodeURIComponent(JSON.stringify(part)));
  return `https://insiders.vscode.dev/redirect/mcp/install?name=${SERVER}&config=${config}&inputs=${inputs}`;
}

/** A web page redirects to cursor://, because GitHub removes such links from a README. */
function cursorInstallLink(): string {
  const env = {
    FACELESS_API_KEY: "${env:FACELESS_API_KEY}",
    FACELESS_BASE_URL: "${env:FACELESS_BASE_URL}",
  };
  const entry = { ...launch({ windows: false, sandbox: false }), env };
  const config = encodeURIComponent(Buffer.from(JSON.stringify(entry)).toString("base64"));
  return `https://cursor.com/en/install-mcp?name=${SERVER}&config=${config}`;
}

/** What there is to know of a client, `config` says. */
function nameOf(client: ClientName): string {
  return `${FORMATS[client].title} (\`${client}\`)`;
}

function toolsTable(): string {
  return table(
    ["tool", "what it does"],
    TOOLS.map(({ name, description }) => [`\`${name}\``, firstSentence(description)]),
  );
}

function firstSentence(text: string): string {
  return /^.*?\.(?= |$)/.exec(text)?.[0].replace(/\.$/, "") ?? text;
}

/** Each setting, and what a wrong value does. */
function variablesTable(): string {
  const settings: readonly Setting<unknown>[] = Object.values(SETTINGS);
  const rows = settings.map(({ name, meaning, values, default: value }) => [
    `\`${name}\``,
    meaning,
    values,
    value,
  ]);
  const harmless = settings.filter(({ isHarmless }) => isHarmless).map(({ name }) => `\`${name}\``);
  return `${table(["variable", "meaning", "value", "default"], rows)}

If a value can't be used, every call fails with an error that names the fix. For ${harmless.slice(0, -1).join(", ")} and ${harmless.at(-1)},
the default is used instead, with a warning on stderr.`;
}

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
