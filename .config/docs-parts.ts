// The parts of the documents that are generated from the code. Pure.

import { clientEntry } from "../src/commands/client-config.ts";
import { FORMATS } from "../src/commands/client-formats.ts";
import { CLIENTS, type ClientName } from "../src/command-line.ts";
import type { ErrorCode } from "../src/errors.ts";
import { describeSetting, SETTINGS } from "../src/config.ts";
import { ADVERTISED } from "../src/mcp/advertised.ts";
import { PROMPTS } from "../src/prompts/catalog.ts";
import { toolsFor } from "../src/tools/catalog.ts";
import manifest from "../package.json" with { type: "json" };

const TOOLS = toolsFor({ readOnly: false, noPublish: false });

/** The text of each document between the marks of these names, formatted like oxfmt. */
export const PARTS = {
  "README.md": {
    entry: fenced(entryFor("claude-desktop"), "json"),
    "claude-code": fenced(`${claudeCodeCommand()}\n`, "sh"),
    tools: toolsTable(),
  },
  "docs/SETTINGS.md": { variables: variablesTable() },
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

/** The entry of one client and what users have to know about it. The install links are in the README. */
function clientSection(client: ClientName): string {
  const { text, notes } = printedFor(client);
  const language = { "[": "toml", "{": "json" }[text.charAt(0)] ?? "yaml";
  const lines = notes.filter(
    (note) => !note.includes("https://cursor.com/") && !note.includes("https://insiders."),
  );
  return `### ${FORMATS[client].title}\n\n${fenced(text, language)}\n\n${fenced(`${lines.join("\n")}\n`, "text")}`;
}

function errorsTable(): string {
  /** What happened, why, and what to do. */
  const errors: Readonly<Record<ErrorCode, readonly [string, string, string]>> = {
    invalid_input: [
      "The arguments can't be used. Nothing was sent",
      "One is missing, unknown or out of bounds, or the service is known to allow less",
      "Correct what the text names",
    ],
    not_configured: [
      "The server is not set up. Nothing was sent",
      "A setting is missing or can't be used",
      "Set what the text names and restart the server, or start it with `--sandbox`, which needs no settings",
    ],
    limit_reached: [
      "A limit of this server forbids the call. Nothing was sent",
      "`FACELESS_MAX_GENERATIONS` videos were started in 24 hours, or too many jobs are being watched",
      "Videos: only the user can raise the limit. Jobs: end another subscription, or ask with `get_video_status`",
    ],
    duplicate: [
      "A paid or public call was held back. Nothing was sent",
      "The same request was sent before, and what became of it is not known: for a video in the last 24 hours, for a post in the last 90 days",
      "Look with `list_videos`, or have the user look at the account. Only if it isn't there and they still want it, call again with `confirmDuplicate` and the code that the text gives",
    ],
    in_progress: [
      "A paid or public call was held back. Nothing was sent",
      "The same request is being made by another call or process, and has no outcome yet",
      "Make the same call again in a minute: it answers with what became of the other one",
    ],
    not_ready: [
      "The video can't be published. Nothing was sent",
      "It is still rendering, or its render failed",
      "Wait with `get_video_status` until it is done. A failed video can be generated again",
    ],
    not_connected: [
      "The video can't be published there. Nothing was sent",
      "No account of a platform is connected",
      "Take an id from `list_connected_platforms`, or have the user connect the account on the service's website",
    ],
    journal_unreadable: [
      "A paid or public call was held back. Nothing was sent",
      "The journal, which guards against paying or posting twice, is there but can't be read",
      "Give the server the right to read the file that the text names, or set `FACELESS_STATE_DIR` to another folder",
    ],
    declined: [
      "The user did not agree to publish. Nothing was sent",
      "They said no or gave no answer, or their client answered by itself",
      "Ask them what they would like. If no question was shown to them, `FACELESS_CONFIRM_PUBLISH=off` leaves the question to the client's own approval",
    ],
    unauthorized: [
      "The service refused the key",
      "401: it does not accept the key. 403: the key may not do this",
      "Check `FACELESS_API_KEY` in the service's account settings, section API, and restart the server",
    ],
    out_of_credits: [
      "The service refused the call",
      "The account has no credits left",
      "Add credits, then call again",
    ],
    not_found: [
      "The service has nothing there",
      "It knows no such job, or `FACELESS_BASE_URL` leads elsewhere",
      "Take the `jobId` unchanged from `generate_video` or `list_videos`, and check `FACELESS_BASE_URL`",
    ],
    rate_limited: [
      "Too many requests for now",
      "The service said so (429), or its rate limit is known to be used up and nothing was sent",
      "Wait as long as `retryAfterSeconds` says, or a minute",
    ],
    refused: [
      "The service refused the call",
      "Another 4xx, such as a video that is not ready to be published",
      "Change what the service's words object to",
    ],
    service_failed: [
      "The service failed",
      "It, or a gateway in front of it, answered 408, 499 or 5xx",
      "A call that reads: try again in a minute. A paid or public call: look first, as the text says",
    ],
    redirected: [
      "The service answered with a redirect, which is never followed",
      "`FACELESS_BASE_URL` is not where the service is, and the key goes to one origin only",
      "Set `FACELESS_BASE_URL` to the service's real address. A paid or public call: look first",
    ],
    bad_answer: [
      "The answer can't be used",
      "It is not JSON, not as documented, or larger than 4 MB: often it comes from another program at a wrong address",
      "Check `FACELESS_BASE_URL`. A paid or public call: look first",
    ],
    timeout: [
      "No answer in time",
      "The service or the network is slow, or no connection could be made",
      "A call that reads, or that was not sent: try again. A paid or public call that was sent: look first",
    ],
    network: [
      "No connection, or it broke",
      "The host name, the proxy, TLS or the network failed; the text says which",
      "Run `faceless-video-mcp doctor`. A paid or public call that was sent: look first",
    ],
    paging_loop: [
      "The list would go round for ever",
      "The service gave back the cursor that was sent: it does not know the paging parameter",
      "List without `cursor` and with a larger `limit`",
    ],
    cancelled: [
      "The call was cancelled",
      "The caller withdrew it, or the server was told to end",
      "Call again if it is still wanted. A paid or public call that was sent: look first",
    ],
    internal: [
      "This server itself failed",
      "A fault in its code",
      "Report it, with the log at `FACELESS_LOG_LEVEL=debug`",
    ],
  };
  return table(
    ["code", "what happened", "why", "what to do"],
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

function variablesTable(): string {
  return table(
    ["variable", "meaning", "value", "default"],
    Object.values(SETTINGS).map(({ name, meaning, values, default: value }) => [
      `\`${name}\``,
      meaning,
      values,
      value,
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
- [Watching](docs/WATCHING.md): how jobs are polled, and the measured delays
- [Tasks](docs/TASKS.md): clients that wait for a video by themselves
- [Card](docs/CARD.md): the video in the chats of clients with MCP Apps
- [Performance](docs/PERFORMANCE.md): measured start time, memory and throughput
- [Stress tests](docs/STRESS.md): what is promised, with the figures of the last long run
- [Security](.github/SECURITY.md): what leaves the computer, the journal, the API key
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
