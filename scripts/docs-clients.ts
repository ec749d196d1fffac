// The documents' parts about each client, from the data of `config` and the table that `npm run clients` measured.

import { readFileSync } from "node:fs";
import { entryOf, printDocument } from "../src/commands/client-config.ts";
import { filesOf, FORMATS } from "../src/commands/client-formats.ts";
import { EXAMPLE_KEY, EXAMPLE_URL, SERVER } from "../src/commands/server-entry.ts";
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
interface Run {
  readonly client: string;
  readonly mode: string;
  readonly order: string;
  readonly post: string;
  readonly measured: string;
}

/** The name of each client for `config` and `doctor`, and where its key comes from. */
export function commandsTable(): string {
  return table(
    ["client", "CLIENT", "the key"],
    CLIENTS.filter((client) => client !== "other").map((client) => [
      ALSO[client] ?? FORMATS[client].title,
      namesOf(client)
        .map((name) => `\`${name}\``)
        .join(", "),
      keyIn(client),
    ]),
  );
}

/** The file of each client, and what opens it. */
export function filesTable(): string {
  return table(
    ["client", "its file"],
    CLIENTS.filter((client) => client !== "other").map((client) => [
      ALSO[client] ?? FORMATS[client].title,
      filesIn(client),
    ]),
  );
}

/** Whose file another application reads, too. */
const ALSO: Readonly<Partial<Record<ClientName, string>>> = { codex: "Codex, ChatGPT's desktop app" };

/** The line that removes the entry of each client. */
export function removalTable(): string {
  return table(
    ["client", "to remove it"],
    CLIENTS.filter((client) => client !== "other").map((client) => {
      const { title, root = "mcpServers", removeCommand, isList } = FORMATS[client];
      const byHand =
        isList === true ? `delete ${filesIn(client)}` : `delete \`${SERVER}\` from \`${root}\` in its file`;
      return [ALSO[client] ?? title, removeCommand === undefined ? byHand : `\`${removeCommand}\``];
    }),
  );
}

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
Put your own key in place of \`${EXAMPLE_KEY}\`, and your service's address in place of \`${EXAMPLE_URL}\`.

${fenced(printDocument(FORMATS.other, entry).replace(/\[\s+([^\]]+?)\s+\]/g, inOneLine), "json")}`;
}

/** A list as oxfmt writes it. */
function inOneLine(_: string, items: string): string {
  return `[${items.replace(/,\n\s+/g, ", ")}]`;
}

/** Which clients show the card, and who asks the user in each way to run them. */
export function clientsTable(): string {
  const runs = readRuns();
  return table(
    ["client", "shows the card", "who asks you before paying", "before posting", "tested"],
    CLIENTS.filter((client) => client !== "other").flatMap((client) => {
      const { title } = FORMATS[client];
      const own = runs.filter((run) => run.client.startsWith(title));
      if (own.length === 0)
        return [[title, CARDS[client] ?? "not known", "not known", "not known", "its entry only"]];
      return own.map(({ client: name, mode, order, post, measured }) => [
        `${title}, ${mode}`,
        CARDS[client] ?? "no",
        order,
        post || "nothing is ordered",
        `${name}, ${measured}`,
      ]);
    }),
  );
}

/** The rows of the table that `npm run clients` writes. */
function readRuns(): readonly Run[] {
  const text = readFileSync(new URL("../docs/CLIENTS.md", import.meta.url), "utf8");
  const rows = /<!-- runs -->([^]*?)<!-- \/runs -->/.exec(text)?.[1]?.match(/^\|.*\|$/gm) ?? [];
  const [head = [], , ...body] = rows.map((row) => row.split("|").map((cell) => cell.trim()));
  return body.map((cells) => {
    const cell = (column: string) => cells[head.indexOf(column)] ?? "";
    return {
      client: cell("client"),
      mode: cell("run in"),
      order: cell("before an order"),
      post: cell("before a post"),
      measured: cell("measured"),
    };
  });
}
