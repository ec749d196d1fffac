// npm run test:clients: real clients that can list their servers without an account, each with the entry that `config` prints for it.
// They come from npm in the versions below and run with a home directory of their own.

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { type ClientName } from "../src/command-line.ts";
import { BUILT_FILE } from "./fixtures/clients.ts";
import { type Ran, run } from "./fixtures/run.ts";

interface Client {
  readonly name: ClientName;
  readonly npmPackage: string;
  readonly executable: string;
  /** Gives the client its entry, has it list its servers, and returns whether it reached this one. */
  connects(asked: Asked): Promise<boolean>;
}

interface Asked {
  readonly entry: string;
  readonly home: string;
  readonly project: string;
  /** Runs the client. */
  ask(...args: readonly string[]): Promise<Ran>;
}

const root = fileURLToPath(new URL("..", import.meta.url));
const entrySchema = z.object({ mcpServers: z.record(z.string(), z.unknown()) });

/** Some clients print the list to stdout, others to stderr. */
const isConnected = ({ stdout, stderr }: Ran) => /faceless-video: .*Connected/.test(stdout + stderr);

const CLIENTS: readonly Client[] = [
  {
    name: "claude-code",
    npmPackage: "@anthropic-ai/claude-code@2.1.197",
    executable: "claude",
    async connects({ entry, ask }) {
      const [server] = Object.entries(entrySchema.parse(JSON.parse(entry)).mcpServers);
      await ask("mcp", "add-json", "--scope", "user", String(server?.[0]), JSON.stringify(server?.[1]));
      return isConnected(await ask("mcp", "list"));
    },
  },
  {
    name: "gemini",
    npmPackage: "@google/gemini-cli@0.61.0",
    executable: "gemini",
    async connects({ entry, home, project, ask }) {
      await mkdir(join(home, ".gemini"));
      await writeFile(join(home, ".gemini/settings.json"), entry);
      await writeFile(
        join(home, ".gemini/trustedFolders.json"),
        JSON.stringify({ [project]: "TRUST_FOLDER" }),
      );
      return isConnected(await ask("mcp", "list"));
    },
  },
  {
    name: "codex",
    npmPackage: "@openai/codex@0.169.0",
    executable: "codex",
    // It shows the entry that it has read; it starts a server only for a conversation.
    async connects({ entry, home, ask }) {
      await mkdir(join(home, ".codex"));
      await writeFile(join(home, ".codex/config.toml"), entry);
      const { transport } = z
        .looseObject({ transport: z.looseObject({ command: z.string(), args: z.array(z.string()) }) })
        .parse(JSON.parse((await ask("mcp", "get", "faceless-video", "--json")).stdout));
      return [transport.command, ...transport.args].join(" ") === "npx -y faceless-video-mcp --sandbox";
    },
  },
];

const folder = await mkdtemp(join(tmpdir(), "faceless-clients-"));
try {
  const pack = ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder];
  const tarball = join(folder, (await run("npm", pack, { cwd: root })).stdout.trim());
  for (const client of CLIENTS) {
    const home = join(folder, client.name);
    const project = join(home, "project");
    await mkdir(project, { recursive: true });
    // npx in the entry then finds this build instead of the published package.
    await writeFile(join(project, "package.json"), "{}");
    await run("npm", ["install", "--offline", "--no-audit", tarball], { cwd: project });
    const { stdout: entry } = await run(process.execPath, [BUILT_FILE, "config", client.name, "--sandbox"]);
    const tools = join(folder, "tools");
    const install = ["install", "--no-audit", "--no-fund", "--prefix", tools, client.npmPackage];
    // With the user's settings of npm.
    const installed = await run("npm", install, {
      env: z.record(z.string(), z.string()).parse({ ...process.env }),
    });
    if (installed.code !== 0) throw new Error(installed.stderr);
    const executable = join(tools, "node_modules/.bin", client.executable);
    const ask = (...args: readonly string[]) => run(executable, args, { cwd: project, env: { HOME: home } });
    const reached = await client.connects({ entry, home, project, ask });
    process.stdout.write(`${client.npmPackage}: ${reached ? "ok" : "FAILED"}\n`);
    if (!reached) process.exitCode = 1;
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
