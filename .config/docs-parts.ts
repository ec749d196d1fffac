// The parts of the documents that are generated from the code.

import { clientEntry } from "../src/commands/client-config.ts";
import { FORMATS } from "../src/commands/client-formats.ts";
import { cursorInstallLink, vscodeInstallLink } from "../src/commands/install-links.ts";
import { launch } from "../src/commands/server-entry.ts";
import { CLIENTS, type ClientName, COMMANDS, OPTION_VALUES } from "../src/command-line.ts";
import type { ErrorCode } from "../src/errors.ts";
import { describeSetting, type Setting, SETTINGS } from "../src/config.ts";
import { ADVERTISED } from "../src/mcp/advertised.ts";
import { PROMPTS } from "../src/prompts/catalog.ts";
import { toolsFor } from "../src/tools/catalog.ts";
import manifest from "../package.json" with { type: "json" };
import { describeTrial } from "./topic-trial.ts";

const TOOLS = toolsFor({ readOnly: false, noPublish: false });

const AGAIN = "Try again in a minute";

/** The text of each document between the marks of these names, formatted like oxfmt. */
export const PARTS = {
  "README.md": {
    clients: firstClients(),
    tools: toolsTable(),
    trial: describeTrial(),
  },
  "docs/SETTINGS.md": { variables: variablesTable(), commands: commandsTable() },
  "docs/CLIENTS.md": { entries: CLIENTS.map(clientSection).join("\n\n") },
  "docs/ERRORS.md": { errors: errorsTable() },
};

/** The document with the text between its marks replaced. Throws if it has no such marks. */
export function withPart(document: string, name: string, text: string): string {
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const from = document.indexOf(open);
  const to = document.indexOf(close);
  if (from === -1 || to < from) throw new Error(`The document has no marks named ${name}.`);
  return `${document.slice(0, from + open.length)}\n\n${text}\n\n${document.slice(to)}`;
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

/** What `config CLIENT` prints on stdout while no setting is set. */
export function entryFor(client: ClientName): string {
  return printedFor(client).text;
}

/** The notes are lines. */
function printedFor(client: ClientName): { readonly text: string; readonly notes: readonly string[] } {
  const { text, notes } = clientEntry(client, { windows: false, sandbox: false }, undefined);
  return { text, notes: notes.trimEnd().split("\n") };
}

/** The code ends in a newline. */
function fenced(code: string, language: string): string {
  return `\`\`\`${language}\n${code}\`\`\``;
}

function claudeCodeCommand(): string {
  const [, command] = /: (claude mcp add-json .*)$/m.exec(printedFor("claude-code").notes.join("\n")) ?? [];
  if (command === undefined) throw new Error("`config claude-code` names no command.");
  return command;
}

/** How the README adds the server to a client. */
function firstClients(): string {
  const start = { ...launch({ windows: false, sandbox: false }), sandbox: false };
  const badge = (client: string, colour: string) =>
    `[![Add to ${client}](https://img.shields.io/badge/${client.replace(" ", "_")}-add-${colour})]`;
  return `**Claude Desktop** (Settings → Developer → Edit Config). Replace \`fl_example\` and the address:

${fenced(entryFor("claude-desktop"), "json")}

- **Claude Code**, in your project, in a POSIX shell that has the key in the variable \`FACELESS_API_KEY\`. Replace the address:
  \`${claudeCodeCommand()}\`
- **VS Code**, which asks for the key and the address: ${badge("VS Code", "0098FF")}(${vscodeInstallLink(start)})
- **Cursor**, which takes them from \`FACELESS_API_KEY\` and \`FACELESS_BASE_URL\` of your environment: ${badge("Cursor", "black")}(${cursorInstallLink(start)})
- **Others:** \`npx -y ${manifest.name} config CLIENT\` prints the entry for your system and says where it goes. CLIENT is
  ${CLIENTS.map((client) => `\`${client}\``).join(", ")}.
  [Clients](docs/CLIENTS.md) has all entries, also without npx. Claude Code, Codex, Cursor and Gemini CLI also take a [plugin](docs/plugin/README.md).`;
}

/** One client's entry and notes, but for what the document says of all. Install links are in the README. */
function clientSection(client: ClientName): string {
  const { text, notes } = printedFor(client);
  const language = { "[": "toml", "{": "json" }[text.charAt(0)] ?? "yaml";
  const saidOnce = /^Replace |^The key is taken .* starts from\.$|^Or (open this link|run there)/;
  const lines = notes
    .filter((note) => !saidOnce.test(note))
    .map((note) => note.replace(/^This goes into /, "File: ").replace(/\\(?=[^\w\s])/g, "\\\\"));
  const twin = CLIENTS.find((other) => entryFor(other) === text) ?? client;
  const entry = twin === client ? fenced(text, language) : `As for ${FORMATS[twin].title}.`;
  return `### ${FORMATS[client].title}\n\n${entry}\n\n${lines.join(" ")}`;
}

