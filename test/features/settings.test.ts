// `config CLIENT`: each entry is read as its client reads its file. e2e/commands.test.ts starts them.

import { writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { CLIENTS, parseCommandLine } from "../../src/command-line.ts";
import { runConfig } from "../../src/commands/client-config.ts";
import { filesOf, FORMATS } from "../../src/commands/client-formats.ts";
import type { Host } from "../../src/commands/host.ts";
import { ADDRESS, KEY, load, SHELL } from "../fixtures/client-loaders.ts";
import { temporaryFolder } from "../fixtures/folder.ts";
import { computer } from "../fixtures/host.ts";
import { run } from "../fixtures/run.ts";

const EXAMPLE_URL = "https://videos.example.com";
const NODE = "/opt/node/bin/node";
const PINNED = ["-y", "--prefer-offline", `faceless-video-mcp@${manifest.version}`];
/** npx in a folder in which no project lies. */
const BY_SH = { command: "/bin/sh", args: ["-c", 'cd / && exec npx "$@"', "sh", ...PINNED] };
const BY_CMD = {
  command: "C:\\Windows\\System32\\cmd.exe",
  args: ["/d", "/c", "cd", "/d", "C:\\Windows", "&&", "npx", ...PINNED],
};
/** The files of a server that was built. */
const files = temporaryFolder(afterAll);
writeFileSync(join(files, "cli.cjs"), "");
writeFileSync(join(files, "bin.cjs"), "");

/** The output of `config` with these arguments. The key must not be in it. */
async function config(words: readonly string[], changes: Partial<Host> = {}) {
  const command = parseCommandLine(["config", ...words]);
  if (command.name !== "config") throw new Error("No such command.");
  const { host, stdout, stderr } = computer({
    env: { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: ADDRESS },
    workingDir: "/home/user/project",
    platform: "linux",
    node: NODE,
    files,
    isOnNpm: true,
    ...changes,
  });
  const exitCode = await runConfig(command, host);
  const [entry, said] = [stdout(), stderr()];
  expect(`${entry}${said}`).not.toContain(KEY);
  return { exitCode, entry, said, sentences: said.replaceAll(/\s+/g, " ") };
}

describe.each(CLIENTS)("For %s", (client) => {
  const loadPrinted = async (...options: string[]) =>
    load(client, (await config([client, ...options])).entry);
  const asksForKey = ["vscode", "visual-studio"].includes(client);
  const takesKeyFromShell = ["claude-code", "gemini", "copilot", "opencode", "goose"].includes(client);
  const holdsKey = !asksForKey && !takesKeyFromShell && client !== "continue";

  test("the entry starts this version through npx, outside of projects, with key and address", async () => {
    expect(await loadPrinted()).toEqual({
      ...BY_SH,
      env: {
        ...(client === "codex" && { HTTPS_PROXY: SHELL["HTTPS_PROXY"] }),
        FACELESS_API_KEY: holdsKey ? "fl_example" : KEY,
        FACELESS_BASE_URL: ADDRESS,
      },
    });
  });

  test("the entry with --sandbox needs neither key nor address", async () => {
    const { entry, said } = await config([client, "--sandbox"]);

    const args = [...BY_SH.args, "--sandbox"];
    expect(load(client, entry)).toEqual({ ...BY_SH, args, env: {} });
    expect(entry + said).not.toContain("FACELESS_");
  });

  test("the entry on Windows starts npx through cmd.exe, outside of projects", async () => {
    const onWindows = await loadPrinted("--windows");

    expect(onWindows).toEqual({ ...(await loadPrinted()), ...BY_CMD });
  });

  test.each([
    ["with --installed", ["--installed"], true],
    ["before the first release", [], false],
  ])("the entry %s starts the copy with this Node.js, and nothing names npx", async (_, options, isOnNpm) => {
    const homeDir = temporaryFolder();
    const { entry, said, sentences } = await config([client, ...options], { homeDir, isOnNpm });

    const script = join(homeDir, ".faceless-video-mcp/app/bin.cjs");
    expect(load(client, entry)).toEqual({
      ...(await loadPrinted()),
      command: NODE,
      args: [script],
      required: undefined,
    });
    expect(entry + said).not.toContain("npx");
    expect(sentences).toContain(`a copy of version ${manifest.version} in ~/.faceless-video-mcp/app.`);
    const check = client === "other" ? "doctor" : `doctor --client ${client}`;
    expect(said).toContain(`\n\n   node ${script} ${check}\n\n`);
    expect(sentences).toContain("After you update or move Node.js, run this again and replace the entry.");
  });

  test("the entry can be pasted whatever the address and the paths hold", async () => {
    const homeDir = join(temporaryFolder(), `it's "\\a" \`b\`; ‘two’ # words: {x}`);
    await mkdir(homeDir);
    const env = { FACELESS_BASE_URL: "https://videos.test/it's-'$(x)'/$HOME/%PATH%" };

    const { entry, said } = await config([client, "--installed"], { env, homeDir });

    const start = load(client, entry);
    const address = env.FACELESS_BASE_URL.replaceAll("$", "%24");
    const script = join(homeDir, ".faceless-video-mcp/app/bin.cjs");
    expect([start.args, start.env["FACELESS_BASE_URL"]]).toEqual([[script], address]);
    const [, line] = /^ {3}((?:claude|codex|gemini|copilot|opencode|code) [^]+?)\n\n/m.exec(said) ?? [];
    if (line === undefined) return;
    const command = line.replace(/^\w+ mcp remove [\w -]+; /, "");
    const words = await run("/bin/sh", ["-c", `set -- ${command}\nprintf '%s\\0' "$@"`]);
    const isJson = client === "vscode" || client === "claude-code";
    expect(words.stdout).toContain(isJson ? JSON.stringify(script) : `\0${script}\0`);
    expect(words.stdout).toContain(isJson ? JSON.stringify(address) : `FACELESS_BASE_URL=${address}\0`);
  });
});

test("Claude Desktop for Windows keeps its file in one of two folders, and both are named", () => {
  const homeDir = String.raw`C:\Users\ann`;

  expect(filesOf(FORMATS["claude-desktop"], { env: {}, homeDir, platform: "win32" })).toEqual([
    String.raw`C:\Users\ann\AppData\Local\Packages\Claude_pzs8sxrjxfjjc\LocalCache\Roaming\Claude\claude_desktop_config.json`,
    String.raw`C:\Users\ann\AppData\Roaming\Claude\claude_desktop_config.json`,
  ]);
});

test("a key in the address is not printed", async () => {
  const env = { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: `https://videos.test/${KEY}` };

  expect((await config(["zed"], { env })).entry).toContain(EXAMPLE_URL);
});

test("an entry names Homebrew's Node.js by the link that an update keeps", async () => {
  const node = "/opt/homebrew/Cellar/node@24/24.1.0/bin/node";
  const { entry } = await config(["cursor", "--installed"], { homeDir: temporaryFolder(), node });

  expect(load("cursor", entry).command).toBe("/opt/homebrew/opt/node@24/bin/node");
});

test.each([
  "/home/user/project/node_modules/node/bin/node",
  "/srv/tools/node_modules/.bin/node",
  "/home/user/project/.tools/bin/node",
])("--installed names no Node.js of a project: %s", async (node) => {
  const printed = await config(["cursor", "--installed"], { homeDir: temporaryFolder(), node });

  expect(printed).toMatchObject({ exitCode: 1, entry: "", sentences: expect.stringContaining(node) });
});

test.each([
  ["a folder beside the one in which it was started", "tools/node", "packages/site"],
  ["a folder above it", "bin/node", "packages/site/src"],
])("--installed names no Node.js of a project from %s", async (_, node, folder) => {
  const homeDir = temporaryFolder();
  const project = join(homeDir, "project");
  await mkdir(join(project, ".git"), { recursive: true });
  const workingDir = join(project, folder);
  await mkdir(workingDir, { recursive: true });
  // The folder of one of its packages is not the whole project.
  writeFileSync(join(project, "packages/site/package.json"), "{}");

  const printed = await config(["cursor", "--installed"], {
    homeDir,
    workingDir,
    node: join(project, node),
  });

  expect(printed).toMatchObject({ exitCode: 1, entry: "" });
});

test("--installed names the user's own Node.js from any project, even if the home folder is a git repository", async () => {
  const homeDir = temporaryFolder();
  const workingDir = join(homeDir, "project");
  await mkdir(join(homeDir, ".git"));
  await mkdir(workingDir);

  const node = join(homeDir, ".nvm/versions/node/v24.1.0/bin/node");
  const { exitCode, entry } = await config(["cursor", "--installed"], { homeDir, workingDir, node });

  expect([exitCode, load("cursor", entry).command]).toEqual([0, node]);
});

test("the command that config prints replaces an existing entry, and holds no key", async () => {
  const lines = await Promise.all(
    CLIENTS.map(async (client) => {
      const { said } = await config([client]);
      return /^ {3}((?:claude|codex|gemini|copilot|opencode|code) [^]+?)\n\n/m.exec(said)?.[1] ?? "";
    }),
  );

  const starts = lines.filter(Boolean).map((line) => line.split(/ (?:'|--env|--add)/)[0]);
  expect(starts).toEqual([
    "claude mcp remove --scope user faceless-video; claude mcp add-json --scope user faceless-video",
    "code",
    "codex mcp remove faceless-video; codex mcp add faceless-video",
    "gemini mcp remove --scope user faceless-video; gemini mcp add --scope user",
    "copilot mcp remove faceless-video; copilot mcp add faceless-video",
    "opencode mcp add faceless-video",
  ]);
  const keys = lines.flatMap((line) => line.match(/(?<=FACELESS_API_KEY(?:=|":"))[^'" ]+/g) ?? []);
  expect(keys).toEqual([
    "${FACELESS_API_KEY}",
    "${input:faceless_key}",
    "fl_example",
    "${FACELESS_API_KEY}",
    "${FACELESS_API_KEY}",
    "{env:FACELESS_API_KEY}",
  ]);
});

/** A line's words as PowerShell reads them, without variables. */
function wordsOfPowerShell(line: string): string[] {
  return Array.from(line.matchAll(/'((?:[^']|'')*)'|(\S+)/g), ([, quoted, plain]) =>
    quoted === undefined ? (plain ?? "") : quoted.replaceAll("''", "'"),
  );
}

/** The arguments that a Windows program reads from its command line. */
function argumentsOnWindows(commandLine: string): string[] {
  const found: string[] = [];
  let [word, isQuoted, hasWord] = ["", false, false];
  for (const [part] of commandLine.matchAll(/\\+"?|"|\s|[^\s"\\]+/g)) {
    const slashes = /^\\*/.exec(part)?.[0].length ?? 0;
    const isMark = part.endsWith('"');
    if (part.trim() === "" && !isQuoted) {
      if (hasWord) found.push(word);
      [word, hasWord] = ["", false];
    } else {
      hasWord = true;
      if (!isMark) word += part;
      else {
        word += "\\".repeat(slashes / 2);
        if (slashes % 2 === 1) word += '"';
        else isQuoted = !isQuoted;
      }
    }
  }
  return hasWord ? [...found, word] : found;
}

test.each(["claude-code", "codex", "gemini", "copilot", "opencode"] as const)(
  "the command for %s on Windows reaches the client whole from both PowerShells",
  async (client) => {
    const { said } = await config([client, "--windows"]);
    const [, line = ""] = /^ {3}(.+mcp add.+)$/m.exec(said) ?? [];
    const add = line.split("; ").at(-1) ?? "";
    const asked = wordsOfPowerShell(add);
    // Both PowerShells, with this setting, quote only what has spaces.
    const asLegacy = asked.map((word) => (/\s/.test(word) ? `"${word}"` : word)).join(" ");
    const words = argumentsOnWindows(asLegacy);

    const json = words.find((word) => word.startsWith("{"));
    const args = json === undefined ? words.slice(words.indexOf(BY_CMD.command) + 1) : JSON.parse(json).args;
    expect(args).toEqual(BY_CMD.args);
    expect(line.includes("$PSNativeCommandArgumentPassing = 'Legacy'; ")).toBe(json !== undefined);
    // npm's scripts for PowerShell lose a bare --.
    expect(add).not.toMatch(/ -- /);
  },
);

test("VS Code's own command, a batch file on Windows, is not printed there", async () => {
  expect((await config(["vscode", "--windows"])).said).not.toContain("--add-mcp");
});

test.each([
  ["chatgpt", "codex"],
  ["devin", "windsurf"],
])("config %s prints the entry for %s", async (name, client) => {
  expect(await config([name])).toEqual(await config([client]));
});

test("config for an unknown client prints the plain entry, and a check that needs no file", async () => {
  const { entry, said } = await config(["other"]);

  expect(entry).toBe((await config(["cursor"])).entry);
  expect(said).toMatch(/^1\. Put this into the file in which your client keeps its MCP servers, /);
  expect(said).toContain("\n   cd ~; npx -y faceless-video-mcp doctor\n");
});

test.each([
  ["vscode", "servers", "inputs"],
  ["visual-studio", "servers", "inputs"],
  ["opencode", "mcp", "permission"],
])("config says all that an existing file for %s needs", async (client, root, shared) => {
  expect((await config([client])).sentences).toContain(
    `add "faceless-video" to its "${root}", in place of an older one, and what "${shared}" has here to its "${shared}".`,
  );
});

test("--installed prints no entry for another computer's system", async () => {
  const printed = await config(["zed", "--installed", "--windows"]);

  expect(printed).toMatchObject({
    exitCode: 1,
    entry: "",
    sentences: expect.stringContaining("leave out --windows"),
  });
});

test.each([
  ["/bin/bash", {}, "read -rs FACELESS_API_KEY; export FACELESS_API_KEY"],
  ["/usr/bin/fish", {}, "read --silent --global --export FACELESS_API_KEY"],
  ["/usr/bin/pwsh", {}, '$env:FACELESS_API_KEY = Read-Host "API key"'],
  [
    "",
    { platform: "win32" },
    '$env:FACELESS_API_KEY = Read-Host "API key"; setx FACELESS_API_KEY $env:FACELESS_API_KEY',
  ],
] as const)(
  "config prints the line that asks for the key in the shell %j %j",
  async (shell, changes, line) => {
    const { said } = await config(["gemini"], { ...changes, env: { SHELL: shell } });

    expect(said).toContain(`\n\n   ${line}\n\n`);
  },
);

test("the printed line sets the key that is pasted, without showing it", async () => {
  const { said } = await config(["gemini"], { env: {} });
  const line = /^ {3}(read .+)$/m.exec(said)?.[1] ?? "";

  const { stdout } = await run("bash", ["-c", `${line}; node -p process.env.FACELESS_API_KEY`], {
    input: "fl_my\n",
  });

  expect(stdout).toBe("fl_my\n");
});

test("config prints no line for a key that this terminal has set", async () => {
  const { said, sentences } = await config(["gemini"]);

  expect([said.includes("read -rs"), sentences.includes("This terminal has set it.")]).toEqual([false, true]);
});

test.each([
  ["claude-code", ".claude.json", "claude mcp"],
  ["codex", ".codex/config.toml", "codex mcp"],
  ["gemini", ".gemini/settings.json", "gemini mcp"],
  ["copilot", ".copilot/mcp-config.json", "copilot mcp"],
] as const)(
  "config %s prints no command that would lose the key in an entry",
  async (client, path, command) => {
    const homeDir = temporaryFolder();
    const options = { homeDir, env: { FACELESS_BASE_URL: ADDRESS } };
    const first = await config([client, "--installed"], options);
    const file = join(homeDir, path);
    const withKey = first.entry.replace(/fl_example|\$\{FACELESS_API_KEY\}/, "fl_mine");
    await mkdir(dirname(file), { recursive: true });
    writeFileSync(file, withKey);

    const again = await config([client, "--installed"], options);

    expect(first.said).toContain(`   ${command}`);
    expect([again.said.includes(`   ${command}`), again.sentences]).toEqual([
      false,
      expect.stringContaining("Keep the key that your entry has."),
    ]);
    expect(again.sentences).not.toContain("by hand");
  },
);

test("config prints no command that would lose the key in an entry that is switched off", async () => {
  const homeDir = temporaryFolder();
  const first = await config(["codex"], { homeDir });
  await mkdir(join(homeDir, ".codex"));
  const switchedOff = first.entry
    .replace("fl_example", "fl_mine")
    .replace("command", "enabled = false\ncommand");
  writeFileSync(join(homeDir, ".codex/config.toml"), switchedOff);

  const { said } = await config(["codex"], { homeDir });

  expect([first.said.includes("; codex mcp add"), said.includes("; codex mcp add")]).toEqual([true, false]);
});

test("what config prints for opencode makes it ask before an order and a post, by its command too", async () => {
  const { said, entry } = await config(["opencode"], { env: {} });

  const permission = { "faceless-video_generate_video": "ask", "faceless-video_publish_video": "ask" };
  expect(JSON.parse(entry)).toMatchObject({ permission });
  const [, lines = ""] = /without asking you\.\n\n {3}(.+),\n/.exec(said) ?? [];
  expect(JSON.parse(`{${lines}}`)).toEqual({ permission });
});

test("config's output for each client matches its reviewed snapshot", async () => {
  const texts = CLIENTS.map(async (client) => {
    const { said, entry } = await config([client], { env: {} });
    return `# ${client}\n\n${entry}\n${said}`.replaceAll(manifest.version, "VERSION");
  });

  const text = (await Promise.all(texts)).join("\n");
  await expect(text).toMatchFileSnapshot("../contract/entries.txt");
});
