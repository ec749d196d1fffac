// The applications: how each is told about this server and the scripted model, and started with the job.

import { join } from "node:path";
import * as z from "zod";
import type { ClientName } from "../../../src/command-line.ts";
import type { VERSIONS } from "../../fixtures/npm-tools.ts";
import {
  agreeToPublish,
  claudeCodeEnv,
  leave,
  say,
  seeConnected,
  startClaudeCode,
} from "./claude-code-terminal.ts";
import { JOB_IS_OVER, PROMPT } from "./job.ts";
import { type Place, write } from "./place.ts";
import type { Start } from "./processes.ts";
import { prepareVscode, useVscode } from "./vscode/vscode.ts";

export interface Given extends Place {
  /** The output of `config CLIENT --sandbox`. */
  readonly entry: string;
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
  readonly npmPackage: keyof typeof VERSIONS;
  readonly executable: string;
  /** Its name for `config`. */
  readonly client: ClientName;
  /** How long a render takes, where it has to take longer than the client waits. */
  readonly renderSeconds?: string;
  /** Writes its settings, and returns how it is started with the job. */
  prepare(given: Given): Promise<Launched>;
  /** Does the job as a user would, if it is not enough to start it. */
  use?(start: Start, given: Given, signal: AbortSignal): Promise<void>;
}

const MODEL = "scripted";
const KEY = "example";

const jsonSchema = z.looseObject({});
const parse = (entry: string) => jsonSchema.parse(JSON.parse(entry));

async function prepareClaudeCode({ entry, home, project, modelUrl }: Given): Promise<Launched> {
  await write(project, ".mcp.json", entry);
  await write(home, ".claude/settings.json", { enableAllProjectMcpServers: true });
  return { args: ["--allowedTools", "mcp__faceless-video"], env: claudeCodeEnv(modelUrl) };
}

export const APPLICATIONS: readonly Application[] = [
  {
    title: "Claude Code",
    npmPackage: "@anthropic-ai/claude-code",
    executable: "claude",
    client: "claude-code",
    prepare: prepareClaudeCode,
    async use(start, given, signal) {
      const terminal = await startClaudeCode({ ...start, home: given.home });
      signal.addEventListener("abort", () => terminal.stop());
      await seeConnected(terminal);
      await say(terminal, PROMPT);
      await agreeToPublish(terminal);
      await terminal.waitFor(new RegExp(JOB_IS_OVER));
      await leave(terminal);
    },
  },
  {
    title: "Claude Code, `--print`",
    npmPackage: "@anthropic-ai/claude-code",
    executable: "claude",
    client: "claude-code",
    async prepare(given) {
      const { args, env } = await prepareClaudeCode(given);
      return { args: ["--print", PROMPT, ...args], ...(env && { env }) };
    },
  },
  {
    title: "Codex",
    npmPackage: "@openai/codex",
    executable: "codex",
    client: "codex",
    async prepare({ entry, home, modelUrl }) {
      const model = `model = "${MODEL}"
model_provider = "${MODEL}"

[model_providers.${MODEL}]
name = "${MODEL}"
base_url = "${modelUrl}/v1"
wire_api = "responses"

`;
      await write(home, ".codex/config.toml", model + entry);
      return {
        args: ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", PROMPT],
      };
    },
  },
  {
    title: "Gemini CLI",
    npmPackage: "@google/gemini-cli",
    executable: "gemini",
    client: "gemini",
    async prepare({ entry, home, project, modelUrl }) {
      await write(home, ".gemini/settings.json", {
        ...parse(entry),
        security: { auth: { selectedType: "gemini-api-key" } },
      });
      await write(home, ".gemini/trustedFolders.json", { [project]: "TRUST_FOLDER" });
      return {
        args: ["--yolo", "--model", "gemini-2.5-flash", "--prompt", PROMPT],
        env: { GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: modelUrl },
      };
    },
  },
  {
    title: "Copilot CLI",
    npmPackage: "@github/copilot",
    executable: "copilot",
    client: "copilot",
    async prepare({ entry, home, modelUrl }) {
      await write(home, ".copilot/mcp-config.json", entry);
      return {
        args: ["--prompt", PROMPT, "--allow-all-tools"],
        env: {
          COPILOT_OFFLINE: "true",
          COPILOT_PROVIDER_BASE_URL: `${modelUrl}/v1`,
          COPILOT_PROVIDER_API_KEY: KEY,
          COPILOT_MODEL: MODEL,
        },
      };
    },
  },
  {
    title: "opencode",
    npmPackage: "opencode-ai",
    executable: "opencode",
    client: "opencode",
    async prepare({ entry, project, modelUrl }) {
      await write(project, "opencode.json", {
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
      // The entry has it ask before it orders and posts, which nobody answers here.
      return { args: ["run", "--auto", PROMPT] };
    },
  },
  {
    title: "Cline CLI",
    npmPackage: "cline",
    executable: "cline",
    client: "cline",
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
    client: "continue",
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
    client: "vscode",
    // The card has to show clips meanwhile.
    renderSeconds: "40",
    prepare: prepareVscode,
    use: useVscode,
  },
];