function errorsTable(): string {
  /** What happened, and what to do. */
  const errors: Readonly<Record<ErrorCode, readonly [string, string]>> = {
    invalid_input: [
      "Not sent: an argument is missing, unknown or out of bounds",
      "Correct what the text names",
    ],
    not_configured: [
      "Not sent: a setting is missing or can't be used",
      "Set what the text names, and restart the server",
    ],
    limit_reached: [
      "Not sent: `FACELESS_MAX_GENERATIONS` videos were started in 24 hours",
      "Only the user can raise the limit",
    ],
    duplicate: [
      "Not sent: the same video was requested in the last 24 hours, or posted in the last 90 days, and the outcome is not known",
      "Look with `list_videos`, or have the user look at the account. Only if it isn't there and they still want it, call with `confirmDuplicate` and the code in the text",
    ],
    in_progress: [
      "Not sent: another call or process is making the same request now",
      "Call again in a minute: the answer is the outcome of the other request",
    ],
    not_ready: [
      "Not sent: the video to publish is still rendering, or its render failed",
      "Wait with `get_video_status`. A failed video can be generated again",
    ],
    not_connected: [
      "Not sent: no account of a platform is connected",
      "Take an id from `list_connected_platforms`, or have the user connect the account",
    ],
    journal_unreadable: [
      "Not sent: the journal can't be read, so a repeat would not be noticed",
      "Let the server read the file that the text names, or update the server if a newer version wrote it",
    ],
    journal_unwritable: [
      "Not sent: the journal can't be written, so a repeat would not be noticed",
      "Let the server write to the folder that the text names, and free some space on the disk",
    ],
    declined: [
      "Not sent: the user, or their client by itself, did not agree to publish",
      "Don't ask again. If no question was shown, see `FACELESS_CONFIRM_PUBLISH`",
    ],
    unauthorized: [
      "The service does not accept the key (401), or the key may not do this (403)",
      "Check `FACELESS_API_KEY` in the service's account settings, and restart the server",
    ],
    out_of_credits: ["The account has no credits left", "Add credits, then call again"],
    not_found: [
      "The service knows no such job, or `FACELESS_BASE_URL` leads elsewhere",
      "Take the `jobId` unchanged from `generate_video` or `list_videos`",
    ],
    rate_limited: [
      "Too many requests: the service said so (429), or its limit was reached and nothing was sent",
      "Wait for `retryAfterSeconds`, or a minute",
    ],
    refused: ["The service refused the call with another 4xx", "Change what the service's words object to"],
    service_failed: ["The service, or a gateway in front of it, answered 408, 499 or 5xx", AGAIN],
    redirected: [
      "The service answered with a redirect, which is not followed: the key goes to one origin only",
      "Set `FACELESS_BASE_URL` to the service's real address",
    ],
    bad_answer: [
      "The answer is not JSON, not as documented, or larger than 4 MB: often another program is at the address",
      "Check `FACELESS_BASE_URL`",
    ],
    timeout: ["No answer in time", AGAIN],
    network: ["No connection, or it broke: the text says why", "Run `faceless-video-mcp doctor`"],
    paging_loop: [
      "The service gave back the cursor that was sent: it does not know the paging parameter",
      "List without `cursor` and with a larger `limit`",
    ],
    cancelled: [
      "The caller withdrew the call, or the server was told to end",
      "Call again if it is still wanted",
    ],
    internal: ["This server itself failed", "Report it, with the log at `FACELESS_LOG_LEVEL=debug`"],
  };
  return table(
    ["code", "what happened", "what to do"],
    Object.entries(errors).map(([code, texts]) => [`\`${code}\``, ...texts]),
  );
}

