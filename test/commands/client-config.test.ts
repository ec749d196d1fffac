// Reads and fills in each entry that `config` prints as its client does. e2e/commands.test.ts starts them.

import { describe, expect, test } from "vitest";
import { CLIENTS, type ClientName, parseCommandLine } from "../../src/command-line.ts";
import { runConfig, type EntryContext } from "../../src/commands/client-config.ts";
import { ADDRESS, KEY, LOADERS, SHELL, type Start } from "./client-loaders.ts";

const PLACEHOLDER_URL = "https://videos.example.com";
/** They find npx.cmd by themselves, as their sources show, or those of the SDK that they use. */
const FIND_NPX: readonly ClientName[] = ["vscode", "codex", "gemini", "zed", "cline", "continue"];
const INSTALLATION = { node: "/opt/node/bin/node", script: "/opt/faceless-video-mcp/dist/bin.cjs" };

/** What `config` prints with these arguments. The key must not be in it. */
function config(words: readonly string[], changes: Partial<EntryContext> = {}) {
  const commandLine = parseCommandLine(["config", ...words]);
  if (!("command" in commandLine) || commandLine.command.name !== "config")
    throw new Error("No such command.");
  const { client, options } = commandLine.command;
  const surroundings: EntryContext = {
    env: { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: ADDRESS },
    homeDir: "/home/user",
    platform: "linux",
    installation: INSTALLATION,
    ...changes,
  };
  const printed = runConfig(client, options, surroundings);
  expect(printed.stdout + printed.stderr).not.toContain(KEY);
  return printed;
}

/** Leaves out the fields that only some clients have. */
const startOf = ({ command, args, env }: Start): Start => ({ command, args, env });

describe.each(CLIENTS)("For %s", (client) => {
  const load = (...options: string[]) => LOADERS[client](config([client, ...options]).stdout);

  test("the entry starts the server through npx, with key and address", () => {
    const holdsKey = ["claude-desktop", "zed", "cline", "lm-studio"].includes(client);
    expect(startOf(load())).toEqual({
      command: "npx",
      args: ["-y", "faceless-video-mcp"],
      env: {
        ...(client === "codex" && { HTTPS_PROXY: SHELL["HTTPS_PROXY"] }),
        FACELESS_API_KEY: holdsKey ? "fl_example" : KEY,
        FACELESS_BASE_URL: ADDRESS,
      },
    });
  });

  test("the entry with --sandbox needs neither key nor address", () => {
    const { stdout, stderr } = config([client, "--sandbox"]);

    const args = ["-y", "faceless-video-mcp", "--sandbox"];
    expect(startOf(LOADERS[client](stdout))).toEqual({ command: "npx", args, env: {} });
    expect(stdout + stderr).not.toContain("FACELESS_");
  });

  test("the entry on Windows starts npx through cmd if the client does not find npx.cmd", () => {
    const usual = load();
    const onWindows = load("--windows");

    const throughCmd = { ...usual, command: "cmd", args: ["/c", usual.command, ...usual.args] };
    expect(onWindows).toEqual(FIND_NPX.includes(client) ? usual : throughCmd);
    expect(LOADERS[client](config([client], { platform: "win32" }).stdout)).toEqual(onWindows);
  });

  test("the entry with --installed starts this very file with this Node.js, without npx", () => {
    const { stdout, stderr } = config([client, "--installed"]);

    const { node, script } = INSTALLATION;
    expect(LOADERS[client](stdout)).toEqual({ ...load(), command: node, args: [script] });
    expect(stderr).toContain("print it again after you move or update either");
    expect(stderr).not.toContain("open this link");
  });

  test("the entry can be pasted whatever the address and the paths hold", () => {
    const script = `/it's "\\a" \`b\`; ‘two’ # words: {x}/bin.cjs`;
    const env = { FACELESS_BASE_URL: "https://videos.test/it's-'$(x)'/$HOME/%PATH%" };

    const { stdout } = config([client, "--installed"], { env, installation: { ...INSTALLATION, script } });

    const start = LOADERS[client](stdout);
    const address = env.FACELESS_BASE_URL.replaceAll("$", "%24");
    expect([start.args, start.env["FACELESS_BASE_URL"]]).toEqual([[script], address]);
  });

  test("an entry without an address has a placeholder or lets the client ask", () => {
    const { stdout, stderr } = config([client], { env: {} });

    expect(stderr).toMatch(/^This goes into .*\.(json|toml|yaml)/);
    expect(stderr.includes("fl_example with your key")).toBe(stdout.includes("fl_example"));
    const hasPlaceholder = !["vscode", "visual-studio"].includes(client);
    expect(stdout.includes(`"${PLACEHOLDER_URL}"`)).toBe(hasPlaceholder);
    expect(stderr.includes(`${PLACEHOLDER_URL} with the service's address.`)).toBe(hasPlaceholder);
  });
});

test("a key in the address is not printed", () => {
  const env = { FACELESS_API_KEY: KEY, FACELESS_BASE_URL: `https://videos.test/${KEY}` };

  expect(config(["zed"], { env }).stdout).toContain(PLACEHOLDER_URL);
});

test("Codex waits for a server that npx starts, and not for one that is installed", () => {
  const { stdout, stderr } = config(["codex", "--installed"]);

  expect(config(["codex"]).stderr).toContain("starts no session without it");
  expect(stdout + stderr).not.toMatch(/required|starts no session/);
});

test("--installed prints no entry for another computer's system", () => {
  expect(config(["zed", "--installed", "--windows"])).toMatchObject({
    exitCode: 1,
    stdout: "",
    stderr: expect.stringContaining("leave out --windows"),
  });
});

test("--installed is refused in npx's cache, and names the installation to make first", () => {
  const script = "/home/user/.npm/_npx/0123456789abcdef/node_modules/faceless-video-mcp/dist/bin.cjs";

  expect(config(["cursor", "--installed"], { installation: { ...INSTALLATION, script } })).toEqual({
    exitCode: 1,
    stdout: "",
    stderr:
      "faceless-video-mcp: npx runs this from its cache, which npm may empty. Install it first: npm install --global faceless-video-mcp && faceless-video-mcp config cursor --installed\n",
  });
});
