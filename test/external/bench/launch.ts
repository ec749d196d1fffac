// Measures what a user waits for: from a client's launch of an entry to the list of tools. Everything is in
// npm's cache, and the registry is on this computer.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import manifest from "../../../package.json" with { type: "json" };
import { launch as launchOf } from "../../../src/commands/server-entry.ts";
import { load } from "../../fixtures/client-loaders.ts";
import { BUILT_FILE } from "../../fixtures/clients.ts";
import { makeFolder, removeFolder } from "../../fixtures/folder.ts";
import { run } from "../../fixtures/run.ts";
import { startRegistry } from "./registry.ts";
import { inTurns, median } from "./sample.ts";
import { launch, SETTINGS } from "./start.ts";

const ROUNDS = 11;
/** Servers of other services, by the command that their documents print. */
const PEERS = ["replicate-mcp@0.9.0", "@notionhq/notion-mcp-server@2.5.2", "@upstash/context7-mcp@4.1.1"];
/** Without these, some end before they list their tools. */
const PEERS_SETTINGS = { REPLICATE_API_TOKEN: "example", NOTION_TOKEN: "example" };

/** The medians, ours first. */
export async function benchLaunch() {
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
    const printed = async (): Promise<readonly string[]> => {
      const words = [BUILT_FILE, "config", "claude-desktop", "--installed"];
      const ran = await run(process.execPath, words, { env });
      if (ran.code !== 0) throw new Error(ran.stderr);
      const { command, args } = load("claude-desktop", ran.stdout);
      return [command, ...args];
    };
    const byNpx = launchOf({ windows: false, sandbox: false });
    const npx = (spec: string) => ["npx", "-y", spec];
    const entries: readonly (readonly [string, readonly string[]])[] = [
      ["this, installed (`config CLIENT --installed`)", await printed()],
      ["this, as `config CLIENT` prints it for npx", [byNpx.command, ...byNpx.args]],
      ["this, as `npx -y`", npx(`faceless-video-mcp@${manifest.version}`)],
      ...PEERS.map((peer) => [`${peer.replace(/(?<=.)@/, " ")}, as \`npx -y\``, npx(peer)] as const),
    ];
    const settings = { ...env, ...SETTINGS, ...PEERS_SETTINGS };
    const starts = entries.map(([, [program = "", ...args]]) => {
      const file = args.pop() ?? "";
      return () => launch({ command: [program, ...args], file, env: settings, cwd: home });
    });
    const samples = await inTurns(ROUNDS, starts);
    return entries.map(([name], index) => ({
      name,
      ms: median((samples[index] ?? []).map(({ ms }) => ms)),
    }));
  } finally {
    registry.close();
    removeFolder(folder);
  }
}
