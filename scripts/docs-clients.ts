// The documents' parts about each client, from the data of `config` and the table that `npm run clients` measured.

import { readFileSync } from "node:fs";
import { filesOf, FORMATS, keySourceOf } from "../src/commands/client-formats.ts";
import { CLIENTS, type ClientName } from "../src/command-line.ts";
import manifest from "../package.json" with { type: "json" };
import { fenced, table } from "./markdown.ts";
import { programCommand } from "./docs-launch.ts";

const SYSTEMS = [
  { title: "macOS", platform: "darwin", env: {}, homeDir: "~" },
  { title: "Linux", platform: "linux", env: {}, homeDir: "~" },
  {
    title: "Windows",
    platform: "win32",
    env: { APPDATA: "%APPDATA%", LOCALAPPDATA: "%LOCALAPPDATA%" },
    homeDir: "%USERPROFILE%",
  },
] as const;

const UNTRIED_CARD = "it supports cards; not tried";
/** Clients that show an MCP App. The others of those that were run are terminals or show the text. */
const CARDS: Readonly<Partial<Record<ClientName, string>>> = {
  vscode: "yes",
  "claude-desktop": UNTRIED_CARD,
  cursor: UNTRIED_CARD,
  goose: UNTRIED_CARD,
};
/** By the column "asked before publishing" of docs/CLIENTS.md. */
const ASKED: Readonly<Record<string, string>> = {
  accept: "yes",
  none: "no, it can't",
  "decline at once": "no, it declines by itself",
  "cancel at once": "no, it cancels by itself",
};

interface Run {
  readonly title: string;
  readonly version: string;
  readonly asked: string;
}

/** One foldable section per client: what to run, and where its entry lies. */
export function clientSections(isOnNpm: boolean = manifest.isOnNpm): string {
  return CLIENTS.map((client) => clientSection(client, isOnNpm)).join("\n\n");
}

function clientSection(client: ClientName, isOnNpm: boolean): string {
  const format = FORMATS[client];
  const { title, addCommand, menu } = format;
  const command = fenced(`${programCommand(`config ${client}`, isOnNpm)}\n`, "sh");
  const own = addCommand
    ?.split(" ")
    .filter((word) => word !== "JSON")
    .slice(0, 3)
    .join(" ");
  const what =
    own === undefined
      ? "This prints the entry and what to do with it."
      : `This prints a command of ${title} that begins with \`${own}\`: run that. It also prints the entry, if you prefer to write it into the file.`;
  return `<details>
<summary>${title}</summary>

${command}

${what}

- The file is ${filesIn(client)}${menu === undefined ? "" : ` (in ${title}: ${menu})`}.
${[keySourceOf(format) ?? "Write your key in place of `fl_example`.", restartOf(client)].map((line) => `- ${line}`).join("\n")}

</details>`;
}

function restartOf(client: ClientName): string {
  const { title, isDesktopApp } = FORMATS[client];
  return isDesktopApp === true ? `Quit ${title} entirely, and start it again.` : `Restart ${title}.`;
}

/** The files by system, or once if they are the same everywhere. */
function filesIn(client: ClientName): string {
  const named = SYSTEMS.map((host) => ({
    system: host.title,
    files: filesOf(FORMATS[client], host)
      .map((file) => `\`${file}\``)
      .join(" or "),
  }));
  const [first] = named;
  const asPosix = (files: string) => files.replaceAll("%USERPROFILE%", "~").replaceAll("\\", "/");
  if (named.every(({ files }) => asPosix(files) === first?.files)) return first?.files ?? "";
  return named.map(({ system, files }) => `${files} on ${system}`).join(", ");
}

/** Which clients show the card and ask, and which were run. */
export function clientsTable(): string {
  const runs = readRuns();
  return table(
    ["client", "shows the card", "asks you before posting", "tested"],
    CLIENTS.map((client) => {
      const { title } = FORMATS[client];
      const run = runs.find((one) => one.title.startsWith(title) && one.version !== "");
      const card = CARDS[client] ?? (run === undefined ? "not known" : "no");
      return [title, card, run === undefined ? "not known" : (ASKED[run.asked] ?? run.asked), testedAs(run)];
    }),
  );
}

function testedAs(run: Run | undefined): string {
  return run === undefined ? "its entry only" : `${run.title} ${run.version}`;
}

/** The rows of the table that `npm run clients` writes. */
function readRuns(): readonly Run[] {
  const text = readFileSync(new URL("../docs/CLIENTS.md", import.meta.url), "utf8");
  const rows = /<!-- runs -->([^]*?)<!-- \/runs -->/.exec(text)?.[1]?.match(/^\|.*\|$/gm) ?? [];
  const [head = [], , ...body] = rows.map((row) => row.split("|").map((cell) => cell.trim()));
  const asked = head.indexOf("asked before publishing");
  return body.map((cells) => {
    const [, title = "", version = ""] = /^(.*?)(?: (\d[\d.]*))?$/.exec(cells[1] ?? "") ?? [];
    return { title, version, asked: cells[asked] ?? "" };
  });
}
