// What doctor reads of a client's entry.

import { chmod, mkdir, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CLIENTS, type ClientName } from "../../../src/command-line.ts";
import { FORMATS } from "../../../src/commands/client-formats.ts";
import { pathsOf } from "../../../src/commands/doctor/client-entry.ts";
import { launch } from "../../../src/commands/server-entry.ts";
import { VERSION } from "../../../src/version.ts";
import { CANARY } from "../../fixtures/canary.ts";
import { envelope } from "../../fixtures/scripted-service.ts";
import {
  CLAUDE_DESKTOP,
  doctor,
  entry,
  good,
  homeWith,
  printed,
  problems,
  SCRIPT,
  servers,
  service,
  VSCODE,
  write,
} from "./client-files.ts";

test("doctor --client reads the file of the project before that of the user", async () => {
  const { url } = await service();
  const home = await homeWith(".cursor/mcp.json", servers({}));
  await write(join(home, "project/.cursor/mcp.json"), servers(good(url)));

  const ofUser = await doctor({ client: "cursor", home });
  const ofProject = await doctor({
    client: "cursor",
    home,
    folder: "project",
    more: { trustProject: true },
  });

  expect(problems(ofUser.lines)).toEqual(["FACELESS_API_KEY", "FACELESS_BASE_URL"]);
  expect(problems(ofProject.lines)).toEqual([]);
});

test("doctor --client reads files with a byte-order mark, comments and further commas", async () => {
  const { url } = await service();
  const text = JSON.stringify({ context_servers: entry({ ...good(url), NOTE: "// , }" }) });
  const home = await homeWith(
    ".config/zed/settings.json",
    `\uFEFF// Zed, 100 %\r\n{ /* mine, */ "theme": "One",\n${text.slice(1, -1)}, // end\n}\n`,
  );

  expect((await doctor({ client: "zed", home })).lines[0]).toBe("A video can be made.");
});

test("doctor --client reads what `claude mcp add` keeps for a project", async () => {
  const { url } = await service();
  const home = await homeWith("project/README.md", "");
  await write(join(home, ".claude.json"), {
    projects: { [join(home, "project")]: servers(good(url)) },
  });

  const inProject = await doctor({ client: "claude-code", home, folder: "project" });
  const elsewhere = await doctor({ client: "claude-code", home });

  expect(problems(inProject.lines)).toEqual([]);
  expect(problems(elsewhere.lines)).toEqual(["entry"]);
});

test.each<[ClientName, string, string, (url: string) => string | object]>([
  ["vscode", "VS Code", VSCODE, (url) => printed("vscode", url)],
  ["goose", "goose", ".config/goose/config.yaml", (url) => printed("goose", url)],
  ["continue", "Continue", ".continue/config.yaml", (url) => printed("continue", url)],
  [
    "cursor",
    "Cursor",
    ".cursor/mcp.json",
    (url) => servers({ FACELESS_BASE_URL: url }, { envFile: "${userHome}/.env" }),
  ],
])("doctor --client %s says that only %s knows the key", async (client, title, file, content) => {
  const { url } = await service(envelope(401, "unauthorized", "Who are you?"));
  const home = await homeWith(file, content(url));

  const { code, lines } = await doctor({ client, home });

  expect(code).toBe(0);
  expect(lines.slice(0, 4)).toEqual([
    "Nothing was found that stops this server.",
    "",
    "warn  FACELESS_API_KEY  To have it checked too, set it in this terminal and run doctor again.",
    `                        (only ${title} knows its value)`,
  ]);
  expect(lines).toContain(`ok    service           ${url} answers`);
});

test("doctor --client doesn't say that a server which only reads can make a video", async () => {
  const { url } = await service();
  const home = await homeWith(".cursor/mcp.json", servers(good(url), { args: [SCRIPT, "--read-only"] }));

  const { code, lines } = await doctor({ client: "cursor", home });

  expect([code, lines[0]]).toEqual([0, "Nothing was found that stops this server."]);
  expect(lines.join("\n")).toMatch(/^ok +--read-only +no video can be made or posted$/m);
});

test("doctor --client does not take a file that can't be read for one without an entry", async () => {
  const home = await homeWith(".cursor/README.md", "");
  await symlink("mcp.json", join(home, ".cursor/mcp.json"));

  const { code, lines } = await doctor({ client: "cursor", home });

  expect([code, ...lines.slice(2, 4)]).toEqual([
    1,
    expect.stringMatching(/^fail {2}entry {4}Repair ~\/\.cursor\/mcp\.json: .+, or you may not read it\.$/),
    expect.stringContaining("(this file can't be read)"),
  ]);
});

test("doctor --client warns of a program that a desktop application may not find", async () => {
  const { url } = await service();
  const home = await homeWith(
    CLAUDE_DESKTOP,
    servers(good(url), { command: "npx", args: ["-y", "faceless-video-mcp"] }),
  );
  const folder = join(home, ".nvm/versions/node/v20.0.0/bin");
  await mkdir(folder, { recursive: true });
  await symlink(process.execPath, join(folder, "npx"));

  const { code, lines } = await doctor({ client: "claude-desktop", home, env: { PATH: folder } });

  expect(code).toBe(0);
  expect(lines.slice(2, 4)).toEqual([
    'warn  entry      In your home folder, run "npx -y faceless-video-mcp config claude-desktop --installed", and replace the entry with what it prints.',
    "                 (this terminal has npx in ~/.nvm/versions/node/v20.0.0/bin/npx, where Claude Desktop may not look)",
  ]);
});

