// Measures what a user waits for: from a client's launch of an entry to the list of tools. Everything is in
// npm's cache, and the registry is on this computer.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import manifest from "../../../package.json" with { type: "json" };
import { BUILT_FILE } from "../../fixtures/clients.ts";
import { makeFolder, removeFolder } from "../../fixtures/folder.ts";
import { startRaw } from "../../fixtures/raw-server.ts";
import { run } from "../../fixtures/run.ts";
import { startRegistry } from "./registry.ts";
import { inTurns, median } from "./sample.ts";

const ROUNDS = 11;
/** Servers of other services, by the command that their documents print. */
const PEERS = ["replicate-mcp@0.9.0", "@notionhq/notion-mcp-server@2.5.2", "@upstash/context7-mcp@4.1.1"];
const SETTINGS = {
  FACELESS_API_KEY: "fl_example",
  FACELESS_BASE_URL: "https://videos.example.com",
  FACELESS_STATE_DIR: "",
};
/** Without these, some end before they list their tools. */
const PEERS_SETTINGS = { REPLICATE_API_TOKEN: "example", NOTION_TOKEN: "example" };

const printedSchema = z.object({
  mcpServers: z.record(z.string(), z.object({ command: z.string(), args: z.array(z.string()) })),
});

interface Launched {
  readonly name: string;
  readonly ms: number;
}

/** The medians, ours first. */
export async function benchLaunch(): Promise<Launched[]> {
  const folder = makeFolder();
  const registry = await startRegistry(folder);
  try {
    const home = join(folder, "home");
    await mkdir(home);
    const env = {
      PATH: process.env["PATH"] ?? "",
      HOME: home,
      npm_config_registry: registry.url,
      npm_config_cache: join(folder, "cache"),
      npm_config_update_notifier: "false",
    };
    const printed = async (...options: string[]): Promise<readonly string[]> => {
      const ran = await run(process.execPath, [BUILT_FILE, "config", "claude-desktop", ...options], { env });
      if (ran.code !== 0) throw new Error(ran.stderr);
      const [entry] = Object.values(printedSchema.parse(JSON.parse(ran.stdout)).mcpServers);
      if (entry === undefined) throw new Error(ran.stdout);
      return [entry.command, ...entry.args];
    };
    const npx = (spec: string) => ["npx", "-y", spec];
    const entries: readonly (readonly [string, readonly string[]])[] = [
      ["this, installed (`config CLIENT --installed`)", await printed("--installed")],
      ["this, as `config CLIENT` prints it", await printed()],
      ["this, as `npx -y`", npx(`faceless-video-mcp@${manifest.version}`)],
      ...PEERS.map((peer) => [`${peer.replace(/(?<=.)@/, " ")}, as \`npx -y\``, npx(peer)] as const),
    ];
    const samples = await inTurns(
      ROUNDS,
      entries.map(
        ([, command]) =>
          () =>
            launch(command, { ...env, ...SETTINGS, ...PEERS_SETTINGS }, home),
      ),
    );
    return entries.map(([name], index) => ({ name, ms: median(samples[index] ?? []) }));
  } finally {
    registry.close();
    removeFolder(folder);
  }
}

async function launch(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd: string,
): Promise<number> {
  const [program = "", ...args] = words.slice(0, -1);
  const startMs = performance.now();
  const server = startRaw({ command: [program, ...args], file: words.at(-1) ?? "", env, cwd });
  await server.open("legacy");
  await server.ask("tools/list");
  const ms = performance.now() - startMs;
  server.stdin.end();
  // Some go on after the end of their input.
  const killer = setTimeout(() => server.child.kill("SIGKILL"), 2_000);
  await server.ended;
  clearTimeout(killer);
  return ms;
}
