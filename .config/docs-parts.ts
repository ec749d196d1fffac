// The parts of the documents that say what the code says, made from the code. Pure.

import { clientEntry } from "../src/commands/client-config.ts";
import type { ClientName } from "../src/command-line.ts";
import { ERRORS } from "../src/errors.ts";
import { VARIABLES } from "../src/config.ts";
import { ADVERTISED } from "../src/mcp/advertised.ts";
import { toolsFor } from "../src/tools/catalog.ts";
import manifest from "../package.json" with { type: "json" };

const TOOLS = toolsFor({ readOnly: false, noPublish: false });

/** What each document holds between the marks of these names, formatted as oxfmt would. */
export const PARTS = {
  "README.md": {
    entry: fenced(entryFor("claude-desktop")),
    vscode: fenced(entryFor("vscode")),
    tools: toolsTable(),
    variables: variablesTable(),
  },
  "docs/ERRORS.md": { errors: errorsTable() },
};

/** The document with the text between its marks replaced. Throws where it has no such marks. */
export function withPart(document: string, name: string, text: string): string {
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const from = document.indexOf(open);
  const to = document.indexOf(close);
  if (from === -1 || to < from) throw new Error(`The document has no marks of ${name}.`);
  return `${document.slice(0, from + open.length)}\n\n${text}\n\n${document.slice(to)}`;
}

/** Markdown with its columns aligned; cells must hold no bar. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) =>
    Math.max(3, ...[head, ...rows].map((cells) => cells[column]?.length ?? 0)),
  );
  const lines = [head, widths.map((width) => "-".repeat(width)), ...rows];
  return lines
    .map((cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`)
    .join("\n");
}

/** What `config CLIENT` prints where nothing is set. */
export function entryFor(client: ClientName): string {
  return clientEntry(client, { windows: false, sandbox: false }, undefined).text;
}

function fenced(json: string): string {
  return `\`\`\`json\n${json}\`\`\``;
}

function errorsTable(): string {
  return table(
    ["code", "what happened", "why", "what to do"],
    Object.entries(ERRORS).map(([code, { what, why, fix }]) => [`\`${code}\``, what, why, fix]),
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

/** An optional one ends in a question mark. */
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
    ["variable", "meaning", "default"],
    VARIABLES.map(({ name, meaning, default: value }) => [
      name
        .split(", ")
        .map((one) => `\`${one}\``)
        .join(", "),
      meaning,
      value,
    ]),
  );
}

/** For a model that is to set the server up or to use it: https://llmstxt.org. */
export function llmsTxt(): string {
  const tools = TOOLS.map(
    ({ name, description }) => `- \`${name}\`(${argumentsOf(name).join(", ")}): ${description}`,
  );
  const variables = VARIABLES.map(
    ({ name, meaning, default: value }) => `- \`${name}\`: ${meaning}. Default: ${value}.`,
  );
  return `# ${manifest.name}

> ${manifest.description}. It bridges to the REST API of the Faceless Video Generation Service, over stdio.

Start it with \`npx -y ${manifest.name}\` and FACELESS_API_KEY and FACELESS_BASE_URL in its environment, or with \`--sandbox\` to try
it without an account. \`npx -y ${manifest.name} config CLIENT\` prints the entry of a client's configuration, and
\`npx -y ${manifest.name} doctor\` says what is wrong with a set-up. A render takes 2 to 4 minutes and costs credits; publishing is
public. Neither is ever to be repeated to see how it went: get_video_status and list_videos tell.

## Documents

- [README](README.md): what it does, how to add it to a client, every setting
- [Errors](docs/ERRORS.md): each error code, why it comes and what to do
- [Architecture](docs/ARCHITECTURE.md): the rooms of the code and two walks through them
- [Proofs](docs/PROOFS.md): what is promised, and the figures of the last long run
- [Changelog](CHANGELOG.md)

## Tools

${tools.join("\n")}

## Resources and prompts

- \`faceless://catalog\`: styles, music, pacing, voices, limits and defaults
- \`faceless://jobs/{jobId}\`: a job's status, which clients can subscribe to
- \`write_video_topic\`: turns a subject into a topic worth rendering

## Environment

${variables.join("\n")}
`;
}