function toolsTable(): string {
  return table(
    ["tool", "arguments", "what it does"],
    TOOLS.map(({ name, description }) => [
      `\`${name}\``,
      argumentsOf(name)
        .map((argument) => `\`${argument}\``)
        .join(", "),
      firstSentence(description),
    ]),
  );
}

/** The names of the arguments. The name of an optional one ends in a question mark. */
function argumentsOf(tool: string): string[] {
  const { properties, required } = ADVERTISED[tool]?.input ?? {};
  const needed = Array.isArray(required) ? required : [];
  return Object.keys(Object(properties)).map((name) => (needed.includes(name) ? name : `${name}?`));
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

/** The commands with their options, as --help has them. */
function commandsTable(): string {
  return table(
    ["command", "what it does", "options"],
    COMMANDS.map(({ name, argument, summary, options }) => [
      name === "" ? "none" : `\`${`${name} ${argument}`.trim()}\``,
      summary.replace(/: .*/, ""),
      Object.entries(options)
        .map(
          ([option, meaning]) => `\`${`--${option} ${OPTION_VALUES[option] ?? ""}`.trimEnd()}\`: ${meaning}`,
        )
        .join("; "),
    ]),
  );
}

/** A description for models that set the server up or use it: https://llmstxt.org. */
export function llmsTxt(): string {
  const tools = TOOLS.map(
    ({ name, description }) => `- \`${name}\`(${argumentsOf(name).join(", ")}): ${description}`,
  );
  const variables = Object.values(SETTINGS).map(
    (setting) => `- \`${setting.name}\`: ${describeSetting(setting)}`,
  );
  const prompts = PROMPTS.map(({ name, description }) => `- \`${name}\`: ${description}`);
  return `# ${manifest.name}

> ${manifest.description}. It connects MCP clients, over stdio, to the REST API of the Faceless Video Generation Service.

Start it with \`npx -y ${manifest.name}\`, with FACELESS_API_KEY and FACELESS_BASE_URL in its environment. To try it without an
account, start it with \`--sandbox\`. \`npx -y ${manifest.name} config CLIENT\` prints the entry for a client's configuration, and
\`npx -y ${manifest.name} doctor --client CLIENT\` says what is wrong with the entry in that client's own file and how to fix it. A
render takes 2 to 4 minutes and spends credits; publishing is public. Never repeat either to find out how it went: call
get_video_status or list_videos.

CLIENT is one of ${CLIENTS.join(", ")}.

## Documents

- [README](README.md): what it does and how to add it to a client
- [Settings](docs/SETTINGS.md): every variable and option
- [Clients](docs/CLIENTS.md): the entry for each client, and which clients were tested
- [Errors](docs/ERRORS.md): each error code, why it occurs and what to do
- [Architecture](docs/ARCHITECTURE.md): the layers of the code and two walks through them
- [Plugins](docs/plugin/README.md): for Claude Code, Codex, Cursor and Gemini CLI, with a skill
- [Gateways](docs/GATEWAYS.md): teams on one key, HTTP clients, and a backend for thousands of videos, with an example
- [Following a video](docs/FOLLOWING.md): waiting, tasks, subscriptions, webhooks, and how jobs are polled
- [Card](docs/CARD.md): the video in the chats of clients with MCP Apps
- [Figures](docs/PERFORMANCE.md): start time, memory, throughput, delays, stress tests
- [Security and privacy](.github/SECURITY.md): what leaves the computer and what is kept on it, publishing, the API key
- [Changelog](CHANGELOG.md)

## Tools

${tools.join("\n")}

## Resources and prompts

- \`faceless://catalog\`: styles, music, pacing, voices, limits and defaults
- \`faceless://jobs/{jobId}\`: a job's status, which clients can subscribe to
${prompts.join("\n")}

## Environment

${variables.join("\n")}
`;
}