const PRINTED = launch({ windows: false, sandbox: false });
const PINNED = ["-y", `faceless-video-mcp@${VERSION}`];
const TAKEN_OVER = /^\(Cursor may start it in a project's folder, where npx obeys the project's files, .+\)$/;
test.each<[string, ClientName, object, RegExp | undefined]>([
  ["a bare npx", "cursor", { command: "npx", args: PINNED }, TAKEN_OVER],
  ["npx with --prefix", "cursor", { command: "npx", args: ["--prefix", "/", ...PINNED] }, TAKEN_OVER],
  ["npx in a folder that Cursor ignores", "cursor", { command: "npx", args: PINNED, cwd: "/" }, TAKEN_OVER],
  [
    "npx in a shell",
    "cursor",
    { command: "/bin/bash", args: ["-lc", "exec npx -y faceless-video-mcp"] },
    TAKEN_OVER,
  ],
  ["npx through env", "cursor", { command: "/usr/bin/env", args: ["A=1", "npx", ...PINNED] }, TAKEN_OVER],
  ["npx in another folder", "cursor", { command: "/bin/sh", args: ["-c", "cd ~ && npx x"] }, undefined],
  [
    "a script of the project",
    "cursor",
    { command: process.execPath, args: ["dist/bin.cjs"] },
    /^\(Cursor may start it in a project's folder, where "dist\/bin\.cjs" is a file of the project, so/,
  ],
  ["npx in the home folder", "gemini", { command: "npx", args: PINNED, cwd: "/home/user" }, undefined],
  [
    "npx in the project's folder",
    "gemini",
    { command: "npx", args: PINNED, cwd: "." },
    /Gemini CLI may start/,
  ],
  ["the printed npx", "cursor", PRINTED, undefined],
  ["a bare npx in an application without projects", "lm-studio", { command: "npx", args: PINNED }, undefined],
  [
    "an older version",
    "cursor",
    { ...PRINTED, args: [...PRINTED.args.slice(0, -1), "faceless-video-mcp@0.0.9"] },
    /^\(it starts version 0\.0\.9, and this is version /,
  ],
  [
    "a newer version",
    "cursor",
    { ...PRINTED, args: [...PRINTED.args.slice(0, -1), "faceless-video-mcp@10.0.0"] },
    undefined,
  ],
])("doctor --client says of %s in %s whether a project can take it over, and its age", async (...row) => {
  const [, client, start, warning] = row;
  const { url } = await service();
  const file = FORMATS[client].files.findLast((name) => name.startsWith("~/")) ?? "";
  const home = await homeWith(file.slice(2), servers(good(url), start));
  const folder = await homeWith("npx", "");
  await chmod(join(folder, "npx"), 0o755);

  const { code, lines } = await doctor({ client, home, env: { PATH: folder } });

  expect(code).toBe(0);
  expect(problems(lines)).toEqual(warning === undefined ? [] : ["entry"]);
  if (warning === undefined) return;
  expect(lines[2]).toContain(`run "npx -y faceless-video-mcp config ${client} --installed", and replace`);
  expect(lines[3]?.trim()).toMatch(warning);
});

test("doctor --client says that the installed copy is older, or gone", async () => {
  const { url } = await service();
  const home = await homeWith(".faceless-video-mcp/app/bin.cjs", 'require("./0.0.9-abc123/bin.cjs");\n');
  const args = [join(home, ".faceless-video-mcp/app/bin.cjs")];
  await write(join(home, ".cursor/mcp.json"), servers(good(url), { args }));

  const older = await doctor({ client: "cursor", home });
  await rm(join(home, ".faceless-video-mcp"), { recursive: true });
  const gone = await doctor({ client: "cursor", home });

  expect([older.code, older.lines[3]?.trim()]).toEqual([
    0,
    `(it starts version 0.0.9, and this is version ${VERSION})`,
  ]);
  expect([gone.code, gone.lines[3]?.trim()]).toEqual([
    1,
    '(the entry starts "~/.faceless-video-mcp/app/bin.cjs", which does not exist)',
  ]);
});

test("doctor --client needs no service for an entry that starts the sandbox", async () => {
  const home = await homeWith(".cursor/mcp.json", printed("cursor", "", true));

  const { code, lines } = await doctor({ client: "cursor", home });

  expect(code).toBe(0);
  expect(lines).toContain("ok    settings  the sandbox: nothing is rendered, charged or posted");
  expect(lines.join("\n")).not.toContain("Not checked");
});

test.each(CLIENTS)(
  "the entry that `config %s` prints is found healthy in about ten lines",
  async (client) => {
    const host = { env: {}, homeDir: "home", workingDir: "work", platform: process.platform };
    const file = pathsOf(FORMATS[client].files, host).at(-1) ?? "";
    const { url } = await service();
    const text = printed(client, url).replace("fl_example", CANARY);
    const home = await homeWith(file.replace(/^home\//, ""), text);

    const { code, lines } = await doctor({ client, home, env: { FACELESS_API_KEY: CANARY } });

    expect(code).toBe(0);
    expect(lines.map((line) => line.split(/ {2,}/).slice(0, 2).join(" "))).toEqual([
      "A video can be made.",
      "",
      ...["Node.js", "entry", "settings", "service", "key", "platforms", "journal"].map(
        (name) => `ok ${name}`,
      ),
      "",
      "Not checked: requests.",
    ]);
  },
);
