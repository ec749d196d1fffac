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
  problems,
  SCRIPT,
  servers,
  service,
  type Values,
} from "./client-files.ts";

interface BrokenSetUp {
  readonly what: string;
  /** Default: Cursor's own file. */
  readonly client?: ClientName;
  readonly file?: string;
  /** Takes the address of a service that accepts the key. */
  readonly content: (url: string) => string | object;
  readonly env?: Values;
  /** The first sentence of the report: what to do. */
  readonly told: string;
}

const BROKEN: readonly BrokenSetUp[] = [
  {
    what: "no entry at all",
    content: () => ({ mcpServers: {} }),
    told: 'In your home folder, run "npx -y faceless-video-mcp config cursor --installed", and put what it prints into the file that it names.',
  },
  {
    what: "a missing comma",
    content: () => '{\n  "mcpServers": {\n    "a": {}\n    "b": {}\n  }\n}\n',
    told: "Repair ~/.cursor/mcp.json: a comma, quote or bracket is missing or extra, it is not in UTF-8, it is larger than 1 MB, or you may not read it.",
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
    told: 'In your home folder, run "npx -y faceless-video-mcp config zed --installed", and replace the entry with what it prints.',
  },
  {
    what: "a limit that allows no video",
    content: (url) => servers({ ...good(url), FACELESS_MAX_GENERATIONS: "0" }),
    told: "Set it to 1 or more, or remove it.",
  },
  {
    what: "no key",
    client: "windsurf",
    file: ".codeium/windsurf/mcp_config.json",
    content: (url) => servers({ FACELESS_BASE_URL: url }),
    told: "Create a key in the account settings of the service, section API, and put it in this server's settings in your client.",
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
    content: (url) => servers({ ...good(url), FACELESS_API_KEY: "${FACELESS_API_KEY}" }),
    env: { FACELESS_API_KEY: CANARY },
    told: "Set FACELESS_API_KEY where your client takes the placeholder from, or write the value itself into the entry.",
  },
  {
    what: "an entry without a program",
    content: () => ({
      mcpServers: { "faceless-video": { url: "http://127.0.0.1:1/mcp", env: good("http://127.0.0.1:1") } },
    }),
    told: 'In your home folder, run "npx -y faceless-video-mcp config cursor --installed", and replace the entry with what it prints.',
  },
  {
    what: "an option that the server does not have",
    content: (url) => servers(good(url), { args: [SCRIPT, "--readonly"] }),
    told: 'Correct "args" in ~/.cursor/mcp.json.',
  },
  {
    what: "the key as an argument",
    client: "kiro",
    file: ".kiro/settings/mcp.json",
    content: (url) => servers({ FACELESS_BASE_URL: url }, { args: [SCRIPT, "--key", CANARY] }),
    told: 'Correct "args" in ~/.kiro/settings/mcp.json.',
  },
];

test.each(BROKEN)("doctor --client tells of $what in one sentence that says what to do", async (setUp) => {
  const { client = "cursor", file = ".cursor/mcp.json", content, env, told } = setUp;
  const home = await homeWith(file, content((await service()).url));

  const { code, lines } = await doctor({ client, home, env });

  expect(code).toBe(1);
  expect(lines[0]).toMatch(/^Before a video can be made, fix this and restart .+:$/);
  expect(lines[2]).toMatch(/^fail {2}(entry|settings|FACELESS_\w+) +/);
  expect(lines[2]?.replace(/^fail {2}\S+ +/, "")).toBe(told);
  // Nothing else is wrong.
  expect(problems(lines)).toHaveLength(1);
});
