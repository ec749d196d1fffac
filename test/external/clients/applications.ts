// The applications: how each is told about this server and the scripted model, and started with the job, in a
// terminal and without one. Nothing is written into its home that a user does not write.

import { join } from "node:path";
import * as z from "zod";
import type { ClientName } from "../../../src/command-line.ts";
import { SERVER } from "../../../src/commands/server-entry.ts";
import type { VERSIONS } from "../../fixtures/npm-tools.ts";
import { PROMPT } from "./job.ts";
import type { Seen } from "./outcome.ts";
import { type Place, write } from "./place.ts";
import type { Start } from "./processes.ts";
import { type Screens, SCREENS } from "./screens.ts";
import { useInTerminal } from "./use-in-terminal.ts";
import { prepareVscode, useVscode } from "./vscode/vscode.ts";

export interface Given extends Place {
  /** The entry that `config CLIENT` prints, with the key where a user writes it. */
  readonly entry: string;
  /** The words of the client's own command that adds it. */
  readonly addCommand: readonly string[];
  /** The scripted model's server, without a path. */
  readonly modelUrl: string;
  /** Runs the application for something other than the job. */
  ask(...args: readonly string[]): Promise<unknown>;
}

export interface Launched {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface Application {
  readonly title: string;
  /** How it was run: "terminal", or the option without one. */
  readonly mode: string;
  readonly npmPackage: keyof typeof VERSIONS;
  readonly executable: string;
  /** The application's name for `config`. */
  readonly client: ClientName;
  /** How long a render takes, if it must take longer than the client waits. */
  readonly renderSeconds?: string;
  /** The entry of `config CLIENT --sandbox`, for a client whose key can't be given here. */
  readonly inSandbox?: true;
  /** False: the user has allowed nothing, so that a run that orders or posts nothing is as it should be. */
  readonly isAllowed?: false;
  /** Writes the application's settings, and returns how it is started with the job. */
  prepare(given: Given): Promise<Launched>;
  /** Does the job as a user would, if it is not enough to start it. */
  use?(start: Start, given: Given, signal: AbortSignal): Promise<Seen | undefined>;
}

const MODEL = "scripted";
const KEY = "example";

const jsonSchema = z.looseObject({});
const parse = (entry: string) => jsonSchema.parse(JSON.parse(entry));

type Prepare = Application["prepare"];
const withArgs =
  (prepare: Prepare, ...args: readonly string[]): Prepare =>
  async (given) => {
    const { args: usual, env } = await prepare(given);
    return { args: [...usual, ...args], ...(env && { env }) };
  };
const inTerminal =
  (screens: Screens): NonNullable<Application["use"]> =>
  (start, given, signal) =>
    useInTerminal(screens, start, given, signal);

const claudeCode = {
  title: "Claude Code",
  npmPackage: "@anthropic-ai/claude-code",
  executable: "claude",
  client: "claude-code",
} as const;

const prepareClaudeCode: Prepare = async ({ addCommand, home, modelUrl, ask }) => {
  // What signing in leaves: without an account it can't be done here.
  await write(home, ".claude.json", { hasCompletedOnboarding: true, theme: "dark" });
  await ask(...addCommand.slice(1));
  // Any text: the model does not check it.
  return { args: [], env: { ANTHROPIC_BASE_URL: modelUrl, ANTHROPIC_API_KEY: KEY } };
};

const codex = {
  title: "Codex",
  npmPackage: "@openai/codex",
  executable: "codex",
  client: "codex",
} as const;

const prepareCodex: Prepare = async ({ entry, home, modelUrl }) => {
  const model = `model = "${MODEL}"
model_provider = "${MODEL}"

[model_providers.${MODEL}]
name = "${MODEL}"
base_url = "${modelUrl}/v1"
wire_api = "responses"

`;
  await write(home, ".codex/config.toml", model + entry);
  return { args: [] };
};

/** As docs/CLIENTS.md describes it for scripts. */
const APPROVED_TOOLS = ["generate_video", "publish_video"].flatMap((tool) => [
  "-c",
  `mcp_servers.${SERVER}.tools.${tool}.approval_mode="approve"`,
]);

const gemini = {
  title: "Gemini CLI",
  npmPackage: "@google/gemini-cli",
  executable: "gemini",
  client: "gemini",
} as const;

const prepareGeminiTerminal: Prepare = async ({ entry, home, modelUrl }) => {
  await write(home, ".gemini/settings.json", entry);
  return {
    args: ["--model", "gemini-2.5-flash"],
    env: { GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: modelUrl },
  };
};

const prepareGemini: Prepare = async (given) => {
  const launched = await prepareGeminiTerminal(given);
  // The first dialog of its terminal writes how the user signs in.
  const security = { auth: { selectedType: "gemini-api-key" } };
  await write(given.home, ".gemini/settings.json", { ...parse(given.entry), security });
  return launched;
};

const copilot = {
  title: "Copilot CLI",
  npmPackage: "@github/copilot",
  executable: "copilot",
  client: "copilot",
} as const;

const prepareCopilot: Prepare = async ({ entry, home, modelUrl }) => {
  await write(home, ".copilot/mcp-config.json", entry);
  return {
    args: [],
    env: {
      COPILOT_OFFLINE: "true",
      COPILOT_PROVIDER_BASE_URL: `${modelUrl}/v1`,
      COPILOT_PROVIDER_API_KEY: KEY,
      COPILOT_MODEL: MODEL,
    },
  };
};

const opencode = {
  title: "opencode",
  npmPackage: "opencode-ai",
  executable: "opencode",
  client: "opencode",
} as const;

const prepareOpencode: Prepare = async ({ entry, home, modelUrl }) => {
  await write(home, ".config/opencode/opencode.json", {
    ...parse(entry),
    model: `${MODEL}/${MODEL}`,
    provider: {
      [MODEL]: {
        npm: "@ai-sdk/openai-compatible",
        options: { baseURL: `${modelUrl}/v1`, apiKey: KEY },
        models: { [MODEL]: { tool_call: true } },
      },
    },
  });
  return { args: [] };
};

export const APPLICATIONS: readonly Application[] = [
  {
    ...claudeCode,
    mode: "terminal, `--permission-mode default`",
    prepare: withArgs(prepareClaudeCode, "--permission-mode", "default"),
    use: inTerminal(SCREENS["claude-code"]),
  },
  {
    ...claudeCode,
    mode: "`--print`",
    isAllowed: false,
    prepare: withArgs(prepareClaudeCode, "--print", PROMPT),
  },
  {
    ...claudeCode,
    mode: "`--print --allowedTools mcp__faceless-video`",
    prepare: withArgs(prepareClaudeCode, "--print", PROMPT, "--allowedTools", `mcp__${SERVER}`),
  },
  { ...codex, mode: "terminal", prepare: prepareCodex, use: inTerminal(SCREENS.codex) },
  {
    ...codex,
    mode: "`exec`",
    isAllowed: false,
    prepare: withArgs(prepareCodex, "exec", "--skip-git-repo-check", PROMPT),
  },
  {
    ...codex,
    mode: "`exec`, both tools approved in the entry",
    prepare: withArgs(prepareCodex, "exec", "--skip-git-repo-check", ...APPROVED_TOOLS, PROMPT),
  },
  { ...gemini, mode: "terminal", prepare: prepareGeminiTerminal, use: inTerminal(SCREENS.gemini) },
  {
    ...gemini,
    mode: "`--prompt`, folder not trusted",
    isAllowed: false,
    prepare: withArgs(prepareGemini, "--prompt", PROMPT),
  },
  {
    ...gemini,
    mode: "`--prompt --skip-trust --yolo`",
    prepare: withArgs(prepareGemini, "--skip-trust", "--yolo", "--prompt", PROMPT),
  },
  { ...copilot, mode: "terminal", prepare: prepareCopilot, use: inTerminal(SCREENS.copilot) },
  { ...copilot, mode: "`--prompt`", isAllowed: false, prepare: withArgs(prepareCopilot, "--prompt", PROMPT) },
  {
    ...copilot,
    mode: "`--prompt --allow-tool faceless-video`",
    prepare: withArgs(prepareCopilot, "--prompt", PROMPT, "--allow-tool", SERVER),
  },
  { ...opencode, mode: "terminal", prepare: prepareOpencode, use: inTerminal(SCREENS.opencode) },
  { ...opencode, mode: "`run`", isAllowed: false, prepare: withArgs(prepareOpencode, "run", PROMPT) },
  {
    ...opencode,
    mode: "`run --auto`",
    prepare: withArgs(prepareOpencode, "run", "--auto", PROMPT),
  },
  {
    title: "Cline CLI",
    npmPackage: "cline",
    executable: "cline",
    mode: "without a terminal",
    client: "cline",
    inSandbox: true,
    async prepare({ entry, home, modelUrl, ask }) {
      await write(home, ".cline/data/settings/cline_mcp_settings.json", entry);
      await ask("auth", "openai", "--apikey", KEY, "--modelid", MODEL, "--baseurl", `${modelUrl}/v1`);
      return { args: ["--provider", "openai", "--model", MODEL, PROMPT] };
    },
  },
  {
    title: "Continue CLI",
    npmPackage: "@continuedev/cli",
    executable: "cn",
    mode: "`--print --auto`",
    client: "continue",
    inSandbox: true,
    async prepare({ entry, home, modelUrl }) {
      const model = `models:
  - name: ${MODEL}
    provider: openai
    model: ${MODEL}
    apiBase: ${modelUrl}/v1
    apiKey: ${KEY}
    roles: [chat]
    capabilities: [tool_use]
`;
      await write(home, ".continue/config.yaml", entry + model);
      return { args: ["--print", PROMPT, "--auto", "--config", join(home, ".continue/config.yaml")] };
    },
  },
  {
    title: "VS Code, as code-server",
    npmPackage: "code-server",
    executable: "code-server",
    mode: "chat",
    client: "vscode",
    inSandbox: true,
    // The render must take long enough for the card to show clips.
    renderSeconds: "40",
    prepare: prepareVscode,
    use: useVscode,
  },
];
