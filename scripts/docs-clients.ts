// The documents' parts about each client, from the data of `config` and the table that `npm run clients` measured.

import { readFileSync } from "node:fs";
import { entryOf, printDocument } from "../src/commands/client-config.ts";
import { filesOf, FORMATS } from "../src/commands/client-formats.ts";
import { EXAMPLE_KEY, EXAMPLE_URL } from "../src/commands/server-entry.ts";
import { CLIENTS, type ClientName, namesOf } from "../src/command-line.ts";
import manifest from "../package.json" with { type: "json" };
import { fenced, table } from "./markdown.ts";

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

/** What to run for each client, which file it is about, and where the key comes from. */
export function commandsTable(): string {
  return table(
    ["client", "CLIENT", "its file", "the key"],
    CLIENTS.filter((client) => client !== "other").map((client) => [
      ALSO[client] ?? FORMATS[client].title,
      namesOf(client)
        .map((name) => `\`${name}\``)
        .join(", "),
      filesIn(client),
      keyIn(client),
    ]),
  );
}

/** Whose file another application reads, too. */
const ALSO: Readonly<Partial<Record<ClientName, string>>> = { codex: "Codex, ChatGPT's desktop app" };

/** How to open the file, or the newest version's name for it by system, once if it is the same everywhere. */
function filesIn(client: ClientName): string {
  const { menu } = FORMATS[client];
  const files = SYSTEMS.map((host) => filesOf(FORMATS[client], host)[0] ?? "");
  const [mac = "", linux = "", windows = ""] = files;
  const asPosix = (file: string) => file.replaceAll("%USERPROFILE%", "~").replaceAll("\\", "/");
  const isOne = files.every((file) => asPosix(file) === mac);
  if (menu !== undefined && !isOne) return menu;
  if (isOne) return `\`${mac}\``;
  return `\`${linux}\`, on Windows \`${windows}\``;
}

function keyIn(client: ClientName): string {
  const { key, keySource } = FORMATS[client];
  if (key === EXAMPLE_KEY) return "in the entry";
  if (client === "continue") return "in `~/.continue/.env`";
  return keySource?.includes(" asks ") === true ? "it asks" : "`FACELESS_API_KEY` of the shell";
}

/** The form that most clients read. */
export function otherClient(isOnNpm: boolean = manifest.isOnNpm): string {
  const installation = { command: "node", args: ["/Users/YOU/.faceless-video-mcp/app/bin.cjs"] };
  const options = { windows: false, sandbox: false, installation: isOnNpm ? undefined : installation };
  const entry = entryOf("other", options, EXAMPLE_URL);
  const own = isOnNpm
    ? "This is for macOS and Linux; on Windows, `config other` prints its form."
    : "`config other` makes the copy that this entry starts, and prints it with your own paths.";
  return `${own}

${fenced(printDocument(FORMATS.other, entry).replace(/\[\s+([^\]]+?)\s+\]/g, inOneLine), "json")}`;
}

/** A list as oxfmt writes it. */
function inOneLine(_: string, items: string): string {
  return `[${items.replace(/,\n\s+/g, ", ")}]`;
}

/** Which clients show the card and ask, and which were run. */
export function clientsTable(): string {
  const runs = readRuns();
  return table(
    ["client", "shows the card", "asks you before posting", "tested"],
    CLIENTS.filter((client) => client !== "other").map((client) => {
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
