// What doctor says of each mistake that users make in their client's entry.

import { expect, test } from "vitest";
import type { ClientName } from "../../../src/command-line.ts";
import { CANARY } from "../../fixtures/canary.ts";
import {
  CLAUDE_DESKTOP,
  doctor,
  entry,
  good,
  homeWith,
  NODE,
  problems,
  SCRIPT,
  servers,
  service,
  type Values,
} from "./client-files.ts";

interface BrokenSetUp {
  readonly what: string;
  readonly client: ClientName;
  readonly file: string;
  /** With the address of a service that accepts the key. */
  readonly content: (url: string) => string | object;
  readonly env?: Values;
  /** The first sentence of the report: what to do. */
  readonly told: string;
}

const BROKEN: readonly BrokenSetUp[] = [
  {
    what: "no entry at all",
    client: "cursor",
    file: ".cursor/mcp.json",
    content: () => ({ mcpServers: {} }),
    told: 'Run "npx -y faceless-video-mcp config cursor" and put what it prints into the file that it names.',
  },
  {
    what: "a missing comma",
    client: "cursor",
    file: ".cursor/mcp.json",
    content: () => '{\n  "mcpServers": {\n    "a": {}\n    "b": {}\n  }\n}\n',
    told: "Repair ~/.cursor/mcp.json near line 4: a comma, quote or bracket is missing or extra.",
  },
  {
    what: "a missing quote in TOML",
    client: "codex",
    file: ".codex/config.toml",
    content: () => '[mcp_servers.faceless-video]\ncommand = "npx\n',
    told: "Repair ~/.codex/config.toml near line 2: a comma, quote or bracket is missing or extra.",
  },
  {
    what: "a missing bracket in YAML",
    client: "goose",
    file: ".config/goose/config.yaml",
    content: () => 'extensions:\n  faceless-video:\n    args: ["-y"\n    enabled: true\n',
    told: "Repair ~/.config/goose/config.yaml near line 4: a comma, quote or bracket is missing or extra.",
  },
  {
    what: "an entry in the form of another client",
    client: "vscode",
    file: ".vscode/mcp.json",
    content: (url) => servers(good(url)),
    told: 'Rename "mcpServers" to "servers" in ~/.vscode/mcp.json.',
  },
  {
    what: "variables in the field of another client",
    client: "opencode",
    file: ".config/opencode/opencode.json",
    content: (url) => ({
      mcp: { "faceless-video": { type: "local", command: Object.values(NODE).flat(), env: good(url) } },
    }),
    told: 'Rename "env" to "environment" in ~/.config/opencode/opencode.json.',
  },
  {
    what: "a server that is switched off",
    client: "cline",
    file: ".cline/data/settings/cline_mcp_settings.json",
    content: (url) => servers(good(url), { disabled: true }),
    told: "Switch this server on in Cline.",
  },
  {
    what: "a program that is gone",
    client: "zed",
    file: ".config/zed/settings.json",
    content: (url) => ({
      context_servers: entry(good(url), { command: process.execPath, args: ["/opt/old/dist/bin.cjs"] }),
    }),
    told: 'Run "faceless-video-mcp config zed --installed" and replace the entry with what it prints.',
  },
  {
    what: "no key",
    client: "windsurf",
    file: ".codeium/windsurf/mcp_config.json",
    content: (url) => servers({ FACELESS_BASE_URL: url }),
    told: "Create a key in the account settings of the service, section API, and put it in this server's settings in your client.",
  },
  {
    what: "key and address in each other's place",
    client: "claude-desktop",
    file: CLAUDE_DESKTOP,
    content: (url) => servers({ FACELESS_API_KEY: url, FACELESS_BASE_URL: CANARY }),
    told: "If the values of FACELESS_API_KEY and FACELESS_BASE_URL were swapped, swap them back.",
  },
  {
    what: "quotes around the key",
    client: "lm-studio",
    file: ".lmstudio/mcp.json",
    content: (url) => servers({ ...good(url), FACELESS_API_KEY: `"${CANARY}"` }),
    told: "Remove the quotes around it.",
  },
  {
    what: "the key of the example",
    client: "claude-desktop",
    file: CLAUDE_DESKTOP,
    content: (url) => servers({ ...good(url), FACELESS_API_KEY: "fl_example" }),
    told: "Replace it with your own key: account settings of the service, section API.",
  },
  {
    what: "a variable that is not set",
    client: "codex",
    file: ".codex/config.toml",
    content: (url) =>
      `[mcp_servers.faceless-video]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(SCRIPT)}]\nenv_vars = ["FACELESS_API_KEY"]\n[mcp_servers.faceless-video.env]\nFACELESS_BASE_URL = "${url}"\n`,
    told: "Write the value itself into the entry, or set FACELESS_API_KEY where Codex starts.",
  },
  {
    what: "a placeholder of another client",
    client: "cursor",
    file: ".cursor/mcp.json",
    content: (url) => servers({ ...good(url), FACELESS_API_KEY: "${FACELESS_API_KEY}" }),
    env: { FACELESS_API_KEY: CANARY },
    told: "Write ${env:FACELESS_API_KEY} instead.",
  },
  {
    what: "a placeholder where the client has none",
    client: "claude-desktop",
    file: CLAUDE_DESKTOP,
    content: (url) => servers({ ...good(url), FACELESS_API_KEY: "${FACELESS_API_KEY}" }),
    env: { FACELESS_API_KEY: CANARY },
    told: "Write the value itself instead.",
  },
  {
    what: "a placeholder without braces in a client that needs them",
    client: "kiro",
    file: ".kiro/settings/mcp.json",
    content: (url) => servers({ ...good(url), FACELESS_API_KEY: "$FACELESS_API_KEY" }),
    env: { FACELESS_API_KEY: CANARY },
    told: "Write ${FACELESS_API_KEY} instead.",
  },
  {
    what: "an entry without a program",
    client: "cursor",
    file: ".cursor/mcp.json",
    content: () => ({
      mcpServers: { "faceless-video": { url: "http://127.0.0.1:1/mcp", env: good("http://127.0.0.1:1") } },
    }),
    told: 'Run "npx -y faceless-video-mcp config cursor" and replace the entry with what it prints.',
  },
  {
    what: "an option that the server does not have",
    client: "cursor",
    file: ".cursor/mcp.json",
    content: (url) => servers(good(url), { args: [SCRIPT, "--readonly"] }),
    told: 'Correct "args" in ~/.cursor/mcp.json.',
  },
  {
    what: "an entry in the form for Windows on another system",
    client: "claude-code",
    file: ".mcp.json",
    content: (url) => servers(good(url), { command: "cmd", args: ["/c", "npx", "-y", "faceless-video-mcp"] }),
    told: 'Run "npx -y faceless-video-mcp config claude-code" and replace the entry with what it prints.',
  },
  {
    what: "a file in UTF-16",
    client: "cursor",
    file: ".cursor/mcp.json",
    content: (url) => Buffer.from(`\uFEFF${JSON.stringify(servers(good(url)))}`, "utf16le"),
    told: "Save ~/.cursor/mcp.json as UTF-8: it is in UTF-16, as Windows PowerShell writes it with >.",
  },
  {
    what: "a program that this computer does not have",
    client: "gemini",
    file: ".gemini/settings.json",
    content: (url) => servers(good(url), { command: "npx", args: ["-y", "faceless-video-mcp"] }),
    env: { PATH: "/nowhere" },
    told: "Install Node.js from https://nodejs.org, and restart Gemini CLI.",
  },
  {
    what: "a file of variables that is not there",
    client: "vscode",
    file: ".vscode/mcp.json",
    content: (url) => ({ servers: entry(good(url), { envFile: "${workspaceFolder}/.env" }) }),
    told: 'Correct the path of "envFile" in ~/.vscode/mcp.json, or create that file.',
  },
  {
    what: "a file of variables in a client that reads none",
    client: "claude-desktop",
    file: CLAUDE_DESKTOP,
    content: () => servers({}, { envFile: "/home/me/.env" }),
    told: `Write its variables under "env" in ~/${CLAUDE_DESKTOP}.`,
  },
  {
    what: "the key as an argument",
    client: "kiro",
    file: ".kiro/settings/mcp.json",
    content: (url) => servers({ FACELESS_BASE_URL: url }, { args: [SCRIPT, "--key", CANARY] }),
    told: 'Move the key from "args" to FACELESS_API_KEY under "env".',
  },
];

test.each(BROKEN)("doctor --client tells of $what in one sentence that says what to do", async (setUp) => {
  const { url } = await service();
  const home = await homeWith(setUp.file, setUp.content(url));

  const { code, lines } = await doctor({ client: setUp.client, home, env: setUp.env });

  expect(code).toBe(1);
  expect(lines[0]).toMatch(/^Before a video can be made, fix this and restart .+:$/);
  expect(lines[2]).toMatch(/^fail {2}(entry|settings|FACELESS_\w+) +/);
  expect(lines[2]?.replace(/^fail {2}\S+ +/, "")).toBe(setUp.told);
  // Nothing else is wrong.
  expect(problems(lines)).toHaveLength(1);
});
